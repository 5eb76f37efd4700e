//! Emitters from closures ([`emit_fn`], [`memoryless`]), and emitters round others: for other events ([`filter`],
//! [`contramap`]), with other outputs ([`map`], [`at_end`]), with a listener ([`Tee`]).

use std::{convert::Infallible, marker::PhantomData};

use super::{
    Batch, Emitter, Resume,
    wrapper::{access, access_pair, debug, forward_resume},
};

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
debug!(EmitFn<F>);

/// Converts a closure into an emitter whose output depends only on the current event: it has no memory to store.
///
/// The closure cannot change its captured variables: it is an `Fn`. Use [`emit_fn`](super::emit_fn) where no memory is
/// required, and implement [`Resume`] for an emitter that has one.
///
/// ```
/// use foldline::transduce::{Batch, Resume, guard, memoryless};
///
/// fn resumable(_: impl Resume) {}
///
/// resumable(guard(memoryless(|n: &u32| Batch::one(n * 2))));
/// ```
///
/// ```compile_fail
/// use foldline::transduce::{Batch, memoryless};
///
/// let mut sum = 0;
/// let sums = memoryless(|n: &u32| {
///     sum += n;
///     Batch::one(sum)
/// });
/// ```
#[inline]
pub const fn memoryless<Event, Out, F>(f: F) -> Memoryless<F>
where
    Event: ?Sized,
    F: Fn(&Event) -> Batch<Out>,
{
    Memoryless(f)
}

/// The emitter returned by [`memoryless`].
#[derive(Clone, Copy)]
pub struct Memoryless<F>(F);

impl<Event, Out, F> Emitter<Event, Out> for Memoryless<F>
where
    Event: ?Sized,
    F: Fn(&Event) -> Batch<Out>,
{
    #[inline]
    fn emit(&mut self, event: &Event) -> Batch<Out> {
        (self.0)(event)
    }
}

impl<F> Resume for Memoryless<F> {
    type State = ();

    fn state(&self) {}

    fn resume(&mut self, (): ()) {}
}

debug!(Memoryless<F>);

/// An emitter that receives only the events for which `predicate` is true. `finish` is forwarded.
///
/// ```
/// use foldline::transduce::{Batch, Emitter, filter};
///
/// struct Last(u32);
/// impl Emitter<u32, u32> for Last {
///     fn emit(&mut self, n: &u32) -> Batch<u32> {
///         self.0 = *n;
///         Batch::EMPTY
///     }
///     fn finish(&mut self) -> Batch<u32> {
///         Batch::one(self.0)
///     }
/// }
///
/// let mut last_even = filter(Last(0), |n| n % 2 == 0);
/// for n in [1, 4, 5] {
///     assert!(last_even.emit(&n).is_empty());
/// }
/// assert_eq!(last_even.finish().as_slice(), [4]);
/// ```
#[inline]
pub fn filter<Event, Out, M, P>(emitter: M, predicate: P) -> Filter<M, P>
where
    Event: ?Sized,
    M: Emitter<Event, Out>,
    P: FnMut(&Event) -> bool,
{
    Filter { emitter, predicate }
}

/// The emitter returned by [`filter`].
#[derive(Clone, Copy)]
pub struct Filter<M, P> {
    emitter: M,
    predicate: P,
}

impl<Event, Out, M, P> Emitter<Event, Out> for Filter<M, P>
where
    Event: ?Sized,
    M: Emitter<Event, Out>,
    P: FnMut(&Event) -> bool,
{
    #[inline]
    fn emit(&mut self, event: &Event) -> Batch<Out> {
        if (self.predicate)(event) { self.emitter.emit(event) } else { Batch::EMPTY }
    }

    #[inline]
    fn finish(&mut self) -> Batch<Out> {
        self.emitter.finish()
    }
}

access!(Filter<M, P>, emitter: M);
forward_resume!(Filter<M, P>, emitter: M);
debug!(Filter<M, P>, emitter: M);

/// Converts an emitter for `B` into an emitter for `A`, where each `A` contains a `B`.
///
/// ```
/// use foldline::transduce::{Batch, Emitter, contramap};
///
/// struct Text;
/// impl Emitter<str, usize> for Text {
///     fn emit(&mut self, text: &str) -> Batch<usize> {
///         Batch::one(text.len())
///     }
/// }
///
/// struct Message {
///     text: String,
/// }
///
/// let mut lengths = contramap(Text, |message: &Message| &message.text);
/// assert_eq!(lengths.emit(&Message { text: "four".into() }).as_slice(), [4]);
/// ```
#[inline]
pub fn contramap<A, B, Out, M, F>(emitter: M, f: F) -> Contramap<M, F>
where
    A: ?Sized,
    B: ?Sized,
    M: Emitter<B, Out>,
    F: for<'e> Fn(&'e A) -> &'e B,
{
    Contramap { emitter, f }
}

