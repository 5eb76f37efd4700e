//! [`Arrival`]: when records arrived; [`Arriving`]: an emitter that is told so.

use std::path::Path;

use foldline::transduce::{Batch, Emitter, Resume};
use foldline_domain::{DomainEvent, Timestamp};
use foldline_otlp::{Otlp, Signal};
use jiff::Timestamp as Moment;

/// When the records of a log arrived, which is the time of those that state none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It is not known.
    Unknown,
    /// By this time, at which the log was written last.
    By(Timestamp),
    /// When they are read.
    Now,
}

impl Arrival {
    /// By the time at which a file was written last.
    pub(crate) fn of_file(path: &Path) -> Self {
        let written = path.metadata().ok().filter(std::fs::Metadata::is_file);
        let written = written.and_then(|metadata| metadata.modified().ok());
        let moment = written.and_then(|at| Moment::try_from(at).ok());
        moment.map_or(Self::Unknown, |at| Self::By(Timestamp::from_millis(at.as_millisecond())))
    }

    fn time(self) -> Option<Timestamp> {
        match self {
            Self::Unknown => None,
            Self::By(at) => Some(at),
            Self::Now => Some(Timestamp::from_millis(Moment::now().as_millisecond())),
        }
    }
}

/// The emitter of a session whose records arrive.
pub(super) struct Arriving {
    pub(super) session: Otlp,
    pub(super) arrival: Arrival,
}

impl Emitter<DomainEvent, Signal> for Arriving {
    fn emit(&mut self, event: &DomainEvent) -> Batch<Signal> {
        if let Some(at) = self.arrival.time() {
            self.session.observe(at);
        }
        self.session.emit(event)
    }

    fn finish(&mut self) -> Batch<Signal> {
        self.session.finish()
    }
}

impl Resume for Arriving {
    type State = <Otlp as Resume>::State;

    fn state(&self) -> Self::State {
        self.session.state()
    }

    fn resume(&mut self, state: Self::State) {
        self.session.resume(state);
    }
}
