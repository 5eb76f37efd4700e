//! [`AuditTrail`]: converts events into the lines of a trail.

use foldline::transduce::{Batch, Emitter, Resume};
use serde::{Deserialize, Serialize};

use super::{AuditChain, EventRecords};
use crate::conversation::{DomainEvent, Located};

/// Emits the lines of an audit trail, without their line ends: [`EventRecords`], chained.
///
/// ```
/// use foldline::transduce::Emitter;
/// use foldline_domain::{
///     DomainEvent, Located, NormalizedEntry, NormalizedEntryType, Position,
///     audit::{AuditTrail, verify},
/// };
///
/// let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, "Do it.");
/// let event = Located::new(Position { line: 1, offset: 0 }, DomainEvent::entry(entry));
///
/// let mut trail = AuditTrail::of_log("session.jsonl");
/// let mut file = String::new();
/// for line in [trail.emit(&event), trail.emit(&event)].into_iter().flatten() {
///     file += &line;
///     file.push('\n');
/// }
/// assert!(verify(file.as_bytes(), |_| {})?.is_ok());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct AuditTrail {
    records: EventRecords,
    chain: AuditChain,
}

/// The memory of an [`AuditTrail`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditTrailState {
    names: <EventRecords as Resume>::State,
    chain: AuditChain,
}

impl AuditTrail {
    /// The trail of the log with this name, such as its path.
    pub fn of_log(log: &str) -> Self {
        let mut trail = Self::default();
        trail.chain.set_log(Some(log));
        trail
    }

    /// The chain, for setting the log and the task of the next events.
    pub fn chain_mut(&mut self) -> &mut AuditChain {
        &mut self.chain
    }
}

/// The room for most lines.
const LINE: usize = 768;

impl Emitter<Located<DomainEvent>, String> for AuditTrail {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<String> {
        let mut line = Vec::with_capacity(LINE);
        self.chain.append(&self.records.record(event), &mut line);
        line.pop();
        // JSON is UTF-8, so nothing is lost.
        Batch::from(String::from_utf8(line).ok())
    }
}

impl Resume for AuditTrail {
    type State = AuditTrailState;

    fn state(&self) -> AuditTrailState {
        AuditTrailState { names: self.records.state(), chain: self.chain.clone() }
    }

    fn resume(&mut self, state: AuditTrailState) {
        self.records.resume(state.names);
        self.chain = state.chain;
    }
}
