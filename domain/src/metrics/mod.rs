//! Counters over conversations, in the text format of Prometheus.
//!
//! [`Metrics`] is a fold: a plain value that reads events and sums. [`Metrics::render`] writes it in the Prometheus
//! text format (`text/plain; version=0.0.4`), which is supported by Prometheus, the node exporter's textfile
//! collector and `promtool check metrics`.
//!
//! # What is counted
//!
//! If the [OpenTelemetry semantic conventions for generative AI][conventions] define a name, that name is used in
//! Prometheus spelling; all other names begin with `foldline_`. The conventions are those of schema
//! `gen-ai-dev/1.42.0-dev`. They have the status *Development*: their names will change, and these names with them.
//!
//! | Metric | Labels | Meaning |
//! | --- | --- | --- |
//! | `gen_ai_client_token_usage_total` | operation, agent, model, `gen_ai_token_type` | Tokens; `input` includes cached ones, `output` includes reasoning |
//! | `gen_ai_usage_cache_read_input_tokens_total` | operation, agent, model | The part of the input that was read from a cache |
//! | `gen_ai_usage_cache_creation_input_tokens_total` | operation, agent, model | The part of the input that was written to a cache |
//! | `gen_ai_usage_reasoning_output_tokens_total` | operation, agent, model | The part of the output that was reasoning |
//! | `gen_ai_execute_tool_duration_seconds` | operation, agent, tool, `error_type` | A histogram with the buckets of the conventions; calls whose duration the log states |
//! | `foldline_cost_usd_total` | agent, model, `basis` | US dollars: `logged` if the log states them, else `estimated` if the caller [adds](Metrics::add_estimated_cost) an estimate |
//! | `foldline_tool_calls_total` | agent, tool, `status` | Calls that ended |
//! | `foldline_tool_calls_open` | | Calls that have not ended yet |
//! | `foldline_entries_total` | `type` | Entries of the conversation |
//! | `foldline_sessions_total` | agent, `outcome` | Ended sessions, `unknown` if the log does not state the outcome |
//! | `foldline_warnings_total` | `kind` | Problems of the log: malformed, unknown, ... |
//! | `foldline_lines_total`, `foldline_lines_blank_total`, `foldline_records_total` | | Lines and records read |
//!
//! The labels' full names are `gen_ai_operation_name`, `gen_ai_agent_name`, `gen_ai_request_model` and
//! `gen_ai_tool_name`. `error_type` is the status of a call that did not end successfully: `failed`, `denied`,
//! `cancelled`, `unfinished`; other calls do not have it.
//!
//! Differences from the conventions:
//! - `gen_ai.client.token.usage` is a histogram over operations in the conventions. Many logs state the tokens of a
//!   whole run, so that buckets would have no meaning; here it is a counter, which equals the sum of that histogram.
//! - Parts of the input and output are separate metrics, named after the attributes `gen_ai.usage.*`, and not further
//!   values of `gen_ai_token_type`: a sum over all types stays correct.
//! - `gen_ai.provider.name` is omitted, because most logs do not state it.
//!
//! # Bounded labels
//!
//! A session, a task or a path is never a label. Agents, models and tools are, up to a fixed number of names each
//! ([`MAX_AGENTS`], [`MAX_MODELS`], [`MAX_TOOLS`]): later names, and names longer than [`MAX_NAME`] bytes, count as
//! `other`.
//!
//! [conventions]: https://github.com/open-telemetry/semantic-conventions-genai

mod durations;
mod named;
mod render;

use std::{collections::BTreeMap, convert::Infallible};

use foldline::{
    processor::Counts,
    transduce::{Batch, Emitter, Resume},
};
use serde::{Deserialize, Serialize};

pub use self::{
    durations::Durations,
    named::{MAX_NAME, Named, OTHER},
};
use crate::conversation::{
    DomainEvent, Located, NormalizedEntry, Outcome, Session, SessionKey, Text, TokenUsage, ToolUse,
    WarningKind,
};

/// The maximum number of distinct agents.
pub const MAX_AGENTS: usize = 32;

/// The maximum number of distinct models of each agent.
pub const MAX_MODELS: usize = 32;

/// The maximum number of distinct tools of each agent.
pub const MAX_TOOLS: usize = 64;

