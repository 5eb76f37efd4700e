//! [`Program`]: the program as a value.

use std::fmt::Display;

use foldline::{
    conversation::DomainEvent,
    executors::{Executor, Registry},
    transduce::{Emitter, Resume},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::sink::SinkKinds;

/// The program `foldline`, with the executors and consumers that it is given.
///
/// Its own are those of [`Program::builtin`]. Any other crate adds its own, and has the whole program
/// for them: recognised, replayed, followed, ingested, examined.
///
/// ```no_run
/// use std::convert::Infallible;
///
/// use foldline::{
///     conversation::DomainEvent,
///     transduce::{Batch, Emitter, Memoryless, emit_fn},
/// };
/// use foldline_cli::Program;
///
/// let names = || {
///     Memoryless(emit_fn(|event: &DomainEvent| Batch::one(Ok::<_, Infallible>(event.name()))))
/// };
/// Program::builtin().sink("names", names).run();
/// ```
#[derive(Clone)]
pub struct Program {
    pub(crate) registry: Registry,
    pub(crate) sinks: SinkKinds,
}

impl Program {
    /// The program with the executors and outputs of this repository.
    pub fn builtin() -> Self {
        Self { registry: Registry::builtin(), sinks: SinkKinds::builtin() }
    }

    /// The same program with one more executor; one of the same format name is replaced.
    #[must_use]
    pub fn executor<E: Executor>(mut self, executor: E) -> Self {
        self.registry = self.registry.with(executor);
        self
    }

    /// The same program with one more consumer, as `replay --format NAME` and as `--sink NAME` of the
    /// verbs that read logs. One of the same name is replaced.
    ///
    /// `make` makes the consumer, once for each log. Each output that is `Ok` becomes a line. An `Err`
    /// and a panic end this consumer, and neither the others nor the run; they are reported at the end,
    /// with exit code 1. What the consumer remembers ([`Resume`]) is stored with checkpoints; one that
    /// remembers nothing is wrapped in [`Memoryless`](foldline::transduce::Memoryless).
    #[must_use]
    pub fn sink<M, Line, E>(
        mut self,
        name: &'static str,
        make: impl Fn() -> M + Send + Sync + 'static,
    ) -> Self
    where
        M: Emitter<DomainEvent, Result<Line, E>> + Resume + Send + 'static,
        M::State: Serialize + DeserializeOwned,
        Line: Display + 'static,
        E: Display + 'static,
    {
        self.sinks = self.sinks.with(name, make);
        self
    }
}
