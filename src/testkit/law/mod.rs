//! The laws, one function each.
//!
//! Each takes what it is about and says `Ok`, or in a [`Violation`] which law does not hold, where
//! one sees it first, and both sides of what differs there. In a test, `law(..)?` or `.unwrap()` is
//! all there is to write.
//!
//! | Law | is about |
//! | --- | --- |
//! | 1 [`determinism`] | any reducer and inputs |
//! | 2 [`split_invariance`], [`split_invariance_at`] | any reducer with a serde state, and inputs |
//! | 3 [`chunk_invariance`] | an executor and a log's bytes |
//! | 4 [`balance`] | the events of a whole log |
//! | 5 [`order_of_results`] | an executor and inputs of which some are results |
//! | 6 [`totality`] | an executor and any bytes |
//! | 7 [`commuting_diagram`] | an emitter of patches and the events of a log |
//! | 8 [`independence`] | any two emitters and events |
//! | 9 [`dense_indices`] | an emitter of patches and the events of a log |
//!
//! An *executor* is a reducer from [`Record`]s to [`DomainEvent`]s: one of this crate, or yours. For
//! an executor, [`every`] checks all nine on one log.

mod balance;
mod chunks;
mod determinism;
mod indices;
mod patches;
mod results;
mod same;
mod sinks;
mod split;
mod totality;

use std::fmt;

use serde::Serialize;

pub use self::{
    balance::balance,
    chunks::chunk_invariance,
    determinism::determinism,
    indices::dense_indices,
    patches::commuting_diagram,
    results::{only_end_a_call, order_of_results},
    sinks::independence,
    split::{Restore, split_invariance, split_invariance_at},
    totality::{knows, totality},
};
use super::{
    run,
    violation::{Law, Place, Violation, panicked},
};
use crate::{
    conversation::{Conversation, DomainEvent, WarningKind},
    emitters::patch::PatchEmitter,
    executors::wire::Record,
    transduce::{Batch, Emitter, Reducer, emit_fn},
};

/// Every law for an executor and one log, with the emitters of this crate. The cuts of law 3 and the
/// orders of law 5 are some fixed ones; a property test tries more.
///
/// Law 5 is left out where the log pairs results with calls by their order, or uses an id twice.
///
/// ```
/// use foldline::{executors::{DynExecutor, droid::Droid}, testkit::law};
///
/// let log = br#"{"type":"message","role":"user","id":"m1","text":"hi","timestamp":1}"#;
/// law::every(&DynExecutor::new(Droid), log)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first law that does not hold.
pub fn every<R, S>(executor: &R, log: &[u8]) -> Result<(), Violation>
where
    R: for<'a> Reducer<Record<'a>, S, DomainEvent> + Restore<S>,
    S: PartialEq + fmt::Debug + Serialize,
{
    let text = String::from_utf8_lossy(log);
    let records = run::records(&text);
    determinism(executor, &records)?;
    split_invariance(executor, &records)?;
    for length in [1, 7, 4096] {
        let cuts: Vec<_> = (0..log.len()).step_by(length).collect();
        chunk_invariance(executor, log, &cuts)?;
    }
    let events = run::sourced_events(executor, [log]);
    let events: Vec<_> = events.into_iter().map(|event| event.item).collect();
    balance(&events)?;
    if names_every_call(&events) {
        let results = only_end_a_call(executor, &records);
        for order in [&[0][..], &[usize::MAX], &[7, 5, 3, 2, 1, 0], &[1 << 9, 1 << 20, 3]] {
            order_of_results(
                executor,
                &records,
                |index, _| results.get(index) == Some(&true),
                order,
            )?;
        }
    }
    totality(executor, log, |record| knows(executor, record))?;
    commuting_diagram(PatchEmitter::default(), &events)?;
    independence(PatchEmitter::default, documents, &events)?;
    dense_indices(PatchEmitter::default(), &events)
}

/// Whether law 5 is about these events.
pub fn names_every_call(events: &[DomainEvent]) -> bool {
    !events.iter().any(|event| match event {
        DomainEvent::Warning(warning) => matches!(
            warning.kind,
            WarningKind::InferredResult | WarningKind::DuplicateCall | WarningKind::DuplicateResult
        ),
        _ => false,
    })
}

/// An emitter to stand beside another: the number of entries after each event.
fn documents() -> impl Emitter<DomainEvent, usize> {
    let mut conversation = Conversation::default();
    emit_fn(move |event: &DomainEvent| {
        conversation.apply(event);
        Batch::one(conversation.entries.len())
    })
}

#[cfg(test)]
mod tests;
