//! The pipeline of every verb: a processor with an executor that is chosen at run time.

use foldline::{
    conversation::{Json, Locating, LocatingState, locating},
    executors::{AnyState, DynExecutor},
    processor::{LineFramer, Processor, Snapshot, SnapshotError},
    transduce::{Resume, Transducer},
};
use serde::de::DeserializeOwned;

/// The state of the reducer.
pub(crate) type LogState = LocatingState<AnyState>;

/// The processor of a log.
pub(crate) type LogProcessor<M> = Processor<Locating<DynExecutor>, LogState, M>;

/// A processor at the beginning of a log.
pub(crate) fn begin<M>(executor: DynExecutor, emitter: M, max_line: usize) -> LogProcessor<M> {
    let transducer = Transducer::new(locating(executor), emitter);
    Processor::with_framer(transducer, LineFramer::new(max_line))
}

/// A processor that continues from a stored state.
pub(crate) fn resume<M>(
    executor: DynExecutor,
    state: &Json,
    emitter: M,
    max_line: usize,
) -> Result<LogProcessor<M>, SnapshotError>
where
    M: Resume,
    M::State: DeserializeOwned,
{
    let snapshot = Snapshot::<LocatingState<Json>, M::State>::from_json(state)?;
    let snapshot =
        snapshot.try_map_state(|state| state.try_map(|state| executor.restore(state.get())))?;
    Ok(Processor::resume(locating(executor), snapshot, emitter, max_line))
}