/// Counters over conversations. See [the module](self) for the metrics.
///
/// It may read several logs, one after another: [`end_log`](Self::end_log) ends a log, not the counting. As an
/// [`Emitter`] it has no output, so that it can be the side of a [`Tee`](foldline::transduce::Tee).
///
/// ```
/// use foldline::position::{Located, Position};
/// use foldline_domain::{DomainEvent, TokenUsage, metrics::Metrics};
///
/// let mut metrics = Metrics::default();
/// let usage = TokenUsage { output_tokens: Some(7), ..TokenUsage::default() };
/// let model = Some("m-1".into());
/// let used = DomainEvent::Usage { usage: Box::new(usage), model, message_id: None, timestamp: None };
/// metrics.count(&Located::new(Position::default(), used));
/// let line = r#"gen_ai_client_token_usage_total{gen_ai_operation_name="chat",gen_ai_request_model="m-1",gen_ai_token_type="output"} 7"#;
/// assert!(metrics.render().lines().any(|rendered| rendered == line));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Lines and records read.
    pub read: LinesRead,
    /// Metrics by agent. The name is empty if the log does not state it.
    pub agents: Named<AgentMetrics, MAX_AGENTS>,
    /// Tool calls that have not ended yet.
    pub calls_open: u64,
    /// Entries, by type.
    pub entries: BTreeMap<String, u64>,
    /// Warnings, by kind.
    pub warnings: BTreeMap<WarningKind, u64>,
    /// The open sessions.
    open: BTreeMap<SessionKey, Current>,
}

/// Counts of lines and records read from logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinesRead {
    /// Lines, including blank ones.
    pub lines: u64,
    /// Blank lines.
    pub blank: u64,
    /// Records; a line may have several.
    pub records: u64,
}

impl From<Counts> for LinesRead {
    fn from(Counts { lines, blank, records }: Counts) -> Self {
        Self { lines, blank, records }
    }
}

/// The metrics of one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentMetrics {
    /// Tokens and cost, by model. The name is empty if the log does not state it.
    pub models: Named<ModelMetrics, MAX_MODELS>,
    /// Tool calls that ended, by tool.
    pub tools: Named<ToolMetrics, MAX_TOOLS>,
    /// Ended sessions, by outcome.
    pub sessions: BTreeMap<String, u64>,
}

/// The metrics of one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelMetrics {
    /// Tokens, and the cost that logs state. Flat, as earlier versions stored it.
    #[serde(flatten)]
    pub usage: TokenUsage,
    /// The estimated cost of tokens whose cost no log states, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_cost_usd: Option<f64>,
}

/// The calls of one tool, by the name of their final status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolMetrics {
    /// The number of calls with this status.
    pub ended: BTreeMap<String, u64>,
    /// Their durations, if the log states them.
    pub durations: BTreeMap<String, Durations>,
}

/// The state of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Current {
    begun: bool,
    agent: String,
    outcome: Option<Outcome>,
}

impl Metrics {
    /// Adds the counts of a log. They are not part of the events: the reader of the lines supplies them.
    pub fn add_read(&mut self, read: LinesRead) {
        self.read.lines += read.lines;
        self.read.blank += read.blank;
        self.read.records += read.records;
    }

    /// Adds the counters of another log.
    pub fn add(&mut self, other: &Self) {
        self.add_read(other.read);
        for (agent, more) in other.agents.iter() {
            self.agents.get_mut(agent).add(more);
        }
        self.calls_open += other.calls_open;
        add_all(&mut self.entries, &other.entries);
        add_all(&mut self.warnings, &other.warnings);
    }

    /// Clears the counted sessions and tokens, for callers with better data: if several logs contain one session or one
    /// message, only a store of all of them, such as a database, counts it once. [`add_sessions`](Self::add_sessions)
    /// and [`add_usage`](Self::add_usage) then add its counts.
    pub fn clear_shared(&mut self) {
        let agents: Vec<_> = self.agents.iter().map(|(agent, _)| agent.to_owned()).collect();
        for agent in agents {
            let agent = self.agents.get_mut(&agent);
            (agent.models, agent.sessions) = Default::default();
        }
    }

    /// Adds sessions of an agent with an outcome. An unknown name is empty.
    pub fn add_sessions(&mut self, agent: &str, outcome: Option<&str>, count: u64) {
        let sessions = &mut self.agents.get_mut(agent).sessions;
        *sessions.entry(outcome.unwrap_or("unknown").to_owned()).or_default() += count;
    }

    /// Adds tokens used by an agent with a model. An unknown name is empty.
    pub fn add_usage(&mut self, agent: &str, model: &str, usage: &TokenUsage) {
        self.agents.get_mut(agent).models.get_mut(model).usage.add(&countable(usage));
    }

    /// Adds the estimated cost of tokens whose cost the log does not state, in US dollars. Only a caller with prices knows
    /// it. Anything but a cost, such as an infinite one, is ignored.
    pub fn add_estimated_cost(&mut self, agent: &str, model: &str, usd: f64) {
        let more = ModelMetrics { estimated_cost_usd: Some(usd), ..ModelMetrics::default() };
        self.agents.get_mut(agent).models.get_mut(model).add(&more);
    }

