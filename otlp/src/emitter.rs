//! [`Otlp`]: the emitter of one session.

use std::{borrow::Cow, sync::Arc};

use foldline::transduce::{Batch, Emitter, Resume};
use foldline_domain::{
    CorrId, DomainEvent, NormalizedEntry, NormalizedEntryType, Session, SessionId, Text, Timestamp,
    TokenUsage, Warning,
    pricing::{Cost, CostBasis, Prices, Requests},
};

use super::{
    convention::{
        CHAT, EXCEPTION_EVENT, EXCEPTION_MESSAGE, EXCEPTION_TYPE, INFERENCE_EVENT, OPERATION_NAME,
        RESPONSE_ID, RESPONSE_MODEL, WARNING_EVENT, WARNING_KIND, WARNING_MESSAGE, WARNING_SUBJECT,
    },
    metrics::Model,
    session::OtlpState,
    signal::{Attributes, Moment, Severity, Signal, SignalData, Temporality},
    span::record,
    trace::{SpanContext, TraceParent, TraceScope},
    turn,
};

/// Emits the spans, log records and metrics of one session. See the [module](super).
///
/// ```
/// use foldline::transduce::Emitter;
/// use foldline_domain::{
///     ActionType, DomainEvent, NormalizedEntry, NormalizedEntryType, Timestamp, ToolStatus,
///     ToolUse,
/// };
/// use foldline_otlp::{Otlp, Resource};
///
/// let mut tool = ToolUse::new("Read", ActionType::FileRead { path: "a.rs".into(), result: None });
/// (tool.status, tool.duration_ms) = (ToolStatus::Success, Some(20));
/// let entry = NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), "a.rs")
///     .at(Some(Timestamp::from_millis(1_000)));
/// let ended = DomainEvent::UpdateToolCall { corr_id: "call-1".into(), entry: entry.into() };
///
/// let signals = Otlp::default().emit(&ended);
/// let request = Resource::default().request(signals.as_slice()[0].clone());
/// let line = serde_json::to_string(&request)?;
/// assert!(line.starts_with(r#"{"resourceSpans":[{"#) && line.contains(r#""name":"execute_tool Read""#));
/// assert!(!line.contains("a.rs"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Otlp {
    has_content: bool,
    has_no_usage_points: bool,
    temporality: Temporality,
    prices: Option<Cow<'static, Prices>>,
    observed: Option<Timestamp>,
    caller: Option<TraceParent>,
    session: OtlpState,
}

impl Otlp {
    /// Adds messages, arguments and results, and the title, the directory and the branch of the session.
    #[must_use]
    pub fn with_content(self) -> Self {
        Self { has_content: true, ..self }
    }

    /// Estimates the cost of tokens if the log does not state it: `foldline.cost.estimated_usd`.
    #[must_use]
    pub fn with_prices(self, prices: Cow<'static, Prices>) -> Self {
        Self { prices: Some(prices), ..self }
    }

    /// Emits no data points of tokens and costs, for a store that emits [`UsageTotals`](super::UsageTotals).
    #[must_use]
    pub fn without_usage_points(self) -> Self {
        Self { has_no_usage_points: true, ..self }
    }

    /// States when the next events arrived: the time of those whose records state none. Signals of such a session have
    /// `foldline.observed`.
    pub fn observe(&mut self, at: Timestamp) {
        self.observed = Some(at);
    }

    /// A call or a report of tokens with the time at which it arrived, if the log has stated no time yet.
    fn stamped(&self, event: &DomainEvent) -> Option<DomainEvent> {
        let is_timed = event.timestamp().or(self.session.times.first()).is_some();
        let at = self.observed.filter(|_| !is_timed)?;
        let mut stamped = event.clone();
        match &mut stamped {
            DomainEvent::NewToolCall { entry, .. } => Arc::make_mut(entry).timestamp = Some(at),
            DomainEvent::UpdateToolCall { corr_id, entry } => {
                let began = self.session.began(corr_id).unwrap_or(at);
                let entry = Arc::make_mut(entry);
                entry.timestamp = Some(began);
                if let NormalizedEntryType::ToolUse(tool) = &mut entry.entry_type
                    && tool.status.is_final()
                {
                    tool.duration_ms = tool.duration_ms.or(at.millis_since(began));
                }
            }
            DomainEvent::Usage { timestamp, .. } => *timestamp = Some(at),
            _ => return None,
        }
        Some(stamped)
    }

    /// States what data points count. By default, they are cumulative.
    #[must_use]
    pub fn with_temporality(self, temporality: Temporality) -> Self {
        Self { temporality, ..self }
    }

