//! `get_session`: entries of a session.

use foldline_database::query::SessionRow;
use foldline_domain::{NormalizedEntry, NormalizedEntryType};
use foldline_render::human;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{outline::outline, session_head::session_head, tool_arguments::ToolArguments};
use crate::{
    answer::find::reference,
    error::Error,
    mcp::{
        arguments::Bounds, call::Call, entry::ShownEntry, page::Page, quote::quoted, tokens::Tokens,
    },
    only::What,
};

/// Entries before and after one that was named alone.
const BEFORE: u64 = 3;
const AFTER: u64 = 8;

/// Entries that are read at a time.
const CHUNK: i64 = 64;

/// Bytes of texts that are held for an answer.
const MOST_HELD: usize = 32 << 20;

/// The characters of a text, the largest number with which all entries fit.
const LENGTHS: [usize; 8] = [20_000, 6_000, 2_500, 1_200, 800, 550, 350, LEAST];
const LEAST: usize = 200;

/// The arguments of `get_session`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetSession {
    /// An id or its beginning, latest, latest~2, a number, or a part of a title; or SESSION:ENTRY.
    session: String,
    /// First entry, from 0.
    from: Option<u32>,
    /// Last entry.
    to: Option<u32>,
    /// Default: all but thinking and diagnostics.
    only: Option<Vec<EntryKind>>,
    /// Characters to skip of a single entry (from equals to).
    text_from: Option<u32>,
    #[serde(flatten)]
    bounds: Bounds,
}

/// A kind of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EntryKind {
    Prompts,
    Answers,
    Thinking,
    Tools,
    // Failed calls and reported errors.
    Errors,
    System,
    Diagnostics,
}

impl EntryKind {
    fn includes(self, entry: &NormalizedEntry) -> bool {
        let what = match self {
            Self::Prompts => What::Prompts,
            Self::Answers => What::Answers,
            Self::Thinking => What::Thinking,
            Self::Tools => What::Tools,
            Self::Errors => What::Errors,
            Self::System => return entry.entry_type.is_system(),
            Self::Diagnostics => {
                return matches!(entry.entry_type, NormalizedEntryType::Diagnostic { .. });
            }
        };
        what.includes(entry)
    }
}

/// The kinds that are shown by default.
const USUAL: [EntryKind; 5] = [
    EntryKind::Prompts,
    EntryKind::Answers,
    EntryKind::Tools,
    EntryKind::Errors,
    EntryKind::System,
];

/// Entries of a session that were read.
#[derive(Default)]
struct ReadEntries {
    entries: Vec<ShownEntry>,
    /// Entries of other kinds.
    others: u64,
    /// The first entry that was not read.
    next: u64,
}

impl ToolArguments for GetSession {
    const NAME: &'static str = "get_session";
    const TITLE: &'static str = "Read a session";
    const ABOUT: &'static str = "Reads a session. By default an outline: first prompt, failures, changed files, last \
        answer. With SESSION:ENTRY, from, to or only: entries.";

    fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    fn answer(&self, call: &Call<'_>) -> Result<String, Error> {
        let (name, entry) = reference(&self.session);
        let session = call.session(name)?;
        let count = u64::try_from(session.entries).unwrap_or(0);
        let near = |entry: u64| (entry.saturating_sub(BEFORE), entry.saturating_add(AFTER));
        let (first, last) = entry.map_or((0, u64::MAX), near);
        let is_named = self.from.is_some() || self.to.is_some();
        let (first, last) = if is_named { (0, u64::MAX) } else { (first, last) };
        let from = self.from.map_or(first, u64::from);
        let to = self.to.map_or(last, u64::from).min(count.saturating_sub(1));
        if from > to || count == 0 {
            let number = human::number_of(count, "entry");
            return Err(Error::WrongUse(format!(
                "there are no entries from {from} to {to}: the session has {number}, counted from 0"
            )));
        }
        if self.text_from.is_some() && from != to {
            return Err(Error::WrongUse(
                "text_from is for a single entry: from equals to".to_owned(),
            ));
        }
        let name = call.name(session.number, session.session.as_deref())?;
        let head = session_head(call, &session, &name) + &tree(call, &session, &name)?;
        if entry.is_none() && !is_named && self.only.is_none() {
            let head = head + &outline(call, &session, &name)?;
            let entries = ReadEntries { next: from, ..ReadEntries::default() };
            return Ok(several(call, &head, &entries, to));
        }
        let read = self.read(call, &session, &name, (from, to))?;
        if from == to {
            return Ok(self.single(call, head, read));
        }
        Ok(several(call, &head, &read, to))
    }
}

