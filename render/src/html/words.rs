//! Finds the changed words of a changed line.

use std::ops::Range;

use maud::{Markup, html};

use super::text::line;

/// The words of a line are compared only if at least one third of it is unchanged.
const LEAST_PART: usize = 3;

/// The changed range of each of two lines: `None` if they have too little in common.
pub(super) fn changed(old: &str, new: &str) -> Option<[Range<usize>; 2]> {
    let common = |pairs: &mut dyn Iterator<Item = (char, char)>| {
        let same = pairs.take_while(|(a, b)| a == b);
        same.map(|(a, _)| a.len_utf8()).sum::<usize>()
    };
    let before = common(&mut old.chars().zip(new.chars()));
    let before = start_of_word(old, before).min(start_of_word(new, before));
    let (old_rest, new_rest) = (old.get(before..)?, new.get(before..)?);
    let after = common(&mut old_rest.chars().rev().zip(new_rest.chars().rev()));
    let [old_end, new_end] = [old.len() - after, new.len() - after];
    let more = (end_of_word(old, old_end) - old_end).max(end_of_word(new, new_end) - new_end);
    let (old_end, new_end) = (old_end + more.min(after), new_end + more.min(after));
    let kept = |line: &str, end: usize| {
        line.get(..before).map_or(0, |text| text.trim_start().len()) + line.len() - end
    };
    let longest = old.trim_start().len().max(new.trim_start().len());
    let is_alike = kept(old, old_end) * LEAST_PART >= longest && old != new;
    is_alike.then_some([before..old_end, before..new_end])
}

/// A line with its changed range highlighted.
pub(super) fn marked(row: &str, changed: Option<Range<usize>>) -> Markup {
    let parts = changed.filter(|range| !range.is_empty()).and_then(|range| {
        Some((row.get(..range.start)?, row.get(range.clone())?, row.get(range.end..)?))
    });
    html! {
        @match parts {
            Some((before, changed, after)) => {
                (line(before)) mark { (line(changed)) } (line(after))
            },
            None => (line(row)),
        }
    }
}

fn start_of_word(line: &str, at: usize) -> usize {
    if !is_within_word(line, at) {
        return at;
    }
    let before = line.get(..at).unwrap_or_default();
    before.trim_end_matches(is_of_word).len()
}

fn end_of_word(line: &str, at: usize) -> usize {
    if !is_within_word(line, at) {
        return at;
    }
    let after = line.get(at..).unwrap_or_default();
    line.len() - after.trim_start_matches(is_of_word).len()
}

fn is_within_word(line: &str, at: usize) -> bool {
    let before = line.get(..at).and_then(|before| before.chars().next_back());
    let after = line.get(at..).and_then(|after| after.chars().next());
    before.is_some_and(is_of_word) && after.is_some_and(is_of_word)
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'l>(old: &'l str, new: &'l str) -> Option<[&'l str; 2]> {
        let [a, b] = changed(old, new)?;
        Some([&old[a], &new[b]])
    }

    #[test]
    fn whole_words_are_compared() {
        assert_eq!(of("version = \"1.7.2\"", "version = \"1.7.3\""), Some(["2", "3"]));
        assert_eq!(of("let count = a;", "let counter = a;"), Some(["count", "counter"]));
        assert_eq!(of("let a = f(x);", "let a = f(x, y);"), Some(["", ", y"]));
        assert_eq!(of("é: größe 1", "é: großes 1"), Some(["größe", "großes"]));
        assert_eq!(of("same", "same"), None);
        assert_eq!(of("    return nothing;", "    something_else()"), None);
        assert_eq!(of("", "a"), None);
    }

    #[test]
    fn any_two_lines_can_be_compared() {
        let lines =
            ["", "a", "aa", "aaa", "a a", "ab", "é", "éa", "aé", "日本", "日 本", "  x", "x  "];
        for old in lines {
            for new in lines {
                if let Some([a, b]) = changed(old, new) {
                    assert_eq!(old[..a.start], new[..b.start]);
                    assert_eq!(old[a.end..], new[b.end..]);
                }
            }
        }
    }
}
