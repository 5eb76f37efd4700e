//! `search_sessions`: a full-text search.

use foldline_database::query::{FoundEntry, MATCH, SearchTerms, SessionFilter};
use schemars::JsonSchema;
use serde::Deserialize;

use super::tool_arguments::ToolArguments;
use crate::{
    error::Error,
    mcp::{
        arguments::{Bounds, Scope},
        call::Call,
        excerpt::excerpt,
        listing::{Results, after},
        quote::{line, quoted},
    },
};

/// The longest excerpt in characters.
const LONGEST: usize = 300;

/// The arguments of `search_sessions`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchSessions {
    /// Words, or parts of words; a phrase in double quotes. Where no entry has all of them, those with some are found.
    text: String,
    #[serde(flatten)]
    scope: Scope,
    /// Number of results to skip, as the end of an earlier answer says.
    #[serde(default)]
    offset: u32,
    #[serde(flatten)]
    bounds: Bounds,
}

impl ToolArguments for SearchSessions {
    const NAME: &'static str = "search_sessions";
    const TITLE: &'static str = "Search past sessions";
    const ABOUT: &'static str = "Searches the full text of past sessions of coding agents (Claude Code, Codex, Gemini \
        and others) in this project: prompts, answers, commands, edits, and outputs of tools, the best matches first. Each match \
        cites SESSION:ENTRY, which get_session reads with its surroundings. Use it to find what was said, decided or tried \
        before.";

    fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    fn answer(&self, call: &Call<'_>) -> Result<String, Error> {
        let terms = SearchTerms::of(&self.text);
        let terms = terms
            .ok_or_else(|| Error::WrongUse("there is no word to search for in text".to_owned()))?;
        let filter = after(self.offset, call.filter(&self.scope)?);
        call.database.check_search_index()?;
        let found = call.database.search(&terms, &filter)?;
        if found.is_empty() {
            return self.relaxed(call, &terms, &filter);
        }
        let results = Results { head: String::new(), rows: &found, offset: self.offset };
        results.answer(call, |hit| block(call, hit))
    }
}

impl SearchSessions {
    /// The entries with some of the words, where none has all of them.
    fn relaxed(
        &self,
        call: &Call<'_>,
        terms: &SearchTerms,
        filter: &SessionFilter,
    ) -> Result<String, Error> {
        let nothing = || Ok(call.nothing("Nothing was found", &self.scope, self.offset));
        let SearchTerms::All(words) = terms else { return nothing() };
        // The end of the entries that have all words is no reason to look for others.
        let first = SessionFilter { limit: Some(1), offset: 0, ..filter.clone() };
        let is_end = self.offset > 0 && !call.database.search(terms, &first)?.is_empty();
        if words.len() < 2 || is_end {
            return nothing();
        }
        let (found, unknown) = call.database.search_some(words, filter)?;
        if found.is_empty() {
            return nothing();
        }
        let unknown: Vec<_> = unknown.iter().map(|word| format!("{:?}", line(word, 40))).collect();
        let nowhere = match unknown.as_slice() {
            [] => String::new(),
            words => format!(" Nowhere: {}.", words.join(", ")),
        };
        let head = format!("No entry has all words.{nowhere} Entries with some of them:\n");
        let results = Results { head, rows: &found, offset: self.offset };
        results.answer(call, |hit| block(call, hit))
    }
}

/// A match: where it is, and as text of the log: its session, its tool and the text around it.
fn block(call: &Call<'_>, hit: &FoundEntry) -> Result<String, Error> {
    let name = call.name(hit.session, hit.session_id.as_deref())?;
    let kind = hit.entry_type.replace('_', " ");
    let snippet = hit.content.as_deref().unwrap_or_default();
    let snippet = match call.redacts() {
        false => snippet.replace(MATCH[0], "«").replace(MATCH[1], "»"),
        // A snippet may begin within a secret, which would not be found then.
        true => excerpt(call, hit, snippet)?,
    };
    let text = |text: &Option<String>, most| call.line(text.as_deref().unwrap_or_default(), most);
    let (title, tool) = (text(&hit.title, 80), text(&hit.tool, 60));
    let about = if tool.is_empty() { title } else { format!("{title} | {tool}") };
    let at = call.minute(hit.at);
    Ok(format!(
        "{name}:{} {at} {}\n{}{}",
        hit.index,
        kind.trim_end(),
        quoted(&about),
        quoted(&line(&snippet, LONGEST))
    ))
}
