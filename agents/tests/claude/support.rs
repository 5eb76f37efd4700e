//! Replays of logs, and queries on conversations.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use foldline::transduce::Reducer;
use foldline_agents::{AnyState, DynExecutor, Registry, wire::Record};
use foldline_domain::{
    ActionType, Conversation, CorrId, DomainEvent, NormalizedEntry, Session, ToolUse, WarningKind,
};

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) use crate::captures::{fixtures, of as captures};

pub(crate) fn lines(log: &Path) -> Vec<String> {
    let bytes = fs::read(log).unwrap();
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.map(|line| String::from_utf8_lossy(line).into_owned()).collect()
}

pub(crate) fn reduce_line(
    executor: &DynExecutor,
    state: AnyState,
    line: &str,
) -> (AnyState, Vec<DomainEvent>) {
    let mut state = Some(state);
    let mut events = Vec::new();
    Record::read(line, |_, record| {
        let (next, more) = executor.reduce(state.take().unwrap(), record);
        state = Some(next);
        events.extend(more);
    });
    (state.unwrap(), events)
}

pub(crate) fn replay_lines(format: &str, lines: &[String]) -> Vec<DomainEvent> {
    let executor = Registry::builtin().named(format).cloned().unwrap();
    let mut state = executor.init();
    let mut events = Vec::new();
    for line in lines {
        let (next, more) = reduce_line(&executor, state, line);
        state = next;
        events.extend(more);
    }
    events.extend(executor.finish(state).1);
    events
}

pub(crate) fn replay(format: &str, log: &Path) -> Vec<DomainEvent> {
    replay_lines(format, &lines(log))
}

/// A replayed fixture.
pub(crate) struct Replay {
    pub(crate) events: Vec<DomainEvent>,
    pub(crate) conversation: Conversation,
}

impl Replay {
    pub(crate) fn of(format: &str, name: &str) -> Self {
        let folder = root().join("../tests/fixtures").join(format);
        let events = replay(format, &folder.join(format!("{name}.jsonl")));
        let conversation = events.iter().collect();
        Self { events, conversation }
    }

    /// Replays lines of a log.
    pub(crate) fn of_lines(format: &str, lines: &[String]) -> Self {
        let events = replay_lines(format, lines);
        let conversation = events.iter().collect();
        Self { events, conversation }
    }

    /// All entries as `type: content`, calls as `tool status: title`.
    pub(crate) fn told(&self) -> Vec<String> {
        let tell = |entry: &Arc<NormalizedEntry>| match entry.tool() {
            Some(tool) => format!("{} {}: {}", tool.tool_name, tool.status.name(), entry.content),
            None => format!("{}: {}", entry.entry_type.name(), entry.content),
        };
        self.conversation.entries.iter().map(tell).collect()
    }

    pub(crate) fn entry(&self, corr_id: &str) -> &NormalizedEntry {
        let id = CorrId::from(corr_id);
        let of_call =
            |entry: &&Arc<NormalizedEntry>| entry.tool().is_some() && entry.corr_id() == Some(&id);
        self.conversation.entries.iter().find(of_call).unwrap()
    }

    pub(crate) fn tool(&self, corr_id: &str) -> &ToolUse {
        self.entry(corr_id).tool().unwrap()
    }

    pub(crate) fn action(&self, corr_id: &str) -> &ActionType {
        &self.tool(corr_id).action_type
    }

    pub(crate) fn result(&self, corr_id: &str) -> String {
        self.action(corr_id).result_text().unwrap().to_string()
    }

    /// The entries of the sub-agent that a call started.
    pub(crate) fn children(&self, corr_id: &str) -> Vec<String> {
        let id = CorrId::from(corr_id);
        let is_child = |entry: &&Arc<NormalizedEntry>| {
            entry.metadata.as_ref().is_some_and(|meta| meta.parent_corr_id.as_ref() == Some(&id))
        };
        let children = self.conversation.entries.iter().filter(is_child);
        children.map(|entry| entry.content.to_string()).collect()
    }

    pub(crate) fn session(&self) -> &Session {
        self.conversation.summary.session.as_ref().unwrap()
    }

    /// Input and output tokens.
    pub(crate) fn tokens(&self) -> (u64, u64) {
        let usage = self.conversation.summary.usage.unwrap_or_default();
        (usage.input_tokens.unwrap_or(0), usage.output_tokens.unwrap_or(0))
    }

    pub(crate) fn cost(&self) -> Option<f64> {
        self.conversation.summary.usage.unwrap_or_default().cost_usd
    }

    /// The kinds of the warnings, with their subjects.
    pub(crate) fn warnings(&self) -> Vec<(WarningKind, &str)> {
        let warnings = self.events.iter().filter_map(|event| match event {
            DomainEvent::Warning(warning) => Some(warning),
            _ => None,
        });
        warnings.map(|warning| (warning.kind, warning.subject.as_deref().unwrap_or(""))).collect()
    }

    pub(crate) fn count(&self, event_name: &str) -> usize {
        self.events.iter().filter(|event| event.name() == event_name).count()
    }
}
