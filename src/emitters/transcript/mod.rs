//! A transcript for people, in a terminal.
//!
//! What is printed stays: nothing is overwritten, so that the same events give the same text in a
//! terminal, a pipe and a file, as they come or all at once. An entry that grows is printed when it is
//! complete; a call when it is made, and its result beneath, or, when something else came between,
//! with a short reference (`↳`). The work of a sub-agent stands under its call, right of a bar.
//!
//! Nothing of a log reaches the terminal as it is: see [`terminal`](super::terminal).

mod calls;
mod diff;
mod human;
mod page;
mod result;
mod session;
mod speech;
mod style;
mod tool;
mod wrap;

use std::collections::BTreeMap;

pub use self::style::TranscriptStyle;
use self::{
    calls::{Calls, OpenCall, lane},
    page::{Page, Row},
    style::Ink,
};
use crate::{
    conversation::{
        CorrId, DomainEvent, NormalizedEntry, Session, Summary, ToolStatus, Warning, WarningKind,
    },
    transduce::{Batch, Emitter},
};

/// Writes a conversation for people: one text of one or more lines for each event that shows.
///
/// It remembers what is open and how much there was, and nothing of what it has printed.
///
/// ```
/// use foldline::{
///     conversation::{DomainEvent, NormalizedEntry, NormalizedEntryType::UserMessage},
///     emitters::transcript::{Transcript, TranscriptStyle},
///     transduce::Emitter,
/// };
///
/// let mut transcript = Transcript::new(TranscriptStyle { color: false, width: 80 });
/// let event = DomainEvent::entry(NormalizedEntry::new(UserMessage, "Clear the screen: \x1b[2J"));
/// assert_eq!(transcript.emit(&event).as_slice(), ["❯ Clear the screen: ␛[2J"]);
/// ```
#[derive(Clone, Debug)]
pub struct Transcript {
    style: TranscriptStyle,
    summary: Summary,
    /// The session's facts as far as they were printed.
    told: Option<Box<Session>>,
    calls: Calls,
    growing: BTreeMap<CorrId, Growing>,
    grown: u64,
    last: Option<Block>,
}

#[derive(Clone, Debug)]
struct Growing {
    age: u64,
    entry: NormalizedEntry,
}

/// What stands at the end of the transcript.
#[derive(Clone, Debug, Default)]
struct Block {
    /// The call whose sub-agent it comes from.
    lane: Option<CorrId>,
    depth: usize,
    /// A row or two, that need no blank line to others of that kind.
    tight: bool,
    /// The call that its last row is the header of.
    call: Option<CorrId>,
}

impl Transcript {
    /// A transcript from the beginning of a conversation.
    pub fn new(style: TranscriptStyle) -> Self {
        Self {
            style: TranscriptStyle { width: style.width.max(20), ..style },
            summary: Summary::default(),
            told: None,
            calls: Calls::default(),
            growing: BTreeMap::new(),
            grown: 0,
            last: None,
        }
    }

    fn print(&mut self, page: &mut Page, event: &DomainEvent) {
        match event {
            DomainEvent::Session(_) => {
                self.summary.apply(event);
                self.tell_news(page);
            }
            DomainEvent::Usage { .. } => drop(self.summary.apply(event)),
            DomainEvent::Warning(warning) => self.warn(page, warning),
            DomainEvent::NewEntry { entry } => self.entry(page, entry),
            DomainEvent::OpenEntry { corr_id, entry } => {
                let growing = Growing { age: self.grown, entry: entry.clone() };
                self.grown += 1;
                if let Some(displaced) = self.growing.insert(corr_id.clone(), growing) {
                    self.entry(page, &displaced.entry);
                }
            }
            DomainEvent::GrowEntry { corr_id, text } => match self.growing.get_mut(corr_id) {
                Some(growing) => growing.entry.content.push(text),
                None => self.unknown(page, corr_id),
            },
            DomainEvent::CloseEntry { corr_id, entry } => {
                let grown = self.growing.remove(corr_id).map(|growing| growing.entry);
                if grown.is_none() {
                    self.unknown(page, corr_id);
                }
                if let Some(entry) = entry.as_ref().or(grown.as_ref()) {
                    self.entry(page, entry);
                }
            }
            DomainEvent::NewToolCall { corr_id, entry } => self.call(page, corr_id, entry),
            DomainEvent::UpdateToolCall { corr_id, entry } => self.update(page, corr_id, entry),
        }
    }

