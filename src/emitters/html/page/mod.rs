//! [`Page`]: the whole session as one file.

mod about;
mod facts;
mod side;

use std::ops::Range;

use base64::{Engine, prelude::BASE64_STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use self::facts::Facts;
use super::{
    emitter::HtmlEmitter,
    fragment::{Fragment, Place},
    icon::SPRITE,
    text::line,
};
use crate::{
    conversation::{ActionType, DomainEvent, EntryIdx, WarningKind},
    transduce::{Batch, Emitter},
};

/// The style sheet of the page, and of a live page of the same fragments.
pub const SHEET: &str = include_str!("../foldline.css");

/// A session as one HTML file: its facts, its entries, and beside them the prompts, the tools, the changed
/// files and the models.
///
/// It holds the rendered entries, so it is as large as the page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    emitter: HtmlEmitter,
    facts: Facts,
    slots: Vec<Slot>,
    /// The last list of things to do, which is open.
    last_todo: Option<usize>,
    note: Option<String>,
}

/// A rendered entry, and the entries within it.
#[derive(Clone, Debug, Default)]
struct Slot {
    html: String,
    inside: Option<usize>,
    /// The entry that it stands within.
    parent: Option<usize>,
    within: Vec<usize>,
}

impl Page {
    /// Applies one event.
    pub fn apply(&mut self, event: &DomainEvent) {
        if let Some(fragment) = self.step(event) {
            self.put(fragment);
        }
    }

    /// Applies one event, and returns what it changes: for pages that show the session while it grows.
    pub fn fragment(&mut self, event: &DomainEvent) -> Option<Fragment> {
        let fragment = self.step(event);
        fragment.inspect(|fragment| self.put(fragment.clone()))
    }

    /// The log has ended: what still grows is complete. Returns what that changes.
    pub fn end(&mut self) -> Vec<Fragment> {
        let remaining: Vec<_> = self.emitter.remaining().collect();
        remaining.iter().for_each(|fragment| self.put(fragment.clone()));
        remaining
    }

    fn step(&mut self, event: &DomainEvent) -> Option<Fragment> {
        let unknown = self.emitter.unknown();
        let fragment = self.emitter.fragment(event);
        if self.emitter.unknown() > unknown {
            self.facts.summary.warn(WarningKind::UnknownCorrelation);
        }
        self.facts.apply(event, fragment.as_ref().map(|fragment| fragment.index));
        if let Some(Fragment { index, parent: None, place: Place::Append, .. }) = fragment
            && is_todo(event)
        {
            self.last_todo = Some(index.get());
        }
        fragment
    }

    /// Adds a note at the end of the page.
    pub fn set_note(&mut self, note: impl Into<String>) {
        self.note = Some(note.into());
    }

    fn put(&mut self, fragment: Fragment) {
        let Fragment { index, place, parent, html, inside } = fragment;
        let index = index.get();
        match place {
            Place::Append => {
                // The parent stands before its entries, whatever a log says.
                let parent = parent.map(EntryIdx::get).filter(|parent| *parent < index);
                if let Some(parent) = parent.and_then(|parent| self.slots.get_mut(parent)) {
                    parent.within.push(index);
                }
                self.slots.push(Slot { html, inside, parent, within: Vec::new() });
            }
            Place::Replace => {
                if let Some(slot) = self.slots.get_mut(index) {
                    (slot.html, slot.inside) = (html, inside);
                }
            }
            Place::Grow => {
                if let Some(Slot { html: open, inside: Some(inside), .. }) =
                    self.slots.get_mut(index)
                {
                    open.insert_str(*inside, &html);
                    *inside += html.len();
                }
            }
        }
    }

    /// The title: that of the log, or else its first prompt. It is text, and no HTML.
    pub fn title(&self) -> String {
        self.facts.title().into_owned()
    }

    /// The facts of the session, as HTML: a `<header class="about">`.
    pub fn about(&self) -> String {
        about::about(&self.facts, &self.facts.title()).into_string()
    }

    /// The prompts, tools, files and models of the session, as HTML: an `<aside id="side">`.
    pub fn side(&self) -> String {
        side::side(&self.facts).into_string()
    }

    /// The entries that stand in the page itself, and not within a call, in their order.
    pub fn outermost(&self) -> impl DoubleEndedIterator<Item = EntryIdx> {
        let slots = self.slots.iter().enumerate().filter(|(_, slot)| slot.parent.is_none());
        slots.map(|(index, _)| EntryIdx::new(index))
    }