/// The emitter returned by [`contramap`].
#[derive(Clone, Copy)]
pub struct Contramap<M, F> {
    emitter: M,
    f: F,
}

impl<A, B, Out, M, F> Emitter<A, Out> for Contramap<M, F>
where
    A: ?Sized,
    B: ?Sized,
    M: Emitter<B, Out>,
    F: for<'e> Fn(&'e A) -> &'e B,
{
    #[inline]
    fn emit(&mut self, event: &A) -> Batch<Out> {
        self.emitter.emit((self.f)(event))
    }

    #[inline]
    fn finish(&mut self) -> Batch<Out> {
        self.emitter.finish()
    }
}

access!(Contramap<M, F>, emitter: M);
forward_resume!(Contramap<M, F>, emitter: M);
debug!(Contramap<M, F>, emitter: M);

/// Applies `f` to the outputs of an emitter, including those at the end.
///
/// Gives emitters with different outputs the same output type, as required in a `Vec`. (A function rather than a
/// method, because an `Option` is an emitter and has its own `map`.)
///
/// ```
/// use foldline::transduce::{Batch, Emitter, emit_fn, map};
///
/// let length = map(emit_fn(|line: &str| Batch::one(line.len())), |n: usize| format!("{n} bytes"));
/// let upper = emit_fn(|line: &str| Batch::one(line.to_uppercase()));
///
/// let mut both: Vec<Box<dyn Emitter<str, String>>> = vec![Box::new(length), Box::new(upper)];
/// assert_eq!(both.emit("four").as_slice(), ["4 bytes", "FOUR"]);
/// ```
#[inline]
pub fn map<Event, A, B, M, F>(emitter: M, f: F) -> Map<M, F, A>
where
    Event: ?Sized,
    M: Emitter<Event, A>,
    F: FnMut(A) -> B,
{
    Map { emitter, f, from: PhantomData }
}

/// The emitter returned by [`map`].
pub struct Map<M, F, A> {
    emitter: M,
    f: F,
    /// The output of the inner emitter, which neither type parameter names.
    from: PhantomData<fn(A)>,
}

impl<Event, A, B, M, F> Emitter<Event, B> for Map<M, F, A>
where
    Event: ?Sized,
    M: Emitter<Event, A>,
    F: FnMut(A) -> B,
{
    #[inline]
    fn emit(&mut self, event: &Event) -> Batch<B> {
        self.emitter.emit(event).map(&mut self.f)
    }

    #[inline]
    fn finish(&mut self) -> Batch<B> {
        self.emitter.finish().map(&mut self.f)
    }
}

access!(Map<M, F, A>, emitter: M);
forward_resume!(Map<M, F, A>, emitter: M);

// Implemented by hand: a derive would require the same of the outputs, which are not stored.
impl<M: Clone, F: Clone, A> Clone for Map<M, F, A> {
    fn clone(&self) -> Self {
        Map { emitter: self.emitter.clone(), f: self.f.clone(), from: PhantomData }
    }
}

debug!(Map<M, F, A>, emitter: M);

/// Emits the result of a fold at the end of the events. A fold is an emitter without outputs, such as a sum or a
/// document; `result` is called once, after `fold` has finished.
///
/// ```
/// use std::convert::Infallible;
///
/// use foldline::transduce::{Batch, Emitter, at_end};
///
/// #[derive(Default)]
/// struct Sum(u32);
///
/// impl Emitter<u32, Infallible> for Sum {
///     fn emit(&mut self, n: &u32) -> Batch<Infallible> {
///         self.0 += n;
///         Batch::EMPTY
///     }
/// }
///
/// let mut sum = at_end(Sum::default(), |sum: &mut Sum| Batch::one(sum.0));
/// assert!(sum.emit(&1).is_empty() && sum.emit(&20).is_empty());
/// assert_eq!(sum.finish().as_slice(), [21]);
/// ```
pub const fn at_end<M, F>(fold: M, result: F) -> AtEnd<M, F> {
    AtEnd { fold, result }
}

/// The emitter returned by [`at_end`].
#[derive(Clone, Copy, Debug)]
pub struct AtEnd<M, F> {
    fold: M,
    result: F,
}

access!(AtEnd<M, F>, fold: M);

impl<Event, Out, M, F> Emitter<Event, Out> for AtEnd<M, F>
where
    Event: ?Sized,
    M: Emitter<Event, Infallible>,
    F: FnMut(&mut M) -> Batch<Out>,
{
    fn emit(&mut self, event: &Event) -> Batch<Out> {
        self.fold.emit(event).map(|never| match never {})
    }

    fn finish(&mut self) -> Batch<Out> {
        self.fold.finish().drain_with(|never| match never {});
        (self.result)(&mut self.fold)
    }
}

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
