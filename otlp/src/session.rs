//! [`OtlpState`]: what is remembered of a session, and the spans and records that are made of it.

use std::{collections::BTreeMap, sync::Arc};

use foldline_domain::{CorrId, NormalizedEntry, Outcome, Session, Text, Timestamp, ToolUse};
use serde::{Deserialize, Serialize};

use super::{
    convention::{
        AGENT_NAME, AGENT_VERSION, CHAT, CONVERSATION_ID, DERIVED, INVOKE_AGENT, OBSERVED,
        PROCESS_WORKING_DIRECTORY, PROVIDER_NAME, REQUEST_MODEL, SESSION, SESSION_OUTCOME,
        SESSION_TITLE, UNFINISHED, VCS_HEAD_NAME, provider_of,
    },
    metrics::{Metrics, Model},
    signal::{
        Attributes, Interval, Link, LogRecord, Moment, Severity, Signal, SignalData, Span, SpanId,
        SpanKind, SpanStatus, Temporality, TraceId,
    },
    turn::{
        AgentTurn, SubAgent, call_attributes, is_unfinished, starts_sub_agent, sub_agent_span,
        tool_error, tool_name,
    },
};

/// The memory of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OtlpState {
    pub(super) facts: Session,
    /// Set when it is needed first, and then kept.
    trace: Option<TraceId>,
    pub(super) times: Interval,
    /// Whether the log has entries. One that only states the tokens of a session has no spans: those are in the log with
    /// the conversation, which is the same trace.
    pub(super) has_entries: bool,
    turns: u64,
    /// The number of requests whose tokens the log states.
    pub(super) requests: u64,
    pub(super) turn: Option<AgentTurn>,
    /// The calls without a result.
    pub(super) calls: BTreeMap<CorrId, PendingCall>,
    sub_agents: BTreeMap<CorrId, SubAgent>,
    pub(super) metrics: Metrics,
    /// The times at which the events arrived, if they were said.
    arrived: Interval,
    /// Growing messages of the user and of the agent, if content is requested.
    pub(super) growing: BTreeMap<CorrId, (bool, String)>,
}

/// A call without a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingCall {
    parent: SpanId,
    entry: Arc<NormalizedEntry>,
}

/// A span or, if the log does not state its times, a record: without its place in the session.
struct SpanParts {
    id: SpanId,
    parent: Option<SpanId>,
    name: String,
    attributes: Attributes,
    links: Vec<Link>,
    is_failed: bool,
}

impl OtlpState {
    /// The trace of the session. Without an id, the time of its first event distinguishes it.
    pub(super) fn trace(&mut self) -> TraceId {
        let Self { trace, facts, times, .. } = self;
        let made = trace.get_or_insert_with(|| {
            let agent = facts.agent.as_ref().map(Text::decode).unwrap_or_default();
            match &facts.session_id {
                Some(id) => TraceId::of_session(&agent, &[id.as_str()]),
                None => {
                    let first = times.first().map(|at| at.as_millis().to_string());
                    TraceId::of_session(&agent, &["without an id", &first.unwrap_or_default()])
                }
            }
        });
        made.clone()
    }

    /// The span of the whole session.
    fn root(&mut self) -> SpanId {
        root(&self.trace())
    }

    /// The trace and the span of the session, if the log has named it.
    pub(super) fn named(&mut self) -> Option<(TraceId, SpanId)> {
        self.facts.session_id.as_ref()?;
        Some((self.trace(), self.root()))
    }

    /// The current turn; it begins at this time if there is none.
    pub(super) fn turn_at(&mut self, at: Option<Timestamp>) -> &mut AgentTurn {
        let trace = self.trace();
        let Self { turn, turns, .. } = self;
        turn.get_or_insert_with(|| {
            *turns += 1;
            AgentTurn::new(&trace, *turns, at)
        })
    }

    /// Notes an event of the agent: its time, and that the agent works. Returns the span that it belongs to.
    pub(super) fn note(&mut self, parent: Option<&CorrId>, at: Option<Timestamp>) -> SpanId {
        let arrived = self.arrived.last();
        let turn = self.turn_at(at);
        turn.is_answered = true;
        turn.times.include(at);
        turn.arrived.include(arrived);
        let span = turn.span.clone();
        if !self.has_entries {
            return self.root();
        }
        let Some(call) = parent else { return span };
        let trace = self.trace();
        let sub_agent = self.sub_agents.entry(call.clone()).or_default();
        sub_agent.has_events = true;
        sub_agent.times.include(at);
        sub_agent.arrived.include(arrived);
        if let Some(tool) = self.calls.get(call).and_then(|call| call.entry.tool()) {
            sub_agent.call(tool);
        }
        sub_agent_span(&trace, call)
    }

