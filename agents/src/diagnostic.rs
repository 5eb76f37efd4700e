//! [`DiagnosticReducer`]: reads a log and notes facts about it that its events do not state.

use std::collections::BTreeMap;

use foldline::{
    processor::ParseAhead,
    transduce::{Batch, Reducer},
};
use foldline_domain::{CorrId, DomainEvent, Located, Position, WarningKind};

use super::{
    dynamic::{AnyState, DynExecutor, SplitExecutor},
    sessions::{Sessions, SessionsState},
    wire::Record,
};

/// Reads the sessions of a log, like [`Sessions`], for a report about the log itself. The events are the same, except
/// that the warning about a result without a call has the position of the result: the result was held until it was
/// certain that no call follows. The state counts the records that were ignored on purpose.
///
/// ```
/// use foldline::{processor::{Finished, Processor}, transduce::Transducer};
/// use foldline_agents::{DiagnosticReducer, DynExecutor, Records, claude::ClaudeSession};
/// use foldline_domain::{Located, drift::SchemaDrift};
///
/// let examining = DiagnosticReducer::new(DynExecutor::new(ClaudeSession::default()));
/// let mut processor = Processor::new(Records, Transducer::new(examining, SchemaDrift::default()));
/// let line = r#"{"type":"mode","mode":"normal","sessionId":"a"}"#;
/// processor.push(format!("{line}\n{line}\n").as_bytes(), |never| match never {});
/// let Finished { state, emitter, .. } = processor.finish(|never| match never {});
/// assert_eq!(state.ignored().by_type().collect::<Vec<_>>(), [("mode", 2)]);
/// assert!(emitter.is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct DiagnosticReducer {
    sessions: Sessions<SplitExecutor>,
}

/// The state of an [`DiagnosticReducer`].
#[derive(Clone, Debug, PartialEq)]
pub struct ExaminedState {
    sessions: SessionsState<AnyState>,
    ignored: Ignored,
    /// The positions of the results that await their calls.
    held_at: BTreeMap<CorrId, Position>,
}

/// Counts of the records that were ignored on purpose, by type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ignored {
    by_type: BTreeMap<String, u64>,
}

impl DiagnosticReducer {
    /// Examines a log that `executor` reads.
    pub fn new(executor: DynExecutor) -> Self {
        Self { sessions: Sessions::new(SplitExecutor::new(executor)) }
    }
}

impl ExaminedState {
    /// The records that were ignored on purpose.
    pub fn ignored(&self) -> &Ignored {
        &self.ignored
    }

    /// Notes the position of the results that the last record left without a call.
    fn hold(&mut self, position: Position) {
        let Some((_, state)) = self.sessions.open().last() else { return };
        let mut nth = 0;
        while let Some(id) = state.held(nth)
            && !self.held_at.contains_key(id)
        {
            self.held_at.insert(id.clone(), position);
            nth += 1;
        }
    }

    /// Moves the warnings about held results to the positions of the results.
    fn locate(&mut self, mut events: Batch<Located<DomainEvent>>) -> Batch<Located<DomainEvent>> {
        for event in events.as_mut_slice() {
            match &event.item {
                DomainEvent::NewToolCall { corr_id, .. } => {
                    self.held_at.remove(corr_id);
                }
                DomainEvent::Warning(warning) if warning.kind == WarningKind::UnclaimedResult => {
                    let held_at = warning.corr_id.as_ref().and_then(|id| self.held_at.remove(id));
                    event.position = held_at.unwrap_or(event.position);
                }
                _ => {}
            }
        }
        events
    }
}

impl Ignored {
    /// The maximum number of different types; further ones are counted together.
    const MAX_TYPES: usize = 1000;

    /// The maximum length of the name of a type in characters.
    const MAX_NAME: usize = 80;

    /// The counts by type; the name is empty if there is none.
    pub fn by_type(&self) -> impl Iterator<Item = (&str, u64)> {
        self.by_type.iter().map(|(name, count)| (name.as_str(), *count))
    }

    /// The number of records of all types.
    pub fn count(&self) -> u64 {
        self.by_type.values().sum()
    }

    fn add(&mut self, name: &str) {
        let end = name.char_indices().nth(Self::MAX_NAME).map_or(name.len(), |(at, _)| at);
        let name = &name[..end];
        if let Some(count) = self.by_type.get_mut(name) {
            *count += 1;
            return;
        }
        let name = if self.by_type.len() < Self::MAX_TYPES { name } else { "(others)" };
        *self.by_type.entry(name.to_owned()).or_default() += 1;
    }
}

impl<'a> Reducer<Located<Record<'a>>, ExaminedState, Located<DomainEvent>> for DiagnosticReducer {
    fn init(&self) -> ExaminedState {
        ExaminedState {
            sessions: self.sessions.init(),
            ignored: Ignored::default(),
            held_at: BTreeMap::new(),
        }
    }

    fn reduce(
        &self,
        mut state: ExaminedState,
        record: Located<Record<'a>>,
    ) -> (ExaminedState, Batch<Located<DomainEvent>>) {
        let Located { position, line_sha256, session, item } = record;
        let item = self.sessions.parse_ahead(item);
        if let Some(name) = &item.ignored {
            state.ignored.add(name);
        }
        let record = Located { position, line_sha256, session, item };
        let (sessions, events) = self.sessions.reduce(state.sessions, record);
        state.sessions = sessions;
        let events = state.locate(events);
        state.hold(position);
        (state, events)
    }

    fn finish(&self, mut state: ExaminedState) -> (ExaminedState, Batch<Located<DomainEvent>>) {
        let (sessions, events) = self.sessions.finish(state.sessions);
        state.sessions = sessions;
        let events = state.locate(events);
        (state, events)
    }

    fn is_done(&self, state: &ExaminedState) -> bool {
        self.sessions.is_done(&state.sessions)
    }
}
