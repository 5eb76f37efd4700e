//! [`Limit`]: what is stated about a limit of the account that an agent uses.

use foldline::position::Timestamp;
use foldline_json::Text;
use serde::{Deserialize, Serialize};

/// The most limits of a session; logs state two to six. It bounds the memory that a hostile log can use.
const MOST: usize = 16;

/// The time after which an unchanged reading is news again, in milliseconds.
const REPEATED: u64 = 60_000;

/// A reading of a limit of the account, as a log states it. It is about all sessions of the account, and holds until its
/// window ends. Fields may be added: end a literal with `..Limit::default()`.
///
/// ```
/// use foldline_domain::{Limit, Timestamp};
///
/// let resets_at = Some(Timestamp::from_millis(2_000));
/// let limit = Limit { name: "primary".into(), used_percent: 42.5, resets_at, ..Limit::default() };
/// assert!(!limit.is_over(Timestamp::from_millis(1_999)));
/// assert!(limit.is_over(Timestamp::from_millis(2_000)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Limit {
    /// The window, as the log names it: `primary`, `five_hour`. The name of a limit that is not of the whole account is
    /// before it: `codex_other/primary`.
    pub name: Text,
    /// The used part in percent, which may exceed 100; finite.
    pub used_percent: f64,
    /// The length of the window in minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_minutes: Option<u64>,
    /// The end of the window, after which the reading is outdated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<Timestamp>,
    /// The time at which this is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

impl Limit {
    /// The length in minutes of a window with this name, as Claude Code names its windows.
    pub fn minutes_of(name: &str) -> Option<u64> {
        match name {
            "five_hour" => Some(5 * 60),
            "seven_day" => Some(7 * 24 * 60),
            _ => None,
        }
    }

    /// Whether the window has ended: at the time that is stated, or else when its length has passed.
    pub fn is_over(&self, now: Timestamp) -> bool {
        let passed = || {
            let millis = i64::try_from(self.window_minutes?.saturating_mul(60_000)).ok()?;
            Some(Timestamp::from_millis(self.at?.as_millis().saturating_add(millis)))
        };
        self.resets_at.or_else(passed).is_some_and(|end| end <= now)
    }

    /// Whether this states something new: another reading, or the same one a minute later. Older statements are not new.
    pub fn is_news(&self, known: &[Self]) -> bool {
        let Some(known) = known.iter().find(|known| known.name == self.name) else { return true };
        let is_same = Self { at: known.at, ..self.clone() } == *known;
        let is_later = || match (known.at, self.at) {
            (Some(before), Some(now)) => now.millis_since(before) >= Some(REPEATED),
            (before, now) => before.is_none() && now.is_some(),
        };
        self.replaces(known) && (!is_same || is_later())
    }

    /// Whether this is stated at the same time or later; a statement without a time precedes all others.
    fn replaces(&self, other: &Self) -> bool {
        self.at >= other.at
    }
}

/// Takes the latest statement of each limit, in the order of their names. Of too many, the first ones stay.
pub(super) fn merge(known: &mut Option<Vec<Limit>>, update: &Option<Vec<Limit>>) {
    let stated = update.iter().flatten().filter(|limit| limit.used_percent.is_finite());
    for new in stated {
        let known = known.get_or_insert_default();
        match known.iter_mut().find(|known| known.name == new.name) {
            Some(old) if new.replaces(old) => old.clone_from(new),
            Some(_) => {}
            None => known.push(new.clone()),
        }
    }
    if let Some(known) = known {
        known.sort_by(|a, b| a.name.decode().cmp(&b.name.decode()));
        known.truncate(MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(name: &str, used_percent: f64, at: Option<i64>) -> Limit {
        let at = at.map(Timestamp::from_millis);
        Limit { name: name.into(), used_percent, at, ..Limit::default() }
    }

    fn merged(parts: &[&[Limit]]) -> Option<Vec<Limit>> {
        let mut known = None;
        parts.iter().for_each(|part| merge(&mut known, &Some(part.to_vec())));
        known
    }

    #[test]
    fn the_latest_statement_of_each_limit_stays() {
        let parts: [&[Limit]; 5] = [
            &[limit("primary", 10.0, Some(5)), limit("five", -0.5, None)],
            &[limit("primary", 20.0, Some(4)), limit("five", 1e300, None)],
            &[limit("primary", 30.0, None)],
            &[limit("primary", 40.0, Some(5))],
            &[limit("primary", f64::NAN, Some(9))],
        ];
        let all = Some(vec![limit("five", 1e300, None), limit("primary", 40.0, Some(5))]);
        assert_eq!(merged(&parts), all);
        // It does not matter how a log is split.
        for split in 1..parts.len() {
            let [begin, end] = [merged(&parts[..split]), merged(&parts[split..])];
            assert_eq!(merged(&[&begin.unwrap(), &end.unwrap_or_default()]), all);
        }
        assert_eq!(merged(&[&[]]), None);
        let many: Vec<Limit> =
            (0..99).map(|which| limit(&format!("{which:02}"), 0.0, None)).collect();
        assert_eq!(merged(&[&many[50..], &many]), Some(many[..MOST].to_vec()));
    }

    #[test]
    fn a_repeated_reading_is_news_once_a_minute() {
        let known = [limit("primary", 10.0, Some(0))];
        let news = |used, at| limit("primary", used, at).is_news(&known);
        assert!(news(11.0, Some(0)) && news(10.0, Some(60_000)));
        assert!(!news(10.0, Some(59_999)) && !news(11.0, Some(-1)) && !news(11.0, None));
        assert!(limit("secondary", 10.0, None).is_news(&known));
        assert!(limit("primary", 10.0, Some(0)).is_news(&[limit("primary", 10.0, None)]));
    }

    #[test]
    fn a_window_ends_at_the_stated_time_or_after_its_length() {
        let is_over = |limit: &Limit, now| limit.is_over(Timestamp::from_millis(now));
        let minutes = |window| Limit { window_minutes: Some(window), ..limit("x", 1.0, Some(7)) };
        assert!(is_over(&minutes(2), 120_007) && !is_over(&minutes(2), 120_006));
        let stated = Limit { resets_at: Some(Timestamp::from_millis(9)), ..minutes(2) };
        assert!(is_over(&stated, 9) && !is_over(&stated, 8));
        assert!(!is_over(&minutes(u64::MAX), i64::MAX));
        assert!(!is_over(&limit("x", 1.0, Some(7)), i64::MAX));
    }
}
