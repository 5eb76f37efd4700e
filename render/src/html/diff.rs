//! Edits as coloured diffs, whose text is still a patch when it is copied.

use std::ops::Range;

use foldline_domain::{FileChange, Text};
use maud::{Markup, html};

use super::{
    label::{language_of_path, path},
    output::{folded, trim_lines},
    text::{line, text},
    words::{self, marked},
};
use crate::human;
use crate::text::call_text::{ChangedLines, hunk_without_numbers};

/// The number of lines of a file that are shown before the fold.
const HEAD: usize = 40;
/// Folding fewer lines is not worth a click.
const LEAST: usize = 8;
const MOST_FILES: usize = 20;
/// Edits of up to this many lines are expanded.
const SHORT: usize = 20;

/// Whether changes are few enough to be expanded by default.
pub(super) fn are_short(changes: &[FileChange]) -> bool {
    let ChangedLines { added, removed, written } = ChangedLines::of(changes);
    (1..=SHORT).contains(&(added + removed + written))
}

/// `+12`, `−3`.
pub(super) fn counts(lines: ChangedLines) -> Markup {
    let added = lines.added + lines.written;
    html! {
        @if added > 0 { span.plus { "+" (human::grouped(added as u64)) } }
        @if lines.removed > 0 { span.minus { "−" (human::grouped(lines.removed as u64)) } }
    }
}

/// The changes of a call; `title` is the path in its row.
pub(super) fn changes(title: &Text, changes: &[FileChange]) -> Markup {
    let (first, rest) = changes.split_at(changes.len().min(MOST_FILES));
    let all = |changes: &[FileChange]| {
        html! { @for change in changes { (one(change, changes.len() > 1 || change.path() != title)) } }
    };
    html! {
        (all(first))
        @if !rest.is_empty() { (folded(rest.len(), "more change", &all(rest))) }
    }
}

fn one(change: &FileChange, is_named: bool) -> Markup {
    let named = |is_named: bool, verb: &str, name: &Text| {
        html! {
            @if is_named {
                div.file {
                    span { @if !verb.is_empty() { (verb) " " } (path(&name.decode())) }
                    (counts(ChangedLines::of(std::slice::from_ref(change))))
                }
            }
        }
    };
    match change {
        FileChange::Edit { path, unified_diff, has_line_numbers } => html! {
            (named(is_named, "", path))
            (diff(&path.decode(), &unified_diff.decode(), *has_line_numbers))
        },
        FileChange::Write { path, content } => html! {
            (named(is_named, "", path))
            (written(&path.decode(), &content.decode()))
        },
        FileChange::Delete { path } => named(true, "deleted", path),
        FileChange::Rename { new_path, .. } => named(true, "renamed to", new_path),
    }
}

fn diff(path: &str, unified: &str, has_numbers: bool) -> Markup {
    let rows: Vec<_> = rows(unified, has_numbers).into_iter().map(|(_, row)| row).collect();
    rows_folded("diff", path, &rows)
}

/// The changes of a file in unified format, old and new lines side by side where there is room.
pub fn changed_file(path: &str, unified: &str) -> String {
    let rows = rows(unified, true);
    let runs =
        rows.chunk_by(|(one, _), (next, _)| matches!((one, next), (b'+' | b'-', b'+' | b'-')));
    let runs = runs.map(|run| {
        html! {
            // Lines that only came or went have no other side.
            @if let [(b'-', _), .., (b'+', _)] = run {
                div.run { @for (_, row) in run { (row) "\n" } }
            } @else {
                @for (at, (_, row)) in run.iter().enumerate() { @if at > 0 { "\n" } (row) }
            }
        }
    });
    rows_folded("diff split", path, &runs.collect::<Vec<_>>()).into_string()
}

/// The lines of a diff, each with its sign.
fn rows(unified: &str, has_numbers: bool) -> Vec<(u8, Markup)> {
    let lines: Vec<&str> = trim_lines(unified).lines().collect();
    let mut changed = changed_words(&lines).into_iter();
    let mut at = None;
    let rows = lines.iter().copied().map(|row| {
        let changed = changed.next().flatten();
        let sign = row.as_bytes().first().copied();
        if sign == Some(b'@') {
            at = has_numbers.then(|| numbers(row)).flatten();
            let heading = if has_numbers { row } else { hunk_without_numbers(row) };
            return (b'@', html! { span.hunk { (line(heading)) } });
        }
        let (old, new) = at.unzip();
        let is = |signs: &[u8]| sign.is_none_or(|sign| signs.contains(&sign));
        at = at.map(|(old, new): (u64, u64)| {
            let next = |n: u64, is_counted: bool| n.saturating_add(u64::from(is_counted));
            (next(old, is(b" -")), next(new, is(b" +")))
        });
        let html = match sign {
            Some(b'+') => html! { ins data-n=[new] { (marked(row, changed)) } },
            Some(b'-') => html! { del data-o=[old] { (marked(row, changed)) } },
            Some(b' ') | None => html! { span data-o=[old] data-n=[new] { (line(row)) } },
            _ => html! { span { (line(row)) } },
        };
        (sign.unwrap_or(b' '), html)
    });
    rows.collect()
}

