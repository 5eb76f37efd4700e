//! [`Snapshot`]: the content of a page at one moment.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use foldline_domain::{EntryIdx, Session};
use maud::{Markup, Render};

use super::REST;
use super::{
    about::{self, Totals},
    facts::Facts,
    history::Versions,
    shared_vec::SharedVec,
    side,
};
use crate::html::{
    emitter::with_last,
    fragment::{Fragment, Place},
    time::Clock,
    visible::visible,
};

/// The content of a page at one moment: facts and entries. A clone shares them.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub(super) facts: Arc<Facts>,
    slots: SharedVec<Slot>,
    /// The top-level entries, in order.
    outermost: SharedVec<usize>,
    /// The entries that are or were to-do lists, in order: the last one is expanded.
    todo_lists: Arc<Vec<usize>>,
    past: Option<Past>,
    /// Entries, and the HTML at their ends.
    appended: BTreeMap<usize, String>,
    /// The totals that are shown in place of those of the log.
    totals: Option<Totals>,
    pub(super) clock: Clock,
}

/// A moment that is not the present.
#[derive(Clone, Debug)]
pub(super) struct Past {
    pub(super) moment: usize,
    /// The moment in words.
    pub(super) words: String,
    /// The number of entries that existed.
    pub(super) len: usize,
    pub(super) versions: SharedVec<Versions>,
}

/// A rendered entry and its nested entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    pub(super) content: Content,
    /// The enclosing entry.
    pub(super) parent: Option<usize>,
    within: Vec<usize>,
}

/// The HTML of an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    /// Shared with the history of the page, if it has one.
    pub(super) html: Arc<String>,
    /// The insertion point in the HTML, in bytes.
    pub(super) inside: Option<usize>,
}

impl Content {
    /// Whether it is a to-do list. The template writes its attributes; text is escaped.
    fn is_todo_list(&self) -> bool {
        let start = self.html.split_once('>').map_or("", |(start, _)| start);
        start.contains(" data-action=\"todo_management\"")
    }

    /// Appends text to a growing entry.
    pub(super) fn grow(&mut self, html: &str) {
        if let Some(inside) = &mut self.inside {
            Arc::make_mut(&mut self.html).insert_str(*inside, html);
            *inside += html.len();
        }
    }

    /// The HTML before and after the insertion point.
    fn parts(&self) -> (&str, &str) {
        let inside = self.inside.unwrap_or(self.html.len());
        self.html.split_at_checked(inside).unwrap_or_default()
    }
}

impl Snapshot {
    /// Inserts a fragment.
    pub(super) fn put(&mut self, fragment: Fragment) {
        let Fragment { index, place, parent, html, inside } = fragment;
        let index = index.get();
        let content = |html| Content { html: Arc::new(html), inside };
        match place {
            // The parent precedes its entries, even in an invalid log.
            Place::Append => {
                let parent = parent.map(EntryIdx::get).filter(|parent| *parent < index);
                let slot = Slot { content: content(html), parent, within: Vec::new() };
                self.append(slot);
            }
            Place::Replace => {
                let Some(slot) = self.slots.get_mut(index) else { return };
                slot.content = content(html);
                if slot.content.is_todo_list() {
                    self.add_todo_list(index);
                }
            }
            Place::Grow => {
                if let Some(slot) = self.slots.get_mut(index) {
                    slot.content.grow(&html);
                }
            }
        }
    }

    /// Adds an entry.
    fn append(&mut self, slot: Slot) {
        let index = self.slots.len();
        match slot.parent {
            Some(parent) => {
                if let Some(parent) = self.slots.get_mut(parent) {
                    parent.within.push(index);
                }
            }
            None => self.outermost.push(index),
        }
        if slot.content.is_todo_list() {
            self.add_todo_list(index);
        }
        self.slots.push(slot);
    }

    fn add_todo_list(&mut self, index: usize) {
        if let Err(place) = self.todo_lists.binary_search(&index) {
            Arc::make_mut(&mut self.todo_lists).insert(place, index);
        }
    }

    pub(super) fn slot(&self, index: usize) -> Option<&Slot> {
        self.slots.get(index).filter(|_| index < self.len())
    }

    /// The same session at a past moment.
    pub(super) fn at(&self, past: Past, facts: Facts) -> Self {
        Self { facts: Arc::new(facts), past: Some(past), ..self.clone() }
    }

    fn len(&self) -> usize {
        self.past.as_ref().map_or(self.slots.len(), |past| past.len)
    }

    /// Appends HTML to an entry. Returns whether the entry exists.
    pub fn append_to(&mut self, index: EntryIdx, html: &str) -> bool {
        let exists = self.slot(index.get()).is_some();
        if exists {
            self.appended.entry(index.get()).or_default().push_str(html);
        }
        exists
    }

    /// Shows the totals of the session with its sub-agents instead of those of its own log.
    pub fn set_totals(&mut self, totals: Totals) {
        self.totals = Some(totals);
    }

    /// The title: the log's, or else its first prompt. Plain text, not HTML.
    pub fn title(&self) -> String {
        self.facts.title().into_owned()
    }

    /// The facts that the log states about the session, if there are any.
    pub fn session(&self) -> Option<&Session> {
        self.facts.session()
    }

    /// The facts of the session, as HTML: a `<header class="about">`.
    pub fn about(&self) -> String {
        self.render_about().into_string()
    }

    /// The prompts, tools, files and models of the session, as HTML: an `<aside id="side">`.
    pub fn side(&self) -> String {
        self.facts.side.get_or_init(|| self.render_side().into_string()).clone()
    }

