//! [`LineSet`]: the lines of a log that cause events, and those with a record.

/// Numbers of lines, one bit each: a log may have many millions.
#[derive(Default)]
pub(super) struct LineSet(Vec<u64>);

/// The number of ranges that are named.
const NAMED: usize = 10;

impl LineSet {
    /// Adds a line of a log, which bounds the memory: not a number that only a trail states.
    pub(super) fn insert(&mut self, line: u64) {
        let (word, bit) = (usize::try_from(line / 64).unwrap_or(usize::MAX), 1 << (line % 64));
        if word >= self.0.len() {
            self.0.resize(word.saturating_add(1), 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    /// Whether the line is one of them.
    pub(super) fn contains(&self, line: u64) -> bool {
        let word = usize::try_from(line / 64).ok().and_then(|at| self.0.get(at));
        word.is_some_and(|word| word >> (line % 64) & 1 == 1)
    }

    /// The number of lines.
    pub(super) fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The lines that are not in `others`, such as `lines 4, 5, 9 to 12`; `None` if there are none.
    pub(super) fn named_without(&self, others: &Self) -> Option<String> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        let mut further = 0;
        for (at, word) in (0..).zip(&self.0) {
            let missing = word & !others.0.get(at).copied().unwrap_or_default();
            for line in
                (0..64).filter(|bit| missing >> bit & 1 == 1).map(|bit| at as u64 * 64 + bit)
            {
                let is_full = ranges.len() == NAMED;
                match ranges.last_mut() {
                    Some((_, last)) if further == 0 && *last + 1 == line => *last = line,
                    _ if is_full => further += 1,
                    _ => ranges.push((line, line)),
                }
            }
        }
        let is_one = matches!(ranges.as_slice(), [(first, last)] if first == last);
        let ranges: Vec<_> = ranges.into_iter().map(named).collect();
        let more = if further > 0 { format!(" and {further} more") } else { String::new() };
        let lines = if is_one { "line" } else { "lines" };
        (!ranges.is_empty()).then(|| format!("{lines} {}{more}", ranges.join(", ")))
    }
}

fn named((first, last): (u64, u64)) -> String {
    match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_named_by_ranges() {
        let set = |lines: &[u64]| {
            let mut set = LineSet::default();
            lines.iter().for_each(|line| set.insert(*line));
            set
        };
        let without = |lines: &[u64], others: &[u64]| set(lines).named_without(&set(others));
        assert_eq!(without(&[1, 2], &[2, 1, 900]), None);
        assert_eq!(without(&[1, 2], &[1]).as_deref(), Some("line 2"));
        let lines: Vec<_> = (1..=130).collect();
        assert_eq!(set(&lines).count(), 130);
        assert_eq!(
            without(&lines, &[1, 2, 3, 6, 7, 8, 10]).as_deref(),
            Some("lines 4, 5, 9, 11 to 130")
        );
        let even: Vec<_> = (2..=40).step_by(2).collect();
        assert_eq!(
            without(&even, &[]).as_deref(),
            Some("lines 2, 4, 6, 8, 10, 12, 14, 16, 18, 20 and 10 more")
        );
    }
}
