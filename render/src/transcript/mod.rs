//! A human-readable transcript for the terminal.
//!
//! Printed text is never overwritten, so that the same events give the same text in a terminal, a pipe and a file,
//! live or all at once. A growing entry is printed when it is complete; a call when it is made, with its result
//! directly below, or, if something else was printed in between, with a short reference (`↳`). The work of a
//! sub-agent is printed under its call, to the right of a bar.
//!
//! Text of a log never reaches the terminal unchanged: see [`terminal`](super::terminal).

mod calls;
mod flow;
mod page;
mod result;
mod row;
mod safe_text;
mod session;
mod sessions;
mod speech;
mod tool;
mod wrap;

use std::{collections::BTreeMap, sync::Arc};

use foldline::transduce::{Batch, Emitter, Resume};
use foldline_domain::{
    CorrId, DomainEvent, NormalizedEntry, NormalizedEntryType, Session, Summary, ToolStatus,
    ToolUse, Warning, WarningKind,
};
use serde::{Deserialize, Serialize};

use self::{
    calls::{Calls, OpenCall, lane},
    flow::{Flow, Spacing},
    page::Page,
    row::{Ink, Row},
    tool::Heading,
};
pub use self::{
    row::TranscriptStyle,
    sessions::{SessionTranscripts, SessionTranscriptsState},
};

/// Writes a human-readable conversation: one text of one or more lines for each visible event.
///
/// It remembers open items and counts, but not the printed text.
///
/// ```
/// use foldline::transduce::Emitter;
/// use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType::UserMessage};
/// use foldline_render::transcript::{Transcript, TranscriptStyle};
///
/// let mut transcript = Transcript::new(TranscriptStyle::new(80));
/// let event = DomainEvent::entry(NormalizedEntry::new(UserMessage, "A bell \x07rings"));
/// assert_eq!(transcript.emit(&event).as_slice(), ["❯ A bell ␇rings"]);
/// ```
/// This memory is its [`Resume::State`]. The style is not part of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Transcript {
    #[serde(skip)]
    style: TranscriptStyle,
    summary: Summary,
    /// The session's facts that were printed.
    told: Option<Box<Session>>,
    calls: Calls,
    growing: BTreeMap<CorrId, Growing>,
    grown: u64,
    flow: Flow,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Growing {
    age: u64,
    entry: Arc<NormalizedEntry>,
}

impl Transcript {
    /// A transcript of a new conversation.
    pub fn new(style: TranscriptStyle) -> Self {
        Self {
            style: TranscriptStyle { width: style.width.max(20), ..style },
            summary: Summary::default(),
            told: None,
            calls: Calls::default(),
            growing: BTreeMap::new(),
            grown: 0,
            flow: Flow::default(),
        }
    }

    /// Counts an event that is not to be printed: the end says what the whole session came to.
    pub fn skip(&mut self, event: &DomainEvent) {
        match event {
            DomainEvent::NewEntry { entry } => {
                entry.tool().into_iter().for_each(|tool| self.calls.count(&tool.status));
            }
            DomainEvent::NewToolCall { corr_id, .. } => self.calls.hide(corr_id),
            DomainEvent::UpdateToolCall { corr_id, entry } => {
                let ended = entry.tool().filter(|tool| tool.status.is_final());
                ended.into_iter().for_each(|tool| self.calls.end_hidden(corr_id, &tool.status));
            }
            _ => {}
        }
    }

