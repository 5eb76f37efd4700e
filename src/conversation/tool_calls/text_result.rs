//! [`TextResult`]: the result that most tools of most agents have.

use serde::{Deserialize, Serialize};

use super::{
    super::{
        entry::{NormalizedEntry, ToolStatus},
        text::Text,
        time::Timestamp,
    },
    CallResult,
};

/// A tool's result that is a status and a text.
///
/// Enough for an agent whose log says no more than that. One that states exit codes, durations, patches
/// or fields of its own needs a [`CallResult`] of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextResult {
    status: ToolStatus,
    text: Text,
    timestamp: Option<Timestamp>,
}

impl TextResult {
    /// What a tool gave back, and the final status that the call ends with.
    pub fn new(status: ToolStatus, text: impl Into<Text>) -> Self {
        Self { status, text: text.into(), timestamp: None }
    }

    /// The same, with the time at which it came.
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
