//! The emitters of a replay: they count malformed records, keep the log's pauses, and write.

use std::convert::Infallible;

use foldline::transduce::{Batch, Emitter, Gather, Resume};
use foldline_domain::{DomainEvent, Located};

use crate::{
    malformed::Malformed,
    pace::{Pace, Speed},
    sink::{Gathered, Sinks},
};

/// The emitters of a replay.
pub(super) type Fan = (Malformed, Paced);

/// These emitters emit nothing: their output is written or collected.
pub(super) fn nothing(_: (Batch<Infallible>, Batch<Infallible>)) {}

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

impl Emitter<Located<DomainEvent>, Infallible> for Paced {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        if let Some(pause) = self.pace.pause_before(event.item.timestamp()) {
            self.sinks.flush();
            Pace::wait(pause);
        }
        self.sinks.emit(event)
    }

    fn finish(&mut self) -> Batch<Infallible> {
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

impl Gather for Paced {
    type Segment = Gathered;

    fn cut(&mut self) -> Gathered {
        self.sinks.cut()
    }

    fn size(&self) -> usize {
        self.sinks.size()
    }
}
