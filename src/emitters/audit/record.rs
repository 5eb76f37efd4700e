//! [`Record`]: what stands in the trail of one event.

use std::{borrow::Cow, fmt::Write};

use serde::{Serialize, Serializer};

use super::{canonical::MAX_SAFE, chain::AuditChain, event_digest};
use crate::conversation::{
    CorrId, Digest, DomainEvent, Located, NormalizedEntry, Session, SessionId, TaskId, Text,
    TokenUsage,
};

/// How many bytes of what was said stand in a record, at the most; what is cut off ends with `…`.
pub const MAX_SUMMARY: usize = 120;

/// The version of the format.
pub(super) const VERSION: u64 = 1;

/// One record. Its members are declared in the order of RFC 8785, and hold only strings and integers,
/// which `serde_json` writes as RFC 8785 has them: so its compact form is the canonical one.
#[derive(Debug, Serialize)]
pub(super) struct Record<'e> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) action: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<Exact<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) corr_id: Option<&'e CorrId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) entry: Option<&'static str>,
    pub(super) event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) event_sha256: Option<Digest>,
    pub(super) line: Exact<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line_sha256: Option<Digest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) log: Option<&'e str>,
    pub(super) offset: Exact<u64>,
    pub(super) prev: Digest,
    pub(super) seq: Exact<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<&'static str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) summary: Cow<'e, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<Cow<'e, str>>,
    pub(super) v: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) warning: Option<&'static str>,
}

impl<'e> Record<'e> {
    /// The next record of a chain.
    pub(super) fn next(chain: &'e AuditChain, event: &'e Located<DomainEvent>) -> Self {
        let Located { position, line_sha256, item, .. } = event;
        let line_sha256 = line_sha256.as_deref().copied();
        let needs_digest = line_sha256.is_none() || chain.event_digests;
        let record = Self {
            action: None,
            at: item.timestamp().map(|at| Exact(at.as_millis())),
            corr_id: None,
            entry: None,
            event: item.name(),
            event_sha256: needs_digest.then(|| event_digest(item)),
            line: Exact(position.line),
            line_sha256,
            log: chain.log.as_deref(),
            offset: Exact(position.offset),
            prev: chain.head.hash,
            seq: Exact(chain.head.count.saturating_add(1)),
            session: chain.session.as_ref().map(SessionId::as_str),
            status: None,
            summary: Cow::Borrowed(""),
            task: chain.task.as_ref().map(TaskId::as_str),
            tool: None,
            v: VERSION,
            warning: None,
        };
        record.with_facts(item)
    }

    fn with_facts(mut self, event: &'e DomainEvent) -> Self {
        match event {
            DomainEvent::Session(session) => self.summary = of_session(session),
            DomainEvent::NewEntry { entry } => self.take_entry(entry),
            DomainEvent::OpenEntry { corr_id, entry }
            | DomainEvent::NewToolCall { corr_id, entry }
            | DomainEvent::UpdateToolCall { corr_id, entry } => {
                self.take_entry(entry);
                self.corr_id = Some(corr_id);
            }
            DomainEvent::CloseEntry { corr_id, entry } => {
                if let Some(entry) = entry {
                    self.take_entry(entry);
                }
                self.corr_id = Some(corr_id);
            }
            DomainEvent::GrowEntry { corr_id, text } => {
                self.corr_id = Some(corr_id);
                self.summary = beginning(text.decode());
            }
            DomainEvent::Usage { usage, model } => {
                self.summary = of_usage(usage, model.as_ref());
            }
            DomainEvent::Warning(warning) => {
                self.warning = Some(warning.kind.as_str());
                self.corr_id = warning.corr_id.as_ref();
                self.summary = beginning(Cow::Borrowed(&warning.message));
            }
        }
        self
    }

    fn take_entry(&mut self, entry: &'e NormalizedEntry) {
        self.entry = Some(entry.entry_type.name());
        self.corr_id = entry.corr_id();
        self.summary = beginning(entry.content.decode());
        if let Some(tool) = entry.tool() {
            self.tool = Some(tool.tool_name.decode());
            self.action = Some(tool.action_type.name());
            self.status = Some(tool.status.name());
        }
    }
}

fn beginning(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.len() <= MAX_SUMMARY {
        return text;
    }
    let end = (0..=MAX_SUMMARY).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default()))
}

fn of_session(session: &Session) -> Cow<'static, str> {
    let text = |text: &Option<Text>| text.as_ref().map(|text| text.decode().into_owned());
    let facts = [
        ("agent", text(&session.agent)),
        ("version", text(&session.version)),
        ("model", text(&session.model)),
        ("cwd", text(&session.cwd)),
        ("outcome", session.outcome.map(|outcome| outcome.as_str().to_owned())),
        ("reason", text(&session.outcome_reason)),
    ];
    beginning(Cow::Owned(stated(facts)))
}

fn of_usage(usage: &TokenUsage, model: Option<&Text>) -> Cow<'static, str> {
    let number = |tokens: Option<u64>| tokens.map(|tokens| tokens.to_string());
    let facts = [
        ("model", model.map(|model| model.decode().into_owned())),
        ("input", number(usage.input_tokens)),
        ("output", number(usage.output_tokens)),
        ("cache_read", number(usage.cache_read_tokens)),
        ("cache_write", number(usage.cache_write_tokens)),
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

/// An integer; a string of its digits where a double does not hold it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact<N>(pub(super) N);

impl<N: Copy + Serialize + ToString + TryInto<i128>> Serialize for Exact<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let safe = -i128::from(MAX_SAFE)..=i128::from(MAX_SAFE);
        match self.0.try_into() {
            Ok(number) if safe.contains(&number) => self.0.serialize(serializer),
            _ => serializer.serialize_str(&self.0.to_string()),
        }
    }
}
