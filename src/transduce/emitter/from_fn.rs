//! [`emit_fn`]: an emitter from a closure.

use std::fmt;

use super::Emitter;
use crate::transduce::{Batch, wrapper::access};

/// Converts a closure into an emitter; the closure may keep state in its captured variables.
///
/// Annotate the event type. An emitter with output at the end needs a separate `impl`.
///
/// ```
/// use foldline::transduce::{Batch, Emitter, emit_fn};
///
/// let mut line = 0;
/// let mut numbered = emit_fn(|text: &str| {
///     line += 1;
///     Batch::one(format!("{line}: {text}"))
/// });
/// assert_eq!(numbered.emit("a").as_slice(), ["1: a"]);
/// assert_eq!(numbered.emit("b").as_slice(), ["2: b"]);
///
/// // The closure's value is known to be a `Batch`, so this needs no more types than it shows.
/// let mut words = emit_fn(|text: &str| text.split(' ').map(str::to_owned).collect());
/// assert_eq!(words.emit("to be").as_slice(), ["to", "be"]);
/// ```
#[inline]
pub const fn emit_fn<Event, Out, F>(f: F) -> EmitFn<F>
where
    Event: ?Sized,
    F: FnMut(&Event) -> Batch<Out>,
{
    EmitFn(f)
}

/// The emitter returned by [`emit_fn`].
#[derive(Clone, Copy)]
pub struct EmitFn<F>(F);

impl<Event, Out, F> Emitter<Event, Out> for EmitFn<F>
where
    Event: ?Sized,
    F: FnMut(&Event) -> Batch<Out>,
{
    #[inline]
    fn emit(&mut self, event: &Event) -> Batch<Out> {
        (self.0)(event)
    }
}

access!(EmitFn<F>, 0: F);

impl<F> fmt::Debug for EmitFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmitFn").finish_non_exhaustive()
    }
}
