//! [`collecting`]: collects the outputs of an emitter until they are cut.

use std::{convert::Infallible, mem};

use super::{Emitter, Gather, Resume};
use crate::transduce::Batch;

/// Collects the outputs of `emitter` until the next [`cut`](Gather::cut), which returns them as a `Vec`. `size`
/// measures an output in bytes.
///
/// ```
/// use foldline::transduce::{Batch, Emitter, Gather, collecting, emit_fn};
///
/// let lines = emit_fn(|n: &u32| Batch::one(format!("{n}\n")));
/// let mut lines = collecting(lines, String::len);
/// for n in [1, 20] {
///     assert!(lines.emit(&n).is_empty());
/// }
/// assert_eq!(lines.size(), 5);
/// assert_eq!(lines.cut(), ["1\n", "20\n"]);
/// ```
pub const fn collecting<M, Out>(emitter: M, size: fn(&Out) -> usize) -> Collecting<M, Out> {
    Collecting { emitter, outputs: Vec::new(), measure: size, size: 0 }
}

/// The emitter returned by [`collecting`].
#[derive(Clone, Debug)]
pub struct Collecting<M, Out> {
    emitter: M,
    outputs: Vec<Out>,
    measure: fn(&Out) -> usize,
    size: usize,
}

impl<M, Out> Collecting<M, Out> {
    fn keep(&mut self, outputs: Batch<Out>) -> Batch<Infallible> {
        outputs.drain_with(|output| {
            self.size += (self.measure)(&output);
            self.outputs.push(output);
        });
        Batch::EMPTY
    }
}

impl<Event: ?Sized, M: Emitter<Event, Out>, Out> Emitter<Event, Infallible> for Collecting<M, Out> {
    fn emit(&mut self, event: &Event) -> Batch<Infallible> {
        let outputs = self.emitter.emit(event);
        self.keep(outputs)
    }

    fn finish(&mut self) -> Batch<Infallible> {
        let outputs = self.emitter.finish();
        self.keep(outputs)
    }
}

impl<M, Out> Gather for Collecting<M, Out> {
    type Segment = Vec<Out>;

    fn cut(&mut self) -> Vec<Out> {
        self.size = 0;
        mem::take(&mut self.outputs)
    }

    fn size(&self) -> usize {
        self.size
    }
}

/// The memory of the inner emitter: after a cut nothing is held.
impl<M: Resume, Out> Resume for Collecting<M, Out> {
    type State = M::State;

    fn state(&self) -> M::State {
        self.emitter.state()
    }

    fn resume(&mut self, state: M::State) {
        self.emitter.resume(state);
    }
}
