//! The pipeline of every verb: a processor with an executor chosen at run time, and one state per session of
//! the log; and the driver, which reads a log into it.

use foldline::{
    processor::{Counts, Finished, LineFramer, Processor, Reads, Snapshot, SnapshotError},
    source::{LogFile, Notice, Step},
    transduce::{Emitter, Resume, Transducer},
};
use foldline_agents::{
    AnyState, DiagnosticReducer, DynExecutor, ExaminedState, Records, Sessions, SessionsState,
    SplitExecutor,
};
use foldline_domain::{DomainEvent, Json, Located, traced::Traced};
use serde::de::DeserializeOwned;
use tracing::Span;

use crate::{error::Error, log::Log};

/// The reducer of a log.
pub type LogReducer = Sessions<DynExecutor>;

/// The state of the reducer.
pub type LogState<S = AnyState> = SessionsState<S>;

/// The emitters of a verb, within the spans of `tracing`.
pub type LogEmitter<M> = Traced<M>;

/// The processor of a log.
pub type LogProcessor<M> = Processor<LogReducer, LogState, LogEmitter<M>, Records>;

/// Creates a processor for a log; `source` is its span.
pub fn begin<M>(
    executor: DynExecutor,
    emitter: M,
    max_line: usize,
    source: Span,
) -> LogProcessor<M> {
    source.record("format", executor.format().name);
    let reducer = Sessions::new(executor);
    let emitter = Traced::new(source, emitter);
    let transducer = Transducer::new(reducer, emitter);
    Processor::with_framer(Records, transducer, LineFramer::new(max_line))
}

/// Reads a log to its end for a report about the log itself.
pub(crate) fn examine<M, Out>(
    log: &mut Log,
    executor: DynExecutor,
    emitter: M,
    max_line: usize,
    each: impl FnMut(Out),
) -> Result<Finished<ExaminedState, LogEmitter<M>>, Error>
where
    M: Emitter<Located<DomainEvent>, Out>,
{
    let source = log.span();
    source.record("format", executor.format().name);
    let transducer =
        Transducer::new(DiagnosticReducer::new(executor), Traced::new(source, emitter));
    read(log, Processor::with_framer(Records, transducer, LineFramer::new(max_line)), each)
}

/// Reads a log to its end, and returns the counts and the emitters.
pub(crate) fn read_whole<M, Out>(
    log: &mut Log,
    executor: DynExecutor,
    emitter: M,
    max_line: usize,
    each: impl FnMut(Out),
) -> Result<(Counts, M), Error>
where
    M: Emitter<Located<DomainEvent>, Out>,
{
    let processor = begin(executor, emitter, max_line, log.span());
    let Finished { counts, emitter, .. } = read(log, processor, each)?;
    Ok((counts, emitter.into_inner()))
}

/// A part of a log, to be reduced.
pub(crate) enum Part<'b> {
    Bytes(&'b [u8]),
    /// The log continues in another file.
    NextFile,
}

/// What happened when a log was read.
pub enum Moved {
    /// This number of bytes was reduced.
    Read(usize),
    /// The log continues in another file, and was reduced up to it.
    NextFile(Notice),
    /// The file changed in another way.
    Noticed(Notice),
    /// There is nothing to read yet.
    Idle,
    /// There is nothing more to read.
    End,
    /// The reducer is done, and nothing was read.
    Done,
}