/// The changed range within each line of a diff: removed lines are compared with an equal number of lines that were
/// added in their place.
fn changed_words(lines: &[&str]) -> Vec<Option<Range<usize>>> {
    let mut changed = vec![None; lines.len()];
    let run = |from: usize, sign: char| {
        lines.iter().skip(from).take_while(|line| line.starts_with(sign)).count()
    };
    let mut at = 0;
    while at < lines.len() {
        let removed = run(at, '-');
        let added = run(at + removed, '+');
        for old in at..at + removed.min(added) {
            let new = old + removed;
            let pair = lines
                .get(old)
                .zip(lines.get(new))
                .and_then(|(old, new)| words::changed(old.get(1..)?, new.get(1..)?));
            for (at, range) in [old, new].into_iter().zip(pair.into_iter().flatten()) {
                if let Some(slot) = changed.get_mut(at) {
                    *slot = Some(range.start + 1..range.end + 1);
                }
            }
        }
        at += (removed + added).max(1);
    }
    changed
}

fn written(path: &str, content: &str) -> Markup {
    let content = content.strip_suffix('\n').unwrap_or(content);
    if content.is_empty() {
        return html! {};
    }
    let rows = (1_u64..).zip(content.split('\n'));
    let rows = rows.map(|(n, row)| {
        html! { ins data-n=(n) { "+" (line(row.strip_suffix('\r').unwrap_or(row))) } }
    });
    rows_folded("diff", path, &rows.collect::<Vec<_>>())
}

/// The content of a file that was read, with the tool's line numbers, if any.
pub(super) fn source(path: &str, numbered: &[(u64, &str)]) -> Markup {
    let rows = numbered.iter().map(|(n, row)| html! { span data-n=(n) { (text(*row)) } });
    rows_folded("src", path, &rows.collect::<Vec<_>>())
}

/// Consecutive rows of a file; if there are many, all but the first ones are folded.
fn rows_folded(class: &str, path: &str, rows: &[Markup]) -> Markup {
    let is_long = rows.len() >= HEAD + LEAST;
    let (head, rest) = rows.split_at(if is_long { HEAD } else { rows.len() });
    let all = |rows: &[Markup]| html! { div class=(class) data-language=[language_of_path(path)] { @for row in rows { (row) "\n" } } };
    html! {
        (all(head))
        @if !rest.is_empty() { (folded(rest.len(), "more line", &all(rest))) }
    }
}

/// The first line numbers of a hunk, before and after: `@@ -12,5 +13,7 @@`.
fn numbers(hunk: &str) -> Option<(u64, u64)> {
    let (ranges, _) = hunk.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let first = |range: &str| range.split(',').next()?.parse().ok();
    Some((first(old)?, first(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_numbers_of_the_file() {
        let html = diff("", "@@ -12,2 +12,2 @@ fn <main>\n a\n-b\n+c\n", true).into_string();
        let expected = "<div class=\"diff\"><span class=\"hunk\">@@ -12,2 +12,2 @@ fn &lt;main&gt;</span>\n\
            <span data-o=\"12\" data-n=\"12\"> a</span>\n<del data-o=\"13\">-b</del>\n\
            <ins data-n=\"13\">+c</ins>\n</div>";
        assert_eq!(html, expected);
        let html = diff("", "@@ -1,1 +1,1 @@\n-b\n+c", false).into_string();
        assert!(html.starts_with(r#"<div class="diff"><span class="hunk">@@</span>"#));
        assert!(!html.contains("data-"));
    }

    #[test]
    fn what_changed_within_lines_is_marked() {
        let html = diff("", "@@ -1,2 +1,2 @@\n-let a = 1;\n-x\n+let a = 2;\n+let b = 3;\n", true);
        let html = html.into_string();
        assert!(html.contains("-let a = <mark>1</mark>;</del>"), "{html}");
        assert!(html.contains("+let a = <mark>2</mark>;</ins>"), "{html}");
        assert_eq!(html.matches("<mark>").count(), 2);
    }

    #[test]
    fn numbers_may_be_anything() {
        for hunk in ["@@", "@@ -x +y @@", "@@ -18446744073709551615 +18446744073709551615 @@"] {
            assert!(!diff("", &format!("{hunk}\n a\n-b\n+c"), true).into_string().is_empty());
        }
    }
}
