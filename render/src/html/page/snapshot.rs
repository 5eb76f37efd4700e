//! [`Snapshot`]: the content of a page at one moment.

use std::{ops::Range, sync::Arc};

use foldline_domain::EntryIdx;
use maud::{Markup, Render};

use super::REST;
use super::{about, facts::Facts, side};
use crate::html::{
    emitter::with_last,
    fragment::{Fragment, Place},
    time::Clock,
};

/// The content of a page at one moment: facts and entries.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub(super) facts: Facts,
    pub(super) slots: Vec<Slot>,
    /// The moment, in words, if it is not the present.
    pub(super) moment: Option<String>,
    pub(super) clock: Clock,
}

/// A rendered entry and its nested entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    /// Shared with the history of the page, if it has one.
    pub(super) html: Arc<String>,
    /// The insertion point in the HTML, in bytes.
    pub(super) inside: Option<usize>,
    /// The enclosing entry.
    pub(super) parent: Option<usize>,
    pub(super) within: Vec<usize>,
}

impl Slot {
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
}

impl Snapshot {
    /// Inserts a fragment.
    pub(super) fn put(&mut self, fragment: Fragment) {
        let Fragment { index, place, parent, html, inside } = fragment;
        let index = index.get();
        match place {
            // The parent precedes its entries, even in an invalid log.
            Place::Append => {
                let parent = parent.map(EntryIdx::get).filter(|parent| *parent < index);
                self.append(Slot { html: Arc::new(html), inside, parent, within: Vec::new() });
            }
            Place::Replace => {
                if let Some(slot) = self.slots.get_mut(index) {
                    (slot.html, slot.inside) = (Arc::new(html), inside);
                }
            }
            Place::Grow => {
                if let Some(slot) = self.slots.get_mut(index) {
                    slot.grow(&html);
                }
            }
        }
    }

    /// Adds an entry.
    pub(super) fn append(&mut self, slot: Slot) {
        let index = self.slots.len();
        if let Some(parent) = slot.parent.and_then(|parent| self.slots.get_mut(parent)) {
            parent.within.push(index);
        }
        self.slots.push(slot);
    }

    /// Appends HTML to an entry, if it exists.
    pub fn append_to(&mut self, index: EntryIdx, html: &str) {
        if let Some(slot) = self.slots.get_mut(index.get()) {
            slot.html = Arc::new(with_last(&slot.html, html));
        }
    }

    /// The title: the log's, or else its first prompt. Plain text, not HTML.
    pub fn title(&self) -> String {
        self.facts.title().into_owned()
    }

    /// The facts of the session, as HTML: a `<header class="about">`.
    pub fn about(&self) -> String {
        self.render_about().into_string()
    }

    /// The prompts, tools, files and models of the session, as HTML: an `<aside id="side">`.
    pub fn side(&self) -> String {
        self.render_side().into_string()
    }

    /// The top-level entries, which are not nested in a call, in order.
    pub fn outermost(&self) -> impl DoubleEndedIterator<Item = EntryIdx> {
        let slots = self.slots.iter().enumerate().filter(|(_, slot)| slot.parent.is_none());
        slots.map(|(index, _)| EntryIdx::new(index))
    }

    /// The top-level entry that contains this one, or the entry itself if it is one.
    pub fn outermost_of(&self, index: EntryIdx) -> Option<EntryIdx> {
        let mut at = index.get();
        self.slots.get(at)?;
        // A parent precedes its entries, so the loop ends.
        while let Some(parent) = self.slots.get(at)?.parent {
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

    pub(super) fn render_about(&self) -> Markup {
        let title = self.facts.title();
        about::about(&self.facts, &title, self.moment.as_deref(), &self.clock)
    }

    pub(super) fn render_side(&self) -> Markup {
        side::side(&self.facts, &self.clock)
    }

    /// Appends the outermost entries with these indices, each with its nested entries.
    fn write_entries(&self, indices: Range<usize>, html: &mut String) {
        let end = indices.end.min(self.slots.len());
        let slots = self.slots.get(indices.start.min(end)..end).unwrap_or_default();
        // A stack of entries to write, and of ends of open ones.
        let mut rest: Vec<Next<'_>> = Vec::new();
        let outermost = (indices.start..).zip(slots).filter(|(_, slot)| slot.parent.is_none());
        rest.extend(
            outermost.map(|(index, _)| Next::Entry(index)).collect::<Vec<_>>().into_iter().rev(),
        );
        let last_todo = self.slots.iter().rposition(Slot::is_todo_list);
        while let Some(next) = rest.pop() {
            let (slot, is_open) = match next {
                Next::End(end) => {
                    html.push_str("</div>");
                    html.push_str(end);
                    html.push('\n');
                    continue;
                }
                Next::Entry(index) => (self.slots.get(index), last_todo == Some(index)),
            };
            let Some(slot) = slot else { continue };
            let (start, end) = slot
                .html
                .split_at_checked(slot.inside.unwrap_or(slot.html.len()))
                .unwrap_or_default();
            match start.split_once(FOLDED).filter(|_| is_open) {
                Some((before, after)) => html.extend([before, OPEN, after]),
                None => html.push_str(start),
            }
            if slot.within.is_empty() {
                html.push_str(end);
                html.push('\n');
            } else {
                html.push_str("<div class=\"feed\">\n");
                rest.push(Next::End(end));
                rest.extend(slot.within.iter().rev().map(|index| Next::Entry(*index)));
            }
        }
    }
}

/// All entries of a snapshot, which are written where they stand: a page may have 100 MB of them.
pub(super) struct Feed<'s>(pub(super) &'s Snapshot);

impl Render for Feed<'_> {
    fn render_to(&self, html: &mut String) {
        html.reserve(self.0.slots.iter().map(|slot| slot.html.len() + END).sum::<usize>() + REST);
        self.0.write_entries(0..self.0.slots.len(), html);
    }
}

/// The room for a line end, and for the end of nested entries.
const END: usize = 8;

/// The start tags of a collapsed and of an expanded call.
const FOLDED: &str = "<details class=\"call\">";
const OPEN: &str = "<details class=\"call\" open>";

enum Next<'s> {
    Entry(usize),
    End(&'s str),
}
