//! [`Resume`]: an emitter's memory as a value.

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

macro_rules! pointer {
    ($($pointer:ty),+) => {$(
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

pointer!(&mut M, Box<M>);

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
