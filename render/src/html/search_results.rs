//! Search results: files and lines.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::{
    output::{folded, output},
    text::{line, text},
};
use crate::human;

/// The number of rows shown before the fold.
const HEAD: usize = 24;
/// Folding fewer rows is not worth a click.
const LEAST: usize = 8;

/// The result of a search, if the tool's output format is recognised.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SearchResults<'t> {
    /// The tool's output before and after the results.
    before: String,
    after: String,
    rows: Vec<Row<'t>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Row<'t> {
    File(&'t str),
    /// A line with its number; it may be context of a hit.
    Line(&'t str, &'t str, bool),
}

/// One line of the result.
enum Read<'t> {
    File(&'t str),
    /// A line of the previously named file, or of this one.
    Line(Option<&'t str>, &'t str, &'t str, bool),
    Nothing,
    Other,
}

impl<'t> Read<'t> {
    /// The path that the line of a hit names.
    fn path_of_hit(self) -> Option<&'t str> {
        match self {
            Self::Line(path, _, _, true) => path,
            _ => None,
        }
    }

    /// A context line only exists beside a hit in the same file: otherwise `log-2026-11-25.txt` is a file.
    fn among(self, row: &'t str, hits: &BTreeSet<&str>) -> Self {
        match self {
            Self::Line(Some(path), _, _, false) if !hits.contains(path) => match is_path(row) {
                true => Self::File(row),
                false => Self::Other,
            },
            read => read,
        }
    }
}

impl<'t> SearchResults<'t> {
    /// Reads a result; `None` if it has no known form.
    pub(super) fn read(printed: &'t str) -> Option<Self> {
        let mut found = Self { before: String::new(), after: String::new(), rows: Vec::new() };
        let mut file = None;
        let rows = printed.lines().map(|row| (row, read(row.trim_end())));
        let hits: BTreeSet<_> = rows.clone().filter_map(|(_, read)| read.path_of_hit()).collect();
        for (printed, read) in rows {
            match read.among(printed.trim_end(), &hits) {
                Read::Nothing => {}
                Read::Other if found.rows.is_empty() => found.before += &format!("{printed}\n"),
                Read::Other => found.after += &format!("{printed}\n"),
                // Unrecognised text between hits.
                _ if !found.after.is_empty() => return None,
                Read::File(path) => {
                    file = Some(path);
                    found.rows.push(Row::File(path));
                }
                Read::Line(of, number, words, is_hit) => {
                    if of.is_some() && of != file {
                        file = of;
                        found.rows.extend(of.map(Row::File));
                    }
                    found.rows.push(Row::Line(number, words, is_hit));
                }
            }
        }
        let is_short = found.before.lines().count() <= 2 && found.after.lines().count() <= 2;
        (!found.rows.is_empty() && is_short).then_some(found)
    }

    /// The number of results, in words.
    pub(super) fn count(&self) -> String {
        let files = self.rows.iter().filter(|row| matches!(row, Row::File(_))).count();
        match (self.hits(), files) {
            (0, files) => human::number_of(files, "file"),
            (hits, 0 | 1) => human::number_of(hits, "hit"),
            (hits, files) => {
                format!("{} in {}", human::number_of(hits, "hit"), human::number_of(files, "file"))
            }
        }
    }

    fn hits(&self) -> usize {
        self.rows.iter().filter(|row| matches!(row, Row::Line(_, _, true))).count()
    }

    /// The list. `query` is the search query.
    pub(super) fn render(&self, query: &str) -> Markup {
        let words = literals(query);
        let is_long = self.rows.len() >= HEAD + LEAST;
        let (head, rest) = self.rows.split_at(if is_long { HEAD } else { self.rows.len() });
        let thing = if self.hits() > 0 { "more line" } else { "more file" };
        html! {
            (said(&self.before))
            (list(head, &words))
            @if !rest.is_empty() { (folded(rest.len(), thing, &list(rest, &words))) }
            (output(&self.after))
        }
    }
}

/// The tool's output before its list, unless it is the number that the call's row shows.
fn said(before: &str) -> Markup {
    let is_count = before.starts_with("SearchResults ") && before.lines().count() == 1;
    if is_count {
        html! {}
    } else {
        output(before)
    }
}

fn list(rows: &[Row<'_>], words: &[String]) -> Markup {
    html! {
        ul.found {
            @for row in rows {
                @match row {
                    Row::File(path) => li.path { span { (line(*path)) } },
                    Row::Line(number, words_of, is_hit) => {
                        li class=[(!is_hit).then_some("beside")] {
                            span { (line(*number)) }
                            span { @if *is_hit { (marked(words_of, words)) } @else { (text(*words_of)) } }
                        }
                    },
                }
            }
        }
    }
}

/// A line with the query highlighted.
fn marked(words: &str, literals: &[String]) -> Markup {
    let mut rest = words;
    html! {
        @while let Some((before, hit, after)) = first_of(rest, literals) {
            (text(before)) mark { (text(hit)) }
            ({ rest = after; "" })
        }
        (text(rest))
    }
}

/// The first of these words in a text, with the text before and after it.
fn first_of<'t>(text: &'t str, words: &[String]) -> Option<(&'t str, &'t str, &'t str)> {
    let found = words.iter().filter_map(|word| Some((text.find(&**word)?, word.len())));
    let (at, length) = found.min_by_key(|(at, length)| (*at, usize::MAX - length))?;
    Some((text.get(..at)?, text.get(at..at + length)?, text.get(at + length..)?))
}

/// The literal alternatives of a regular expression that consists only of literals: `a\(|b`.
fn literals(query: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut literal = Some(String::new());
    let mut chars = query.chars();
    loop {
        let next = chars.next();
        let plain = match next {
            None | Some('|') => {
                all.extend(literal.take().filter(|literal| !literal.trim().is_empty()));
                literal = Some(String::new());
                None
            }
            Some('\\') => match chars.next() {
                Some(c) if c.is_ascii_punctuation() => Some(c),
                Some('b') => None,
                _ => {
                    literal = None;
                    None
                }
            },
            Some('^' | '$') => None,
            Some('.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}') => {
                literal = None;
                None
            }
            Some(c) => Some(c),
        };
        if let (Some(c), Some(literal)) = (plain, &mut literal) {
            literal.push(c);
        }
        if next.is_none() {
            return all;
        }
    }
}

/// Reads a line in the format of `rg` and of agents' tools.
fn read(row: &str) -> Read<'_> {
    if row.trim_matches('-').is_empty() {
        return Read::Nothing;
    }
    if let Some(path) = row.strip_prefix("File: ") {
        return Read::File(path);
    }
    // `L12: text`, `  Line 12: text`: of the previously named file.
    let of_file = row.strip_prefix('L').or_else(|| row.trim_start().strip_prefix("Line "));
    if let Some((number, words)) = of_file.and_then(|row| row.split_once(':'))
        && is_number(number)
    {
        return Read::Line(None, number, words.strip_prefix(' ').unwrap_or(words), true);
    }
    if let Some((of, number, words, is_hit)) = numbered(row) {
        return Read::Line(of, number, words, is_hit);
    }
    match row.strip_suffix(':').unwrap_or(row) {
        path if is_path(path) => Read::File(path),
        _ => Read::Other,
    }
}