    /// Counts an event.
    pub fn count(&mut self, event: &Located<DomainEvent>) {
        let key = event.session;
        match &event.item {
            DomainEvent::Session(news) => self.session(key, news),
            DomainEvent::SessionEnded => self.end_session(key),
            DomainEvent::NewEntry { entry } | DomainEvent::OpenEntry { entry, .. } => {
                self.entry(entry);
            }
            DomainEvent::NewToolCall { entry, .. } => {
                self.entry(entry);
                self.calls_open += 1;
                self.call(key, entry);
            }
            DomainEvent::UpdateToolCall { entry, .. } => self.call(key, entry),
            DomainEvent::Usage { usage, model, .. } => self.usage(key, usage, model.as_ref()),
            DomainEvent::Warning(warning) => {
                *self.warnings.entry(warning.kind).or_default() += 1;
            }
            DomainEvent::GrowEntry { .. } | DomainEvent::CloseEntry { .. } => {}
        }
    }

    /// Counts open sessions as ended, for a log that is not read further.
    pub fn end_log(&mut self) {
        let open: Vec<_> = self.open.keys().copied().collect();
        open.into_iter().for_each(|key| self.end_session(key));
    }

    fn session(&mut self, key: SessionKey, news: &Session) {
        let current = self.open.entry(key).or_default();
        current.begun = true;
        current.outcome = news.outcome.or(current.outcome);
        if let Some(agent) = &news.agent {
            current.agent = named::name(agent);
        }
    }

    fn end_session(&mut self, key: SessionKey) {
        if let Some(session) = self.open.remove(&key).filter(|session| session.begun) {
            let outcome = session.outcome.map_or("unknown", Outcome::as_str);
            add_one(&mut self.agents.get_mut(&session.agent).sessions, outcome);
        }
    }

    fn entry(&mut self, entry: &NormalizedEntry) {
        add_one(&mut self.entries, entry.entry_type.name());
    }

    /// Counts a call that has ended.
    fn call(&mut self, key: SessionKey, entry: &NormalizedEntry) {
        let Some(ToolUse { tool_name, status, duration_ms, .. }) = entry.tool() else { return };
        if !status.is_final() {
            return;
        }
        self.calls_open = self.calls_open.saturating_sub(1);
        let tool = self.agent(key).tools.get_mut(&tool_name.decode());
        add_one(&mut tool.ended, status.name());
        if let Some(millis) = duration_ms {
            tool.durations.entry(status.name().to_owned()).or_default().observe(*millis);
        }
    }

    fn usage(&mut self, key: SessionKey, usage: &TokenUsage, model: Option<&Text>) {
        let usage = countable(usage);
        let Self { agents, open, .. } = self;
        let current = open.entry(key).or_default();
        // Usage without a model may be that of a sub-agent, not of the session's model.
        let model = model.map(Text::decode).unwrap_or_default();
        agents.get_mut(&current.agent).models.get_mut(&model).usage.add(&usage);
    }

    fn agent(&mut self, key: SessionKey) -> &mut AgentMetrics {
        self.agents.get_mut(&self.open.entry(key).or_default().agent)
    }
}

impl AgentMetrics {
    fn add(&mut self, other: &Self) {
        for (model, more) in other.models.iter() {
            self.models.get_mut(model).add(more);
        }
        for (tool, more) in other.tools.iter() {
            let tool = self.tools.get_mut(tool);
            add_all(&mut tool.ended, &more.ended);
            for (status, durations) in &more.durations {
                tool.durations.entry(status.clone()).or_default().add(durations);
            }
        }
        add_all(&mut self.sessions, &other.sessions);
    }
}

impl ModelMetrics {
    fn add(&mut self, other: &Self) {
        self.usage.add(&other.usage);
        if let Some(usd) = increment(other.estimated_cost_usd) {
            *self.estimated_cost_usd.get_or_insert(0.0) += usd;
        }
    }
}

fn countable(usage: &TokenUsage) -> TokenUsage {
    TokenUsage { cost_usd: increment(usage.cost_usd), ..*usage }
}

/// Only a valid increment: a counter never decreases.
fn increment(cost_usd: Option<f64>) -> Option<f64> {
    cost_usd.filter(|cost| cost.is_finite() && *cost >= 0.0)
}

fn add_all<K: Clone + Ord>(counters: &mut BTreeMap<K, u64>, more: &BTreeMap<K, u64>) {
    for (name, count) in more {
        *counters.entry(name.clone()).or_default() += count;
    }
}

fn add_one(counters: &mut BTreeMap<String, u64>, name: &str) {
    *counters.entry(name.to_owned()).or_default() += 1;
}

impl Resume for Metrics {
    type State = Self;

    fn state(&self) -> Self {
        self.clone()
    }

    fn resume(&mut self, state: Self) {
        *self = state;
    }
}

impl Emitter<Located<DomainEvent>, Infallible> for Metrics {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        self.count(event);
        Batch::EMPTY
    }

    fn finish(&mut self) -> Batch<Infallible> {
        self.end_log();
        Batch::EMPTY
    }
}
