//! The difference between two texts in unified format.

use std::{fmt::Write, iter, ops::Range};

use foldline_domain::{EscapedText, Text};
use imara_diff::{Algorithm, Diff, IndentHeuristic, IndentLevel, InternedInput};

/// The number of unchanged lines before and after a change.
const CONTEXT: u32 = 3;

/// The typical length of a line in bytes.
const LINE: usize = 32;

/// The maximum number of lines that are allocated in advance.
const LINES: usize = 1 << 10;

/// The width of a tab where indents are compared.
const TAB: u8 = 8;

/// The change from `old` to `new` in unified format, without file headers: it begins with its first `@@` line. Line
/// numbers refer to the two texts. Equal texts give an empty diff.
///
/// ```
/// use foldline_agents::diff::unified_diff;
///
/// assert_eq!(unified_diff("a\nb\n", "a\nc\n"), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
/// ```
pub fn unified_diff<'t>(old: impl Into<EscapedText<'t>>, new: impl Into<EscapedText<'t>>) -> Text {
    let (old, new) = (old.into(), new.into());
    match (escaped(&old), escaped(&new)) {
        // This avoids decoding both texts and escaping the diff on output.
        (Some(old), Some(new)) => diff(&EscapedText::Escaped(old), &EscapedText::Escaped(new)),
        _ => diff(&EscapedText::Plain(old.decode()), &EscapedText::Plain(new.decode())),
    }
}

/// The body of a JSON literal if it is the canonical literal of its string, so that equal lines have equal escapes.
fn escaped<'s>(text: &'s EscapedText<'_>) -> Option<&'s str> {
    match text {
        EscapedText::Escaped(body) => (!body.contains("\\/")).then_some(body),
        EscapedText::Plain(text) => text.is_empty().then_some(text),
    }
}

/// [`unified_diff`] for two texts of the same representation.
fn diff(old: &EscapedText<'_>, new: &EscapedText<'_>) -> Text {
    let mut lines = InternedInput::default();
    // An estimate, so that the list of distinct lines rarely reallocates.
    let [before, after] = [old, new].map(|text| (text.get().len() / LINE).min(LINES) as u32);
    lines.reserve(before, after);
    lines.update_before(old.lines_with_ends());
    lines.update_after(new.lines_with_ends());
    let mut diff = Diff::compute(Algorithm::Histogram, &lines);
    let indent = |line| IndentLevel::for_ascii_line(beginning(old, lines.interner[line]), TAB);
    diff.postprocess_with_heuristic(&lines, IndentHeuristic::new(indent));
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
        let _ = write!(text, "@@ -{} +{} @@{}", range(&before), range(&after), old.line_feed());
        let mut push = |sign, line: &str| {
            text.push(sign);
            text.push_str(line);
            if !old.ends_line(line) {
                text.push_str(old.line_feed());
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
    old.text_of(text)
}

/// The bytes of a line up to its first character that is not white space.
fn beginning<'l>(text: &EscapedText<'_>, line: &'l str) -> impl Iterator<Item = u8> + use<'l> {
    let is_escaped = matches!(text, EscapedText::Escaped(_));
    let mut bytes = line.bytes();
    iter::from_fn(move || match bytes.next()? {
        b'\\' if is_escaped => Some(match bytes.next()? {
            b't' => b'\t',
            b'n' => b'\n',
            b'r' => b'\r',
            b'f' => 0x0C,
            other => other,
        }),
        byte => Some(byte),
    })
}

/// A range of lines in a hunk header, counted from 1. An empty range is at its insertion point.
fn range(lines: &Range<u32>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}
