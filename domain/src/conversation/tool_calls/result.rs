//! [`CallResult`], and what identifies the call of a result: [`ResultKey`].

use foldline::position::Timestamp;
use foldline_json::Text;

use super::super::{entry::NormalizedEntry, id::CorrId};

/// A tool's result in the form of one executor.
pub trait CallResult {
    /// Writes the result into its call: the status (always a final one) and the body; the duration only if the log
    /// states it, otherwise it is computed from the timestamps.
    fn complete(self, call: &mut NormalizedEntry);

    /// The time of the result, if the log states it.
    fn timestamp(&self) -> Option<Timestamp>;

    /// The text that is kept of a result without a call.
    fn content(&self) -> Text;

    /// Like `content`, by value, so that a long text need not be copied.
    fn into_content(self) -> Text
    where
        Self: Sized,
    {
        self.content()
    }

    /// Its size in bytes, which bounds the results that await their call. It must be the same after storing and
    /// reading.
    fn length(&self) -> usize {
        self.content().decode().len()
    }
}

/// Identifies the call of a result: by the call's id, or else by the message and the tool.
///
/// ```
/// use foldline_domain::tool_calls::ResultKey;
///
/// let by_id = ResultKey::from("call-1");
/// let by_guess = ResultKey::default().with_message("msg-7").with_tool("Read");
/// assert!(by_id.id.is_some() && by_guess.id.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultKey {
    /// The call's id.
    pub id: Option<CorrId>,
    /// The id of the message that made the call.
    pub message_id: Option<Text>,
    /// The called tool.
    pub tool_name: Option<Text>,
}

impl ResultKey {
    /// Sets the id of the message that made the call.
    #[must_use]
    pub fn with_message(mut self, id: impl Into<Text>) -> Self {
        self.message_id = Some(id.into());
        self
    }

    /// Sets the name of the called tool.
    #[must_use]
    pub fn with_tool(mut self, name: impl Into<Text>) -> Self {
        self.tool_name = Some(name.into());
        self
    }
}

impl From<Option<CorrId>> for ResultKey {
    fn from(id: Option<CorrId>) -> Self {
        Self { id, ..Self::default() }
    }
}

impl From<CorrId> for ResultKey {
    fn from(id: CorrId) -> Self {
        Self { id: Some(id), ..Self::default() }
    }
}

impl From<&str> for ResultKey {
    fn from(id: &str) -> Self {
        CorrId::from(id).into()
    }
}
