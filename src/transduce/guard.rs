//! [`guard`]: turns the panics of a reducer or an emitter into outputs.

use std::{
    any::Any,
    error, fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::{Batch, Emitter, Reducer, Resume, wrapper::access};

/// Wraps a reducer or an emitter and turns its panics into outputs, so that the others continue: the other sessions
/// of a [`Keyed`](super::Keyed), the other emitters of a tuple.
///
/// The outputs are `Result`s. After a panic the wrapped value cannot continue: a reducer's state is lost, an
/// emitter's memory may be inconsistent. Every later input gives [`Fault::Skipped`], until the caller resumes from
/// the last snapshot.
///
/// A guarded reducer's state is an `Option`: `None` once it is lost. Panics still reach the panic hook, which prints
/// them by default, and a program built with `panic = "abort"` aborts.
///
/// ```
/// use foldline::transduce::{Batch, Fault, Keyed, Transducer, emit_fn, guard, reduce_fn};
///
/// let shares = reduce_fn(|| 100, |sum: u32, line: (char, u32)| (sum, Batch::one(sum / line.1)));
/// let by_name = Keyed::new(guard(shares), |line: &(char, u32)| line.0);
/// let mut shell = Transducer::new(
///     by_name,
///     emit_fn(|event: &(char, Result<u32, Fault>)| Batch::one(event.clone())),
/// );
///
/// let divided = shell.step(('a', 0));
/// let [('a', Err(Fault::Panicked(message)))] = divided.as_slice() else { panic!() };
/// assert!(message.contains("divide by zero"));
/// // The other sessions continue; this one gives `Skipped`.
/// assert_eq!(shell.step(('b', 5)).as_slice(), [('b', Ok(20))]);
/// assert_eq!(shell.step(('a', 5)).as_slice(), [('a', Err(Fault::Skipped))]);
/// assert_eq!(shell.state()[&'a'], None);
/// ```
#[inline]
pub const fn guard<T>(inner: T) -> Guarded<T> {
    Guarded { inner, is_lost: false }
}

/// The wrapper returned by [`guard`].
#[derive(Clone, Copy, Debug)]
pub struct Guarded<T> {
    inner: T,
    /// For an emitter: it panicked. A guarded reducer records this in its state.
    is_lost: bool,
}

/// The reason why a guarded reducer or emitter gave no output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It panicked on this input, with this message.
    Panicked(String),
    /// It panicked earlier, and was not called for this input.
    Skipped,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(message) => write!(f, "it panicked: {message}"),
            Self::Skipped => f.write_str("skipped, because it panicked earlier"),
        }
    }
}

impl error::Error for Fault {}

impl Fault {
    /// The fault for a panic payload from [`catch_unwind`](std::panic::catch_unwind).
    pub fn of(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Self::Panicked(text.unwrap_or("no message").to_owned())
    }
}

// The inner emitter may be inconsistent after a panic: see `is_lost`.
access!(Guarded<T>, inner: T);

impl<T> Guarded<T> {
    /// Whether the emitter panicked. For a reducer, see its state.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }
}

/// Runs `f`. If it panics, the caller must discard everything that `f` could have changed.
fn caught<T>(f: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| Fault::of(&*panic))
}

impl<R, In, State, Event> Reducer<In, Option<State>, Result<Event, Fault>> for Guarded<R>
where
    R: Reducer<In, State, Event>,
{
    fn init(&self) -> Option<State> {
        caught(|| self.inner.init()).ok()
    }

    fn reduce(
        &self,
        state: Option<State>,
        input: In,
    ) -> (Option<State>, Batch<Result<Event, Fault>>) {
        let Some(state) = state else { return (None, Batch::one(Err(Fault::Skipped))) };
        kept(caught(|| self.inner.reduce(state, input)))
    }

    fn finish(&self, state: Option<State>) -> (Option<State>, Batch<Result<Event, Fault>>) {
        let Some(state) = state else { return (None, Batch::EMPTY) };
        kept(caught(|| self.inner.finish(state)))
    }

    fn is_done(&self, state: &Option<State>) -> bool {
        state.as_ref().is_some_and(|state| caught(|| self.inner.is_done(state)).unwrap_or(false))
    }
}

fn kept<State, Event>(
    step: Result<(State, Batch<Event>), Fault>,
) -> (Option<State>, Batch<Result<Event, Fault>>) {
    match step {
        Ok((state, events)) => (Some(state), events.map(Ok)),
        Err(fault) => (None, Batch::one(Err(fault))),
    }
}

impl<M, Event: ?Sized, Out> Emitter<Event, Result<Out, Fault>> for Guarded<M>
where
    M: Emitter<Event, Out>,
{
    fn emit(&mut self, event: &Event) -> Batch<Result<Out, Fault>> {
        if self.is_lost {
            return Batch::one(Err(Fault::Skipped));
        }
        let emitted = caught(|| self.inner.emit(event));
        self.checked(emitted)
    }

    fn finish(&mut self) -> Batch<Result<Out, Fault>> {
        if self.is_lost {
            return Batch::EMPTY;
        }
        let emitted = caught(|| self.inner.finish());
        self.checked(emitted)
    }
}

impl<M> Guarded<M> {
    fn checked<Out>(&mut self, emitted: Result<Batch<Out>, Fault>) -> Batch<Result<Out, Fault>> {
        self.is_lost = emitted.is_err();
        match emitted {
            Ok(out) => out.map(Ok),
            Err(fault) => Batch::one(Err(fault)),
        }
    }
}

/// The memory of an emitter that panicked is `None`. Resumed from `None` it stays lost; resumed from a memory it
/// works again.
impl<M: Resume> Resume for Guarded<M> {
    type State = Option<M::State>;

    fn state(&self) -> Option<M::State> {
        if self.is_lost { None } else { caught(|| self.inner.state()).ok() }
    }

    fn resume(&mut self, state: Option<M::State>) {
        self.is_lost = match state {
            Some(state) => caught(|| self.inner.resume(state)).is_err(),
            None => true,
        };
    }
}
