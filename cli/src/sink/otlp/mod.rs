//! The sink for OpenTelemetry: lines of OTLP/JSON, in a file or sent to a collector.
//!
//! A line is a request that exports one signal. [`OtlpWriter`] takes lines as a file does, and a thread of
//! [`Collector`] sends them, several in one request. A collector that is away never stops the run, nor slows it. An
//! ingest stores the lines, and a [`Delivery`] sends them until the collector has taken them.

mod agent;
mod arrival;
mod closing;
#[cfg(feature = "otlp")]
mod collector;
#[cfg(feature = "otlp")]
mod delivery;
#[cfg(feature = "otlp")]
mod endpoint;
#[cfg(feature = "otlp")]
mod post;
#[cfg(feature = "otlp")]
mod protobuf;
#[cfg(feature = "otlp")]
mod queue;
mod resource;
mod totals;
mod variables;

use std::borrow::Cow;

use foldline::{position::by_item, transduce::map};
use foldline_domain::{DynEmitter, SessionKey, lines::Lines, per_session, pricing::Prices};
use foldline_otlp::{Otlp, Signal};
use foldline_render::redact::Redact;

use self::{arrival::Arriving, closing::Closing};
#[cfg(feature = "otlp")]
pub(crate) use self::{
    collector::Collector,
    delivery::{Delivery, Sent},
    endpoint::Endpoints,
};
use super::kind::{ContentArgs, SinkOptions, Writer};
pub(crate) use agent::AgentSpan;
pub(crate) use arrival::Arrival;
pub(crate) use closing::Wake;
pub(crate) use totals::{TotalsPoints, points};
pub(crate) use variables::Variables;

/// The consumer that writes lines of OTLP/JSON.
pub(super) fn emitter(options: &SinkOptions, writer: Writer) -> DynEmitter {
    let resource = options.variables.resource();
    // What a log of elsewhere does not state is not known.
    let resource = match options.arrival {
        Arrival::Now => resource::of_this_machine(resource),
        Arrival::By(_) | Arrival::Unknown => resource,
    };
    let lines = move |(_, signal): (SessionKey, Signal)| resource.request(signal);
    let ContentArgs { content, redact } = options.content;
    // A wrong preference was refused when the options were read.
    let temporality = options.variables.temporality().unwrap_or_default();
    let scope = options.variables.trace_scope().unwrap_or_default();
    let (arrival, wake, agent) = (options.arrival, options.wake.clone(), options.agent.clone());
    let caller = agent.as_ref().map(AgentSpan::as_caller);
    let is_stored = options.is_stored;
    let session = move || {
        let session = Otlp::default()
            .with_prices(Cow::Borrowed(Prices::builtin()))
            .with_temporality(temporality)
            .with_trace_scope(scope)
            .with_caller(caller.clone());
        let session = if content { session.with_content() } else { session };
        let session = if is_stored { session.without_usage_points() } else { session };
        Arriving { session, arrival }
    };
    match redact {
        false => {
            let sessions = per_session(move |_| by_item(session()));
            let signals = Closing { sessions, wake, agent };
            DynEmitter::new(Lines::json(map(signals, lines), writer))
        }
        // What was replaced is not stored, so it cannot be resumed.
        true => {
            let sessions = per_session(move |_| by_item(Redact::new(session())));
            let signals = Closing { sessions, wake, agent };
            DynEmitter::whole(Lines::json(map(signals, lines), writer), |_, _| {})
        }
    }
}