/// `src/a.rs:12:text`, `src/a.rs-13-text`, `12:text`, `13-text`.
fn numbered(row: &str) -> Option<(Option<&str>, &str, &str, bool)> {
    let digits = row.len() - row.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits > 0 {
        let (number, rest) = row.split_at(digits);
        let mark = rest.chars().next().filter(|mark| [':', '-'].contains(mark))?;
        return Some((None, number, rest.get(1..)?, mark == ':'));
    }
    // The first number between two identical separators ends the path.
    row.match_indices([':', '-']).find_map(|(at, mark)| {
        let (path, rest) = (row.get(..at)?, row.get(at + 1..)?);
        let (number, words) = rest.split_once(mark)?;
        (is_number(number) && is_path(path)).then_some((Some(path), number, words, mark == ":"))
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether this looks like a path rather than a sentence.
fn is_path(text: &str) -> bool {
    let has_shape = text.contains(['/', '\\'])
        || text.rsplit_once('.').is_some_and(|(_, extension)| !extension.is_empty());
    let is_sentence = text.contains(": ")
        || text.ends_with(['.', ')', ',', '"'])
        || text.starts_with(['(', '[', '"', '<', '{']);
    has_shape && !is_sentence && text.matches(' ').count() <= 3 && !text.starts_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_files() {
        let found = SearchResults::read("SearchResults 2 files\nsrc/a.rs\nb c.txt").unwrap();
        assert_eq!(found.rows, [Row::File("src/a.rs"), Row::File("b c.txt")]);
        assert_eq!(found.count(), "2 files");
        assert!(!found.render("x").into_string().contains("SearchResults 2"));
        let dated = "/srv/x/log-2026-11-25-x.txt\n/srv/x/log-2026-11-26-x.txt";
        let found = SearchResults::read(dated).unwrap();
        let files: Vec<_> = dated.lines().map(Row::File).collect();
        assert_eq!(found.rows, files);
        for none in ["No files found", "", "1 passed; 0 failed. See a.", "{\"a\": \"b/c\"}"] {
            assert_eq!(SearchResults::read(none), None, "{none}");
        }
    }

    #[test]
    fn lines_within_files() {
        let found =
            SearchResults::read("a/b-1.rs-9-x\na/b-1.rs:10:let y;\n--\nc.rs:7:y\n(more)").unwrap();
        let expected = [
            Row::File("a/b-1.rs"),
            Row::Line("9", "x", false),
            Row::Line("10", "let y;", true),
            Row::File("c.rs"),
            Row::Line("7", "y", true),
        ];
        assert_eq!(found.rows, expected);
        assert_eq!(
            (found.count().as_str(), found.after.as_str()),
            ("2 hits in 2 files", "(more)\n")
        );
        let html = found.render("y").into_string();
        assert!(html.contains("<li class=\"beside\"><span>9</span><span>x</span></li>"), "{html}");
        assert!(
            html.contains("<li><span>10</span><span>let <mark>y</mark>;</span></li>"),
            "{html}"
        );
        let one = SearchResults::read("12:\tif a\n13-\tb").unwrap();
        assert_eq!(one.rows, [Row::Line("12", "\tif a", true), Row::Line("13", "\tb", false)]);
        let gemini =
            SearchResults::read("SearchResults 1 match for \"y\":\n---\nFile: a.ts\nL3: y\n---")
                .unwrap();
        assert_eq!(gemini.rows, [Row::File("a.ts"), Row::Line("3", "y", true)]);
        let opencode = SearchResults::read("SearchResults 1 match\n/a/b.ts:\n  Line 3: y").unwrap();
        assert_eq!(opencode.rows, [Row::File("/a/b.ts"), Row::Line("3", "y", true)]);
    }

    #[test]
    fn what_is_marked() {
        assert_eq!(literals(r"day_bounds\(|\bhours(24)|^x"), ["day_bounds(", "x"]);
        assert_eq!(literals("a.*b"), [""; 0]);
        let html = marked("é<x>é", &["é".to_owned(), "é<".to_owned()]).into_string();
        assert_eq!(html, "<mark>é&lt;</mark>x&gt;<mark>é</mark>");
    }
}
