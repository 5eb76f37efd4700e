//! [`Memoryless`]: an emitter without a memory, where a memory is required.

use super::{Batch, Contramap, EmitFn, Emitter, Filter, Map, resume::Resume};
use crate::transduce::wrapper::{access, forward_gather};

/// An emitter whose output depends only on the current event, so that [`Memoryless`] loses nothing.
///
/// Closures are: their captured variables cannot be stored anyway. An emitter that implements [`Resume`] is not, and
/// neither is one of [`guard`](crate::transduce::guard), which remembers that it panicked: write
/// `guard(Memoryless(m))`.
///
/// ```compile_fail
/// use foldline::transduce::{Batch, Memoryless, Resume, emit_fn, guard};
///
/// fn resumable(_: impl Resume) {}
///
/// resumable(Memoryless(guard(emit_fn(|_: &u32| Batch::one(1)))));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` may have a memory, which `Memoryless` would forget",
    note = "implement `Resume` for it; or `Stateless`, if its output depends only on the current event"
)]
pub trait Stateless {}

impl<F> Stateless for EmitFn<F> {}
impl<M: Stateless, F> Stateless for Contramap<M, F> {}
impl<M: Stateless, P> Stateless for Filter<M, P> {}
impl<M: Stateless, F, A> Stateless for Map<M, F, A> {}
impl<M: Stateless + ?Sized> Stateless for Box<M> {}

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

impl<M: Stateless> Resume for Memoryless<M> {
    type State = ();

    fn state(&self) {}

    fn resume(&mut self, (): ()) {}
}
