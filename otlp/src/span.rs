//! [`SpanParts`]: spans and records of a session, with the attributes that they have in common.

use foldline_domain::{CorrId, Outcome, Session, SessionId, Text};

use super::{
    convention::{
        AGENT_NAME, AGENT_VERSION, CONVERSATION_ID, OBSERVED, PARENT_CALL, PARENT_CONVERSATION,
        PROCESS_WORKING_DIRECTORY, PROVIDER_NAME, REQUEST_MODEL, SESSION_ID, SESSION_OUTCOME,
        SESSION_TITLE, VCS_HEAD_NAME, provider_of,
    },
    metrics::Model,
    signal::{
        Attributes, LogRecord, Moment, Severity, Signal, SignalData, Span, SpanKind, SpanStatus,
    },
    trace::{SpanContext, SpanId},
};

/// A span or, if the log does not state its times, a record: without its place in the session.
pub(super) struct SpanParts {
    pub(super) context: SpanContext,
    pub(super) parent: Option<SpanId>,
    pub(super) name: String,
    pub(super) attributes: Attributes,
    pub(super) links: Vec<SpanContext>,
    pub(super) is_failed: bool,
}

impl SpanParts {
    /// A span if the log states its times, else a record of what would have been the span, which its children name.
    pub(super) fn signal(self, times: Option<(Moment, Moment)>, at: Option<Moment>) -> Signal {
        let Some(times) = times else {
            let Self { context, name, attributes, is_failed, .. } = self;
            let severity = if is_failed { Severity::Warn } else { Severity::Info };
            let event_name = format!("foldline.{}", name.split(' ').next().unwrap_or_default());
            return record(Some(context), &event_name, severity, at, attributes);
        };
        self.timed(SpanKind::Internal, times)
    }

    pub(super) fn timed(self, kind: SpanKind, times: (Moment, Moment)) -> Signal {
        let Self { context, parent, name, attributes, links, is_failed } = self;
        let (start_time_unix_nano, end_time_unix_nano) = times;
        Signal(SignalData::Span(Box::new(Span {
            context,
            trace_state: None,
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

/// What a session says of itself, as attributes.
pub(super) struct Described<'s> {
    pub(super) facts: &'s Session,
    /// Whether its times are those at which events arrived.
    pub(super) is_observed: bool,
}

impl Described<'_> {
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
        let Session { model, provider, agent, .. } = self.facts;
        let text = |text: &Text| text.decode().into_owned();
        let model = of_request.or(model.as_ref()).map(text);
        let agent = agent.as_ref().map(text);
        let provider = provider.as_ref().map(text);
        let provider = provider.unwrap_or_else(|| provider_of(model.as_deref(), agent.as_deref()));
        Model { provider, model }
    }

    pub(super) fn of_agent(&self, attributes: Attributes) -> Attributes {
        let version = self.facts.version.as_ref().map(|version| version.decode().into_owned());
        let is_observed = self.is_observed.then_some(true);
        let attributes = attributes.with_known(OBSERVED, is_observed);
        self.named_agent(attributes.with_known(AGENT_VERSION, version))
    }

    pub(super) fn named_agent(&self, attributes: Attributes) -> Attributes {
        let agent = self.facts.agent.as_ref().map(|agent| agent.decode().into_owned());
        self.conversation(attributes.with_known(AGENT_NAME, agent))
    }

    pub(super) fn conversation(&self, attributes: Attributes) -> Attributes {
        let id = self.facts.session_id.as_ref().map(|id| id.as_str().to_owned());
        attributes.with_known(CONVERSATION_ID, id)
    }

    /// Adds what the root of a trace says of the session.
    pub(super) fn of_session(&self, attributes: Attributes, has_content: bool) -> Attributes {
        let facts = self.facts;
        let parent = facts.parent.as_ref();
        let attributes = attributes
            .with_known(SESSION_ID, facts.session_id.as_ref().map(SessionId::as_str))
            .with_known(PARENT_CONVERSATION, parent.map(|parent| parent.session_id.as_str()))
            .with_known(PARENT_CALL, parent.and_then(|it| it.corr_id.as_ref()).map(CorrId::as_str))
            .with_known(SESSION_OUTCOME, facts.outcome.map(Outcome::as_str));
        if !has_content {
            return attributes;
        }
        let text = |text: &Option<Text>| text.as_ref().map(|text| text.decode().into_owned());
        attributes
            .with_known(SESSION_TITLE, text(&facts.title))
            .with_known(PROCESS_WORKING_DIRECTORY, text(&facts.cwd))
            .with_known(VCS_HEAD_NAME, text(&facts.branch))
    }
}

/// A log record, which belongs to a span if that is known.
pub(super) fn record(
    of: Option<SpanContext>,
    event_name: &str,
    severity_number: Severity,
    time_unix_nano: Option<Moment>,
    attributes: Attributes,
) -> Signal {
    let event_name = event_name.to_owned();
    let record = LogRecord { time_unix_nano, severity_number, attributes, of, event_name };
    Signal(SignalData::Log(Box::new(record)))
}

/// `invoke_agent NAME`, as the conventions name spans.
pub(super) fn named(operation: &str, name: Option<&str>) -> String {
    name.map_or_else(|| operation.to_owned(), |name| format!("{operation} {name}"))
}
