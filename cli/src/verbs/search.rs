//! Full-text search of entries.

use clap::Args;
use foldline_database::query::{FoundEntry, MATCH, NearWord, RelaxedSearch, SearchTerms};

use crate::{
    answer::{
        AskArgs, Listing, Value, answer,
        paragraphs::{Paragraph, Paragraphs},
        visible,
    },
    error::Error,
    program::Program,
    say::say,
};

/// The options of `foldline search`.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words or parts of words; a phrase in double quotes
    #[arg(required = true)]
    text: Vec<String>,

    /// Read the text as an SQLite FTS5 query
    #[arg(long)]
    raw: bool,

    #[command(flatten)]
    ask: AskArgs,
}

/// `foldline search`.
pub(crate) fn run(program: &Program, args: &SearchArgs) -> Result<u8, Error> {
    let text = args.text.join(" ");
    let terms = if args.raw { Some(SearchTerms::Raw(text)) } else { SearchTerms::of(&text) };
    answer(program, &args.ask, |asked| {
        let terms = terms.as_ref();
        let terms =
            terms.ok_or_else(|| Error::WrongUse("there is no word to search for".to_owned()))?;
        asked.database.check_search_index()?;
        let mut rows = asked.database.search(terms, &asked.filter)?;
        if let (SearchTerms::All(words), true) = (terms, rows.is_empty()) {
            let relaxed = asked.database.search_relaxed(words, &asked.filter)?;
            if !relaxed.entries.is_empty() {
                say(&how(&relaxed));
            }
            rows = relaxed.entries;
        }
        Ok(Paragraphs { rows, none: "nothing was found", order, paragraph, listing })
    })
}

/// How the words of a question were searched, in one line.
pub(crate) fn how(relaxed: &RelaxedSearch) -> String {
    let RelaxedSearch { left_out, near, unknown, .. } = relaxed;
    let quoted = |words: &[String]| {
        let words = words.iter().map(|word| format!("{:?}", visible(word)));
        words.collect::<Vec<_>>().join(", ")
    };
    let mut how = "entries with some of the words, in any form".to_owned();
    if !left_out.is_empty() {
        how.push_str(&format!("; left out {}", left_out.join(" ")));
    }
    for NearWord { asked, near } in near {
        let asked = std::slice::from_ref(asked);
        how.push_str(&format!("; asked for {}, near word {}", quoted(asked), quoted(near)));
    }
    if !unknown.is_empty() {
        how.push_str(&format!("; nowhere: {}", quoted(unknown)));
    }
    how
}

/// The matches as rows.
fn listing(hits: &[FoundEntry]) -> Listing {
    let mut listing =
        Listing::of("at task session index type tool content matches title session_id", hits)
            .renamed("content", "snippet");
    for row in &mut listing.rows {
        if let [.., Value::Text(snippet), matches, _, _] = row.as_mut_slice() {
            let parts = snippet.split(MATCH[0]).skip(1);
            let found = parts.filter_map(|part| Some(part.split_once(MATCH[1])?.0));
            *matches = Value::Text(found.collect::<Vec<_>>().join("\n"));
            *snippet = snippet.replace(MATCH, "");
        }
    }
    listing
}

fn paragraph(hit: &FoundEntry) -> Paragraph<'_> {
    let [begin, end] = MATCH;
    let snippet = hit.content.as_deref().unwrap_or_default();
    let snippet = visible(&snippet.replace(begin, "«").replace(end, "»"));
    let what = hit.tool.as_deref().map_or_else(|| hit.entry_type.replace('_', " "), visible);
    Paragraph {
        at: hit.at,
        what,
        session: (hit.session, &hit.session_id),
        index: hit.index,
        title: &hit.title,
        lines: vec![snippet.split_whitespace().collect::<Vec<_>>().join(" ")],
    }
}

/// The order of the matches, and how many have only a part of a word.
fn order(hits: &[FoundEntry]) -> String {
    let parts = hits.iter().filter(|hit| hit.is_part).count();
    match hits.len() - parts {
        0 => "parts of words, the latest first".to_owned(),
        _ if parts == 0 => "the best matches first".to_owned(),
        words => {
            format!("{words} with the words, the best matches first; {parts} with parts of words")
        }
    }
}
