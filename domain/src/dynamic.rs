//! [`DynEmitter`]: a consumer that is chosen at run time.

use std::{
    fmt,
    io::{self, Write},
};

use foldline::{
    position::Located,
    processor::Counts,
    transduce::{Batch, Emitter, Resume},
};
use serde::{Serialize, de::DeserializeOwned};

use super::lines::Lines;
use crate::conversation::{DomainEvent, Json};

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
        Self(Box::new(Resumable(lines)))
    }

    /// A consumer that must read a log from its beginning, because its memory would be the whole log. `read` is
    /// called at the end with the counts of the log.
    pub fn whole<M, Out, W>(lines: Lines<M, Out, W>, read: fn(&mut M, Counts)) -> Self
    where
        M: Emitter<Located<DomainEvent>, Out> + Send + 'static,
        Out: 'static,
        W: Write + Send + 'static,
    {
        Self(Box::new(Whole { lines, read }))
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

struct Resumable<M, Out, W>(Lines<M, Out, W>);

impl<M, Out, W> AnyEmitter for Resumable<M, Out, W>
where
    M: Emitter<Located<DomainEvent>, Out> + Resume + Send,
    M::State: Serialize + DeserializeOwned,
    W: Write + Send,
{
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<io::Error> {
        self.0.emit(event)
    }

    fn finish(&mut self) -> Batch<io::Error> {
        self.0.finish()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }

    fn set_read(&mut self, _: Counts) {}

    fn state(&self) -> Option<Json> {
        Json::of(&self.0.state()).ok()
    }

    fn resume(&mut self, state: &Json) -> serde_json::Result<()> {
        self.0.resume(serde_json::from_str(state.get())?);
        Ok(())
    }
}

struct Whole<M, Out, W> {
    lines: Lines<M, Out, W>,
    read: fn(&mut M, Counts),
}

impl<M, Out, W> AnyEmitter for Whole<M, Out, W>
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
        (self.read)(self.lines.emitter_mut(), read);
    }

    fn state(&self) -> Option<Json> {
        None
    }

    fn resume(&mut self, _: &Json) -> serde_json::Result<()> {
        Ok(())
    }
}
