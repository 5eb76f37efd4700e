//! [`DynEmitter`]: a consumer that is chosen at run time; [`per_session`]: one for each session of a log.

use std::{
    fmt,
    io::{self, Write},
};

use foldline::{
    position::Located,
    processor::Counts,
    transduce::{Batch, Emitter, KeyedEmitter, Resume},
};
use serde::{Serialize, de::DeserializeOwned};

use super::lines::Lines;
use crate::conversation::{DomainEvent, Json, SessionKey};

/// A type-erased consumer that writes lines, the counterpart of `foldline_agents::DynExecutor`: a set
/// of consumers that is chosen at run time holds values of one type.
///
/// Its only outputs are write errors. Its memory, if it can be resumed, is JSON.
///
/// ```
/// use foldline::{position::{Located, Position}, transduce::Emitter};
/// use foldline_domain::{
///     DomainEvent, DynEmitter, NormalizedEntry, NormalizedEntryType, lines::Lines,
///     patch::PatchStream,
/// };
///
/// let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, "hi");
/// let event = Located::new(Position::default(), DomainEvent::entry(entry));
/// let mut patches = DynEmitter::new(Lines::json(PatchStream::default(), std::io::sink()));
/// assert!(patches.emit(&event).is_empty());
///
/// let stored = patches.state().expect("patches can be resumed");
/// let mut patches = DynEmitter::new(Lines::json(PatchStream::default(), std::io::sink()));
/// patches.resume(&stored)?;
/// # Ok::<(), serde_json::Error>(())
/// ```
pub struct DynEmitter(Box<dyn AnyEmitter>);

impl DynEmitter {
    /// A consumer that can be resumed from a stored memory. A closure without one is an emitter by
    /// [`memoryless`](foldline::transduce::memoryless).
    pub fn new<M, Out, W>(lines: Lines<M, Out, W>) -> Self
    where
        M: Emitter<Located<DomainEvent>, Out> + Resume + Send + 'static,
        M::State: Serialize + DeserializeOwned,
        Out: 'static,
        W: Write + Send + 'static,
    {
        let resume = |lines: &mut Lines<M, Out, W>, state: &Json| {
            lines.resume(serde_json::from_str(state.get())?);
            Ok(())
        };
        let state = |lines: &Lines<M, Out, W>| Json::of(&lines.state()).ok();
        Self(Box::new(Erased { lines, set_read: |_, _| {}, state, resume }))
    }

    /// A consumer that must read a log from its beginning, because its memory would be the whole log. `read` is
    /// called at the end with the counts of the log.
    pub fn whole<M, Out, W>(lines: Lines<M, Out, W>, read: fn(&mut M, Counts)) -> Self
    where
        M: Emitter<Located<DomainEvent>, Out> + Send + 'static,
        Out: 'static,
        W: Write + Send + 'static,
    {
        Self(Box::new(Erased { lines, set_read: read, state: |_| None, resume: |_, _| Ok(()) }))
    }

    /// Writes buffered data.
    ///
    /// # Errors
    /// The writer failed.
    pub fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }

    /// Sets the counts of the log, before its end.
    pub fn set_read(&mut self, read: Counts) {
        self.0.set_read(read);
    }

    /// Its memory; `None` if it cannot be resumed.
    pub fn state(&self) -> Option<Json> {
        self.0.state()
    }

    /// Continues from a stored memory.
    ///
    /// # Errors
    /// It is the memory of another consumer.
    pub fn resume(&mut self, state: &Json) -> serde_json::Result<()> {
        self.0.resume(state)
    }
}

impl Emitter<Located<DomainEvent>, io::Error> for DynEmitter {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<io::Error> {
        self.0.emit(event)
    }

    fn finish(&mut self) -> Batch<io::Error> {
        self.0.finish()
    }
}

impl fmt::Debug for DynEmitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynEmitter").finish_non_exhaustive()
    }
}

trait AnyEmitter: Send {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<io::Error>;
    fn finish(&mut self) -> Batch<io::Error>;
    fn flush(&mut self) -> io::Result<()>;
    fn set_read(&mut self, read: Counts);
    fn state(&self) -> Option<Json>;
    fn resume(&mut self, state: &Json) -> serde_json::Result<()>;
}

/// Lines, and what depends on whether their emitter can be resumed.
struct Erased<M, Out, W> {
    lines: Lines<M, Out, W>,
    set_read: fn(&mut M, Counts),
    state: fn(&Lines<M, Out, W>) -> Option<Json>,
    resume: fn(&mut Lines<M, Out, W>, &Json) -> serde_json::Result<()>,
}

impl<M, Out, W> AnyEmitter for Erased<M, Out, W>
where
    M: Emitter<Located<DomainEvent>, Out> + Send,
    W: Write + Send,
{
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<io::Error> {
        self.lines.emit(event)
    }

    fn finish(&mut self) -> Batch<io::Error> {
        self.lines.finish()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.lines.flush()
    }

    fn set_read(&mut self, read: Counts) {
        (self.set_read)(self.lines.emitter_mut(), read);
    }

    fn state(&self) -> Option<Json> {
        (self.state)(&self.lines)
    }

    fn resume(&mut self, state: &Json) -> serde_json::Result<()> {
        (self.resume)(&mut self.lines, state)
    }
}

/// One emitter per session.
pub type PerSession<M, Make> = KeyedEmitter<
    SessionKey,
    M,
    fn(&Located<DomainEvent>) -> SessionKey,
    Make,
    fn(&Located<DomainEvent>) -> bool,
>;

/// An emitter for each session of a log, by `make`, until the session ends.
pub fn per_session<M, Make: FnMut(&SessionKey) -> M>(make: Make) -> PerSession<M, Make> {
    let key: fn(&Located<DomainEvent>) -> _ = |event| event.session;
    let ends: fn(&Located<DomainEvent>) -> _ =
        |event| matches!(event.item, DomainEvent::SessionEnded);
    KeyedEmitter::new(key, make).ending(ends)
}