    /// States what a trace contains. By default, it is a turn.
    #[must_use]
    pub fn with_trace_scope(mut self, scope: TraceScope) -> Self {
        self.session.scope = scope;
        self
    }

    /// States the span that the agent works for. A session that is a trace is in the trace of that span, and below it.
    /// The roots of turns, which are traces of their own, link to it.
    #[must_use]
    pub fn with_caller(self, caller: Option<TraceParent>) -> Self {
        Self { caller, ..self }
    }

    /// The signals of the session, in the trace of the caller, or with links to it.
    fn called(&self, signals: Batch<Signal>) -> Batch<Signal> {
        let Some(TraceParent { context, state, .. }) = &self.caller else { return signals };
        let is_joined = self.session.scope == TraceScope::Session;
        signals.map(|mut signal| {
            match &mut signal.0 {
                SignalData::Span(span) if is_joined => {
                    span.context.trace_id = context.trace_id.clone();
                    span.trace_state.clone_from(state);
                    span.parent_span_id.get_or_insert_with(|| context.span_id.clone());
                }
                SignalData::Span(span) if span.parent_span_id.is_none() => {
                    span.links.push(context.clone());
                }
                SignalData::Log(record) if is_joined => {
                    if let Some(of) = &mut record.of {
                        of.trace_id = context.trace_id.clone();
                    }
                }
                SignalData::Span(_) | SignalData::Log(_) | SignalData::Metric(_) => {}
            }
            signal
        })
    }

    /// Ends the current turn, of which nothing has arrived for a while. What arrives later continues it, in the same
    /// trace: a further span below that of the turn. Calls without a result stay open.
    pub fn close_turn(&mut self) -> Batch<Signal> {
        let closed = self.session.close_turn(self.has_content, self.temporality);
        self.called(closed.into())
    }

