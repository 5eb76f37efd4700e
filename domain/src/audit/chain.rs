//! [`AuditChain`] chains records into the lines of a trail; [`AuditTrail`] also creates them from events.

use std::borrow::Cow;

use foldline::transduce::{Batch, Emitter, Resume};
use serde::{Deserialize, Serialize};

use super::{
    EventRecords,
    event_record::EventRecord,
    record::{Begun, Exact, GAP, Gap, MAX_TEXT, Record, SIGNATURE, Signed, VERSION, cut},
    sign::SigningKey,
};
use crate::conversation::{Digest, DomainEvent, Located, SessionId, TaskId};

/// The head of a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The number of records.
    pub count: u64,
    /// The hash of the last record; zeros if there is none.
    pub hash: Digest,
}

/// Chains the records of an audit trail. See [the module](super) for their format.
///
/// It is a plain value that can be stored with serde, and does no I/O. [`AuditTrail`] also creates
/// the records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditChain {
    pub(super) head: Head,
    pub(super) task: Option<TaskId>,
    pub(super) log: Option<String>,
    /// The last record is a signature.
    #[serde(default)]
    signed: bool,
    /// A record is a signature.
    #[serde(default)]
    has_signature: bool,
}

impl AuditChain {
    /// Continues a chain after `head`.
    pub fn after(head: Head) -> Self {
        Self { head, ..Self::default() }
    }

    /// A new chain that belongs to a ledger, and its first record, which names the ledger.
    ///
    /// `ledger` is the ledger's identity and `trail` the trail's, both random; `commits` is the number of earlier
    /// commits of the ledger, none of which are in the trail.
    pub fn of_ledger(ledger: &str, trail: &str, commits: u64, out: &mut Vec<u8>) -> Self {
        let mut chain = Self::default();
        chain.head = append(&Begun::new(ledger, trail, commits), chain.head, out);
        chain
    }

    /// Sets the task of the following records, or none.
    pub fn set_task(&mut self, task: Option<TaskId>) {
        self.task = task;
    }

    /// Sets the log of the following records, such as its path, or none.
    pub fn set_log(&mut self, log: Option<&str>) {
        self.log = log.map(str::to_owned);
    }

    /// The head of the chain.
    pub fn head(&self) -> Head {
        self.head
    }

    /// Appends the line of the next record to `out`, with its line end.
    pub fn append(&mut self, event: &EventRecord, out: &mut Vec<u8>) {
        self.head = append(&self.next(event), self.head, out);
        self.signed = false;
    }

    /// Appends the record of a gap: of the ledger's `commits` commits, those after the first `after` are not in the
    /// trail.
    pub fn append_gap(&mut self, after: u64, commits: u64, out: &mut Vec<u8>) {
        let Head { count, hash } = self.head;
        let (after, commits, seq) = (Exact(after), Exact(commits), Exact(count.saturating_add(1)));
        let gap = Gap { after, commits, event: GAP, prev: hash, seq, v: VERSION };
        self.head = append(&gap, self.head, out);
        self.signed = false;
    }

    /// Appends a signature of all preceding records; `commits` is the ledger's number of commits.
    pub fn append_signature(&mut self, key: &SigningKey, commits: u64, out: &mut Vec<u8>) {
        let Head { count, hash } = self.head;
        let mut record = Signed {
            commits: Exact(commits),
            event: SIGNATURE,
            key: key.public_key().to_string(),
            prev: hash,
            seq: Exact(count.saturating_add(1)),
            signature: None,
            v: VERSION,
        };
        let mut message = Vec::new();
        // Strings and integers always have a JSON form.
        let _ = foldline_json::append(&mut message, &record);
        let signature = key.sign(&message);
        record.signature = Some(signature.iter().map(|byte| format!("{byte:02x}")).collect());
        self.head = append(&record, self.head, out);
        (self.signed, self.has_signature) = (true, true);
    }

    /// Whether the last record is a signature, so that everything is signed.
    pub fn is_signed(&self) -> bool {
        self.signed
    }

    /// Whether a record is a signature, so that the following records are expected to be signed too.
    pub fn has_signature(&self) -> bool {
        // States of earlier versions only have the other field.
        self.has_signature || self.signed
    }

    /// The next record.
    fn next<'e>(&'e self, event: &'e EventRecord) -> Record<'e> {
        Record {
            action: event.action,
            at: event.at.map(Exact),
            corr_id: event.corr_id.as_deref().map(Cow::Borrowed),
            entry: event.entry,
            event: event.event,
            event_sha256: event.event_sha256,
            line: Exact(event.position.line),
            line_sha256: event.line_sha256,
            log: self.log.as_deref().map(bounded),
            offset: Exact(event.position.offset),
            prev: self.head.hash,
            seq: Exact(self.head.count.saturating_add(1)),
            session: event.session.as_ref().map(SessionId::as_str).map(bounded),
            status: event.status,
            summary: Cow::Borrowed(&event.summary),
            task: self.task.as_ref().map(TaskId::as_str).map(bounded),
            tool: event.tool.as_deref().map(Cow::Borrowed),
            v: VERSION,
            warning: event.warning,
        }
    }
}

fn bounded(text: &str) -> Cow<'_, str> {
    cut(Cow::Borrowed(text), MAX_TEXT)
}

/// Appends the line of a record that follows `head`, and returns the new head.
fn append(record: &impl Serialize, head: Head, out: &mut Vec<u8>) -> Head {
    const BEFORE: &[u8] = b"{\"hash\":\"";
    const BETWEEN: &[u8] = b"\",\"record\":";
    let start = out.len();
    let hash = start + BEFORE.len();
    let contents = hash + 64 + BETWEEN.len();
    out.extend_from_slice(BEFORE);
    out.extend_from_slice(&[b'0'; 64]);
    out.extend_from_slice(BETWEEN);
    // Strings and integers always have a JSON form, and a vector takes all of it.
    let _ = foldline_json::append(out, record);
    let digest = Digest::of(out.get(contents..).unwrap_or_default());
    if let Some(place) = out.get_mut(hash..hash + 64) {
        place.copy_from_slice(digest.to_hex().as_str().as_bytes());
    }
    out.extend_from_slice(b"}\n");
    Head { count: head.count.saturating_add(1), hash: digest }
}

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