    /// Notes that a call may have started a sub-agent.
    fn note_call(&mut self, id: &CorrId, tool: &ToolUse) {
        if starts_sub_agent(tool) {
            self.sub_agents.entry(id.clone()).or_default().call(tool);
        } else if let Some(sub_agent) = self.sub_agents.get_mut(id) {
            sub_agent.call(tool);
        }
    }

    /// Notes that an event has arrived.
    pub(super) fn arrived(&mut self, at: Option<Timestamp>) {
        self.arrived.include(at);
    }

    /// Whether the times are those at which events arrived, as the log states none.
    fn is_observed(&self) -> bool {
        self.times.first().is_none() && self.arrived.first().is_some()
    }

    /// The times of the session.
    fn session_times(&self) -> Interval {
        if self.is_observed() { self.arrived } else { self.times }
    }

    /// When a call without a result began.
    pub(super) fn began(&self, id: &CorrId) -> Option<Timestamp> {
        self.calls.get(id)?.entry.timestamp
    }

    /// Remembers a call without a result, which belongs to this span.
    pub(super) fn open_call(&mut self, id: &CorrId, parent: SpanId, entry: &Arc<NormalizedEntry>) {
        let parent = self.calls.remove(id).map_or(parent, |open| open.parent);
        self.calls.insert(id.clone(), PendingCall { parent, entry: Arc::clone(entry) });
    }

    /// The span of a call that has ended, or will not end; and of the sub-agent that it started.
    pub(super) fn end_call(
        &mut self,
        id: &CorrId,
        parent: SpanId,
        entry: &NormalizedEntry,
        has_content: bool,
    ) -> Vec<Signal> {
        let parent = self.calls.remove(id).map_or(parent, |open| open.parent);
        let Some(tool) = entry.tool() else { return Vec::new() };
        self.note_call(id, tool);
        let (name, is_failed) = (tool_name(tool), tool_error(tool).is_some());
        if let Some(millis) = tool.duration_ms {
            self.metrics.count_call(&name, tool_error(tool), millis);
        }
        let attributes = self.common(call_attributes(id, tool, has_content));
        let parts = SpanParts {
            id: self.trace().span("call", &[id.as_str()]),
            parent: Some(parent),
            name: format!("execute_tool {name}"),
            attributes,
            links: Vec::new(),
            is_failed,
        };
        let began = entry.timestamp.and_then(Moment::of);
        let times = began.and_then(|began| Some((began, self.end_of(began, tool)?)));
        let call = self.signal(parts, times, began);
        [Some(call), self.end_sub_agent(id)].into_iter().flatten().collect()
    }

    /// The end of a call, if the log states its duration. That of a call without a result is the last time of the log.
    fn end_of(&self, began: Moment, tool: &ToolUse) -> Option<Moment> {
        match tool.duration_ms {
            Some(millis) => began.after(millis),
            None if is_unfinished(tool) => {
                self.session_times().last().and_then(Moment::of).map(|last| last.max(began))
            }
            None => None,
        }
    }

    /// The span of a sub-agent, unless it was emitted, or did nothing.
    fn end_sub_agent(&mut self, id: &CorrId) -> Option<Signal> {
        let trace = self.trace();
        let is_observed = self.is_observed();
        let sub_agent = self
            .sub_agents
            .get_mut(id)
            .filter(|sub_agent| sub_agent.has_events && !sub_agent.is_emitted)?;
        sub_agent.is_emitted = true;
        let attributes = sub_agent.attributes();
        let (stated, arrived) = (sub_agent.times, sub_agent.arrived);
        let times = if is_observed { arrived } else { stated };
        let parts = SpanParts {
            id: sub_agent_span(&trace, id),
            parent: Some(match sub_agent.is_called {
                true => trace.span("call", &[id.as_str()]),
                false => root(&trace),
            }),
            name: named(INVOKE_AGENT, sub_agent.name.as_deref()),
            attributes: self.conversation(attributes),
            links: Vec::new(),
            is_failed: false,
        };
        Some(self.signal(parts, times.moments(), None))
    }