    /// The call that started the sub-agent of an entry. In a sub-agent's own log, it is the session.
    fn parent<'e>(&self, entry: &'e NormalizedEntry) -> Option<&'e CorrId> {
        let parent = entry.metadata.as_ref()?.parent_corr_id.as_ref()?;
        let session = self.session.facts.session_id.as_ref();
        (session.map(SessionId::as_str) != Some(parent.as_str())).then_some(parent)
    }

    fn facts(&mut self, news: &Session) {
        self.session.facts.merge(news);
        // A list that no attribute needs.
        self.session.facts.tools = None;
        self.session.times.include(news.started_at);
        self.session.times.include(news.ended_at);
    }

    /// A message, an error or another entry of the session.
    fn entry(&mut self, entry: &NormalizedEntry) -> Batch<Signal> {
        let parent = self.parent(entry);
        let at = entry.timestamp;
        match &entry.entry_type {
            NormalizedEntryType::UserMessage if parent.is_none() => {
                let ended = self.begin_turn(at);
                self.ask(&entry.content);
                ended
            }
            NormalizedEntryType::AssistantMessage => {
                self.session.note(parent, at);
                if self.has_content && parent.is_none() {
                    let text = entry.content.decode().into_owned();
                    self.session.turn_at(at).answer(text);
                }
                Batch::EMPTY
            }
            NormalizedEntryType::ErrorMessage => {
                let message = self.has_content.then(|| entry.content.decode().into_owned());
                let attributes = Attributes::default()
                    .with(EXCEPTION_TYPE, entry.entry_type.name())
                    .with_known(EXCEPTION_MESSAGE, message);
                Batch::one(self.record(EXCEPTION_EVENT, Severity::Warn, parent, at, attributes))
            }
            NormalizedEntryType::Thinking => {
                self.session.note(parent, at);
                Batch::EMPTY
            }
            NormalizedEntryType::ToolUse(_)
            | NormalizedEntryType::UserMessage
            | NormalizedEntryType::SystemMessage
            | NormalizedEntryType::ModelChange { .. }
            | NormalizedEntryType::Compaction
            | NormalizedEntryType::Continuation
            | NormalizedEntryType::Diagnostic { .. } => Batch::EMPTY,
        }
    }

    fn begin_turn(&mut self, at: Option<Timestamp>) -> Batch<Signal> {
        self.session.begin_turn(at, self.has_content, self.temporality).into()
    }

    fn ask(&mut self, text: &Text) {
        if let (true, Some(turn)) = (self.has_content, &mut self.session.turn) {
            turn.ask(text.decode().into_owned());
        }
    }

    /// An entry that grows: a message of the user begins its turn when it opens.
    fn open(&mut self, corr_id: &CorrId, entry: &NormalizedEntry) -> Batch<Signal> {
        let is_prompt = entry.entry_type == NormalizedEntryType::UserMessage;
        let is_answer = entry.entry_type == NormalizedEntryType::AssistantMessage;
        let text = entry.content.decode().into_owned();
        if self.has_content && self.parent(entry).is_none() && (is_prompt || is_answer) {
            self.session.growing.insert(corr_id.clone(), (is_prompt, text));
            let mut begun = entry.clone();
            begun.content = Text::default();
            return match is_prompt {
                true => self.begin_turn(entry.timestamp),
                false => self.entry(&begun),
            };
        }
        self.entry(entry)
    }

    fn close(&mut self, corr_id: &CorrId, entry: Option<&NormalizedEntry>) {
        let Some((is_prompt, text)) = self.session.growing.remove(corr_id) else { return };
        let text = entry.map_or(text, |entry| entry.content.decode().into_owned());
        let turn = self.session.turn_at(None);
        if is_prompt { turn.ask(text) } else { turn.answer(text) }
    }

    /// A call, or a change of a call.
    fn call(&mut self, corr_id: &CorrId, entry: &Arc<NormalizedEntry>) -> Batch<Signal> {
        let Some(tool) = entry.tool() else { return Batch::EMPTY };
        let is_final = tool.status.is_final();
        let ended = DomainEvent::UpdateToolCall { corr_id: corr_id.clone(), entry: entry.clone() };
        let span = self.session.note(self.parent(entry), ended.timestamp());
        let Some(turn) = &mut self.session.turn else { return Batch::EMPTY };
        if turn.ended.contains(corr_id) {
            return Batch::EMPTY;
        }
        if !is_final {
            if let Some(span) = span {
                self.session.open_call(corr_id, span, entry);
            }
            return Batch::EMPTY;
        }
        turn.asked_at = turn.asked_at.max(ended.timestamp());
        turn.ended.insert(corr_id.clone());
        self.session.end_call(corr_id, span, entry, self.has_content).into()
    }

    fn usage(
        &mut self,
        usage: &TokenUsage,
        model: Option<&Text>,
        message_id: Option<&Text>,
        at: Option<Timestamp>,
    ) -> Batch<Signal> {
        let cost_usd = usage.cost_usd.filter(|cost| cost.is_finite() && *cost >= 0.0);
        let usage = TokenUsage { cost_usd, ..*usage };
        if usage.is_zero() {
            return Batch::EMPTY;
        }
        let of = self.session.note(None, at);
        let text = |text: Option<&Text>| text.map(|text| text.decode().into_owned());
        let asked = self.session.described().model(model);
        let estimated_cost = self.estimated_cost(&usage, asked.model.as_deref(), message_id, at);
        let turn = self.session.turn_at(at);
        turn.usage.add(&usage);
        if let Some(usd) = estimated_cost {
            *turn.estimated_cost.get_or_insert(0.0) += usd;
        }
        if !self.has_no_usage_points {
            self.session.metrics.count_tokens(&asked, &usage);
            let costs =
                [(usage.cost_usd, CostBasis::Logged), (estimated_cost, CostBasis::Estimated)];
            for (usd, basis) in costs {
                let cost = usd.map(|usd| Cost { usd, basis });
                cost.into_iter().for_each(|cost| self.session.metrics.count_cost(&asked, cost));
            }
        }
        let attributes = Attributes::default()
            .with(OPERATION_NAME, CHAT)
            .with_known(RESPONSE_MODEL, text(model))
            .with_known(RESPONSE_ID, text(message_id));
        let attributes = turn::usage(attributes, &usage, estimated_cost);
        // A cost alone is of a time, or of the whole session.
        let is_request = usage.input_tokens.is_some() || usage.output_tokens.is_some();
        let request = is_request.then(|| self.request(&asked, message_id, at, &attributes));
        let (span, request) = request.flatten().unzip();
        let of = span.or(of);
        let record = self.record_of(of, INFERENCE_EVENT, Severity::Debug, at, attributes);
        request.into_iter().chain([record]).collect()
    }

    /// The span of a request.
    fn request(
        &mut self,
        asked: &Model,
        message_id: Option<&Text>,
        at: Option<Timestamp>,
        attributes: &Attributes,
    ) -> Option<(SpanContext, Signal)> {
        self.session.requests += 1;
        let number = self.session.requests.to_string();
        let begun = at.map(|at| at.as_millis().to_string()).unwrap_or_default();
        let id = message_id.map(|id| id.decode()).unwrap_or_default();
        let attributes = self.session.described().asking(attributes.clone(), asked);
        self.session.request(&[&number, &begun, &id], asked, at, attributes)
    }

    /// The cost of tokens that the log states without a cost. Without a message, they may be those of several requests.
    fn estimated_cost(
        &self,
        usage: &TokenUsage,
        model: Option<&str>,
        message_id: Option<&Text>,
        at: Option<Timestamp>,
    ) -> Option<f64> {
        let requests = if message_id.is_some() { Requests::One } else { Requests::Several };
        let cost = self.prices.as_ref()?.cost(model?, usage, requests, at)?;
        (cost.basis == CostBasis::Estimated && cost.usd.is_finite()).then_some(cost.usd)
    }

    fn warning(&mut self, warning: &Warning) -> Batch<Signal> {
        let message = self.has_content.then(|| warning.message.clone());
        let attributes = Attributes::default()
            .with(WARNING_KIND, warning.kind.as_str())
            .with_known(WARNING_SUBJECT, warning.subject.clone())
            .with_known(WARNING_MESSAGE, message);
        // A session that has no name yet has no trace: its first lines may be the invalid ones.
        let of = self.session.named();
        let attributes = self.session.described().common(attributes);
        Batch::one(record(of, WARNING_EVENT, Severity::Warn, None, attributes))
    }

    /// A record of something that the agent did.
    fn record(
        &mut self,
        event_name: &str,
        severity: Severity,
        parent: Option<&CorrId>,
        at: Option<Timestamp>,
        attributes: Attributes,
    ) -> Signal {
        let span = self.session.note(parent, at);
        self.record_of(span, event_name, severity, at, attributes)
    }

    fn record_of(
        &mut self,
        of: Option<SpanContext>,
        event_name: &str,
        severity: Severity,
        at: Option<Timestamp>,
        attributes: Attributes,
    ) -> Signal {
        let attributes = self.session.described().common(attributes);
        record(of, event_name, severity, at.and_then(Moment::of), attributes)
    }
}

