//! [`Program`]: the program as a value.

use std::{
    fmt::Display,
    sync::{Arc, Mutex},
};

use foldline::{
    position::Located,
    source::Openers,
    transduce::{Emitter, Resume},
};
use foldline_agents::{DynExecutor, Registry};
use foldline_domain::DomainEvent;
use serde::{Serialize, de::DeserializeOwned};

use crate::{answer::Listing, sink::SinkKinds, terminal::Terminal};

/// The program `foldline`, with the executors and consumers that it is given.
///
/// [`Program::builtin`] has those of this repository. Another crate adds its own, and every verb works
/// with them: they are recognised, replayed, followed, ingested, and examined by `doctor`.
///
/// It uses the allocator of the embedding program: `foldline` itself uses `mimalloc`, which is faster than the
/// system's allocator.
///
/// ```no_run
/// use std::convert::Infallible;
///
/// use foldline::{position::by_item, transduce::{Batch, memoryless}};
/// use foldline_cli::Program;
/// use foldline_domain::DomainEvent;
///
/// let names = || {
///     by_item(memoryless(|event: &DomainEvent| Batch::one(Ok::<_, Infallible>(event.name()))))
/// };
/// Program::builtin().sink("names", names).run();
/// ```
#[derive(Clone)]
pub struct Program {
    pub(crate) registry: Registry,
    pub(crate) sinks: SinkKinds,
    /// How it prints, as the command line says.
    pub(crate) terminal: Terminal,
    /// Where the rows of an answer are kept instead of being printed.
    pub(crate) answer: Option<Arc<Mutex<Option<Listing>>>>,
}

impl Program {
    /// The program with the executors and outputs of this repository.
    pub fn builtin() -> Self {
        let (registry, sinks) = (Registry::builtin(), SinkKinds::builtin());
        Self { registry, sinks, terminal: Terminal::default(), answer: None }
    }

    /// Its executors.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// How the logs of its executors are opened.
    pub fn openers(&self) -> Openers {
        self.registry.openers()
    }

    /// The same program with one more executor; one of the same format name is replaced.
    #[must_use]
    pub fn executor(mut self, executor: impl Into<DynExecutor>) -> Self {
        self.registry = self.registry.with(executor);
        self
    }

    /// The same program with one more consumer, as `replay --format NAME` and as `--sink NAME` of the
    /// verbs that read logs. One of the same name is replaced.
    ///
    /// `make` makes the consumer, once for each log. Each `Ok` output becomes a line: with `NAME=FILE` in that file, with
    /// `NAME` alone on standard error; `ingest` needs a file. What the consumer emits in `finish` is written at the end
    /// of a `replay`, but by `ingest` only with `--final`, since its logs may grow.
    ///
    /// An `Err` or a panic ends this consumer, but neither the others nor the run; it is reported at the end, with exit
    /// code 1. The consumer's memory ([`Resume`]) is stored with checkpoints; a closure without one is a
    /// consumer by [`memoryless`](foldline::transduce::memoryless). One that needs neither positions nor sessions is
    /// adapted by [`by_item`](foldline::position::by_item).
    #[must_use]
    pub fn sink<M, Line, E>(
        mut self,
        name: &'static str,
        make: impl Fn() -> M + Send + Sync + 'static,
    ) -> Self
    where
        M: Emitter<Located<DomainEvent>, Result<Line, E>> + Resume + Send + 'static,
        M::State: Serialize + DeserializeOwned,
        Line: Display + 'static,
        E: Display + 'static,
    {
        self.sinks = self.sinks.with(name, make);
        self
    }
}