    /// The span of the current turn, and the metrics. `is_last` if the session ends with it.
    pub(super) fn end_turn(&mut self, is_last: bool, temporality: Temporality) -> Vec<Signal> {
        let Some(turn) = self.turn.take() else { return Vec::new() };
        let is_unfinished = is_last && !self.states_its_end();
        let agent = self.facts.agent.as_ref().map(|agent| agent.decode().into_owned());
        let parts = SpanParts {
            id: turn.span.clone(),
            parent: Some(self.root()),
            name: named(INVOKE_AGENT, agent.as_deref()),
            attributes: self
                .common(turn.attributes())
                .with_known(UNFINISHED, is_unfinished.then_some(true)),
            links: Vec::new(),
            is_failed: false,
        };
        let times = if self.is_observed() { turn.arrived } else { turn.times };
        let times = times.moments();
        let mut signals = Vec::new();
        if self.has_entries {
            signals.push(self.signal(parts, times, None));
        }
        // A further attribute that the log states later would begin another series.
        let common = self.named_agent(Attributes::default());
        signals.extend(self.metrics.points(self.session_times(), temporality, &common));
        signals
    }

    /// Everything that has not ended, and the session itself.
    pub(super) fn end(&mut self, has_content: bool, temporality: Temporality) -> Vec<Signal> {
        let mut signals = Vec::new();
        for (id, PendingCall { parent, entry }) in std::mem::take(&mut self.calls) {
            signals.extend(self.end_call(&id, parent, &entry, has_content));
        }
        let sub_agents: Vec<_> = self.sub_agents.keys().cloned().collect();
        signals.extend(sub_agents.iter().filter_map(|id| self.end_sub_agent(id)));
        signals.extend(self.end_turn(true, temporality));
        if self.has_entries {
            signals.push(self.whole(has_content));
        }
        signals
    }

    /// The span of a request to a model, of which the log states the tokens and when they were counted. It began, at the
    /// earliest, with what it answers.
    pub(super) fn request(
        &mut self,
        id: SpanId,
        model: &Model,
        at: Option<Timestamp>,
        attributes: Attributes,
    ) -> Option<Signal> {
        let turn = self.turn.as_mut().filter(|_| self.has_entries)?;
        let mut times = Interval::default();
        times.include(at);
        times.include(turn.asked_at.filter(|asked| at.is_some_and(|at| *asked <= at)));
        let (parent, times) = (turn.span.clone(), times.moments()?);
        // A further report of the same answer.
        turn.asked_at = at;
        let parts = SpanParts {
            id,
            parent: Some(parent),
            name: named(CHAT, model.model.as_deref()),
            attributes: attributes.with(DERIVED, true),
            links: Vec::new(),
            is_failed: false,
        };
        Some(self.timed(parts, SpanKind::Client, times))
    }

    /// The span of the session.
    fn whole(&mut self, has_content: bool) -> Signal {
        let facts = &self.facts;
        let outcome = facts.outcome.map(Outcome::as_str);
        let mut attributes = Attributes::default()
            .with_known(SESSION_OUTCOME, outcome)
            .with_known(UNFINISHED, (!self.states_its_end()).then_some(true));
        if has_content {
            let text = |text: &Option<Text>| text.as_ref().map(|text| text.decode().into_owned());
            attributes = attributes
                .with_known(SESSION_TITLE, text(&facts.title))
                .with_known(PROCESS_WORKING_DIRECTORY, text(&facts.cwd))
                .with_known(VCS_HEAD_NAME, text(&facts.branch));
        }
        // A sub-agent's or a fork's own log: its session is a trace of its own, linked to the call that started it.
        let link = facts.parent.as_ref().map(|parent| {
            let agent = facts.agent.as_ref().map(Text::decode).unwrap_or_default();
            let trace_id = TraceId::of_session(&agent, &[parent.session_id.as_str()]);
            let call = parent.corr_id.as_ref().map(|call| trace_id.span("call", &[call.as_str()]));
            Link { span_id: call.unwrap_or_else(|| root(&trace_id)), trace_id }
        });
        let parts = SpanParts {
            id: self.root(),
            parent: None,
            name: SESSION.to_owned(),
            // Without a model: a view would take the session for a request to it.
            attributes: self.of_agent(attributes),
            links: link.into_iter().collect(),
            is_failed: self.facts.outcome == Some(Outcome::Failed),
        };
        let times = self.session_times().moments();
        self.signal(parts, times, None)
    }

