//! Sessions as OpenTelemetry: spans, log records and metrics, in the form of OTLP/JSON.
//!
//! [`Otlp`] reads the events of one session; [`per_session`](foldline_domain::per_session) makes one for each session of
//! a log. A [`Resource`] makes requests of the [`Signal`]s; each is a line of a file that the `otlpjsonfile` receiver of
//! the OpenTelemetry Collector reads, and the body of a POST of OTLP/HTTP.
//!
//! # Spans
//!
//! A trace is a turn: a message of the user, and everything until the next one. Its root is sent when the turn ends,
//! which is long before a session does. `gen_ai.conversation.id` and `session.id` join the traces of a session. With
//! [`TraceScope::Session`], a trace is a session.
//!
//! | span | for | parent |
//! | --- | --- | --- |
//! | `invoke_agent AGENT` | a turn: from a message of the user to the last event before the next one | none, or the session |
//! | `chat MODEL` | a request to a model, of which the log states the tokens; its beginning is derived: what it answers | the turn |
//! | `execute_tool TOOL` | a tool call | the turn or the sub-agent that called it |
//! | `invoke_agent TYPE` | a sub-agent, in the log of its parent | the call that started it |
//! | `session` | a session that is a trace | |
//! | `wait_for_user` | the time between two turns of such a session; between traces, it is the gap | the session |
//!
//! A session whose turns are traces has no span: a log record `foldline.session`, with its outcome, is emitted at its
//! end. The log of a sub-agent answers one prompt, and is one trace. `foldline.parent.conversation.id` and
//! `foldline.parent.tool.call.id` of a root name the session and the call that started a sub-agent or a fork with a log
//! of its own, which cannot know the turn and so the trace of that call; the trace of a session links to it. A log that
//! states only the tokens of a session has no spans, but log records.
//!
//! The ids of traces and spans are derived from the agent, the id of the session, the number and the time of a turn, and
//! the id of a call. A replay, a live run and a copy of the log give the same ids: what is sent twice is the same span.
//!
//! A [caller](Otlp::with_caller) is the parent of a session that is a trace, whose spans are in its trace. The roots of
//! turns link to it, as one parent would make all turns one trace again.
//!
//! [`Otlp::close_turn`] ends a turn of which nothing arrives any more. Its calls without a result stay open, and end below
//! its root as if it were not closed. What else arrives before the next message of the user is a further span
//! `invoke_agent AGENT`, below the root and in its trace.
//!
//! A span is emitted once, when it ends. **Times are those of the log.** An end that the log does not state is that of
//! the last event, of the turn for a call, and the span has `foldline.unfinished`, and no status: it has not failed. A
//! call whose time or duration is not stated is a log record, an event
//! without a duration: `foldline.execute_tool`; likewise `foldline.invoke_agent` and `foldline.session`. A log that
//! states no times at all has no spans, unless it is said when its events arrived.
//!
//! # Log records
//!
//! `gen_ai.client.inference.operation.details` for each report of tokens, `gen_ai.client.operation.exception` for each
//! error message, and `foldline.warning` for what is invalid or unknown in the log. Messages, thoughts and messages of
//! the program around the agent are not emitted.
//!
//! # Metrics
//!
//! The histograms `gen_ai.client.token.usage` and `gen_ai.execute_tool.duration`, and the sum `foldline.cost` in US
//! dollars, whose `foldline.cost.basis` is `logged` or `estimated`. Each session has series of its own, as each has
//! `gen_ai.conversation.id`; a series has a point at the end of each turn that counted something. By default, a point
//! counts all since the session began ([`Temporality::Cumulative`]): what is sent twice counts once.
//!
//! A store of many sessions emits tokens and costs itself: [`UsageTotals`] has series by agent and model, without the
//! session, in which a message counts once that several logs contain.
//!
//! # Names
//!
//! The names are those of the [semantic conventions for generative AI][conventions], in the version
//! `https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev`. They have the status *Development*: names will change.
//! Attributes and events that the conventions lack begin with `foldline.`: `foldline.cost.usd` (US dollars, if the log
//! states a cost), `foldline.cost.estimated_usd` (for tokens whose cost it does not state, with [`Otlp::with_prices`]),
//! `foldline.session.outcome`, `foldline.tool.kind`, `foldline.tool.status`, `foldline.turn`, `foldline.unfinished`,
//! `foldline.warning.kind`, `foldline.warning.subject`, `foldline.observed` where times are those at which events
//! arrived ([`Otlp::observe`]), and `foldline.derived` on a span whose
//! beginning is derived. A provider that the log does not state is that of the model's name, or else the agent. `error.type` is the status of a call that did not end
//! successfully: `failed`, `denied`, `cancelled`. `openinference.span.kind` is `AGENT`, `LLM` or `TOOL`, for views that know
//! the conventions of OpenInference, such as Phoenix; so are `input.value` and `output.value` of a turn.
//!
//! # Content
//!
//! By default there is none: no message, argument, result, path, branch or title. [`Otlp::with_content`] adds the
//! messages of the user and the last one of the agent to a turn, arguments and results to calls, and title, directory
//! and branch to a session. `foldline_render::redact::Redact` replaces secrets before.
//!
//! [conventions]: https://github.com/open-telemetry/semantic-conventions-genai
#![forbid(unsafe_code)]

mod convention;
mod emitter;
mod metrics;
mod request;
mod run;
mod session;
mod signal;
mod span;
mod totals;
mod trace;
mod turn;

pub use self::{
    emitter::Otlp,
    request::{Request, Resource},
    run::AgentRun,
    signal::{Signal, Temporality},
    totals::UsageTotals,
    trace::{InvalidTraceParent, TraceParent, TraceScope},
};
