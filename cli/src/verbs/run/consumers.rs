//! [`Consumers`]: all consumers of the events of a run, in one pass.

use std::convert::Infallible;

use foldline::{
    processor::Segments,
    transduce::{Batch, Emitter, Gather, Resume},
};
use foldline_agents::Records;
use foldline_domain::{DomainEvent, Located};

#[cfg(feature = "serve")]
use crate::serve::RunningLog;
use crate::{
    pipeline::{LogEmitter, LogReducer, LogState},
    sink::Sinks,
    verbs::ingest::Fan,
};

/// The log of a run, in segments for the database.
pub(super) type RunSegments = Segments<LogReducer, LogState, LogEmitter<Consumers>, Records>;

/// The consumers of a run. The database stores only the memory of its rows, which an ingest can resume.
#[derive(Default)]
pub(super) struct Consumers {
    pub(super) sinks: Sinks,
    pub(super) rows: Option<Fan>,
    #[cfg(feature = "serve")]
    pub(super) running: Option<RunningLog>,
}

impl Consumers {
    /// Flushes the output so far.
    pub(super) fn flush(&mut self) {
        self.sinks.flush();
        #[cfg(feature = "serve")]
        self.running.iter().for_each(RunningLog::flush);
    }
}

impl Emitter<Located<DomainEvent>, Infallible> for Consumers {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        // The rows are collected, not emitted.
        let _ = self.rows.emit(event);
        #[cfg(feature = "serve")]
        let _ = self.running.emit(event);
        self.sinks.emit(event)
    }

    fn finish(&mut self) -> Batch<Infallible> {
        let _ = Emitter::<Located<DomainEvent>, _>::finish(&mut self.rows);
        #[cfg(feature = "serve")]
        let _ = Emitter::<Located<DomainEvent>, _>::finish(&mut self.running);
        self.sinks.finish()
    }
}

impl Resume for Consumers {
    type State = Option<<Fan as Resume>::State>;

    fn state(&self) -> Self::State {
        self.rows.state()
    }

    fn resume(&mut self, state: Self::State) {
        self.rows.resume(state);
    }
}

impl Gather for Consumers {
    type Segment = Option<<Fan as Gather>::Segment>;

    fn cut(&mut self) -> Self::Segment {
        self.rows.cut()
    }

    fn size(&self) -> usize {
        self.rows.size()
    }
}
