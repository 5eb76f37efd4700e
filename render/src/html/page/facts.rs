//! [`Facts`]: the facts of a page about the session as a whole.

use std::{borrow::Cow, collections::BTreeMap, sync::OnceLock};

use foldline_domain::{
    ActionType, ActiveTime, Activity, CorrId, DomainEvent, EntryIdx, FileChange, NormalizedEntry,
    NormalizedEntryType, Session, Summary, Text, Timestamp, TokenUsage, ToolStatus, WarningKind,
    title::Title,
};

use crate::text::{
    call_text::{self, ChangedLines},
    human,
};

use super::super::text::first_line;

/// The number of characters of a prompt kept in the list of prompts.
const MOST_PROMPT: usize = 200;

/// The number of characters of a prompt used as a title.
const MOST_TITLE: usize = 100;

/// The facts of a page about the session as a whole.
#[derive(Clone, Debug, Default)]
pub(in crate::html) struct Facts {
    pub(in crate::html) summary: Summary,
    title: Title,
    pub(in crate::html) turns: Vec<Turn>,
    pub(in crate::html) tools: BTreeMap<String, Tool>,
    pub(in crate::html) files: BTreeMap<String, ChangedFile>,
    pub(in crate::html) used: Used,
    pub(in crate::html) models: BTreeMap<String, Used>,
    /// Whether the log states the total cost, so that nothing is estimated.
    pub(in crate::html) is_cost_stated: bool,
    /// Whether a server shows all changes.
    pub(in crate::html) is_served: bool,
    pub(in crate::html) entries: usize,
    pub(in crate::html) calls: u64,
    pub(in crate::html) bad: u64,
    pub(in crate::html) begun: Option<Timestamp>,
    pub(in crate::html) ended: Option<Timestamp>,
    active: ActiveTime,
    /// The tokens of the last request, and the context window of its model.
    pub(in crate::html) context: Option<(u64, u64)>,
    open: BTreeMap<CorrId, OpenCall>,
    /// The number of open calls that wait for a person.
    waiting: usize,
    /// The side column, rendered once for all pages until the next event.
    pub(in crate::html) side: OnceLock<String>,
}

/// A call without a final result.
#[derive(Clone, Copy, Debug)]
struct OpenCall {
    turn: Option<usize>,
    /// It waits for a person: for a permission, or an answer.
    waits: bool,
}

/// A prompt by a person, and the totals of its turn.
#[derive(Clone, Debug)]
pub(in crate::html) struct Turn {
    pub(in crate::html) index: EntryIdx,
    pub(in crate::html) prompt: String,
    pub(in crate::html) begun: Option<Timestamp>,
    pub(in crate::html) ended: Option<Timestamp>,
    /// The time without pauses.
    pub(in crate::html) active: ActiveTime,
    pub(in crate::html) calls: u64,
    pub(in crate::html) bad: u64,
}

/// The calls of a tool.
#[derive(Clone, Debug, Default)]
pub(in crate::html) struct Tool {
    pub(in crate::html) calls: u64,
    pub(in crate::html) bad: u64,
    durations: Vec<u64>,
}

/// The changes of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::html) struct ChangedFile {
    pub(in crate::html) lines: ChangedLines,
    /// The entry with the first change.
    pub(in crate::html) first: Option<EntryIdx>,
}

/// The subject of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::html) enum About {
    /// The session as a whole.
    Session,
    /// This entry.
    Entry(EntryIdx),
    /// An unknown entry.
    Unknown,
}

/// Additional facts about an event.
#[derive(Clone, Copy, Debug)]
pub(in crate::html) struct EventFacts {
    pub(in crate::html) about: About,
    /// The estimated cost in dollars, if the log does not state it and there are prices.
    pub(in crate::html) estimated: Option<f64>,
    /// The tokens of a request, and the context window of its model, if they are known.
    pub(in crate::html) context: Option<(u64, u64)>,
}

/// Tokens and their cost.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::html) struct Used {
    pub(in crate::html) tokens: TokenUsage,
    /// The estimated part, in addition to the cost stated in the log.
    estimated: Option<f64>,
}