    fn print(&mut self, page: &mut Page, event: &DomainEvent) {
        match event {
            DomainEvent::Session(_) => {
                self.summary.apply(event);
                self.print_news(page);
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
                Some(growing) => Arc::make_mut(&mut growing.entry).content.push(text),
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
            DomainEvent::SessionEnded => {}
        }
    }

    fn entry(&mut self, page: &mut Page, entry: &NormalizedEntry) {
        // The header states the model.
        if let NormalizedEntryType::ModelChange { model } = &entry.entry_type
            && let Some(session) = &self.summary.session
            && session.model.as_ref() == Some(model)
        {
            return;
        }
        self.begin(page, lane(entry));
        let Some(tool) = entry.tool() else {
            return speech::print(page, &entry.entry_type, &entry.content);
        };
        // A call outside of the call events: there will be no further update.
        self.calls.count(&tool.status);
        Heading::of(page, entry, tool).print(page);
        tool::brief(page, &tool.action_type);
        tool::fields(page, entry, 0);
        page.row(result::status(Row::indent(2), entry, tool));
        result::body(page, tool);
    }

    fn call(&mut self, page: &mut Page, id: &CorrId, entry: &NormalizedEntry) {
        let Some(tool) = entry.tool() else { return self.entry(page, entry) };
        self.abandon(page, id);
        self.begin_tight(page, lane(entry), None);
        let heading = Heading::of(page, entry, tool);
        heading.print(page);
        let briefed = tool::brief(page, &tool.action_type);
        let fields = tool::fields(page, entry, 0);
        self.calls.begin(id, lane(entry), heading.label(), briefed, fields);
        let spacing = if briefed || fields > 0 { Spacing::Loose } else { Spacing::Tight };
        self.flow.end(spacing, Some(id));
    }

    fn update(&mut self, page: &mut Page, id: &CorrId, entry: &NormalizedEntry) {
        let Some(tool) = entry.tool() else { return self.entry(page, entry) };
        if !tool.status.is_final() {
            return self.progress(page, id, entry, tool);
        }
        let call = self.calls.get(id);
        let (briefed, fields) = (call.map(|call| call.briefed), call.map_or(0, |call| call.fields));
        if briefed.is_none() {
            self.unknown(page, id);
        }
        self.answer(page, id, entry, tool);
        let before = page.len();
        if briefed != Some(true) {
            tool::brief(page, &tool.action_type);
        }
        tool::fields(page, entry, fields);
        result::body(page, tool);
        self.calls.end(id, &tool.status);
        let spacing = if page.len() == before { Spacing::Tight } else { Spacing::Loose };
        self.flow.end(spacing, None);
    }

    /// A running call is not reported; a call that awaits permission is reported once.
    fn progress(&mut self, page: &mut Page, id: &CorrId, entry: &NormalizedEntry, tool: &ToolUse) {
        if self.calls.get(id).is_none() {
            self.unknown(page, id);
            return self.call(page, id, entry);
        }
        if tool.status != ToolStatus::PendingApproval || !self.calls.begins_to_wait(id) {
            return;
        }
        let beneath = self.answer(page, id, entry, tool);
        self.flow.end(Spacing::Tight, beneath.then_some(id));
    }

    /// Prints the status of a call: below its header, if that is the last block (then returns true) and still has the
    /// same label, else with a reference to it.
    fn answer(
        &mut self,
        page: &mut Page,
        id: &CorrId,
        entry: &NormalizedEntry,
        tool: &ToolUse,
    ) -> bool {
        let heading = Heading::of(page, entry, tool);
        let label = self.calls.get(id).map(|call| &call.label);
        let label = label.filter(|label| heading.has_label(label)).cloned();
        if label.is_some() && self.beneath(page, id, |row| result::status(row, entry, tool)) {
            return true;
        }
        self.begin_tight(page, lane(entry), Some(id));
        let label = label.unwrap_or_else(|| heading.label());
        flow::refer(page, &label, result::status(Row::with_capacity(), entry, tool));
        false
    }

    /// Prints the status of a call below its header, if that is the last block.
    fn beneath(&self, page: &mut Page, id: &CorrId, status: impl FnOnce(Row) -> Row) -> bool {
        let depth = self.flow.depth_of_header(id);
        if let Some(depth) = depth {
            page.set_depth(depth);
            page.row(status(Row::indent(2)));
        }
        depth.is_some()
    }

    /// Handles an open call without further updates.
    fn abandon(&mut self, page: &mut Page, id: &CorrId) {
        let Some(OpenCall { lane, label, .. }) = self.calls.get(id).cloned() else { return };
        if !self.beneath(page, id, result::unfinished) {
            self.begin_tight(page, lane, Some(id));
            flow::refer(page, &label, result::unfinished(Row::with_capacity()));
        }
        self.calls.end(id, &ToolStatus::Unfinished);
        self.flow.end(Spacing::Tight, None);
    }

    fn unknown(&mut self, page: &mut Page, id: &CorrId) {
        let message = format!("an update for the unknown entry {id}");
        self.warn(page, &Warning::new(WarningKind::UnknownCorrelation, message));
    }

    /// Prints the first warning of each kind; the footer counts all.
    fn warn(&mut self, page: &mut Page, warning: &Warning) {
        use WarningKind::{UnfinishedCall, UnknownEvent, UnknownField};
        let known = self.summary.warnings.contains_key(&warning.kind);
        self.summary.warn(warning.kind);
        // A missing result is reported at the call itself. What a newer release of an agent writes in addition is an
        // entry, if it belongs to the conversation.
        if !known && !matches!(warning.kind, UnfinishedCall | UnknownEvent | UnknownField) {
            self.begin_tight(page, self.flow.lane().cloned(), None);
            page.row(Row::mark(Ink::Caution, "! ").then(Ink::Quiet, &warning.message));
        }
    }

    fn print_news(&mut self, page: &mut Page) {
        let (Some(told), Some(session)) = (&mut self.told, &self.summary.session) else { return };
        let news = session::news(told, session);
        if news.width() > 0 {
            told.clone_from(session);
            self.begin_tight(page, None, None);
            page.row(Row::mark(Ink::Quiet, "· ").join(news));
        }
    }

    fn print_header(&mut self, page: &mut Page) {
        if self.told.is_none()
            && let Some(session) = &self.summary.session
        {
            self.flow.enter(page, &self.calls, None, Spacing::Loose, None);
            session::header(page, session);
            self.told = Some(session.clone());
        }
    }

    /// Begins a separate block of rows.
    fn begin(&mut self, page: &mut Page, lane: Option<CorrId>) {
        self.print_header(page);
        self.flow.enter(page, &self.calls, lane, Spacing::Loose, None);
    }

    /// Begins a block of one or two rows about a call, or about nothing in particular.
    fn begin_tight(&mut self, page: &mut Page, lane: Option<CorrId>, ends: Option<&CorrId>) {
        self.print_header(page);
        self.flow.enter(page, &self.calls, lane, Spacing::Tight, ends);
    }

    fn print_rest(&mut self, page: &mut Page) {
        let mut growing: Vec<_> = std::mem::take(&mut self.growing).into_values().collect();
        growing.sort_by_key(|growing| growing.age);
        growing.iter().for_each(|growing| self.entry(page, &growing.entry));
        self.calls.open().iter().for_each(|id| self.abandon(page, id));
        self.calls.end_all_hidden();
        self.print_header(page);
        if self.flow.has_begun() || self.summary != Summary::default() {
            self.flow.enter(page, &self.calls, None, Spacing::Loose, None);
            session::footer(page, &self.summary, &self.calls);
        }
    }
}

impl Resume for Transcript {
    type State = Self;

    fn state(&self) -> Self {
        self.clone()
    }

    fn resume(&mut self, state: Self) {
        *self = Self { style: self.style, ..state };
    }
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
