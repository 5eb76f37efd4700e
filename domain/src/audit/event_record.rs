//! [`EventRecord`]: the content of an event's record; [`EventRecords`]: their emitter.

use std::{borrow::Cow, collections::BTreeMap, fmt::Write};

use foldline::transduce::{Batch, Emitter, Resume};

use super::{
    event_digest,
    record::{MAX_SUMMARY, MAX_TEXT, cut},
};
use crate::conversation::{
    CorrId, Digest, DomainEvent, Limit, Located, NormalizedEntry, Position, Session, SessionId,
    SessionKey, Text, Timestamp, TokenUsage,
};

/// The content of a trail record for an event: everything except its place in the chain. Created by [`EventRecords`].
///
/// It is small, regardless of the length of the event's entry, so that many can be kept until they are chained, and
/// it can be created on another thread than the chain ([`AuditChain::append`](super::AuditChain::append)).
///
/// [`EventRecords`]: super::EventRecords
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRecord {
    pub(super) action: Option<&'static str>,
    pub(super) at: Option<i64>,
    pub(super) corr_id: Option<String>,
    pub(super) entry: Option<&'static str>,
    pub(super) event: &'static str,
    pub(super) event_sha256: Option<Digest>,
    pub(super) line_sha256: Option<Digest>,
    pub(super) position: Position,
    /// The name of its session, if the log has stated one so far.
    pub(super) session: Option<SessionId>,
    pub(super) status: Option<&'static str>,
    pub(super) summary: String,
    pub(super) tool: Option<String>,
    pub(super) warning: Option<&'static str>,
}

impl EventRecord {
    /// The record of `event`. An event whose line has no digest gets a separate one; with `digest`, every event does.
    pub(super) fn new(
        event: &Located<DomainEvent>,
        session: Option<SessionId>,
        digest: bool,
    ) -> Self {
        let Located { position, line_sha256, item, .. } = event;
        let line_sha256 = line_sha256.as_deref().copied();
        let mut record = Self {
            action: None,
            at: item.timestamp().map(Timestamp::as_millis),
            corr_id: None,
            entry: None,
            event: item.name(),
            event_sha256: (line_sha256.is_none() || digest).then(|| event_digest(item)),
            line_sha256,
            position: *position,
            session,
            status: None,
            summary: String::new(),
            tool: None,
            warning: None,
        };
        record.take(item);
        record
    }

    /// The position of the event.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The digest of the line.
    pub fn line_sha256(&self) -> Option<Digest> {
        self.line_sha256
    }

    /// The digest of the session and the event, in whatever line of a log that is rewritten, after this number of equal
    /// events in the same line; `None` without a digest of the event.
    pub fn content_sha256(&self, number: u64) -> Option<Digest> {
        let session = self.session.as_ref().map(SessionId::as_str).unwrap_or_default();
        Some(Digest::of(format!("{number} {} {session}", self.event_sha256?).as_bytes()))
    }

    /// The approximate size in memory, in bytes.
    pub fn size(&self) -> usize {
        let texts = [self.corr_id.as_ref(), self.tool.as_ref(), Some(&self.summary)];
        size_of::<Self>() + texts.into_iter().flatten().map(String::capacity).sum::<usize>()
    }

    fn take(&mut self, event: &DomainEvent) {
        match event {
            DomainEvent::Session(session) => self.summary = of_session(session),
            DomainEvent::NewEntry { entry } => self.take_entry(entry),
            DomainEvent::OpenEntry { corr_id, entry }
            | DomainEvent::NewToolCall { corr_id, entry }
            | DomainEvent::UpdateToolCall { corr_id, entry } => {
                self.take_entry(entry);
                self.corr_id = Some(bounded(corr_id));
            }
            DomainEvent::CloseEntry { corr_id, entry } => {
                if let Some(entry) = entry {
                    self.take_entry(entry);
                }
                self.corr_id = Some(bounded(corr_id));
            }
            DomainEvent::GrowEntry { corr_id, text } => {
                self.corr_id = Some(bounded(corr_id));
                self.summary = beginning(text.decode());
            }
            DomainEvent::Usage { usage, model, .. } => {
                self.summary = of_usage(usage, model.as_ref());
            }
            DomainEvent::Warning(warning) => {
                self.warning = Some(warning.kind.as_str());
                self.corr_id = warning.corr_id.as_ref().map(bounded);
                self.summary = beginning(Cow::Borrowed(&warning.message));
            }
            DomainEvent::SessionEnded => {}
        }
    }

