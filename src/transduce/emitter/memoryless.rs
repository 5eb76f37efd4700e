//! [`Memoryless`]: an emitter without a memory, where a memory is required.

use super::{Batch, Emitter, resume::Resume};
use crate::transduce::wrapper::{access, forward_gather};

/// An emitter without a memory: its output depends only on the current event.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memoryless<M>(pub M);

impl<Event: ?Sized, Out, M: Emitter<Event, Out>> Emitter<Event, Out> for Memoryless<M> {
    #[inline]
    fn emit(&mut self, event: &Event) -> Batch<Out> {
        self.0.emit(event)
    }

    fn finish(&mut self) -> Batch<Out> {
        self.0.finish()
    }
}

access!(Memoryless<M>, 0: M);
forward_gather!(Memoryless<M>, 0: M);

impl<M> Resume for Memoryless<M> {
    type State = ();

    fn state(&self) {}

    fn resume(&mut self, (): ()) {}
}
