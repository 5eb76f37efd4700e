//! Tokens of a session and its sub-agents. The log states running totals; each token counts once.

use foldline_domain::{Text, TokenUsage};
use serde::{Deserialize, Serialize};

use super::types::Used;
use crate::dialect::recent_map::RecentMap;

/// A running total.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Total {
    counted: TokenUsage,
    /// The total at the end of the last turn.
    at_turn: TokenUsage,
}

impl Total {
    /// Sets the total and returns its increase, if any.
    pub(super) fn reach(&mut self, total: TokenUsage) -> Option<TokenUsage> {
        let more = total.since(&self.counted);
        let is_first = self.counted.is_empty();
        self.counted = total.max(&self.counted);
        (is_first || !more.is_zero()).then_some(more)
    }

    /// Ends a turn with its usage and the total, either of which may be missing.
    pub(super) fn end_turn(&mut self, (used, total): Used) -> Option<TokenUsage> {
        if self.counted.is_empty()
            && let (Some(used), Some(total)) = (used, total)
        {
            // The usage of the session before the log begins.
            self.counted = total.since(&used);
        }
        let mut sum = self.at_turn;
        sum.add(&used.unwrap_or_default());
        let total = total.or(used.map(|_| sum))?;
        let more = self.reach(total);
        self.at_turn = self.counted;
        more
    }

    /// Loads a session with its earlier usage.
    pub(super) fn begin(&mut self, total: TokenUsage) {
        *self = Self { counted: total, at_turn: total };
    }
}

/// The usage of sub-agents, which both their own logs and the session's log state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Children {
    pub(super) all: Total,
    /// The usage of each sub-agent.
    each: RecentMap<Text, TokenUsage>,
    sum: TokenUsage,
}

impl Children {
    /// Sets the total of a sub-agent and returns its increase.
    pub(super) fn reach(&mut self, session: &Text, total: TokenUsage) -> Option<TokenUsage> {
        let before = self.each.take(session).unwrap_or_default();
        self.sum.add(&total.since(&before));
        self.each.push(Some(session.clone()), total.max(&before));
        self.all.reach(self.sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(input: u64) -> TokenUsage {
        TokenUsage { input_tokens: Some(input), ..TokenUsage::default() }
    }

    #[test]
    fn a_total_counts_once_however_it_is_stated() {
        let mut total = Total::default();
        assert_eq!(total.reach(used(10)), Some(used(10)));
        assert_eq!(total.reach(used(10)), None);
        assert_eq!(total.end_turn((Some(used(12)), None)), Some(used(2)));
        assert_eq!(total.end_turn((Some(used(5)), None)), Some(used(5)));
        assert_eq!(total.end_turn((Some(used(3)), Some(used(20)))), Some(used(3)));
        let mut loaded = Total::default();
        assert_eq!(loaded.end_turn((Some(used(5)), Some(used(100)))), Some(used(5)));
        let mut begun = Total::default();
        begun.begin(used(100));
        assert_eq!(begun.reach(used(101)), Some(used(1)));
        assert_eq!(Total::default().reach(used(0)), Some(used(0)), "a stated zero is not unknown");
    }

    #[test]
    fn what_a_sub_agent_states_is_a_part_of_what_its_session_states() {
        let id = |n: u64| Text::from(n.to_string());
        let mut children = Children::default();
        assert_eq!(children.reach(&id(1), used(10)), Some(used(10)));
        assert_eq!(children.all.reach(used(10)), None);
        assert_eq!(children.all.reach(used(15)), Some(used(5)));
        assert_eq!(children.reach(&id(2), used(5)), None);
        assert_eq!(children.reach(&id(2), used(6)), Some(used(1)));
    }
}
