//! [`Emitter`], the memory of an emitter ([`Resume`]), and fan-outs of both: pointers, tuples, `Vec` and `Option`.

use std::convert::Infallible;

use super::Batch;

/// The presentation side: reads events by reference, in order, and converts them into output.
///
/// An emitter may keep state for this purpose (indices, counters, a connection). Its output must depend only on the
/// events it has received, never on the other emitters of a fan-out. Its output leaves by [`emit`](Self::emit) and
/// [`finish`](Self::finish): what a ledger commits is collected by the caller.
///
/// A sink that can fail reports errors in its output, `Emitter<Event, Result<T, E>>`, so that sinks need not share an
/// error type. A sink without output has the output type [`Infallible`](std::convert::Infallible) and can be the side
/// of a [`Tee`](super::Tee).
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

/// An emitter whose memory can be stored and restored.
///
/// The law: after [`resume`](Self::resume) with the [`state`](Self::state) of another emitter, an emitter emits
/// exactly what the other one would emit.
///
/// Every wrapper and every fan-out forwards this trait, so that a whole pipeline is one value. There is no
/// implementation for the closures of [`emit_fn`](super::emit_fn), because their variables cannot be read: a closure
/// without a memory is an emitter by [`memoryless`](super::memoryless). An emitter without a memory has the state `()`.
/// The captured variables of a [`filter`](super::filter) or a [`map`](super::map()) are not stored either.
#[diagnostic::on_unimplemented(
    message = "the memory of `{Self}` cannot be stored",
    note = "implement `Resume`; a closure without a memory becomes an emitter with `memoryless`"
)]
pub trait Resume {
    /// The memory's type, usually a serde value.
    type State;

    /// A copy of the memory.
    fn state(&self) -> Self::State;

    /// Replaces the memory by a stored one.
    fn resume(&mut self, state: Self::State);
}

/// A disabled emitter has no memory; if it is enabled later, it begins with its initial memory.
impl<M: Resume> Resume for Option<M> {
    type State = Option<M::State>;

    fn state(&self) -> Option<M::State> {
        self.as_ref().map(Resume::state)
    }

    fn resume(&mut self, state: Option<M::State>) {
        if let (Some(emitter), Some(state)) = (self, state) {
            emitter.resume(state);
        }
    }
}

/// The memories in the order of the emitters: the list must be the same on resuming. If the list is chosen at run
/// time, store the memories by name or use a [`KeyedEmitter`](super::KeyedEmitter).
impl<M: Resume> Resume for Vec<M> {
    type State = Vec<M::State>;

    fn state(&self) -> Vec<M::State> {
        self.iter().map(Resume::state).collect()
    }

    fn resume(&mut self, state: Vec<M::State>) {
        self.iter_mut().zip(state).for_each(|(emitter, state)| emitter.resume(state));
    }
}

/// No emitter, so no memory.
impl Resume for () {
    type State = ();

    fn state(&self) {}

    fn resume(&mut self, (): ()) {}
}

macro_rules! forward_to_inner {
    ($($pointer:ty),+) => {$(
        impl<Event: ?Sized, Out, M> Emitter<Event, Out> for $pointer
        where
            M: Emitter<Event, Out> + ?Sized,
        {
            #[inline]
            fn emit(&mut self, event: &Event) -> Batch<Out> {
                (**self).emit(event)
            }

            #[inline]
            fn finish(&mut self) -> Batch<Out> {
                (**self).finish()
            }
        }

        impl<M: Resume + ?Sized> Resume for $pointer {
            type State = M::State;

            fn state(&self) -> M::State {
                (**self).state()
            }

            fn resume(&mut self, state: M::State) {
                (**self).resume(state);
            }
        }
    )+};
}

forward_to_inner!(&mut M, Box<M>);

/// Calls each emitter in turn and concatenates their outputs.
impl<Event: ?Sized, Out, M: Emitter<Event, Out>> Emitter<Event, Out> for Vec<M> {
    #[inline]
    fn emit(&mut self, event: &Event) -> Batch<Out> {
        let mut all = Batch::EMPTY;
        for emitter in self {
            all.append(emitter.emit(event));
        }
        all
    }

    fn finish(&mut self) -> Batch<Out> {
        let mut all = Batch::EMPTY;
        for emitter in self {
            all.append(emitter.finish());
        }
        all
    }
}

/// An emitter that can be switched off.
impl<Event: ?Sized, Out, M: Emitter<Event, Out>> Emitter<Event, Out> for Option<M> {
    #[inline]
    fn emit(&mut self, event: &Event) -> Batch<Out> {
        self.as_mut().map_or(Batch::EMPTY, |emitter| emitter.emit(event))
    }

    #[inline]
    fn finish(&mut self) -> Batch<Out> {
        self.as_mut().map_or(Batch::EMPTY, Emitter::finish)
    }
}

/// The absent emitter, for a reducer that is run for its state alone.
impl<Event: ?Sized> Emitter<Event, Infallible> for () {
    #[inline]
    fn emit(&mut self, _: &Event) -> Batch<Infallible> {
        Batch::EMPTY
    }
}

macro_rules! tuple {
    ($($M:ident $Out:ident $at:tt),+) => {
        /// Calls each emitter in turn; each output has its own position in the tuple, and there is no output if all
        /// are empty.
        impl<Event: ?Sized, $($M, $Out),+> Emitter<Event, ($(Batch<$Out>,)+)> for ($($M,)+)
        where
            $($M: Emitter<Event, $Out>),+
        {
            #[inline]
            fn emit(&mut self, event: &Event) -> Batch<($(Batch<$Out>,)+)> {
                #[allow(non_snake_case, reason = "one name serves for the type and the value")]
                let ($($M,)+) = self;
                tuple!(@unless_empty $($M)+, $($M.emit(event)),+)
            }

            #[inline]
            fn finish(&mut self) -> Batch<($(Batch<$Out>,)+)> {
                #[allow(non_snake_case, reason = "one name serves for the type and the value")]
                let ($($M,)+) = self;
                tuple!(@unless_empty $($M)+, $($M.finish()),+)
            }
        }

        impl<$($M: Resume),+> Resume for ($($M,)+) {
            type State = ($($M::State,)+);

            fn state(&self) -> Self::State {
                ($(self.$at.state(),)+)
            }

            fn resume(&mut self, state: Self::State) {
                $(self.$at.resume(state.$at);)+
            }
        }
    };
    (@unless_empty $($M:ident)+, $($out:expr),+) => {{
        #[allow(non_snake_case, reason = "one name serves for the type and the value")]
        let ($($M,)+) = ($($out,)+);
        if $($M.is_empty())&&+ { Batch::EMPTY } else { Batch::one(($($M,)+)) }
    }};
}

tuple!(A OutA 0);
tuple!(A OutA 0, B OutB 1);
tuple!(A OutA 0, B OutB 1, C OutC 2);
tuple!(A OutA 0, B OutB 1, C OutC 2, D OutD 3);
tuple!(A OutA 0, B OutB 1, C OutC 2, D OutD 3, E OutE 4);
tuple!(A OutA 0, B OutB 1, C OutC 2, D OutD 3, E OutE 4, F OutF 5);
tuple!(A OutA 0, B OutB 1, C OutC 2, D OutD 3, E OutE 4, F OutF 5, G OutG 6);
tuple!(A OutA 0, B OutB 1, C OutC 2, D OutD 3, E OutE 4, F OutF 5, G OutG 6, H OutH 7);
