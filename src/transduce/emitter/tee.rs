//! [`Tee`]: an emitter with a listener.

use std::convert::Infallible;

use super::{Emitter, Resume};
use crate::transduce::{Batch, wrapper::access_pair};

/// An emitter together with a listener that has no output.
///
/// The output is the output of `main`, unchanged. The type of `side` guarantees that it emits nothing. For each
/// event, `main` is called first.
///
/// ```
/// use std::convert::Infallible;
/// use foldline::transduce::{Batch, Emitter, Tee, emit_fn};
///
/// let mut seen = 0;
/// let mut tee = Tee {
///     main: emit_fn(|n: &u32| Batch::one(n * 2)),
///     side: emit_fn(|_: &u32| -> Batch<Infallible> {
///         seen += 1;
///         Batch::EMPTY
///     }),
/// };
/// assert_eq!(tee.emit(&21).as_slice(), [42]);
/// assert_eq!(seen, 1);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Tee<M, S> {
    /// The emitter with the output.
    pub main: M,
    /// The listener.
    pub side: S,
}

impl<Event: ?Sized, Out, M, S> Emitter<Event, Out> for Tee<M, S>
where
    M: Emitter<Event, Out>,
    S: Emitter<Event, Infallible>,
{
    #[inline]
    fn emit(&mut self, event: &Event) -> Batch<Out> {
        let out = self.main.emit(event);
        self.side.emit(event).drain_with(|never| match never {});
        out
    }

    #[inline]
    fn finish(&mut self) -> Batch<Out> {
        let out = self.main.finish();
        self.side.finish().drain_with(|never| match never {});
        out
    }
}

access_pair!(Tee<M, S>, main: M, side: S);

/// The memories of both.
impl<M: Resume, S: Resume> Resume for Tee<M, S> {
    type State = (M::State, S::State);

    fn state(&self) -> Self::State {
        (self.main.state(), self.side.state())
    }

    fn resume(&mut self, (main, side): Self::State) {
        self.main.resume(main);
        self.side.resume(side);
    }
}
