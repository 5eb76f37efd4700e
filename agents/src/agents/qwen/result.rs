//! The status of Qwen Code's tools, from the text of their results.

use foldline_domain::{Text, ToolStatus};

/// The prefix of the result of a denied call.
const REFUSED: &str = "Qwen Code requires permission to use ";

/// The prefix of the result of a cancelled call.
const CANCELLED: &str = "[Operation Cancelled] Reason: ";

/// The status of a call that failed with this text.
pub(super) fn status_of_failure(words: Option<&Text>) -> ToolStatus {
    let Some(words) = words else { return ToolStatus::Failed };
    let text = words.decode();
    let reason = text.strip_prefix(CANCELLED);
    let is_refused = reason.is_some_and(|reason| {
        reason.to_ascii_lowercase().contains("denied") || reason.contains("did not allow")
    });
    match reason {
        _ if is_refused || text.starts_with(REFUSED) => {
            ToolStatus::Denied { reason: Some(words.clone()) }
        }
        Some(_) => ToolStatus::Cancelled,
        None => ToolStatus::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_mean_no() {
        let name = |words: &str| status_of_failure(Some(&words.into())).name();
        assert_eq!(name("Qwen Code requires permission to use \"edit\", but ..."), "denied");
        assert_eq!(name("[Operation Cancelled] Reason: User denied execution."), "denied");
        assert_eq!(name("[Operation Cancelled] Reason: User did not allow tool call"), "denied");
        assert_eq!(name("[Operation Cancelled] Reason: Aborted"), "cancelled");
        assert_eq!(name("permission denied: /etc/shadow"), "failed");
        assert_eq!(status_of_failure(None), ToolStatus::Failed);
    }
}
