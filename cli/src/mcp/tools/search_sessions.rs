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
        quote::{clip, line, quoted},
        tokens::Tokens,
    },
    verbs::search::how,
};

/// The longest excerpt in characters, and the longest answer: of the best match, and of others.
const LONGEST: usize = 300;
const SHORT: usize = 200;

/// That of others in an answer of few tokens, which else had room for no other.
const SHORTEST: usize = 120;
const FEW: u32 = 1_000;

/// The longest title.
const TITLE: usize = 60;

/// The arguments of `search_sessions`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchSessions {
    /// Question or keywords; "a phrase".
    text: String,
    #[serde(flatten)]
    scope: Scope,
    /// Results to skip.
    #[serde(default)]
    offset: u32,
    #[serde(flatten)]
    bounds: Bounds,
}

impl ToolArguments for SearchSessions {
    const NAME: &'static str = "search_sessions";
    const TITLE: &'static str = "Search past sessions";
    const ABOUT: &'static str = "Finds what was said, decided or tried before in this project: prompts, answers, \
        commands, edits and outputs of past sessions. Ask in plain words. Matches cite SESSION:ENTRY, the best first.";

    fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    fn answer(&self, call: &Call<'_>) -> Result<String, Error> {
        let terms = SearchTerms::of(&self.text);
        let terms = terms
            .ok_or_else(|| Error::WrongUse("there is no word to search for in text".to_owned()))?;
        let filter = after(call, self.offset, call.filter(&self.scope)?);
        call.database.check_search_index()?;
        // A question in plain words is no list of words that an entry must have.
        if !terms.is_in_words() {
            let found = call.database.search(&terms, &filter)?;
            // The end of the entries that have all words is no reason to look for others.
            let first = SessionFilter { limit: Some(1), offset: 0, ..filter.clone() };
            let is_end = || -> Result<bool, Error> {
                Ok(self.offset > 0 && !call.database.search(&terms, &first)?.is_empty())
            };
            if !found.is_empty() || is_end()? {
                return self.listed(call, String::new(), &found);
            }
        }
        let SearchTerms::All(words) = &terms else { return self.listed(call, String::new(), &[]) };
        let relaxed = call.database.search_relaxed(words, &filter)?;
        let head = call.text(&format!("Relaxed: {}.\n", how(&relaxed)));
        self.listed(call, head, &relaxed.entries)
    }
}

impl SearchSessions {
    fn listed(&self, call: &Call<'_>, head: String, found: &[FoundEntry]) -> Result<String, Error> {
        if found.is_empty() {
            return Ok(call.nothing("Nothing was found", &self.scope, self.offset));
        }
        let short = if call.budget() < Tokens::new(FEW) { SHORTEST } else { SHORT };
        let mut last = None;
        let results = Results { head, rows: found, offset: self.offset };
        results.answer(call, |hit| {
            // The best match is shown at length.
            let most = if last.is_none() && self.offset == 0 { LONGEST } else { short };
            let is_same = last.replace(hit.session) == Some(hit.session);
            block(call, hit, is_same, most)
        })
    }
}

/// A match: where it is, and as text of the log: its session, unless the match before is of the same one, its call, and at
/// most so many characters around it; after a prompt, what was answered in the end.
fn block(call: &Call<'_>, hit: &FoundEntry, is_same: bool, most: usize) -> Result<String, Error> {
    let name = call.name(hit.session, hit.session_id.as_deref())?;
    let kind = hit.entry_type.replace('_', " ");
    let snippet = hit.content.as_deref().unwrap_or_default();
    let snippet = match call.redacts() {
        false => snippet.replace(MATCH[0], "«").replace(MATCH[1], "»"),
        // A snippet may begin within a secret, which would not be found then.
        true => excerpt(call, hit, snippet)?,
    };
    let text = |text: &Option<String>, most| call.line(text.as_deref().unwrap_or_default(), most);
    let is_prompt = hit.entry_type == "user_message";
    let title = if is_same || is_prompt { String::new() } else { text(&hit.title, TITLE) };
    let (tool, what) = (text(&hit.tool, 60), text(&hit.what, TITLE));
    let what = if what == tool { String::new() } else { what };
    let about = [title, tool, what].into_iter().filter(|it| !it.is_empty());
    let about = about.collect::<Vec<_>>().join(" | ");
    let at = call.minute(hit.at);
    let mut block = format!("{name}:{} {at} {}\n", hit.index, kind.trim_end());
    if !about.is_empty() {
        block.push_str(&quoted(&about));
    }
    block.push_str(&quoted(&around_match(&line(&snippet, LONGEST), most)));
    if is_prompt && let Some((index, reply)) = call.database.reply(hit.session, hit.index)? {
        let reply = call.line(&reply, most);
        block.push_str(&format!("Answered in {name}:{index}\n{}", quoted(&reply)));
    }
    Ok(block)
}

/// At most so many characters of a snippet, with its first match.
fn around_match(snippet: &str, most: usize) -> String {
    let before = snippet.chars().take_while(|c| *c != '«').count();
    let count = snippet.chars().count();
    if count <= most {
        return snippet.to_owned();
    }
    let start = if before < count { before.saturating_sub(most / 3).min(count - most) } else { 0 };
    let cut = if start > 0 { "…" } else { "" };
    let rest: String = snippet.chars().skip(start).collect();
    format!("{cut}{}", clip(&rest, most))
}