impl GetSession {
    /// Reads the entries of a range, until they cannot fit any more.
    fn read(
        &self,
        call: &Call<'_>,
        session: &SessionRow,
        name: &str,
        (from, to): (u64, u64),
    ) -> Result<ReadEntries, Error> {
        let kinds = self.only.as_deref().unwrap_or(&USUAL);
        // An entry that was asked for by its number is shown, whatever it is.
        let is_wanted =
            |entry: &NormalizedEntry| from == to || kinds.iter().any(|kind| kind.includes(entry));
        let index = |index: u64| i64::try_from(index).unwrap_or(i64::MAX);
        let mut read = ReadEntries { next: from, ..ReadEntries::default() };
        let (mut left, mut held) = (Some(call.budget()), 0_usize);
        while read.next <= to && left.is_some() {
            let end = index(read.next).saturating_add(CHUNK).min(index(to).saturating_add(1));
            call.database.entries(session.number, index(read.next)..end, |stored| {
                let at = stored.index.get() as u64;
                if left.is_none() {
                    return;
                }
                read.next = at.saturating_add(1);
                if !is_wanted(&stored.entry) {
                    read.others += 1;
                    return;
                }
                let entry = ShownEntry::new(call, name, stored);
                held = held.saturating_add(entry.size());
                left = left.and_then(|left| left.less(Tokens::of(&entry.lines(LEAST))));
                left = left.filter(|_| held < MOST_HELD);
                read.entries.push(entry);
            })?;
            if left.is_some() {
                // Pruned entries are not there.
                read.next = u64::try_from(end).unwrap_or(u64::MAX);
            }
        }
        Ok(read)
    }

    /// One entry, from a place in its text.
    fn single(&self, call: &Call<'_>, head: String, read: ReadEntries) -> String {
        let Some(entry) = read.entries.into_iter().next() else {
            return "This entry was pruned: only its number is known.\n".to_owned();
        };
        let (line, text) = entry.whole();
        let skipped = self.text_from.unwrap_or(0) as usize;
        let count = text.chars().count();
        let end = |shown: usize| match skipped + shown < count {
            false => String::new(),
            true => format!(
                "Characters {skipped} to {} of {count}. The next: {}\n",
                skipped + shown,
                call.again(&[("text_from", json!(skipped + shown))])
            ),
        };
        let mut page = Page::new(call.budget()).keeping(&end(count.saturating_sub(skipped + 1)));
        page.push_beginning(&(head + &line));
        let rest = text.char_indices().nth(skipped).and_then(|(at, _)| text.get(at..));
        let mut shown = 0;
        for line in rest.unwrap_or_default().split('\n') {
            if page.push(&quoted(line)) {
                shown += line.chars().count() + 1;
                continue;
            }
            // The mark and the line feed take place, too.
            if let Some(left) = page.left().less(Tokens::of("> \n")) {
                let part = left.beginning(line);
                if page.push(&quoted(part)) {
                    shown += part.chars().count();
                }
            }
            break;
        }
        page.finish(&end(shown))
    }
}

/// What the session is a part of, and its own parts, which get_session reads by these names.
fn tree(call: &Call<'_>, session: &SessionRow, name: &str) -> Result<String, Error> {
    /// The number of listed parts.
    const LISTED: usize = 20;
    if session.whole.is_none() && session.agents == 0 {
        return Ok(String::new());
    }
    let tree = call.database.tree_of(session.number)?;
    let named = |part: &SessionRow| call.name(part.number, part.session.as_deref());
    let mut lines = String::new();
    if let Some(whole) = tree.iter().find(|part| Some(part.number) == session.whole) {
        let by =
            session.call.map_or(String::new(), |call| format!(", started by its entry {call}"));
        lines.push_str(&format!("A part of session {}{by}.\n", named(whole)?));
    }
    let parts = tree.iter().filter(|part| part.whole == Some(session.number));
    for part in parts.clone().take(LISTED) {
        let calls = human::number_of(part.calls.max(0), "call");
        let failed =
            if part.failures > 0 { format!(", {} failed", part.failures) } else { String::new() };
        let by = part.call.map_or(String::new(), |call| format!(", started by {name}:{call}"));
        lines.push_str(&format!("Sub-agent {}: {calls}{failed}{by}\n", named(part)?));
        let title = call.line(part.title.as_deref().unwrap_or_default(), 80);
        lines.push_str(&quoted(&title));
    }
    if let Some(more @ 1..) = parts.count().checked_sub(LISTED) {
        lines.push_str(&format!("And {}.\n", human::number_of(more, "more sub-agent")));
    }
    Ok(lines)
}

/// Entries, with as much of each text as all of them leave room for.
fn several(call: &Call<'_>, head: &str, read: &ReadEntries, to: u64) -> String {
    let end = |shown: usize| {
        let next = read.entries.get(shown).map_or(read.next, |entry| entry.index);
        let mut end = String::new();
        if read.others > 0 {
            let others = human::number_of(read.others, "entry");
            end.push_str(&format!("Not shown: {others} of other kinds, which `only` names.\n"));
        }
        if next <= to {
            let again = call.again(&[("from", json!(next)), ("to", json!(to))]);
            let left = human::number_of(to - next + 1, "entry");
            end.push_str(&format!("Left out: {left}, {next} to {to}. The next: {again}\n"));
        }
        end
    };
    // A later end may have more digits.
    let reserve = end(0) + "0000000000";
    let page = || {
        let mut page = Page::new(call.budget()).keeping(&reserve);
        page.push_beginning(head);
        page
    };
    for most in LENGTHS {
        let mut page = page();
        if read.next > to && read.entries.iter().all(|entry| page.push(&entry.lines(most))) {
            return page.finish(&end(read.entries.len()));
        }
    }
    let mut page = page();
    let mut shown = 0;
    for entry in &read.entries {
        let lines = entry.lines(LEAST);
        if !page.push(&lines) {
            if shown > 0 {
                break;
            }
            page.push_beginning(&lines);
        }
        shown += 1;
    }
    page.finish(&end(shown))
}
