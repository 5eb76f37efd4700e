//! The pipeline that every verb drives: a processor, round a reducer that is chosen at run time, with a
//! state for each session of the log.

use foldline::{
    conversation::{Json, Locating, LocatingState, locating},
    emitters::interleaved::Interleaved,
    executors::{AnyState, DynExecutor, Sessions, SessionsState},
    processor::{LineFramer, Processor, Snapshot, SnapshotError},
    transduce::{Resume, Transducer},
};
use serde::de::DeserializeOwned;

/// What reduces a log.
pub(crate) type LogReducer = Sessions<Locating<DynExecutor>>;

/// The state of the reducer.
pub(crate) type LogState<S = AnyState> = SessionsState<LocatingState<S>>;

/// What reads a log. The emitter knows one session at a time.
pub(crate) type LogProcessor<M> = Processor<LogReducer, LogState, Interleaved<M>>;

/// Begins a log.
pub(crate) fn begin<M>(executor: DynExecutor, emitter: M, max_line: usize) -> LogProcessor<M> {
    let reducer = Sessions::new(locating(executor));
    let transducer = Transducer::new(reducer, Interleaved::new(emitter));
    Processor::with_framer(transducer, LineFramer::new(max_line))
}

/// Goes on with a log from a stored state.
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
    type Stored<M> = Snapshot<LogState<Json>, <Interleaved<M> as Resume>::State>;
    let restore =
        |session: LocatingState<Json>| session.try_map(|state| executor.restore(state.get()));
    let snapshot = Stored::<M>::from_json(state)?.try_map_state(|state| state.try_map(restore))?;
    let reducer = Sessions::new(locating(executor));
    Ok(Processor::resume(reducer, snapshot, Interleaved::new(emitter), max_line))
}