fn has_entry(event: &DomainEvent) -> bool {
    matches!(
        event,
        DomainEvent::NewEntry { .. }
            | DomainEvent::OpenEntry { .. }
            | DomainEvent::NewToolCall { .. }
            | DomainEvent::UpdateToolCall { .. }
    )
}

impl Otlp {
    /// The signals of an event, without the caller.
    fn step(&mut self, event: &DomainEvent) -> Batch<Signal> {
        let stamped = self.stamped(event);
        if !matches!(event, DomainEvent::Session(_)) {
            self.session.times.include(event.timestamp());
        }
        self.session.arrived(self.observed);
        let event = stamped.as_ref().unwrap_or(event);
        self.session.has_entries |= has_entry(event);
        match event {
            DomainEvent::Session(news) => {
                self.facts(news);
                Batch::EMPTY
            }
            DomainEvent::NewEntry { entry } => self.entry(entry),
            DomainEvent::OpenEntry { corr_id, entry } => self.open(corr_id, entry),
            DomainEvent::GrowEntry { corr_id, text } => {
                if let Some((_, grown)) = self.session.growing.get_mut(corr_id) {
                    text.push_to(grown);
                }
                Batch::EMPTY
            }
            DomainEvent::CloseEntry { corr_id, entry } => {
                self.close(corr_id, entry.as_deref());
                Batch::EMPTY
            }
            DomainEvent::NewToolCall { corr_id, entry }
            | DomainEvent::UpdateToolCall { corr_id, entry } => self.call(corr_id, entry),
            DomainEvent::Usage { usage, model, message_id, timestamp } => {
                self.usage(usage, model.as_ref(), message_id.as_ref(), *timestamp)
            }
            DomainEvent::Warning(warning) => self.warning(warning),
            // The rest comes with `finish`, which ends the emitter of a session.
            DomainEvent::SessionEnded => Batch::EMPTY,
        }
    }
}

impl Emitter<DomainEvent, Signal> for Otlp {
    fn emit(&mut self, event: &DomainEvent) -> Batch<Signal> {
        let signals = self.step(event);
        self.called(signals)
    }

    fn finish(&mut self) -> Batch<Signal> {
        let growing: Vec<_> = self.session.growing.keys().cloned().collect();
        growing.iter().for_each(|corr_id| self.close(corr_id, None));
        let ended = self.session.end(self.has_content, self.temporality);
        self.called(ended.into())
    }
}

/// The memory is the open calls, the current turn, the sub-agents and the facts of the session.
impl Resume for Otlp {
    type State = OtlpState;

    fn state(&self) -> OtlpState {
        self.session.clone()
    }

    fn resume(&mut self, state: OtlpState) {
        self.session = state;
    }
}
