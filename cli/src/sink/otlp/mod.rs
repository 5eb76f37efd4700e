//! The sink for OpenTelemetry: lines of OTLP/JSON, in a file or sent to a collector.
//!
//! A line is a request that exports one signal. [`OtlpWriter`] takes lines as a file does, and a thread of
//! [`Collector`] sends them, several in one request. A collector that is away never stops the run, nor slows it.

#[cfg(feature = "otlp")]
mod body;
#[cfg(feature = "otlp")]
mod collector;
#[cfg(feature = "otlp")]
mod endpoint;
#[cfg(feature = "otlp")]
mod post;
#[cfg(feature = "otlp")]
mod protobuf;
#[cfg(feature = "otlp")]
mod queue;
mod variables;

use foldline::{
    conversation::SessionKey,
    emitters::{
        DynEmitter,
        lines::Lines,
        otlp::{Otlp, Signal, session_signals},
        redact::Redact,
    },
    position::by_item,
    transduce::map,
};

#[cfg(feature = "otlp")]
pub(crate) use self::{collector::Collector, endpoint::Endpoints};
use super::kind::{SinkOptions, Writer};
pub(crate) use variables::Variables;

/// The consumer that writes lines of OTLP/JSON.
pub(super) fn emitter(options: &SinkOptions, writer: Writer) -> DynEmitter {
    let resource = options.variables.resource();
    let lines = move |(_, signal): (SessionKey, Signal)| resource.request(signal);
    match (options.content.content, options.content.redact) {
        (false, _) => {
            let signals = session_signals(|_| by_item(Otlp::default()));
            DynEmitter::new(Lines::json(map(signals, lines), writer))
        }
        (true, false) => {
            let signals = session_signals(|_| by_item(Otlp::default().with_content()));
            DynEmitter::new(Lines::json(map(signals, lines), writer))
        }
        (true, true) => {
            let signals = session_signals(|_| by_item(Redact::new(Otlp::default().with_content())));
            DynEmitter::whole(Lines::json(map(signals, lines), writer), |_, _| {})
        }
    }
}
