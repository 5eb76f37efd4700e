//! The limits of the account, which `token_count` states.

use crate::prelude::*;

/// The longest name of a limit in bytes. A longer one is not a name.
const LONGEST_NAME: usize = 100;

/// A window of a limit.
#[derive(Clone, Debug)]
pub struct StatedLimit {
    limit: Limit,
    /// Older releases state the time to its end, in seconds.
    resets_in: Option<f64>,
}

impl StatedLimit {
    /// Takes the stated windows of `rate_limits`. Unknown fields stay, as `rate_limits.name`.
    pub(super) fn take(payload: &mut Object<'_>) -> Vec<Self> {
        let Some(mut limits) = payload.object("rate_limits") else { return Vec::new() };
        // The limits of the account; those of a model have another id, and are stated between them.
        let of = limits.str("limit_id").filter(|id| *id != "codex" && !id.is_empty());
        limits.ignore(&["limit_name", "plan_type", "rate_limit_reached_type"]);
        limits.ignore(&["individual_limit", "spend_control_reached"]);
        limits.ignore(&["primary_to_secondary_ratio_percent"]);
        limits.within("credits", |credits| {
            credits.ignore(&["has_credits", "unlimited", "balance"]);
        });
        let mut stated = Vec::new();
        for window in ["primary", "secondary"] {
            // Releases of 2025 have no objects.
            let flat = ["used_percent", "window_minutes"].map(|field| format!("{window}_{field}"));
            let [used, minutes] = flat.each_ref().map(String::as_str);
            let flat = limits.has(used).then(|| Self::take_window(&mut limits, used, minutes));
            let nested = limits.within(window, |window| {
                Self::take_window(window, "used_percent", "window_minutes")
            });
            let Some(mut found) = nested.or(flat).flatten() else { continue };
            found.limit.name = match &of {
                Some(of) => format!("{of}/{window}").into(),
                None => window.into(),
            };
            stated.push(found);
        }
        payload.adopt("rate_limits", limits);
        stated.retain(|stated| stated.limit.name.length() <= LONGEST_NAME);
        stated
    }

    fn take_window(window: &mut Object<'_>, used: &str, minutes: &str) -> Option<Self> {
        let used_percent = window.f64(used);
        let window_minutes = window.u64(minutes).filter(|minutes| i64::try_from(*minutes).is_ok());
        let resets_at = window.take("resets_at", |raw| match raw.is_string() {
            true => value::as_timestamp(raw),
            false => value::parse(raw).map(of_seconds),
        });
        let resets_in = window.f64("resets_in_seconds");
        let limit =
            Limit { used_percent: used_percent?, window_minutes, resets_at, ..Limit::default() };
        Some(Self { limit, resets_in })
    }

    /// The limit as it is stated at a moment.
    pub(super) fn read_at(self, at: Option<Timestamp>) -> Limit {
        let Self { limit, resets_in } = self;
        let end = || {
            let millis = of_seconds(resets_in?).as_millis();
            Some(Timestamp::from_millis(at?.as_millis().saturating_add(millis)))
        };
        Limit { resets_at: limit.resets_at.or_else(end), at, ..limit }
    }
}

/// A moment in seconds since 1970; beyond the largest one, that.
fn of_seconds(seconds: f64) -> Timestamp {
    Timestamp::from_millis((seconds * 1000.0) as i64)
}