    fn take_entry(&mut self, entry: &NormalizedEntry) {
        self.entry = Some(entry.entry_type.name());
        self.corr_id = entry.corr_id().map(bounded);
        self.summary = beginning(entry.content.decode());
        if let Some(tool) = entry.tool() {
            self.tool = Some(cut(tool.tool_name.decode(), MAX_TEXT).into_owned());
            self.action = Some(tool.action_type.name());
            self.status = Some(tool.status.name());
        }
    }
}

fn beginning(text: Cow<'_, str>) -> String {
    cut(text, MAX_SUMMARY).into_owned()
}

fn bounded(id: &CorrId) -> String {
    cut(Cow::Borrowed(id.as_str()), MAX_TEXT).into_owned()
}

fn of_session(session: &Session) -> String {
    let text = |text: &Option<Text>| text.as_ref().map(|text| text.decode().into_owned());
    let allowed = session.authority.as_ref().and_then(|authority| authority.allowed);
    let used = |limit: &Limit| format!("{} {}%", limit.name, limit.used_percent);
    let limits = session.limits.as_ref().map(|it| it.iter().map(used).collect::<Vec<_>>());
    let facts = [
        ("agent", text(&session.agent)),
        ("version", text(&session.version)),
        ("model", text(&session.model)),
        ("cwd", text(&session.cwd)),
        ("branch", text(&session.branch)),
        ("allowed", allowed.map(|allowed| allowed.as_str().to_owned())),
        ("authority", session.authority.as_ref().map(|authority| authority.words())),
        ("limits", limits.map(|limits| limits.join(", "))),
        ("outcome", session.outcome.map(|outcome| outcome.as_str().to_owned())),
        ("reason", text(&session.outcome_reason)),
    ];
    beginning(Cow::Owned(stated(facts)))
}

fn of_usage(usage: &TokenUsage, model: Option<&Text>) -> String {
    let number = |tokens: Option<u64>| tokens.map(|tokens| tokens.to_string());
    let facts = [
        ("model", model.map(|model| model.decode().into_owned())),
        ("input", number(usage.input_tokens)),
        ("output", number(usage.output_tokens)),
        ("cache_read", number(usage.cache_read_tokens)),
        ("cache_write", number(usage.cache_write_tokens)),
        ("cache_write_1h", number(usage.cache_write_1h_tokens)),
        ("web_searches", number(usage.web_searches)),
        ("reasoning", number(usage.reasoning_tokens)),
        ("cost_usd", usage.cost_usd.map(|cost| cost.to_string())),
    ];
    beginning(Cow::Owned(stated(facts)))
}

fn stated<const N: usize>(facts: [(&str, Option<String>); N]) -> String {
    let mut text = String::new();
    for (name, fact) in facts {
        if let Some(fact) = fact {
            let comma = if text.is_empty() { "" } else { ", " };
            // Writing to a string does not fail.
            let _ = write!(text, "{comma}{name} {fact}");
        }
    }
    text
}

/// Emits an [`EventRecord`] for every event, to be chained by one or more trails.
///
/// It remembers the names of the open sessions.
#[derive(Clone, Debug, Default)]
pub struct EventRecords {
    names: BTreeMap<SessionKey, SessionId>,
    event_digests: bool,
}

impl EventRecords {
    /// Adds a separate digest to every event, not only to events whose line has none.
    #[must_use]
    pub fn with_event_digests(mut self) -> Self {
        self.event_digests = true;
        self
    }

    /// The record of an event.
    pub fn record(&mut self, event: &Located<DomainEvent>) -> EventRecord {
        if let DomainEvent::Session(facts) = &event.item
            && let Some(name) = &facts.session_id
            && self.names.get(&event.session) != Some(name)
        {
            self.names.insert(event.session, name.clone());
        }
        let name = match &event.item {
            DomainEvent::SessionEnded => self.names.remove(&event.session),
            _ => self.names.get(&event.session).cloned(),
        };
        EventRecord::new(event, name, self.event_digests)
    }
}

impl Emitter<Located<DomainEvent>, EventRecord> for EventRecords {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<EventRecord> {
        Batch::one(self.record(event))
    }
}

impl Resume for EventRecords {
    type State = BTreeMap<SessionKey, SessionId>;

    fn state(&self) -> Self::State {
        self.names.clone()
    }

    fn resume(&mut self, names: Self::State) {
        self.names = names;
    }
}
