//! [`Resume`]: an emitter's memory as a value; and [`Gather`]: what it made, a stretch at a time.

/// An emitter whose memory can be stored, and gone on with later.
///
/// The law: an emitter that was given [`state`](Self::state) of another one after the same events
/// emits from then on what the other one would.
///
/// Tuples, `Option`, `Vec`, `Box` and `&mut` forward it, so that a whole fan-out is one value. There is no
/// implementation for closures ([`emit_fn`](super::emit_fn)): what a closure remembers nobody knows. One
/// that remembers nothing says so with [`Memoryless`].
#[diagnostic::on_unimplemented(
    message = "the memory of `{Self}` cannot be stored",
    note = "implement `Resume`; an emitter that remembers nothing is wrapped in `Memoryless`"
)]
pub trait Resume {
    /// What it remembers.
    type State;

    /// The memory, as a value of its own.
    fn state(&self) -> Self::State;

    /// Goes on from a memory, instead of its own.
    fn resume(&mut self, state: Self::State);
}

/// An emitter that gathers what it makes until the stretch is cut: what a ledger commits at once.
pub trait Gather {
    /// What a stretch comes to.
    type Stretch;

    /// Takes what was made since the last cut.
    fn cut(&mut self) -> Self::Stretch;
}

/// An emitter that remembers nothing from one event to the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memoryless<M>(pub M);

impl<Event: ?Sized, Out, M: super::Emitter<Event, Out>> super::Emitter<Event, Out>
    for Memoryless<M>
{
    #[inline]
    fn emit(&mut self, event: &Event) -> super::Batch<Out> {
        self.0.emit(event)
    }

    fn finish(&mut self) -> super::Batch<Out> {
        self.0.finish()
    }
}

impl<M> Resume for Memoryless<M> {
    type State = ();

    fn state(&self) {}

    fn resume(&mut self, (): ()) {}
}

impl<M: Resume + ?Sized> Resume for &mut M {
    type State = M::State;

    fn state(&self) -> M::State {
        (**self).state()
    }

    fn resume(&mut self, state: M::State) {
        (**self).resume(state);
    }
}

impl<M: Resume + ?Sized> Resume for Box<M> {
    type State = M::State;

    fn state(&self) -> M::State {
        (**self).state()
    }

    fn resume(&mut self, state: M::State) {
        (**self).resume(state);
    }
}

/// One that is off has no memory; one that is switched on later begins with its own.
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

impl<M: Gather> Gather for Option<M> {
    type Stretch = Option<M::Stretch>;

    fn cut(&mut self) -> Option<M::Stretch> {
        self.as_mut().map(Gather::cut)
    }
}

impl<M: Gather + ?Sized> Gather for &mut M {
    type Stretch = M::Stretch;

    fn cut(&mut self) -> M::Stretch {
        (**self).cut()
    }
}

macro_rules! tuple {
    ($($M:ident $at:tt),+) => {
        impl<$($M: Resume),+> Resume for ($($M,)+) {
            type State = ($($M::State,)+);

            fn state(&self) -> Self::State {
                ($(self.$at.state(),)+)
            }

            fn resume(&mut self, state: Self::State) {
                $(self.$at.resume(state.$at);)+
            }
        }

        impl<$($M: Gather),+> Gather for ($($M,)+) {
            type Stretch = ($($M::Stretch,)+);

            fn cut(&mut self) -> Self::Stretch {
                ($(self.$at.cut(),)+)
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
