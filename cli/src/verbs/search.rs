//! Full-text search of entries.

use std::io::{self, Write};

use clap::Args;
use foldline::emitters::{sqlite::SqliteError, terminal::neutralise_line};

use super::sessions::{is_chosen, title};
use crate::answer::{
    AskArgs, Asked, answer,
    filters::quoted,
    listing::{Kind, Listing, Value, short_id},
    print::{Layout, OutputFormat, Printed},
};
use crate::{error::Error, options::EXIT_CODES, program::Program, table::clip};

/// The options of `foldline search`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SearchArgs {
    /// Words, or parts of words; "a phrase" in double quotes
    #[arg(required = true)]
    text: Vec<String>,

    /// The text is a query in the language of SQLite's FTS5
    #[arg(long)]
    raw: bool,

    #[command(flatten)]
    ask: AskArgs,
}

/// `foldline search`.
pub(crate) fn run(program: &Program, args: &SearchArgs) -> Result<u8, Error> {
    answer(program, &args.ask, |asked| Ok(Hits(search(asked, &args.text.join(" "), args.raw)?)))
}

/// Delimiters of matches in SQLite's result: noncharacters, which occur in no text.
const BEGIN: char = '\u{fdd0}';
const END: char = '\u{fdd1}';

/// Whole words by the index, the best matches first. Where there are none, or the text is in a script that does
/// not separate words, parts of words: every text is read then, the latest first.
fn search(asked: &Asked<'_>, text: &str, raw: bool) -> Result<Listing, Error> {
    if raw {
        return words(asked, text).map_err(|error| match error {
            SqliteError::Other { message, .. } => {
                let message = format!("cannot search for {text:?}: {message}");
                Error::Database(SqliteError::Query(message))
            }
            error => Error::Database(error),
        });
    }
    let terms = terms(text);
    if terms.is_empty() {
        return Err(Error::WrongUse("there is no word to search for".to_owned()));
    }
    let has_words = !terms.iter().any(|term| term.chars().any(is_unseparated));
    if has_words {
        let strings: Vec<_> = terms.iter().map(|term| format!("\"{term}\"")).collect();
        let found = words(asked, &strings.join(" "))?;
        if !found.rows.is_empty() {
            return Ok(found);
        }
    }
    Ok(parts(asked, &terms)?)
}

const COLUMNS: [(&str, Kind); 10] = [
    ("at", Kind::Moment),
    ("task", Kind::Text),
    ("session", Kind::Number),
    ("index", Kind::Number),
    ("type", Kind::Text),
    ("tool", Kind::Text),
    ("snippet", Kind::Text),
    ("matches", Kind::Text),
    ("title", Kind::Text),
    ("session_id", Kind::Short),
];

fn words(asked: &Asked<'_>, query: &str) -> Result<Listing, SqliteError> {
    let (time, is_chosen) = (asked.within("timestamp"), is_chosen(asked));
    let sql = format!(
        "SELECT timestamp, task, sessions.id, idx, type, tool_name,
                snippet(search, -1, '{BEGIN}', '{END}', '…', 24), NULL, {}, session_id
         FROM search JOIN entries ON entries.id = search.rowid
         JOIN sessions ON sessions.id = entries.session
         LEFT JOIN tool_calls ON tool_calls.entry = entries.id
         WHERE search MATCH ?1 AND {time} AND {is_chosen} ORDER BY rank, entries.id LIMIT ?2",
        title("sessions")
    );
    let found = Listing::select(asked.database.connection(), &COLUMNS, &sql, (query, asked.rows()));
    let mut found = found.map_err(|error| asked.database.error(&error))?;
    for row in &mut found.rows {
        if let [.., Value::Text(snippet), matches, title, _] = row.as_mut_slice() {
            *matches = Value::Text(matched(snippet).join("\n"));
            title.keep_first_line();
        }
    }
    Ok(found)
}

/// Entries that have all of the terms somewhere. Letters of the alphabet `a` to `z` are the same in upper and in
/// lower case.
fn parts(asked: &Asked<'_>, terms: &[String]) -> Result<Listing, SqliteError> {
    let (time, is_chosen) = (asked.within("timestamp"), is_chosen(asked));
    let has_all: Vec<_> = terms
        .iter()
        .map(|term| {
            let pattern = quoted(&format!("%{}%", like(term)));
            format!("(content LIKE {pattern} ESCAPE '\\' OR output LIKE {pattern} ESCAPE '\\')")
        })
        .collect();
    let sql = format!(
        "SELECT timestamp, task, sessions.id, idx, type, tool_name,
                content || char(10) || coalesce(output, ''), NULL, {}, session_id
         FROM entries JOIN sessions ON sessions.id = entries.session
         LEFT JOIN tool_calls ON tool_calls.entry = entries.id
         WHERE {} AND {time} AND {is_chosen} ORDER BY entries.id DESC LIMIT ?1",
        title("sessions"),
        has_all.join(" AND ")
    );
    let found = Listing::select(asked.database.connection(), &COLUMNS, &sql, [asked.rows()]);
    let mut found = found.map_err(|error| asked.database.error(&error))?;
    for row in &mut found.rows {
        if let [.., Value::Text(snippet), matches, title, _] = row.as_mut_slice() {
            *snippet = excerpt(snippet, terms);
            *matches = Value::Text(matched(snippet).join("\n"));
            title.keep_first_line();
        }
    }
    Ok(found)
}

