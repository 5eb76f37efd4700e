//! [`Sinks`]: the sinks of a run, in one fan-out.

use std::{
    collections::BTreeMap,
    fmt, io,
    path::Path,
    time::{Duration, Instant},
};

use foldline::{
    processor::Counts,
    transduce::{Batch, Emitter, Fault, Guarded, Resume, guard},
};
use foldline_domain::{DomainEvent, DynEmitter, Json, Located, Position};
use foldline_render::terminal::neutralise_line;
use serde::{Deserialize, Serialize};

#[cfg(feature = "otlp")]
use super::otlp::Collector;
use super::{ChosenSink, SinkOutput};
use super::{
    kind::{SinkKind, SinkOptions, Writer},
    otlp::{Arrival, Wake},
    spool::{SharedSpool, Written},
};
use crate::{error::Error, say::say};

/// The sinks of a run.
///
/// A sink that fails or panics gets no more events, and the others continue. See
/// [`failures`](Self::failures).
#[derive(Default)]
pub(crate) struct Sinks {
    running: Vec<Running>,
    /// Sinks without a stored memory when the others were resumed.
    new: Vec<&'static str>,
    hashes_lines: bool,
    wake: Wake,
    /// When turns end of which nothing arrives any more, if the log is followed.
    idle: Option<Idle>,
}

/// The time without events.
struct Idle {
    limit: Duration,
    /// The last event since turns were closed.
    since: Option<Instant>,
}

struct Running {
    name: &'static str,
    /// Whether its turns can be closed.
    has_turns: bool,
    /// `None` if it could not be made.
    sink: Option<Guarded<DynEmitter>>,
    /// The destination of a sink that does not write directly.
    gathered: Option<SharedSpool>,
    /// What sends its lines.
    #[cfg(feature = "otlp")]
    collector: Option<Collector>,
    failure: Option<io::Error>,
}

/// The stored memory of a sink.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Memory {
    /// A memory.
    Working(Json),
    /// None: it failed.
    Failed,
}

impl Sinks {
    /// Adds a sink that writes to `writer`.
    pub(crate) fn add(&mut self, kind: &SinkKind, options: &SinkOptions, writer: Writer) {
        self.push(kind, options, writer, None);
    }

    /// Adds a further sink with its destination. `create` opens a file.
    pub(crate) fn add_further<W: io::Write + Send + 'static>(
        &mut self,
        ChosenSink { kind, output }: &ChosenSink<'_>,
        options: &SinkOptions,
        create: impl FnOnce(&Path) -> Result<W, Error>,
    ) -> Result<(), Error> {
        match output {
            SinkOutput::Standard => self.add(kind, options, Box::new(io::stderr())),
            SinkOutput::File(path) => self.add(kind, options, Box::new(create(path)?)),
            #[cfg(feature = "otlp")]
            SinkOutput::Collector(endpoints) => {
                let (collector, writer) = Collector::start(endpoints.clone(), options.is_patient);
                self.add(kind, options, Box::new(writer));
                if let Some(running) = self.running.last_mut() {
                    running.collector = Some(collector);
                }
            }
        }
        Ok(())
    }

    /// Adds a sink whose lines are emitted, since they are committed: in memory or, if there are many, in a file in
    /// this folder.
    pub(crate) fn gather(&mut self, kind: &SinkKind, options: &SinkOptions, folder: Option<&Path>) {
        let spool = SharedSpool::new(folder);
        let writer = Box::new(spool.clone());
        self.push(kind, options, writer, Some(spool));
    }

    fn push(
        &mut self,
        kind: &SinkKind,
        options: &SinkOptions,
        writer: Writer,
        gathered: Option<SharedSpool>,
    ) {
        self.hashes_lines |= kind.hashes_lines;
        let options = SinkOptions { wake: self.wake.clone(), ..options.clone() };
        if kind.can_be_sent && options.arrival == Arrival::Now {
            // A wrong time was refused when the options were read.
            let limit = options.variables.idle().unwrap_or(Duration::MAX);
            self.idle = Some(Idle { limit, since: None });
        }
        self.running.push(Running::new(kind, || kind.make(&options, writer), gathered));
    }

    /// Ends the turns of a followed log of which nothing has arrived for a while.
    pub(crate) fn close_idle(&mut self) -> Batch<Written> {
        let Some(Idle { limit, since }) = &mut self.idle else { return Batch::EMPTY };
        match since.take_if(|since| since.elapsed() >= *limit) {
            Some(_) => self.close_turns(),
            None => Batch::EMPTY,
        }
    }

    /// Ends the turns of which nothing arrives any more.
    pub(crate) fn close_turns(&mut self) -> Batch<Written> {
        let waking = Located::new(Position::default(), DomainEvent::SessionEnded);
        self.wake.set(true);
        let written = self.each(|running| running.has_turns, |sink| sink.emit(&waking));
        self.wake.set(false);
        written
    }

    /// Whether the events of a sink need the digests of their lines.
    pub(crate) fn hashes_lines(&self) -> bool {
        self.hashes_lines
    }

    /// Calls these of the sinks that work, and returns what they wrote.
    fn each(
        &mut self,
        is_called: fn(&Running) -> bool,
        mut call: impl FnMut(&mut Guarded<DynEmitter>) -> Batch<Result<io::Error, Fault>>,
    ) -> Batch<Written> {
        let mut written = Batch::EMPTY;
        let is_called = |running: &&mut Running| is_called(running) && !running.has_stopped();
        for running in self.running.iter_mut().filter(is_called) {
            let failures = running.sink.as_mut().map(&mut call);
            running.note(failures.unwrap_or_default());
            written.extend(running.written());
        }
        written
    }

    /// Flushes all sinks.
    pub(crate) fn flush(&mut self) {
        self.running.iter_mut().for_each(|running| running.with(DynEmitter::flush));
    }

    /// States what was read of the log, before its end.
    pub(crate) fn set_read(&mut self, read: Counts) {
        for running in &mut self.running {
            running.with(|sink| {
                sink.set_read(read);
                Ok(())
            });
        }
    }

    /// Takes the failure of the sink with this name, if it failed.
    pub(crate) fn take_failure(&mut self, name: &str) -> Option<io::Error> {
        self.running.iter_mut().find(|running| running.name == name)?.failure.take()
    }

    /// Sinks without a stored memory when the others were resumed.
    pub(crate) fn new_ones(&self) -> &[&'static str] {
        &self.new
    }

    /// The sinks that failed, and why.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (&'static str, &io::Error)> {
        self.running.iter().filter_map(|running| Some((running.name, running.failure.as_ref()?)))
    }

    /// The reader of standard output may close it when it has read enough: that is no failure of its sink.
    pub(crate) fn forgive_closed(&mut self, name: &str) {
        let mut running = self.running.iter_mut().filter(|running| running.name == name);
        if let Some(running) = running.next() {
            running.failure.take_if(|error| error.kind() == io::ErrorKind::BrokenPipe);
        }
    }

    /// Reports failed sinks on standard error, after what is being sent was sent. Returns whether there were any.
    pub(crate) fn report_failures(&mut self) -> bool {
        #[cfg(feature = "otlp")]
        for Running { collector, failure, .. } in &mut self.running {
            if let Some(Err(error)) = collector.take().map(Collector::finish) {
                failure.get_or_insert(error);
            }
        }
        for (name, error) in self.failures() {
            let line = format!("the output {name} failed, and is not complete: {error}");
            say(&neutralise_line(&line));
        }
        self.failures().next().is_some()
    }
}