impl Used {
    fn add(&mut self, tokens: &TokenUsage, estimated: Option<f64>) {
        self.tokens.add(tokens);
        if let Some(more) = estimated {
            *self.estimated.get_or_insert(0.0) += more;
        }
    }

    /// The human-readable cost. An estimate is marked, and omitted if the log states the total cost.
    pub(in crate::html) fn cost(&self, is_stated: bool) -> Option<String> {
        let estimated = self.estimated.filter(|_| !is_stated);
        match (self.tokens.cost_usd, estimated) {
            (logged, None) => logged.map(human::dollars),
            (logged, Some(estimated)) => {
                Some(format!("≈ {}", human::dollars(logged.unwrap_or(0.0) + estimated)))
            }
        }
    }
}

impl Tool {
    /// The 95th percentile of the durations, in milliseconds.
    pub(in crate::html) fn p95(&self) -> Option<u64> {
        let mut durations = self.durations.clone();
        let rank = (durations.len() * 95).div_ceil(100).checked_sub(1)?;
        Some(*durations.select_nth_unstable(rank).1)
    }
}

impl Facts {
    /// Applies the facts of an event.
    pub(in crate::html) fn apply(&mut self, event: &DomainEvent, more: EventFacts) {
        self.side.take();
        self.summary.apply(event);
        let index = match more.about {
            About::Entry(index) => Some(index),
            About::Session => None,
            About::Unknown => {
                self.summary.warn(WarningKind::UnknownCorrelation);
                None
            }
        };
        if let Some(at) = event.timestamp() {
            self.begun = Some(self.begun.map_or(at, |begun| begun.min(at)));
            self.ended = Some(self.ended.map_or(at, |ended| ended.max(at)));
        }
        self.facts_of(event, index, more);
        // The time before a prompt is not of the turn before it.
        if let Some(activity) = Activity::of(event) {
            self.active.add(activity);
            if let (Some(turn), Some(at)) = (self.turns.last_mut(), event.timestamp()) {
                turn.ended = Some(turn.ended.map_or(at, |ended| ended.max(at)));
                turn.active.add(activity);
            }
        }
    }

    fn facts_of(&mut self, event: &DomainEvent, index: Option<EntryIdx>, more: EventFacts) {
        match event {
            DomainEvent::Session(news) => {
                news.title.iter().for_each(|title| self.title.state(&title.decode()));
            }
            DomainEvent::NewEntry { entry } | DomainEvent::OpenEntry { entry, .. } => {
                self.entry(entry, index);
                self.said(entry);
                if entry.tool().is_some() {
                    self.call();
                    self.end(entry, index, self.turns.len().checked_sub(1));
                }
            }
            DomainEvent::NewToolCall { corr_id, entry } => {
                self.entry(entry, index);
                self.call();
                let (turn, waits) = (self.turns.len().checked_sub(1), waits(entry));
                let before = self.open.insert(corr_id.clone(), OpenCall { turn, waits });
                self.wait(before.is_some_and(|before| before.waits), waits);
            }
            DomainEvent::UpdateToolCall { corr_id, entry } => {
                let is_final = entry.tool().is_some_and(|tool| tool.status.is_final());
                if !is_final && let Some(open) = self.open.get_mut(corr_id) {
                    let before = std::mem::replace(&mut open.waits, waits(entry));
                    let now = open.waits;
                    self.wait(before, now);
                } else if let Some(OpenCall { turn, waits }) = self.open.remove(corr_id) {
                    self.wait(waits, false);
                    self.end(entry, index, turn);
                }
            }
            DomainEvent::Usage { usage, model, .. } => {
                let model = self.model(model.as_ref()).into_owned();
                self.models.entry(model).or_default().add(usage, more.estimated);
                self.used.add(usage, more.estimated);
                // A contract may allow more than the window that is known.
                if let Some((used, window)) = more.context {
                    self.context = Some((used, window)).filter(|_| used > 0 && used <= window);
                }
                self.is_cost_stated |= usage.cost_usd.is_some()
                    && usage.input_tokens.is_none()
                    && usage.output_tokens.is_none();
            }
            _ => {}
        }
    }

