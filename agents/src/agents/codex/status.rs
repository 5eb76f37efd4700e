//! [`Status`]: the status of a call in Codex's terms.

use crate::{codex::case::snake, prelude::*};

/// The status of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Not stated.
    #[default]
    Unstated,
    InProgress,
    Completed,
    Failed,
    /// `declined`: it was not permitted.
    Declined,
    /// `interrupted`, `aborted`, `cancelled`.
    Cancelled,
    /// An unknown word.
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

    /// The status of a log that states only success or failure.
    pub fn of_success(success: Option<bool>) -> Self {
        match success {
            Some(true) => Self::Completed,
            Some(false) => Self::Failed,
            None => Self::Unstated,
        }
    }

    /// This status, or `other` if this one is not stated.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self == Self::Unstated { other } else { self }
    }

    /// The final status of a call that ends with this status.
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
