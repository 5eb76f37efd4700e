//! [`Status`]: where a call stands, in Codex's words.

use crate::{
    conversation::{Text, ToolStatus},
    executors::{codex::case::snake, wire::Object},
};

/// Where a call stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// The log does not say.
    #[default]
    Unstated,
    InProgress,
    Completed,
    Failed,
    /// `declined`: nobody permitted it.
    Declined,
    /// `interrupted`, `aborted`, `cancelled`.
    Cancelled,
    /// A word that nobody knows.
    Other(Text),
}

impl Status {
    /// Takes the field `status`, if it is a string.
    pub fn take(object: &mut Object<'_>) -> Self {
        let Some(word) = object.str("status") else { return Self::Unstated };
        match &*snake(&word) {
            "in_progress" | "running" | "pending" | "pending_init" => Self::InProgress,
            "completed" | "success" => Self::Completed,
            "failed" | "errored" | "error" | "not_found" => Self::Failed,
            "declined" | "denied" | "rejected" => Self::Declined,
            "interrupted" | "aborted" | "cancelled" => Self::Cancelled,
            _ => Self::Other(Text::from(word)),
        }
    }

    /// Success or failure, where the log says only that.
    pub fn of_success(success: Option<bool>) -> Self {
        match success {
            Some(true) => Self::Completed,
            Some(false) => Self::Failed,
            None => Self::Unstated,
        }
    }

    /// This status, or another where the log does not state it.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self == Self::Unstated { other } else { self }
    }

    /// How a call ended that has this status when nothing more can come.
    pub fn ended(&self) -> ToolStatus {
        match self {
            Self::Failed => ToolStatus::Failed,
            Self::Declined => ToolStatus::Denied { reason: None },
            Self::Cancelled => ToolStatus::Cancelled,
            Self::Unstated | Self::InProgress | Self::Completed | Self::Other(_) => {
                ToolStatus::Success
            }
        }
    }
}
