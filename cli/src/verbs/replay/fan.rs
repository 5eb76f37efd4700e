//! The emitters of a replay: they count malformed records, keep the log's pauses, and write.

use std::convert::Infallible;

use foldline::transduce::{Batch, Emitter, Resume};
use foldline_domain::{DomainEvent, Located};

use crate::{
    malformed::Malformed,
    pace::{Pace, Speed},
    sink::{Gathered, Sinks, Written},
};

/// The emitters of a replay.
pub(super) type Fan = (Malformed, Paced);

/// What is committed of their output.
pub(super) type Collected = ((), Gathered);

/// Sinks that write directly emit nothing.
pub(super) fn nothing(_: (Batch<Infallible>, Batch<Written>)) {}

/// Sinks that receive the events with the log's own pauses.
#[derive(Debug)]
pub(super) struct Paced {
    pace: Pace,
    sinks: Sinks,
}

impl Paced {
    pub(super) fn new(speed: Speed, sinks: Sinks) -> Self {
        Self { pace: Pace::new(speed), sinks }
    }

    pub(super) fn sinks_mut(&mut self) -> &mut Sinks {
        &mut self.sinks
    }

    pub(super) fn into_sinks(self) -> Sinks {
        self.sinks
    }
}

impl Emitter<Located<DomainEvent>, Written> for Paced {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Written> {
        if let Some(pause) = self.pace.pause_before(event.item.timestamp()) {
            self.sinks.flush();
            Pace::wait(pause);
        }
        self.sinks.emit(event)
    }

    fn finish(&mut self) -> Batch<Written> {
        self.sinks.finish()
    }
}

/// The pace has no memory: a resumed replay begins with the next event at once.
impl Resume for Paced {
    type State = <Sinks as Resume>::State;

    fn state(&self) -> Self::State {
        self.sinks.state()
    }

    fn resume(&mut self, state: Self::State) {
        self.sinks.resume(state);
    }
}
