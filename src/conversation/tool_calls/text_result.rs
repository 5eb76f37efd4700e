//! [`TextResult`]: the usual result of a tool.

use serde::{Deserialize, Serialize};

use super::{
    super::{
        entry::{NormalizedEntry, ToolStatus},
        text::Text,
        time::Timestamp,
    },
    CallResult,
};

/// A tool's result with a status and a text.
///
/// Sufficient for an agent that logs nothing else. An agent that logs exit codes, durations, patches or further
/// fields needs a custom [`CallResult`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextResult {
    status: ToolStatus,
    text: Text,
    timestamp: Option<Timestamp>,
}

impl TextResult {
    /// A result with the final status of its call.
    pub fn new(status: ToolStatus, text: impl Into<Text>) -> Self {
        Self { status, text: text.into(), timestamp: None }
    }

    /// Sets the time of the result.
    #[must_use]
    pub fn at(mut self, timestamp: Option<Timestamp>) -> Self {
        self.timestamp = timestamp;
        self
    }
}

impl CallResult for TextResult {
    fn complete(self, call: &mut NormalizedEntry) {
        if let Some(tool) = call.tool_mut() {
            tool.complete(self.status, self.text);
        }
    }

    fn timestamp(&self) -> Option<Timestamp> {
        self.timestamp
    }

    fn content(&self) -> Text {
        self.text.clone()
    }

    fn into_content(self) -> Text {
        self.text
    }

    fn length(&self) -> usize {
        self.text.length()
    }
}