    /// The model that used the tokens: the stated one, or else the session's.
    pub(in crate::html) fn model<'t>(&'t self, stated: Option<&'t Text>) -> Cow<'t, str> {
        let model = stated.or(self.session().and_then(|session| session.model.as_ref()));
        model.map(Text::decode).unwrap_or_default()
    }

    fn entry(&mut self, entry: &NormalizedEntry, index: Option<EntryIdx>) {
        self.entries += 1;
        let is_within =
            entry.metadata.as_ref().is_some_and(|metadata| metadata.parent_corr_id.is_some());
        if let Some(index) = index
            && entry.entry_type == NormalizedEntryType::UserMessage
            && !is_within
        {
            let prompt = entry.content.decode();
            self.title.ask(&prompt);
            let prompt = first_line(&prompt).0.chars().take(MOST_PROMPT).collect();
            let begun = entry.timestamp;
            let active = ActiveTime { last: begun, millis: 0 };
            self.turns.push(Turn { index, prompt, begun, ended: begun, active, calls: 0, bad: 0 });
        }
    }

    /// The title of a session without prompts is the first words of its agent.
    fn said(&mut self, entry: &NormalizedEntry) {
        if entry.entry_type == NormalizedEntryType::AssistantMessage && self.turns.is_empty() {
            self.title.answer(&entry.content.decode());
        }
    }

    fn call(&mut self) {
        self.calls += 1;
        if let Some(turn) = self.turns.last_mut() {
            turn.calls += 1;
        }
    }

    /// An open call waits for a person now, and did before.
    fn wait(&mut self, before: bool, now: bool) {
        self.waiting = (self.waiting + usize::from(now)).saturating_sub(usize::from(before));
    }

    /// The number of calls that run, and of those that wait for a person.
    pub(in crate::html) fn open(&self) -> (usize, usize) {
        (self.open.len().saturating_sub(self.waiting), self.waiting)
    }

    fn end(&mut self, entry: &NormalizedEntry, index: Option<EntryIdx>, turn: Option<usize>) {
        let Some(tool) = entry.tool() else { return };
        let bad = u64::from(tool.status.is_failure());
        self.bad += bad;
        if let Some(turn) = turn.and_then(|turn| self.turns.get_mut(turn)) {
            turn.bad += bad;
        }
        let facts = self.tools.entry(call_text::name(tool).into_owned()).or_default();
        facts.calls += 1;
        facts.bad += bad;
        facts.durations.extend(tool.duration_ms);
        if let ActionType::FileEdit { changes, .. } = &tool.action_type
            && tool.status == ToolStatus::Success
        {
            changes.iter().for_each(|change| self.changed(change, index));
        }
    }

    fn changed(&mut self, change: &FileChange, index: Option<EntryIdx>) {
        let lines = ChangedLines::of(std::slice::from_ref(change));
        let file = self.files.entry(change.path().decode().into_owned()).or_default();
        file.lines.add(lines);
        file.first = file.first.or(index);
    }

    pub(in crate::html) fn session(&self) -> Option<&Session> {
        self.summary.session.as_deref()
    }

    /// The title: the log's own, else the first prompt that says what it is about.
    pub(in crate::html) fn title(&self) -> Cow<'_, str> {
        self.title.get().map_or("Session".into(), |title| human::beginning(title, MOST_TITLE))
    }

    /// The time without pauses in milliseconds; of a log without moments it is unknown.
    pub(in crate::html) fn active(&self) -> Option<u64> {
        (self.begun < self.ended).then_some(self.active.millis)
    }

    /// The duration in milliseconds: from the first to the last time, else as stated in the log.
    pub(in crate::html) fn duration(&self) -> Option<u64> {
        let session = self.session();
        let stated = session.and_then(|session| session.duration_ms);
        self.ended.and_then(|ended| ended.millis_since(self.begun?)).filter(|ms| *ms > 0).or(stated)
    }
}

/// Whether an open call waits for a person.
fn waits(entry: &NormalizedEntry) -> bool {
    let asks = |action: &ActionType| {
        matches!(action, ActionType::Question { .. } | ActionType::PlanPresentation { .. })
    };
    entry.tool().is_some_and(|tool| {
        tool.status == ToolStatus::PendingApproval
            || !tool.status.is_final() && asks(&tool.action_type)
    })
}