    /// The top-level entries, which are not nested in a call, in order.
    pub fn outermost(&self) -> impl DoubleEndedIterator<Item = EntryIdx> {
        (0..self.outermost_count()).filter_map(|place| self.outermost_at(place))
    }

    /// The number of top-level entries.
    pub fn outermost_count(&self) -> usize {
        self.outermost_before(EntryIdx::new(self.len()))
    }

    /// The number of top-level entries before this entry.
    pub fn outermost_before(&self, index: EntryIdx) -> usize {
        let index = index.get().min(self.len());
        self.outermost.partition_point(|other| *other < index)
    }

    /// The top-level entry at a place among them.
    pub fn outermost_at(&self, place: usize) -> Option<EntryIdx> {
        self.outermost.get(place).filter(|index| **index < self.len()).copied().map(EntryIdx::new)
    }

    /// The top-level entry that contains this one, or the entry itself if it is one.
    pub fn outermost_of(&self, index: EntryIdx) -> Option<EntryIdx> {
        let mut at = index.get();
        self.slot(at)?;
        // A parent precedes its entries, so the loop ends.
        while let Some(parent) = self.slot(at)?.parent {
            at = parent;
        }
        Some(EntryIdx::new(at))
    }

    /// The [`outermost`](Self::outermost) entries with these indices, each with its nested entries, as HTML.
    pub fn entries(&self, indices: Range<usize>) -> String {
        let mut html = String::new();
        self.write_entries(indices, &mut html);
        html
    }

    /// The entries whose visible text contains these words, in any case of letters, in order, while `goes_on`.
    pub fn find(&self, words: &str, goes_on: impl Fn() -> bool) -> impl Iterator<Item = EntryIdx> {
        let wanted = words.to_lowercase();
        let has = move |index: &usize| {
            let content = self.content(*index);
            content.is_some_and(|it| visible(&it.html).to_lowercase().contains(&wanted))
        };
        (0..self.len()).take_while(move |_| goes_on()).filter(has).map(EntryIdx::new)
    }

    pub(super) fn render_about(&self) -> Markup {
        let title = self.facts.title();
        let moment = self.past.as_ref().map(|past| &*past.words);
        about::about(&self.facts, self.totals.as_ref(), &title, moment, &self.clock)
    }

    pub(super) fn render_side(&self) -> Markup {
        side::side(&self.facts, &self.clock)
    }

    /// The content of an entry at the moment.
    fn content(&self, index: usize) -> Option<Content> {
        let slot = self.slot(index)?;
        let mut content = match &self.past {
            Some(past) => past.versions.get(index)?.at(past.moment),
            None => slot.content.clone(),
        };
        if let Some(html) = self.appended.get(&index) {
            content.html = Arc::new(with_last(&content.html, html));
        }
        Some(content)
    }

    /// The last to-do list at the moment.
    fn last_todo_list(&self) -> Option<usize> {
        let until = self.todo_lists.partition_point(|index| *index < self.len());
        let known = self.todo_lists.get(..until).unwrap_or_default().iter().copied();
        known.rev().find(|index| self.content(*index).is_some_and(|content| content.is_todo_list()))
    }

    /// Appends the outermost entries with these indices, each with its nested entries.
    fn write_entries(&self, indices: Range<usize>, html: &mut String) {
        let [start, end] = [indices.start, indices.end].map(EntryIdx::new);
        let outermost = self.outermost_before(start)..self.outermost_before(end);
        // A stack of entries to write, and of ends of open ones.
        let entry = |index: EntryIdx| Next::Entry(index.get());
        let mut rest: Vec<Next> =
            outermost.rev().filter_map(|place| self.outermost_at(place)).map(entry).collect();
        let last_todo_list = self.last_todo_list();
        while let Some(next) = rest.pop() {
            let index = match next {
                Next::End(content) => {
                    html.extend(["</div>", content.parts().1, "\n"]);
                    continue;
                }
                Next::Entry(index) => index,
            };
            let (Some(slot), Some(content)) = (self.slot(index), self.content(index)) else {
                continue;
            };
            let (start, end) = content.parts();
            match start.split_once(FOLDED).filter(|_| last_todo_list == Some(index)) {
                Some((before, after)) => html.extend([before, OPEN, after]),
                None => html.push_str(start),
            }
            let within = slot.within.partition_point(|index| *index < self.len());
            let within = slot.within.get(..within).unwrap_or_default();
            if within.is_empty() {
                html.extend([end, "\n"]);
            } else {
                html.push_str("<div class=\"feed\">\n");
                rest.push(Next::End(content));
                rest.extend(within.iter().rev().map(|index| Next::Entry(*index)));
            }
        }
    }
}

/// All entries of a snapshot, which are written where they stand: a page may have 100 MB of them.
pub(super) struct Feed<'s>(pub(super) &'s Snapshot);

impl Render for Feed<'_> {
    fn render_to(&self, html: &mut String) {
        let all = self.0.slots.iter().map(|slot| slot.content.html.len() + END);
        html.reserve(all.sum::<usize>() + REST);
        self.0.write_entries(0..self.0.slots.len(), html);
    }
}

/// The room for a line end, and for the end of nested entries.
const END: usize = 8;

/// The start tags of a collapsed and of an expanded call.
const FOLDED: &str = "<details class=\"call\">";
const OPEN: &str = "<details class=\"call\" open>";

enum Next {
    Entry(usize),
    End(Content),
}
