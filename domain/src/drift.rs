//! [`SchemaDrift`]: counts the unsupported parts of a log, which reveals format changes of a release.

use std::{collections::BTreeMap, convert::Infallible};

use foldline::transduce::{Batch, Emitter};
use serde_json::Value;

use crate::conversation::{CorrId, DomainEvent, Located, Session, Warning, WarningKind};

/// The maximum number of different findings; further ones are counted together.
const MAX_FINDINGS: usize = 1000;

/// The maximum number of open calls whose line is remembered.
const MAX_CALLS: usize = 1 << 16;

/// Collects the warnings of a log by kind and subject. It keeps none of the log's content, so that the result can be
/// published.
#[derive(Clone, Debug, Default)]
pub struct SchemaDrift {
    session: Session,
    findings: BTreeMap<(WarningKind, String), Finding>,
    /// The lines of the open calls.
    called_at: BTreeMap<CorrId, u64>,
}

/// An unsupported or invalid item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The number of occurrences.
    pub count: u64,
    /// The first line on which it occurs, counted from 1.
    pub first_line: u64,
    /// The shape of the first occurrence: the types of its values and the names of its fields, without any content.
    pub shape: Option<String>,
}

impl SchemaDrift {
    /// The session's facts: the agent, its version.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The findings by kind and name; the name is empty if there is none.
    pub fn findings(&self) -> impl Iterator<Item = (WarningKind, &str, &Finding)> {
        self.findings.iter().map(|((kind, subject), finding)| (*kind, subject.as_str(), finding))
    }

    /// Whether there are no findings.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    fn add(&mut self, line: u64, warning: &Warning) {
        let called_at = warning.corr_id.as_ref().and_then(|id| self.called_at.get(id).copied());
        let first_line = match warning.kind {
            WarningKind::UnfinishedCall => called_at.unwrap_or(line),
            _ => line,
        };
        let mut key = (warning.kind, warning.subject.clone().unwrap_or_default());
        if self.findings.len() >= MAX_FINDINGS && !self.findings.contains_key(&key) {
            key.1 = "(others)".to_owned();
        }
        let finding = self.findings.entry(key).or_insert_with(|| Finding {
            count: 0,
            first_line,
            shape: warning.sample.as_ref().map(|sample| shape(&sample.to_value())),
        });
        finding.count += 1;
        finding.first_line = finding.first_line.min(first_line);
    }
}

impl Emitter<Located<DomainEvent>, Infallible> for SchemaDrift {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        let line = event.position.line;
        match &event.item {
            DomainEvent::Session(facts) => self.session.merge(facts),
            DomainEvent::Warning(warning) => self.add(line, warning),
            DomainEvent::NewToolCall { corr_id, .. } if self.called_at.len() < MAX_CALLS => {
                self.called_at.insert(corr_id.clone(), line);
            }
            DomainEvent::UpdateToolCall { corr_id, entry }
                if entry.tool().is_some_and(|tool| tool.status.is_final()) =>
            {
                self.called_at.remove(corr_id);
            }
            _ => {}
        }
        Batch::EMPTY
    }
}

/// The shape of a value: `{"a":string,"b":[number]}`.
fn shape(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "boolean".to_owned(),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(elements) => {
            let mut shapes: Vec<_> = elements.iter().map(shape).collect();
            shapes.sort_unstable();
            shapes.dedup();
            format!("[{}]", shapes.join("|"))
        }
        Value::Object(fields) => {
            let fields =
                fields.iter().map(|(name, value)| format!("{}:{}", quoted(name), shape(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
    }
}

/// The name of a field; a name that is not an identifier may be content, such as a path.
fn quoted(name: &str) -> &str {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$');
    if name.len() <= 40 && name.chars().all(plain) { name } else { "…" }
}
