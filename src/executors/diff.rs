//! What changed between two texts, in unified format.

use std::{fmt::Write, ops::Range};

use imara_diff::{Algorithm, Diff, InternedInput};

use crate::conversation::Text;

/// How many lines without a change are shown before and after one.
const CONTEXT: u32 = 3;

/// The change from `old` to `new` in unified format, without file headers: it begins with its first
/// `@@` line. The line numbers are those of the two texts. Empty if there is none.
///
/// ```
/// use foldline::executors::diff::unified_diff;
///
/// assert_eq!(unified_diff("a\nb\n", "a\nc\n"), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
/// ```
pub fn unified_diff(old: &str, new: &str) -> Text {
    let lines = InternedInput::new(old, new);
    let mut diff = Diff::compute(Algorithm::Histogram, &lines);
    diff.postprocess_lines(&lines);
    let end = lines.before.len() as u32;
    let mut text = String::new();
    let mut changes = diff.hunks().peekable();
    while let Some(first) = changes.next() {
        let mut group = vec![first];
        let mut last = group[0].before.end;
        while let Some(change) = changes.next_if(|next| next.before.start - last <= 2 * CONTEXT) {
            last = change.before.end;
            group.push(change);
        }
        let leading = group[0].before.start.min(CONTEXT);
        let trailing = (end - last).min(CONTEXT);
        let shown = |first: &Range<u32>, last: u32| first.start - leading..last + trailing;
        let before = shown(&group[0].before, last);
        let after = shown(&group[0].after, group[group.len() - 1].after.end);
        let _ = writeln!(text, "@@ -{} +{} @@", range(&before), range(&after));
        let mut push = |sign, line: &str| {
            text.push(sign);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push('\n');
            }
        };
        let old_line = |at: u32| lines.interner[lines.before[at as usize]];
        let new_line = |at: u32| lines.interner[lines.after[at as usize]];
        let mut at = before.start;
        for change in &group {
            (at..change.before.start).for_each(|at| push(' ', old_line(at)));
            change.before.clone().for_each(|at| push('-', old_line(at)));
            change.after.clone().for_each(|at| push('+', new_line(at)));
            at = change.before.end;
        }
        (at..before.end).for_each(|at| push(' ', old_line(at)));
    }
    Text::from(text)
}

/// Lines, as the header of a hunk counts them: from 1, and those of nothing are where it would be.
fn range(lines: &Range<u32>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_begins_with_its_hunk() {
        assert_eq!(unified_diff("a\nb\n", "a\nc\n"), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(unified_diff("x", "y"), "@@ -1 +1 @@\n-x\n+y\n");
        assert_eq!(unified_diff("", "y\n"), "@@ -0,0 +1 @@\n+y\n");
        assert_eq!(unified_diff("same", "same"), "");
        let (old, new) = ("a\n".repeat(9000), "b\n".repeat(3));
        let expected = format!("@@ -1,9000 +1,3 @@\n{}+b\n+b\n+b\n", "-a\n".repeat(9000));
        assert_eq!(unified_diff(&old, &new), *expected);
    }

    #[test]
    fn changes_near_each_other_share_a_hunk() {
        let numbers = |changed: &[u32]| -> String {
            let line = |n| if changed.contains(&n) { format!("{n}!\n") } else { format!("{n}\n") };
            (1..=20).map(line).collect()
        };
        let near = "@@ -2,14 +2,14 @@\n 2\n 3\n 4\n-5\n+5!\n 6\n 7\n 8\n 9\n 10\n 11\n-12\n+12!\n 13\n 14\n 15\n";
        assert_eq!(unified_diff(&numbers(&[]), &numbers(&[5, 12])), near);
        let apart = unified_diff(&numbers(&[]), &numbers(&[5, 13])).decode().into_owned();
        let headers: Vec<_> = apart.lines().filter(|line| line.starts_with("@@")).collect();
        assert_eq!(headers, ["@@ -2,7 +2,7 @@", "@@ -10,7 +10,7 @@"]);
    }

    /// What a search for the smallest difference takes hours for.
    #[test]
    fn texts_without_a_line_in_common_are_quick() {
        let text =
            |sign: char| -> String { (0..100_000).map(|n| format!("{sign}{n}\n")).collect() };
        assert_eq!(unified_diff(&text('a'), &text('b')).decode().lines().count(), 200_001);
    }
}
