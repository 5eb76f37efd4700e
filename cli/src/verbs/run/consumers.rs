//! [`Consumers`]: all consumers of the events of a run, in one pass.

use foldline::{
    processor::{Collect, Segments},
    transduce::{Batch, Emitter, Resume},
};
use foldline_agents::Records;
use foldline_domain::{DomainEvent, Located};

#[cfg(feature = "serve")]
use crate::serve::RunningLog;
use crate::{
    pipeline::{LogEmitter, LogReducer, LogState},
    sink::Sinks,
    verbs::ingest::{Collected, Fan},
};

/// The log of a run, in segments for the database.
pub(super) type RunSegments =
    Segments<LogReducer, LogState, LogEmitter<Consumers>, Collected, Records>;

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

/// The rows. The sinks of a run write directly.
impl Emitter<Located<DomainEvent>, <Collected as Collect>::Item> for Consumers {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<<Collected as Collect>::Item> {
        let rows = self.rows.emit(event);
        #[cfg(feature = "serve")]
        let _ = self.running.emit(event);
        let _ = self.sinks.emit(event);
        rows
    }

    fn finish(&mut self) -> Batch<<Collected as Collect>::Item> {
        let rows = Emitter::<Located<DomainEvent>, _>::finish(&mut self.rows);
        #[cfg(feature = "serve")]
        let _ = Emitter::<Located<DomainEvent>, _>::finish(&mut self.running);
        let _ = self.sinks.finish();
        rows
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
