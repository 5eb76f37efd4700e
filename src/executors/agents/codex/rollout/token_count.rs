//! `token_count`: what the thread used so far, and how much of the account's limits is left.

use crate::{
    conversation::TokenUsage,
    executors::{codex::usage::take_usage, wire::Object},
};

/// Takes all tokens of the thread so far, and those of the last request. What nobody knows of its objects stays, as `rate_limits.name`.
pub(super) fn take(payload: &mut Object<'_>) -> [Option<TokenUsage>; 2] {
    take_rate_limits(payload);
    let mut info = payload.object("info").unwrap_or_default();
    info.ignore(&["model_context_window"]);
    let total = take_usage(&mut info, "total_token_usage");
    let last = take_usage(&mut info, "last_token_usage");
    payload.adopt("info", info);
    [total, last]
}

/// Limits are the account's, and nothing of the conversation.
fn take_rate_limits(payload: &mut Object<'_>) {
    let Some(mut limits) = payload.object("rate_limits") else { return };
    limits.ignore(&["limit_id", "limit_name", "plan_type", "rate_limit_reached_type"]);
    limits.ignore(&["individual_limit", "spend_control_reached"]);
    // Of 2025.
    limits.ignore(&["primary_used_percent", "primary_window_minutes"]);
    limits.ignore(&["secondary_used_percent", "secondary_window_minutes"]);
    limits.ignore(&["primary_to_secondary_ratio_percent"]);
    for window in ["primary", "secondary"] {
        let known = ["used_percent", "window_minutes", "resets_at", "resets_in_seconds"];
        limits.within(window, |window| window.ignore(&known));
    }
    limits.within("credits", |credits| credits.ignore(&["has_credits", "unlimited", "balance"]));
    payload.adopt("rate_limits", limits);
}