/// Calls a sink; a panic is a failure.
fn caught<T>(call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let called = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call));
    called.unwrap_or_else(|panic| Err(io::Error::other(Fault::of(&*panic))))
}

impl Running {
    fn new(
        kind: &SinkKind,
        make: impl FnOnce() -> DynEmitter,
        gathered: Option<SharedSpool>,
    ) -> Self {
        let (sink, failure) = match caught(|| Ok(make())) {
            Ok(sink) => (Some(guard(sink)), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            name: kind.name,
            has_turns: kind.can_be_sent,
            sink,
            gathered,
            #[cfg(feature = "otlp")]
            collector: None,
            failure,
        }
    }

    fn has_stopped(&self) -> bool {
        self.failure.is_some() || self.sink.as_ref().is_none_or(Guarded::is_lost)
    }

    fn with(&mut self, act: impl FnOnce(&mut DynEmitter) -> io::Result<()>) {
        if !self.has_stopped()
            && let Some(sink) = &mut self.sink
        {
            self.failure = caught(|| act(sink.get_mut())).err();
        }
    }

    /// Takes what it wrote, if it does not write directly. What was written before a failure was flushed.
    fn written(&mut self) -> Option<Written> {
        self.gathered.as_ref()?;
        self.with(DynEmitter::flush);
        let bytes = self.gathered.as_ref()?.take()?;
        Some(Written { sink: self.name, bytes })
    }

    /// The memory of a sink that works.
    fn memory(&self) -> Option<Json> {
        let sink = self.sink.as_ref().filter(|_| !self.has_stopped())?;
        caught(|| Ok(sink.get_ref().state())).ok().flatten()
    }

    fn note(&mut self, failures: Batch<Result<io::Error, Fault>>) {
        failures.drain_with(|failure| {
            let failure = match failure {
                Ok(error) => error,
                Err(Fault::Skipped) => return,
                Err(panic) => io::Error::other(panic),
            };
            self.failure.get_or_insert(failure);
        });
        // What was written before the failure stays.
        if self.failure.is_some()
            && let Some(sink) = &mut self.sink
        {
            let _ = caught(|| sink.get_mut().flush());
        }
    }
}

/// The output is what sinks wrote that do not write directly.
impl Emitter<Located<DomainEvent>, Written> for Sinks {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Written> {
        if let Some(idle) = &mut self.idle {
            idle.since = Some(Instant::now());
        }
        self.each(|_| true, |sink| sink.emit(event))
    }

    fn finish(&mut self) -> Batch<Written> {
        self.each(|_| true, Emitter::<Located<DomainEvent>, _>::finish)
    }
}

/// Memories are stored by name, since the sinks can differ between runs. A failed sink has no memory
/// and stays failed. A new sink begins with the next event.
impl Resume for Sinks {
    type State = BTreeMap<String, Memory>;

    fn state(&self) -> Self::State {
        let state = |running: &Running| {
            let memory = running.memory().map_or(Memory::Failed, Memory::Working);
            (running.name.to_owned(), memory)
        };
        self.running.iter().map(state).collect()
    }

    fn resume(&mut self, state: Self::State) {
        self.new.clear();
        for running in &mut self.running {
            match state.get(running.name) {
                Some(Memory::Working(state)) => {
                    running.with(|sink| sink.resume(state).map_err(io::Error::from));
                }
                Some(Memory::Failed) => {
                    running.failure = Some(io::Error::other("it failed in an earlier run"));
                }
                None => self.new.push(running.name),
            }
        }
    }
}

impl fmt::Debug for Sinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.running.iter().map(|running| &running.name)).finish()
    }
}