    /// The entry that stands in the page itself and has this one within it; the entry itself, if it is one.
    pub fn outermost_of(&self, index: EntryIdx) -> Option<EntryIdx> {
        let mut at = index.get();
        self.slots.get(at)?;
        // A parent stands before its entries, so that this ends.
        while let Some(parent) = self.slots.get(at)?.parent {
            at = parent;
        }
        Some(EntryIdx::new(at))
    }

    /// The entries of [`outermost`](Self::outermost) with these indices, each with those within it, as HTML.
    pub fn entries(&self, indices: Range<usize>) -> String {
        self.render_entries(indices).into_string()
    }

    /// The page.
    pub fn render(&self) -> String {
        let title = self.facts.title();
        let policy = policy();
        let page = html! {
            (DOCTYPE)
            html lang="en" data-page="export" data-show="all" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="no-referrer";
                    title { (line(&*title)) " · Foldline" }
                    style { (PreEscaped(SHEET)) }
                }
                body {
                    a class="skip vh" href="#feed" { "Skip to the conversation" }
                    (PreEscaped(SPRITE))
                    (top(&title))
                    main class="page session" {
                        (about::about(&self.facts, &title))
                        div.feed #feed role="feed" aria-label="Conversation" { (self.render_entries(0..self.slots.len())) }
                        (side::side(&self.facts))
                        @if let Some(note) = &self.note {
                            footer.colophon { pre.out { (super::text::text(&**note)) } }
                        }
                    }
                }
            }
        };
        page.into_string()
    }

    /// The outermost entries with these indices, each with those within it.
    fn render_entries(&self, indices: Range<usize>) -> Markup {
        let end = indices.end.min(self.slots.len());
        let slots = self.slots.get(indices.start.min(end)..end).unwrap_or_default();
        let mut html = String::with_capacity(slots.iter().map(|slot| slot.html.len()).sum());
        // What is still to be written, the next last: entries, and the ends of those that are open.
        let mut rest: Vec<Next<'_>> = Vec::new();
        let outermost = (indices.start..).zip(slots).filter(|(_, slot)| slot.parent.is_none());
        rest.extend(
            outermost.map(|(index, _)| Next::Entry(index)).collect::<Vec<_>>().into_iter().rev(),
        );
        while let Some(next) = rest.pop() {
            let (slot, is_open) = match next {
                Next::End(end) => {
                    html.push_str("</div>");
                    html.push_str(end);
                    html.push('\n');
                    continue;
                }
                Next::Entry(index) => (self.slots.get(index), self.last_todo == Some(index)),
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
        PreEscaped(html)
    }
}

/// How a call begins that is folded, and one that is open. Text is escaped, so that only a template writes it.
const FOLDED: &str = "<details class=\"call\">";
const OPEN: &str = "<details class=\"call\" open>";

/// Whether an entry begins that is a list of things to do.
fn is_todo(event: &DomainEvent) -> bool {
    let (DomainEvent::NewEntry { entry } | DomainEvent::NewToolCall { entry, .. }) = event else {
        return false;
    };
    let action = entry.tool().map(|tool| &tool.action_type);
    matches!(action, Some(ActionType::TodoManagement { .. }))
}

enum Next<'s> {
    Entry(usize),
    End(&'s str),
}

/// Emits nothing: the page is [`render`](Page::render)ed at the end.
impl Emitter<DomainEvent, std::convert::Infallible> for Page {
    fn emit(&mut self, event: &DomainEvent) -> Batch<std::convert::Infallible> {
        self.apply(event);
        Batch::EMPTY
    }

    fn finish(&mut self) -> Batch<std::convert::Infallible> {
        self.end();
        Batch::EMPTY
    }
}

/// Nothing may be loaded or run, and nothing may style the page but its own sheet.
fn policy() -> String {
    let hash = BASE64_STANDARD.encode(Sha256::digest(SHEET.as_bytes()));
    format!("default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'")
}

fn top(title: &str) -> Markup {
    html! {
        header.top {
            span.brand { (super::icon::icon("i", "fold")) span { "Foldline" } }
            div.crumbs { ol { li { (line(title)) } } }
            button class="btn bare icon to-side" type="button" popovertarget="side" {
                (super::icon::icon("i", "side"))
                span.vh { "Turns and usage" }
            }
        }
    }
}