    fn entry(&mut self, page: &mut Page, entry: &NormalizedEntry) {
        self.begin(page, lane(entry), None);
        let Some(tool) = entry.tool() else {
            return speech::say(page, &entry.entry_type, &entry.content.decode());
        };
        // A call outside of the events for calls: nothing more will come of it.
        self.calls.count(&tool.status);
        tool::header(page, entry, tool);
        tool::brief(page, &tool.action_type);
        page.row(Row::indent(2).join(result::status(entry, tool)));
        result::body(page, tool);
    }

    fn call(&mut self, page: &mut Page, id: &CorrId, entry: &NormalizedEntry) {
        let Some(tool) = entry.tool() else { return self.entry(page, entry) };
        self.abandon(page, id);
        self.begin_tight(page, lane(entry), None);
        tool::header(page, entry, tool);
        let briefed = tool::brief(page, &tool.action_type);
        self.calls.begin(id, entry, briefed);
        self.end(!briefed, Some(id));
    }

    fn update(&mut self, page: &mut Page, id: &CorrId, entry: &NormalizedEntry) {
        let Some(tool) = entry.tool() else { return self.entry(page, entry) };
        let call = self.calls.get_mut(id);
        if !tool.status.is_final() {
            // That a call runs goes without saying; that it waits is said once.
            let waits = tool.status == ToolStatus::PendingApproval;
            if !call.is_some_and(|call| waits && !std::mem::replace(&mut call.waiting, true)) {
                return;
            }
            let under_header = self.answer(
                page,
                id,
                lane(entry),
                &tool::label(entry),
                result::status(entry, tool),
            );
            return self.end(true, under_header.then_some(id));
        }
        let briefed = call.is_some_and(|call| call.briefed);
        if self.calls.get_mut(id).is_none() {
            self.unknown(page, id);
        }
        self.answer(page, id, lane(entry), &tool::label(entry), result::status(entry, tool));
        let before = page.len();
        if !briefed {
            tool::brief(page, &tool.action_type);
        }
        result::body(page, tool);
        self.calls.end(id, &tool.status);
        self.end(page.len() == before, None);
    }

    /// Says how a call stands: under its header where that is the last row, which is told, else with a
    /// reference to it.
    fn answer(
        &mut self,
        page: &mut Page,
        id: &CorrId,
        lane: Option<CorrId>,
        label: &str,
        status: Row,
    ) -> bool {
        let same = self.calls.get_mut(id).is_some_and(|call| call.label == label);
        match &self.last {
            Some(last) if same && last.call.as_ref() == Some(id) => {
                page.set_depth(last.depth);
                page.row(Row::indent(2).join(status));
                true
            }
            _ => {
                self.begin_tight(page, lane, Some(id));
                refer(page, label, status);
                false
            }
        }
    }

    /// An open call of which nothing more will come.
    fn abandon(&mut self, page: &mut Page, id: &CorrId) {
        let Some(OpenCall { lane, label, .. }) = self.calls.get_mut(id).cloned() else { return };
        self.answer(page, id, lane, &label, result::unfinished());
        self.calls.end(id, &ToolStatus::Unfinished);
        self.end(true, None);
    }

    fn unknown(&mut self, page: &mut Page, id: &CorrId) {
        let message = format!("an update for {id}, which nobody knows");
        self.warn(page, &Warning::new(WarningKind::UnknownCorrelation, message));
    }

    /// Tells the first warning of each kind; the footer counts all.
    fn warn(&mut self, page: &mut Page, warning: &Warning) {
        let known = self.summary.warnings.contains_key(&warning.kind);
        self.summary.warn(warning.kind);
        // That a call has no result is said of the call itself.
        if !known && warning.kind != WarningKind::UnfinishedCall {
            let lane = self.last.as_ref().and_then(|last| last.lane.clone());
            self.begin_tight(page, lane, None);
            page.row(Row::new(Ink::Caution, "! ").then(Ink::Quiet, &warning.message));
        }
    }

