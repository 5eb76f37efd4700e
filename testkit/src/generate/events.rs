//! Events like those of executors, for authors of emitters.

use std::sync::Arc;

use foldline_domain::{
    ActionType, Authority, CorrId, DomainEvent, Limit, Located, NormalizedEntry,
    NormalizedEntryType, Outcome, Position, RecordTitle, Session, Text, Timestamp, TokenUsage,
    ToolStatus, ToolUse, WarningKind,
};
use foldline_json::Raw;
use proptest::{collection::vec, option, prelude::*, sample::select};

use super::value::literal;

/// The events of a whole log, of every kind and balanced: complete entries, growing entries, several at a time, and
/// calls that are updated and end in any order.
pub fn events() -> BoxedStrategy<Vec<DomainEvent>> {
    let steps = vec((step(), any::<usize>(), text()), 0..40);
    steps
        .prop_map(|steps| {
            let mut log = Log::default();
            for (step, which, text) in steps {
                log.take(step, which, text);
            }
            log.end()
        })
        .boxed()
}

/// The same [`events`] with positions: each is caused by a separate line.
pub fn located_events() -> BoxedStrategy<Vec<Located<DomainEvent>>> {
    let located = |events: Vec<DomainEvent>| {
        let positions = (1..).map(|line| Position { line, offset: 100 * (line - 1) });
        positions.zip(events).map(|(position, event)| Located::new(position, event)).collect()
    };
    events().prop_map(located).boxed()
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Say,
    Open,
    Grow,
    Close { whole: bool },
    Call,
    Update,
    End,
    Session,
    Usage,
    Warn,
}

fn step() -> impl Strategy<Value = Step> {
    let close = option::of(Just(())).prop_map(|whole| Step::Close { whole: whole.is_some() });
    prop_oneof![
        2 => Just(Step::Say),
        2 => Just(Step::Open),
        8 => Just(Step::Grow),
        2 => close,
        3 => Just(Step::Call),
        1 => Just(Step::Update),
        3 => Just(Step::End),
        1 => select(vec![Step::Session, Step::Usage, Step::Warn]),
    ]
}

fn text() -> impl Strategy<Value = Text> {
    literal()
        .prop_map(|literal| Raw::parse(&literal).ok().and_then(Text::from_raw).unwrap_or_default())
}

/// The events so far, and the open entries and calls.
#[derive(Debug, Default)]
struct Log {
    events: Vec<DomainEvent>,
    growing: Vec<CorrId>,
    calls: Vec<CorrId>,
}

impl Log {
    fn take(&mut self, step: Step, which: usize, text: Text) {
        let at = Timestamp::from_millis(1_000 * i64::try_from(self.events.len()).unwrap_or(0));
        let said =
            |text| NormalizedEntry::new(NormalizedEntryType::AssistantMessage, text).at(Some(at));
        let id = || CorrId::from(format!("{}/{text}", self.events.len()));
        let event = match step {
            Step::Say => DomainEvent::entry(said(text)),
            Step::Open => {
                let corr_id = id();
                self.growing.push(corr_id.clone());
                DomainEvent::OpenEntry { corr_id, entry: said(text).into() }
            }
            Step::Grow => {
                let Some(corr_id) = pick(&self.growing, which) else { return };
                DomainEvent::GrowEntry { corr_id, text }
            }
            Step::Close { whole } => {
                let Some(corr_id) = pick(&self.growing, which) else { return };
                self.growing.retain(|open| *open != corr_id);
                DomainEvent::CloseEntry { corr_id, entry: whole.then(|| said(text).into()) }
            }
            Step::Call => {
                let corr_id = id();
                self.calls.push(corr_id.clone());
                DomainEvent::NewToolCall { corr_id, entry: call(text, ToolStatus::Created) }
            }
            Step::Update => {
                let Some(corr_id) = pick(&self.calls, which) else { return };
                DomainEvent::UpdateToolCall { corr_id, entry: call(text, ToolStatus::InProgress) }
            }
            Step::End => {
                let Some(corr_id) = pick(&self.calls, which) else { return };
                self.calls.retain(|open| *open != corr_id);
                DomainEvent::UpdateToolCall { corr_id, entry: call(text, ToolStatus::Success) }
            }
            Step::Session => {
                let outcome = Some(Outcome::Success);
                let authority = which.is_multiple_of(3).then(|| {
                    let since = which.is_multiple_of(2).then_some(at);
                    Box::new(Authority { since, ..Authority::of_mode(text.clone()) })
                });
                let limits = which.is_multiple_of(4).then(|| {
                    let (name, at) = (text.clone(), which.is_multiple_of(8).then_some(at));
                    vec![Limit { name, used_percent: which as f64 / 8.0, at, ..Limit::default() }]
                });
                let leaf = which.is_multiple_of(5).then(id);
                let record_titles = which.is_multiple_of(6).then(|| {
                    vec![RecordTitle { record: format!("r{which}").into(), title: text.clone() }]
                });
                DomainEvent::Session(Box::new(Session {
                    title: Some(text),
                    leaf,
                    record_titles,
                    outcome,
                    authority,
                    limits,
                    ..Session::default()
                }))
            }
            Step::Usage => {
                let usage =
                    TokenUsage { output_tokens: Some(which as u64), ..TokenUsage::default() };
                let usage = Box::new(usage);
                let message_id = which.is_multiple_of(2).then(|| text.clone());
                let timestamp = Some(at);
                DomainEvent::Usage { usage, model: Some(text), message_id, timestamp }
            }
            Step::Warn => DomainEvent::warning(WarningKind::PlainText, text.into_string()),
        };
        self.events.push(event);
    }

    fn end(mut self) -> Vec<DomainEvent> {
        for corr_id in std::mem::take(&mut self.calls) {
            let entry = call("given up".into(), ToolStatus::Unfinished);
            self.events.push(DomainEvent::UpdateToolCall { corr_id, entry });
        }
        for corr_id in std::mem::take(&mut self.growing) {
            self.events.push(DomainEvent::CloseEntry { corr_id, entry: None });
        }
        self.events
    }
}

fn pick(open: &[CorrId], which: usize) -> Option<CorrId> {
    open.get(which.checked_rem(open.len())?).cloned()
}

fn call(text: Text, status: ToolStatus) -> Arc<NormalizedEntry> {
    let action = ActionType::CommandRun { command: text.clone(), result: None };
    let mut tool = ToolUse::new("Execute", action);
    tool.status = status;
    NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), text).into()
}
