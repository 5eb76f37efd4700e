//! [`OtlpState`]: what is remembered of a session, and the spans and records that are made of it.

use std::{collections::BTreeMap, sync::Arc};

use foldline_domain::{
    CorrId, NormalizedEntry, Outcome, Relation, Session, Text, Timestamp, ToolUse,
};
use serde::{Deserialize, Serialize};

use super::{
    convention::{AGENT, CHAT, DERIVED, INVOKE_AGENT, SESSION, SPAN_KIND, UNFINISHED, WAIT},
    metrics::{Metrics, Model},
    signal::{Attributes, Interval, Moment, Severity, Signal, SpanKind, Temporality},
    span::{Described, SpanParts, named, record},
    trace::{SpanContext, TraceId, TraceScope},
    turn::{
        AgentTurn, SubAgent, call_attributes, call_span, is_unfinished, session_span,
        starts_sub_agent, sub_agent_span, tool_error, tool_name,
    },
};

/// The memory of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OtlpState {
    pub(super) facts: Session,
    pub(super) scope: TraceScope,
    /// The trace of the session, from which those of its turns are derived, and whether turns have one. Set when it is
    /// needed first, and then kept.
    trace: Option<(TraceId, bool)>,
    pub(super) times: Interval,
    /// Whether the log has entries. One that only states the tokens of a session has no spans: those are in the log with
    /// the conversation, which is the same trace.
    pub(super) has_entries: bool,
    turns: u64,
    /// The number of requests whose tokens the log states.
    pub(super) requests: u64,
    pub(super) turn: Option<AgentTurn>,
    /// A turn that was closed before the next one began.
    closed: Option<Box<AgentTurn>>,
    /// The end of the last turn.
    ended: Option<Timestamp>,
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
    parent: SpanContext,
    entry: Arc<NormalizedEntry>,
    /// The end of its turn, if that has ended.
    until: Option<Timestamp>,
}

