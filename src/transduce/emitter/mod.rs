//! [`Emitter`] and its combinators.

mod at_end;
mod contramap;
mod fan_out;
mod filter;
mod from_fn;
mod keyed;
mod map;
mod memoryless;
mod resume;
mod tee;

pub use at_end::{AtEnd, at_end};
pub use contramap::{Contramap, contramap};
pub use filter::{Filter, filter};
pub use from_fn::{EmitFn, emit_fn};
pub use keyed::KeyedEmitter;
pub use map::{Map, map};
pub use memoryless::{Memoryless, memoryless};
pub use resume::Resume;
pub use tee::Tee;

use super::Batch;

/// The presentation side: reads events by reference, in order, and converts them into output.
///
/// An emitter may keep state for this purpose (indices, counters, a connection). Its output must depend only on the
/// events it has received, never on the other emitters of a fan-out. Its output leaves by [`emit`](Self::emit) and
/// [`finish`](Self::finish): what a ledger commits is collected by the caller.
///
/// A sink that can fail reports errors in its output, `Emitter<Event, Result<T, E>>`, so that sinks need not share an
/// error type. A sink without output has the output type [`Infallible`](std::convert::Infallible) and can be the side
/// of a [`Tee`].
///
/// Several emitters read the same events in one pass when they are combined in
/// - a tuple of up to eight emitters: each has a separate output type, and one event yields `(Batch<OutA>,
///   Batch<OutB>, ..)`, or nothing if all are empty;
/// - a `Vec`: outputs of one type, in the order of the emitters; with `Box<dyn Emitter<..>>` inside,
///   the set can be chosen at run time.
///
/// An `Option` is an emitter that can be switched off; `()` is an emitter that is always off.
///
/// ```
/// use foldline::transduce::{Batch, Emitter};
///
/// struct Longest(usize);
///
/// impl Emitter<str, usize> for Longest {
///     fn emit(&mut self, line: &str) -> Batch<usize> {
///         Batch::from((line.len() > self.0).then(|| {
///             self.0 = line.len();
///             self.0
///         }))
///     }
/// }
///
/// let mut longest = Longest(0);
/// assert_eq!(longest.emit("ab").as_slice(), [2]);
/// assert!(longest.emit("c").is_empty());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an `Emitter<{Event}, {Out}>`",
    label = "no emitter from events `{Event}` to outputs `{Out}`",
    note = "an emitter has one type of event and one type of output: compare both with its `impl`",
    note = "a closure becomes an emitter with `emit_fn`; `contramap` adapts the event, `map` the output"
)]
pub trait Emitter<Event: ?Sized, Out> {
    /// The output for one event.
    fn emit(&mut self, event: &Event) -> Batch<Out>;

    /// The remaining output at the end. Called once, after the last event.
    #[inline]
    fn finish(&mut self) -> Batch<Out> {
        Batch::EMPTY
    }
}