/// Whether words of this script stand without spaces between them: those of China, Japan and Thailand, for
/// instance.
fn is_unseparated(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{3ffff}')
}

fn like(term: &str) -> String {
    let mut pattern = String::with_capacity(term.len());
    for c in term.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// What stands around the first term, which is marked.
fn excerpt(text: &str, terms: &[String]) -> String {
    /// Characters before the match, and after it.
    const BEFORE: usize = 30;
    const AFTER: usize = 120;
    let lower = text.to_ascii_lowercase();
    let found = terms.iter().find_map(|term| {
        let at = lower.find(&term.to_ascii_lowercase())?;
        Some((text.get(..at)?, text.get(at..at + term.len())?, text.get(at + term.len()..)?))
    });
    let Some((before, term, after)) = found else { return text.chars().take(AFTER).collect() };
    let start = before.char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    let end = after.char_indices().nth(AFTER).map_or(after.len(), |(at, _)| at);
    let cut = |is_cut| if is_cut { "…" } else { "" };
    let (before, rest) =
        (before.get(start..).unwrap_or_default(), after.get(..end).unwrap_or_default());
    format!("{}{before}{BEGIN}{term}{END}{rest}{}", cut(start > 0), cut(end < after.len()))
}

/// Hits as paragraphs: a snippet needs more room than a table has.
struct Hits(Listing);

impl Printed for Hits {
    fn limit(&mut self, limit: usize) -> bool {
        self.0.limit(limit)
    }

    fn write(&self, out: &mut dyn Write, layout: Layout<'_>) -> io::Result<()> {
        let is_table = layout.format == OutputFormat::Table;
        let (begin, end) = if is_table { ("«", "»") } else { ("", "") };
        let mut hits = self.0.clone();
        for row in &mut hits.rows {
            if let [.., Value::Text(snippet), _, _, _] = row.as_mut_slice() {
                *snippet = snippet.replace(BEGIN, begin).replace(END, end);
            }
        }
        if !is_table {
            return hits.write(out, layout);
        }
        if hits.rows.is_empty() {
            return writeln!(out, "nothing was found");
        }
        hits.rows.iter().try_for_each(|row| paragraph(out, row, layout))
    }
}

fn paragraph(out: &mut dyn Write, row: &[Value], layout: Layout<'_>) -> io::Result<()> {
    let [at, _, number, index, kind, tool, snippet, _, title, id] = row else { return Ok(()) };
    let text = |value: &Value| value.shown(Kind::Text, layout.zone);
    let session = match id {
        Value::Text(id) => short_id(id),
        _ => text(number),
    };
    let what = match tool {
        Value::Null => text(kind).replace('_', " "),
        tool => text(tool),
    };
    let head = format!(
        "{}  {what}  in {session} at {}, {}",
        at.shown(Kind::Moment, layout.zone),
        text(index),
        text(title)
    );
    writeln!(out, "{}", clip(neutralise_line(&head).trim_end(), layout.width))?;
    let snippet = text(snippet).split_whitespace().collect::<Vec<_>>().join(" ");
    writeln!(out, "    {}\n", clip(&neutralise_line(&snippet), layout.width.saturating_sub(4)))
}

/// Every word, and every phrase in double quotes. None has a double quote in it, so that each is a string of the
/// query language when it stands in double quotes.
fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for (number, part) in text.split('"').enumerate() {
        let is_phrase = number % 2 == 1;
        if is_phrase {
            terms.push(part);
        } else {
            terms.extend(part.split_whitespace());
        }
    }
    // A word without letters and digits would match nothing.
    let terms = terms.into_iter().filter(|term| term.contains(char::is_alphanumeric));
    terms.map(|term| term.replace('\0', " ")).collect()
}

fn matched(snippet: &str) -> Vec<&str> {
    let parts = snippet.split(BEGIN).skip(1);
    parts.filter_map(|part| part.split_once(END)).map(|(matched, _)| matched).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_typed_is_syntax() {
        assert_eq!(terms("a AND b* NEAR(c)"), ["a", "AND", "b*", "NEAR(c)"]);
        assert_eq!(terms(r#"say "two words" col:x"#), ["say", "two words", "col:x"]);
        assert_eq!(terms(r#"open "quote"#), ["open", "quote"]);
        assert!(terms("*** --").is_empty());
        assert_eq!(like("50%_\\"), r"50\%\_\\");
    }

    #[test]
    fn an_excerpt_shows_the_match() {
        let excerpt = |text: &str, term: &str| excerpt(text, &[term.to_owned()]);
        assert_eq!(
            excerpt("Das Überfallkommando", "FALL"),
            format!("Das Über{BEGIN}fall{END}kommando")
        );
        assert_eq!(excerpt("これは確認です", "確認"), format!("これは{BEGIN}確認{END}です"));
        let long = "x".repeat(200);
        let cut = excerpt(&format!("{long}é-match-{long}"), "match");
        assert!(cut.starts_with("…x") && cut.ends_with("x…"), "{cut}");
    }
}
