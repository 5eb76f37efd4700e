//! Runs from a log to its events, for the laws and other tests.

use foldline::{
    processor::Processor,
    transduce::{Batch, Reducer, Transducer, emit_fn},
};
use foldline_agents::{Records, wire::Record};
use foldline_domain::{DomainEvent, Located, locating};

/// The records of a log, one by one, as an executor receives them.
pub fn records(log: &str) -> Vec<Record<'_>> {
    let mut records = Vec::new();
    for line in log.strip_prefix('\u{FEFF}').unwrap_or(log).lines() {
        Record::read(line, |_, record| records.push(record));
    }
    records
}

/// All events of a run, including completion.
pub fn events<R, In, S, E>(reducer: &R, inputs: &[In]) -> Vec<E>
where
    R: Reducer<In, S, E>,
    In: Clone,
    E: Clone,
{
    let all = emit_fn(|event: &E| Batch::one(event.clone()));
    Transducer::new(reducer, all).over(inputs.iter().cloned()).collect()
}

/// All events of a log, including completion, with their positions. The bytes are pushed in chunks of any length.
pub fn sourced_events<'b, R, S>(
    executor: &R,
    pieces: impl IntoIterator<Item = &'b [u8]>,
) -> Vec<Located<DomainEvent>>
where
    R: for<'a> Reducer<Record<'a>, S, DomainEvent>,
{
    let all = emit_fn(|event: &Located<DomainEvent>| Batch::one(event.clone()));
    let mut processor = Processor::new(Records, Transducer::new(locating(executor), all));
    let mut events = Vec::new();
    for piece in pieces {
        processor.push(piece, |event| events.push(event));
    }
    let _ = processor.finish(|event| events.push(event));
    events
}