/// The driver of every pipeline: reads the next part of a log, and reduces it in the span of the session that is being
/// read.
pub(crate) fn step(
    log: &mut Log,
    span: &Span,
    reduce: impl FnOnce(Part<'_>) -> Result<(), Error>,
) -> Result<Moved, Error> {
    Ok(match log.step()? {
        Step::Bytes(bytes) => {
            span.in_scope(|| reduce(Part::Bytes(bytes)))?;
            Moved::Read(bytes.len())
        }
        Step::NextFile(notice) => {
            span.in_scope(|| reduce(Part::NextFile))?;
            Moved::NextFile(notice)
        }
        Step::Notice(notice) => Moved::Noticed(notice),
        Step::Idle => Moved::Idle,
        Step::End => Moved::End,
    })
}

/// [Reads](step) the next part of a log into a processor.
///
/// # Errors
/// It cannot be read.
pub fn advance<R, S, M, Out>(
    log: &mut Log,
    processor: &mut Processor<R, S, LogEmitter<M>, Records>,
    each: impl FnMut(Out),
) -> Result<Moved, Error>
where
    R: Reads<Records, S, Located<DomainEvent>>,
    M: Emitter<Located<DomainEvent>, Out>,
{
    if processor.is_done() {
        return Ok(Moved::Done);
    }
    step(log, &span(processor), |part| {
        match part {
            Part::Bytes(bytes) => processor.push(bytes, each),
            Part::NextFile => processor.next_file(each),
        }
        Ok(())
    })
}

/// Reads the rest of a log.
fn read<R, S, M, Out>(
    log: &mut Log,
    mut processor: Processor<R, S, LogEmitter<M>, Records>,
    mut each: impl FnMut(Out),
) -> Result<Finished<S, LogEmitter<M>>, Error>
where
    R: Reads<Records, S, Located<DomainEvent>>,
    M: Emitter<Located<DomainEvent>, Out>,
{
    while let Moved::Read(_) = advance(log, &mut processor, &mut each)? {}
    Ok(processor.finish(each))
}

/// Reads a file to its end on two threads; `read` receives the number of bytes read, and `after` is called from
/// time to time.
pub(crate) fn relay<M, Out, E>(
    processor: LogProcessor<M>,
    executor: &DynExecutor,
    file: &mut LogFile,
    mut read: impl FnMut(usize) + Send,
    each: impl FnMut(Out) + Send,
    mut after: impl FnMut(&mut M) -> Result<(), E> + Send,
) -> Result<LogProcessor<M>, E>
where
    M: Emitter<Located<DomainEvent>, Out> + Send,
    E: From<Error> + Send,
{
    let ahead = Sessions::new(SplitExecutor::new(executor.clone()));
    processor.relay(
        &ahead,
        |bytes| {
            let before = bytes.len();
            file.read_to(bytes).map_err(Error::from)?;
            read(bytes.len() - before);
            Ok(())
        },
        each,
        |emitter| after(emitter.get_mut()),
    )
}

/// A processor that continues from a stored state.
///
/// # Errors
/// The state is of another version, or of another executor.
pub fn resume<M>(
    executor: DynExecutor,
    state: &Json,
    emitter: M,
    max_line: usize,
    source: Span,
) -> Result<LogProcessor<M>, SnapshotError>
where
    M: Resume,
    M::State: DeserializeOwned,
{
    type Stored<M> = Snapshot<LogState<Json>, <LogEmitter<M> as Resume>::State>;
    let restore = |state: Json| executor.restore(state.get());
    let snapshot = Stored::<M>::from_json(state)?.try_map_state(|state| state.try_map(restore))?;
    source.record("format", executor.format().name);
    let reducer = Sessions::new(executor);
    let emitter = Traced::new(source, emitter);
    Ok(Processor::resume(Records, reducer, snapshot, emitter, max_line))
}

/// The emitters of the verb.
pub fn emitter<M>(processor: &LogProcessor<M>) -> &M {
    processor.transducer().emitter().get_ref()
}

/// The emitters of the verb.
pub fn emitter_mut<M>(processor: &mut LogProcessor<M>) -> &mut M {
    processor.emitter_mut().get_mut()
}

/// The span of the session that is being read, in which the next bytes are reduced.
pub(crate) fn span<R, S, M>(processor: &Processor<R, S, LogEmitter<M>, Records>) -> Span {
    processor.transducer().emitter().span().clone()
}