    /// Whether the log says that the session has ended.
    fn states_its_end(&self) -> bool {
        self.facts.outcome.is_some() || self.facts.ended_at.is_some()
    }

    /// Adds the attributes that the spans within the session have.
    pub(super) fn common(&self, attributes: Attributes) -> Attributes {
        self.asking(attributes, &self.model(None))
    }

    /// Adds the same attributes for a request to this model.
    pub(super) fn asking(
        &self,
        attributes: Attributes,
        Model { provider, model }: &Model,
    ) -> Attributes {
        self.of_agent(attributes)
            .with(PROVIDER_NAME, provider.as_str())
            .with_known(REQUEST_MODEL, model.as_deref())
    }

    /// The model of a request, or else of the session, and who provides it.
    pub(super) fn model(&self, of_request: Option<&Text>) -> Model {
        let Session { model, provider, agent, .. } = &self.facts;
        let text = |text: &Text| text.decode().into_owned();
        let model = of_request.or(model.as_ref()).map(text);
        let agent = agent.as_ref().map(text);
        let provider = provider.as_ref().map(text);
        let provider = provider.unwrap_or_else(|| provider_of(model.as_deref(), agent.as_deref()));
        Model { provider, model }
    }

    fn of_agent(&self, attributes: Attributes) -> Attributes {
        let version = self.facts.version.as_ref().map(|version| version.decode().into_owned());
        let is_observed = self.is_observed().then_some(true);
        let attributes = attributes.with_known(OBSERVED, is_observed);
        self.named_agent(attributes.with_known(AGENT_VERSION, version))
    }

    fn named_agent(&self, attributes: Attributes) -> Attributes {
        let agent = self.facts.agent.as_ref().map(|agent| agent.decode().into_owned());
        self.conversation(attributes.with_known(AGENT_NAME, agent))
    }

    fn conversation(&self, attributes: Attributes) -> Attributes {
        let id = self.facts.session_id.as_ref().map(|id| id.as_str().to_owned());
        attributes.with_known(CONVERSATION_ID, id)
    }

    /// A span if the log states its times, else a record of what would have been the span, which its children name.
    fn signal(
        &mut self,
        parts: SpanParts,
        times: Option<(Moment, Moment)>,
        at: Option<Moment>,
    ) -> Signal {
        let Some(times) = times else {
            let SpanParts { id, name, attributes, is_failed, .. } = parts;
            let trace_id = self.trace();
            let severity = if is_failed { Severity::Warn } else { Severity::Info };
            let event_name = format!("foldline.{}", name.split(' ').next().unwrap_or_default());
            return record(Some((trace_id, id)), &event_name, severity, at, attributes);
        };
        self.timed(parts, SpanKind::Internal, times)
    }

    fn timed(&mut self, parts: SpanParts, kind: SpanKind, times: (Moment, Moment)) -> Signal {
        let SpanParts { id, parent, name, attributes, links, is_failed } = parts;
        let (trace_id, (start_time_unix_nano, end_time_unix_nano)) = (self.trace(), times);
        Signal(SignalData::Span(Box::new(Span {
            trace_id,
            span_id: id,
            parent_span_id: parent,
            name,
            kind,
            start_time_unix_nano,
            end_time_unix_nano,
            attributes,
            links,
            status: is_failed.then_some(SpanStatus::ERROR),
        })))
    }
}

/// A log record, which belongs to a span if that is known.
pub(super) fn record(
    of: Option<(TraceId, SpanId)>,
    event_name: &str,
    severity_number: Severity,
    time_unix_nano: Option<Moment>,
    attributes: Attributes,
) -> Signal {
    let event_name = event_name.to_owned();
    let (trace_id, span_id) = of.unzip();
    let record =
        LogRecord { time_unix_nano, severity_number, attributes, trace_id, span_id, event_name };
    Signal(SignalData::Log(Box::new(record)))
}

fn root(trace: &TraceId) -> SpanId {
    trace.span("session", &[])
}

/// `invoke_agent NAME`, as the conventions name spans.
fn named(operation: &str, name: Option<&str>) -> String {
    name.map_or_else(|| operation.to_owned(), |name| format!("{operation} {name}"))
}