    fn tell_news(&mut self, page: &mut Page) {
        let (Some(told), Some(session)) = (&mut self.told, &self.summary.session) else { return };
        let news = session::news(told, session);
        if news.width() > 0 {
            told.clone_from(session);
            self.begin_tight(page, None, None);
            page.row(Row::new(Ink::Quiet, "· ").join(news));
        }
    }

    fn tell_session(&mut self, page: &mut Page) {
        if self.told.is_none()
            && let Some(session) = &self.summary.session
        {
            page.set_depth(0);
            if self.last.is_some() {
                page.blank();
            }
            session::header(page, session);
            self.told = Some(session.clone());
            self.last = Some(Block::default());
        }
    }

    /// Begins a block of rows of its own.
    fn begin(&mut self, page: &mut Page, lane: Option<CorrId>, ends: Option<&CorrId>) {
        self.place(page, lane, false, ends);
    }

    /// Begins a block that needs no blank line to others of its kind.
    fn begin_tight(&mut self, page: &mut Page, lane: Option<CorrId>, ends: Option<&CorrId>) {
        self.place(page, lane, true, ends);
    }

    /// Goes to where the work of `lane` stands, `ends` being the call that the block is the end of.
    fn place(&mut self, page: &mut Page, lane: Option<CorrId>, tight: bool, ends: Option<&CorrId>) {
        self.tell_session(page);
        if let Some(outer) = &lane
            && !self.is_at(outer)
        {
            // Somebody else spoke last: whose work this is must be said again.
            let (label, lane) = self.calls.name(outer);
            self.step(page, lane, true, None);
            refer(page, &label, Row::default());
            self.end(true, Some(outer));
        }
        self.step(page, lane, tight, ends);
    }

    fn step(&mut self, page: &mut Page, lane: Option<CorrId>, tight: bool, ends: Option<&CorrId>) {
        let depth = self.calls.depth(lane.as_ref());
        if let Some(last) = &self.last {
            let enters = lane.is_some() && last.call == lane;
            let leaves = ends.is_some_and(|id| self.calls.is_within(last.lane.as_ref(), id));
            if !(enters || leaves || (tight && last.tight)) {
                page.set_depth(depth.min(last.depth));
                page.blank();
            }
        }
        page.set_depth(depth);
        self.last = Some(Block { lane, depth, tight, call: None });
    }

    /// Whether the transcript ends with the header of a call or with the work of its sub-agent.
    fn is_at(&self, call: &CorrId) -> bool {
        self.last.as_ref().is_some_and(|last| {
            last.call.as_ref() == Some(call) || self.calls.is_within(last.lane.as_ref(), call)
        })
    }

    /// Says of the last block how it turned out.
    fn end(&mut self, tight: bool, call: Option<&CorrId>) {
        if let Some(last) = &mut self.last {
            last.tight = tight;
            last.call = call.cloned();
        }
    }

    fn print_rest(&mut self, page: &mut Page) {
        let mut growing: Vec<_> = std::mem::take(&mut self.growing).into_values().collect();
        growing.sort_by_key(|growing| growing.age);
        growing.iter().for_each(|growing| self.entry(page, &growing.entry));
        self.calls.open().iter().for_each(|id| self.abandon(page, id));
        self.tell_session(page);
        if self.last.is_some() {
            page.set_depth(0);
            page.blank();
            session::footer(page, &self.summary, &self.calls);
        }
    }
}

/// A short reference to something that was printed earlier.
fn refer(page: &mut Page, label: &str, status: Row) {
    let mark = Row::new(Ink::Quiet, "↳ ");
    if status.width() == 0 {
        return page.row(mark.then(Ink::Quiet, label));
    }
    let room = page.width().saturating_sub(mark.width() + status.width() + 3);
    let label = wrap::clip(label, room.max(12)).into_owned();
    page.row(mark.then(Ink::Plain, label).then(Ink::Quiet, " · ").join(status));
}

impl Emitter<DomainEvent, String> for Transcript {
    fn emit(&mut self, event: &DomainEvent) -> Batch<String> {
        let mut page = Page::new(self.style);
        self.print(&mut page, event);
        page.into_text()
    }

    fn finish(&mut self) -> Batch<String> {
        let mut page = Page::new(self.style);
        self.print_rest(&mut page);
        page.into_text()
    }
}