impl OtlpState {
    /// What its spans say of it.
    pub(super) fn described(&self) -> Described<'_> {
        Described { facts: &self.facts, is_observed: self.is_observed() }
    }

    /// The trace of the session, and whether its turns are traces. Without an id, the time of its first event
    /// distinguishes it. A sub-agent's log answers one prompt: it is one trace.
    fn trace(&mut self) -> (TraceId, bool) {
        let Self { trace, facts, times, scope, .. } = self;
        let made = trace.get_or_insert_with(|| {
            let agent = facts.agent.as_ref().map(Text::decode).unwrap_or_default();
            let is_sub_agent =
                facts.parent.as_ref().is_some_and(|it| it.relation == Relation::SubAgent);
            let session = match &facts.session_id {
                Some(id) => TraceId::of_session(&agent, &[id.as_str()]),
                None => {
                    let first = times.first().map(|at| at.as_millis().to_string());
                    TraceId::of_session(&agent, &["without an id", &first.unwrap_or_default()])
                }
            };
            (session, *scope == TraceScope::Turn && !is_sub_agent)
        });
        made.clone()
    }

    /// The span of the whole session, if it is one trace.
    fn root(&mut self) -> Option<SpanContext> {
        let (session, is_by_turn) = self.trace();
        (!is_by_turn).then(|| session_span(&session))
    }

    /// The span of the session or of the current turn, if the log has named the session.
    pub(super) fn named(&mut self) -> Option<SpanContext> {
        self.facts.session_id.as_ref()?;
        self.root().or_else(|| self.turn.as_ref().map(|turn| turn.context.clone()))
    }

    /// The current turn; it begins at this time if there is none.
    pub(super) fn turn_at(&mut self, at: Option<Timestamp>) -> &mut AgentTurn {
        let (session, is_by_turn) = self.trace();
        let begun = at.or_else(|| self.arrived.last().filter(|_| self.is_observed()));
        let Self { turn, turns, closed, .. } = self;
        turn.get_or_insert_with(|| {
            if let Some(closed) = closed.take() {
                return closed.continuation();
            }
            *turns += 1;
            let mut turn = AgentTurn::new(&session, is_by_turn, *turns, begun);
            turn.asked_at = at;
            turn
        })
    }

    /// Begins a turn with a message of the user, unless the agent has not answered the one before. Returns the end of
    /// that.
    pub(super) fn begin_turn(
        &mut self,
        at: Option<Timestamp>,
        has_content: bool,
        temporality: Temporality,
    ) -> Vec<Signal> {
        let is_answered = self.turn.as_ref().is_some_and(|turn| turn.is_answered);
        let mut ended = match is_answered {
            true => self.end_turn(false, has_content, temporality),
            false => Vec::new(),
        };
        if self.turn.is_none() {
            self.closed = None;
            ended.extend(self.wait_until(at));
        }
        let turn = self.turn_at(at);
        turn.times.include(at);
        turn.asked_at = at.or(turn.asked_at);
        ended
    }

    /// The span from the end of the last turn to a message of the user, if the session is one trace: between traces, it
    /// is the gap.
    fn wait_until(&mut self, at: Option<Timestamp>) -> Option<Signal> {
        let mut times = Interval::default();
        times.include(Some(self.ended.take().filter(|ended| at.is_some_and(|at| *ended < at))?));
        times.include(at);
        let parent = self.root()?;
        let parts = SpanParts {
            context: parent.trace_id.context("wait", &[&at?.as_millis().to_string()]),
            parent: Some(parent.span_id),
            name: WAIT.to_owned(),
            attributes: self.described().of_agent(Attributes::default()),
            links: Vec::new(),
            is_failed: false,
        };
        Some(parts.timed(SpanKind::Internal, times.moments()?))
    }

    /// Notes an event of the agent: its time, and that the agent works. Returns the span that it belongs to, unless that
    /// is in another log.
    pub(super) fn note(
        &mut self,
        parent: Option<&CorrId>,
        at: Option<Timestamp>,
    ) -> Option<SpanContext> {
        let arrived = self.arrived.last();
        let turn = self.turn_at(at);
        turn.is_answered = true;
        turn.times.include(at);
        turn.arrived.include(arrived);
        let turn = turn.context.clone();
        if !self.has_entries {
            return self.root();
        }
        let Some(call) = parent else { return Some(turn) };
        let caller = self.calls.get(call);
        let begun = caller.map_or(&turn, |caller| &caller.parent).clone();
        let sub_agent = self.sub_agents.entry(call.clone()).or_insert_with(|| SubAgent::new(begun));
        sub_agent.has_events = true;
        sub_agent.times.include(at);
        sub_agent.arrived.include(arrived);
        if let Some(tool) = caller.and_then(|caller| caller.entry.tool()) {
            sub_agent.call(tool);
        }
        Some(sub_agent_span(&sub_agent.turn.trace_id, call))
    }

    /// Notes that a call may have started a sub-agent.
    fn note_call(&mut self, id: &CorrId, parent: &SpanContext, tool: &ToolUse) {
        if starts_sub_agent(tool) {
            let begun = || SubAgent::new(parent.clone());
            self.sub_agents.entry(id.clone()).or_insert_with(begun);
        }
        // A sub-agent that began in another turn is not below this call.
        if let Some(sub_agent) = self.sub_agents.get_mut(id)
            && sub_agent.turn.trace_id == parent.trace_id
        {
            sub_agent.call(tool);
        }
    }

    /// Notes that an event has arrived.
    pub(super) fn arrived(&mut self, at: Option<Timestamp>) {
        self.arrived.include(at);
    }

    /// Whether the times are those at which events arrived, as the log states none.
    pub(super) fn is_observed(&self) -> bool {
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
    pub(super) fn open_call(
        &mut self,
        id: &CorrId,
        parent: SpanContext,
        entry: &Arc<NormalizedEntry>,
    ) {
        let opened = PendingCall { parent, entry: Arc::clone(entry), until: None };
        self.calls.entry(id.clone()).or_insert(opened).entry = Arc::clone(entry);
    }

    /// The span of a call that has ended, or will not end; and of the sub-agent that it started.
    pub(super) fn end_call(
        &mut self,
        id: &CorrId,
        parent: Option<SpanContext>,
        entry: &NormalizedEntry,
        has_content: bool,
    ) -> Vec<Signal> {
        let (parent, until) = match self.calls.remove(id) {
            Some(open) => (open.parent, open.until),
            None => match parent {
                Some(parent) => (parent, None),
                None => return Vec::new(),
            },
        };
        let Some(tool) = entry.tool() else { return Vec::new() };
        self.note_call(id, &parent, tool);
        let (name, is_failed) = (tool_name(tool), tool_error(tool).is_some());
        if let Some(millis) = tool.duration_ms {
            self.metrics.count_call(&name, tool_error(tool), millis);
        }
        let attributes = self.described().common(call_attributes(id, tool, has_content));
        let parts = SpanParts {
            context: call_span(&parent.trace_id, id),
            parent: Some(parent.span_id),
            name: format!("execute_tool {name}"),
            attributes,
            links: Vec::new(),
            is_failed,
        };
        let began = entry.timestamp.and_then(Moment::of);
        let times = began.and_then(|began| Some((began, self.end_of(began, until, tool)?)));
        let call = parts.signal(times, began);
        [Some(call), self.end_sub_agent(id)].into_iter().flatten().collect()
    }

    /// The end of a call, if the log states its duration. That of a call without a result is the end of its turn.
    fn end_of(&self, began: Moment, until: Option<Timestamp>, tool: &ToolUse) -> Option<Moment> {
        match tool.duration_ms {
            Some(millis) => began.after(millis),
            None if is_unfinished(tool) => {
                let last = until.or_else(|| self.session_times().last());
                last.and_then(Moment::of).map(|last| last.max(began))
            }
            None => None,
        }
    }

    /// The span of a sub-agent, unless it was emitted, or did nothing.
    fn end_sub_agent(&mut self, id: &CorrId) -> Option<Signal> {
        let is_observed = self.is_observed();
        let sub_agent = self
            .sub_agents
            .get_mut(id)
            .filter(|sub_agent| sub_agent.has_events && !sub_agent.is_emitted)?;
        sub_agent.is_emitted = true;
        let attributes = sub_agent.attributes();
        let (stated, arrived) = (sub_agent.times, sub_agent.arrived);
        let times = if is_observed { arrived } else { stated };
        let trace = &sub_agent.turn.trace_id;
        let parts = SpanParts {
            context: sub_agent_span(trace, id),
            parent: Some(match sub_agent.is_called {
                true => call_span(trace, id).span_id,
                false => sub_agent.turn.span_id.clone(),
            }),
            name: named(INVOKE_AGENT, sub_agent.name.as_deref()),
            attributes: self.described().conversation(attributes),
            links: Vec::new(),
            is_failed: false,
        };
        Some(parts.signal(times.moments(), None))
    }

    /// The span of the current turn, and the metrics. `is_last` if the session ends with it.
    pub(super) fn end_turn(
        &mut self,
        is_last: bool,
        has_content: bool,
        temporality: Temporality,
    ) -> Vec<Signal> {
        let Some(turn) = self.turn.take() else { return Vec::new() };
        let is_unfinished = is_last && !self.states_its_end();
        let agent = self.facts.agent.as_ref().map(|agent| agent.decode().into_owned());
        let attributes = self.described().common(turn.attributes());
        let (_, is_by_turn) = self.trace();
        let attributes = match is_by_turn {
            true => self.described().of_session(attributes, has_content),
            false => attributes,
        };
        let times = if self.is_observed() { turn.arrived } else { turn.times };
        for call in self.calls.values_mut() {
            call.until = call.until.or(times.last());
        }
        self.ended = self.ended.max(times.last());
        let parts = SpanParts {
            context: turn.context,
            parent: turn.parent,
            name: named(INVOKE_AGENT, agent.as_deref()),
            attributes: attributes.with_known(UNFINISHED, is_unfinished.then_some(true)),
            links: Vec::new(),
            is_failed: is_by_turn && is_last && self.facts.outcome == Some(Outcome::Failed),
        };
        let mut signals = Vec::new();
        if self.has_entries {
            signals.push(parts.signal(times.moments(), None));
        }
        // A further attribute that the log states later would begin another series.
        let common = self.described().named_agent(Attributes::default());
        signals.extend(self.metrics.points(self.session_times(), temporality, &common));
        signals
    }

    /// Closes the current turn, of which nothing arrives any more. What arrives nevertheless continues it.
    pub(super) fn close_turn(
        &mut self,
        has_content: bool,
        temporality: Temporality,
    ) -> Vec<Signal> {
        let closed = self.turn.clone().map(Box::new);
        let ended = self.end_turn(false, has_content, temporality);
        self.closed = closed.or_else(|| self.closed.take());
        ended
    }

    /// Everything that has not ended, and the session itself.
    pub(super) fn end(&mut self, has_content: bool, temporality: Temporality) -> Vec<Signal> {
        let mut signals = Vec::new();
        for (id, call) in std::mem::take(&mut self.calls) {
            let PendingCall { parent, entry, .. } = call.clone();
            self.calls.insert(id.clone(), call);
            signals.extend(self.end_call(&id, Some(parent), &entry, has_content));
        }
        let sub_agents: Vec<_> = self.sub_agents.keys().cloned().collect();
        signals.extend(sub_agents.iter().filter_map(|id| self.end_sub_agent(id)));
        signals.extend(self.end_turn(true, has_content, temporality));
        if self.has_entries {
            signals.push(self.whole(has_content));
        }
        signals
    }

    /// The span of a request to a model, of which the log states the tokens and when they were counted. It began, at the
    /// earliest, with what it answers.
    pub(super) fn request(
        &mut self,
        key: &[&str],
        model: &Model,
        at: Option<Timestamp>,
        attributes: Attributes,
    ) -> Option<(SpanContext, Signal)> {
        let turn = self.turn.as_mut().filter(|_| self.has_entries)?;
        let mut times = Interval::default();
        times.include(at);
        times.include(turn.asked_at.filter(|asked| at.is_some_and(|at| *asked <= at)));
        let SpanContext { trace_id, span_id } = turn.context.clone();
        let (context, times) = (trace_id.context("request", key), times.moments()?);
        // A further report of the same answer.
        turn.asked_at = at;
        let parts = SpanParts {
            context: context.clone(),
            parent: Some(span_id),
            name: named(CHAT, model.model.as_deref()),
            attributes: attributes.with(SPAN_KIND, "LLM").with(DERIVED, true),
            links: Vec::new(),
            is_failed: false,
        };
        Some((context, parts.timed(SpanKind::Client, times)))
    }

    /// The span of the session; or a record of it, if its turns are traces.
    fn whole(&mut self, has_content: bool) -> Signal {
        // Without a model: a view would take the session for a request to it.
        let described = self.described();
        let attributes = described
            .of_session(described.of_agent(Attributes::default()), has_content)
            .with_known(UNFINISHED, (!self.states_its_end()).then_some(true));
        let is_failed = self.facts.outcome == Some(Outcome::Failed);
        let Some(context) = self.root() else {
            let severity = if is_failed { Severity::Warn } else { Severity::Info };
            let ended = self.session_times().last().and_then(Moment::of);
            return record(None, "foldline.session", severity, ended, attributes);
        };
        let parts = SpanParts {
            context,
            parent: None,
            name: SESSION.to_owned(),
            attributes: attributes.with(SPAN_KIND, AGENT),
            links: self.link_to_parent().into_iter().collect(),
            is_failed,
        };
        parts.signal(self.session_times().moments(), None)
    }

    /// The call that started a sub-agent or a fork with a log of its own, if the log states in which trace it is.
    fn link_to_parent(&self) -> Option<SpanContext> {
        let facts = &self.facts;
        let parent = facts.parent.as_ref().filter(|_| self.scope == TraceScope::Session)?;
        let agent = facts.agent.as_ref().map(Text::decode).unwrap_or_default();
        let trace = TraceId::of_session(&agent, &[parent.session_id.as_str()]);
        let call = parent.corr_id.as_ref().map(|call| call_span(&trace, call));
        Some(call.unwrap_or_else(|| session_span(&trace)))
    }

    /// Whether the log says that the session has ended.
    fn states_its_end(&self) -> bool {
        self.facts.outcome.is_some() || self.facts.ended_at.is_some()
    }
}
