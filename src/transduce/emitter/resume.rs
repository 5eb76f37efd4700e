//! [`Resume`]: an emitter's memory as a value; [`Gather`]: its output in segments.

/// An emitter whose memory can be stored and restored.
///
/// The law: after [`resume`](Self::resume) with the [`state`](Self::state) of another emitter, an emitter emits
/// exactly what the other one would emit.
///
/// Every wrapper and every fan-out forwards this trait, so that a whole pipeline is one value. There is no
/// implementation for closures ([`emit_fn`](super::emit_fn)), because the variables of a closure cannot be read. An
/// emitter without a memory is [`Stateless`](super::Stateless) and wrapped in [`Memoryless`](super::Memoryless). The captured variables of a
/// [`filter`](super::filter) or a [`map`](super::map()) are not stored either.
#[diagnostic::on_unimplemented(
    message = "the memory of `{Self}` cannot be stored",
    note = "implement `Resume`; wrap an emitter without a memory in `Memoryless`"
)]
pub trait Resume {
    /// The memory's type, usually a serde value.
    type State;

    /// A copy of the memory.
    fn state(&self) -> Self::State;

    /// Replaces the memory by a stored one.
    fn resume(&mut self, state: Self::State);
}

/// An emitter that collects its output until it is committed: a commit takes it with [`cut`](Self::cut).
///
/// Wrappers and fan-outs forward this trait, like [`Resume`]. An emitter that collects nothing has the segment `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not gather its output",
    note = "implement `Gather`; an emitter with nothing to commit has the segment `()` and the size 0"
)]
pub trait Gather {
    /// The output between two commits: rows, bytes, messages.
    type Segment;

    /// Takes the output since the last cut.
    fn cut(&mut self) -> Self::Segment;

    /// The approximate size of the output since the last cut, in bytes. The caller cuts when it becomes too
    /// large for memory. Called often, so keep a running total rather than counting.
    fn size(&self) -> usize;
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

        impl<M: Gather + ?Sized> Gather for $pointer {
            type Segment = M::Segment;

            fn cut(&mut self) -> M::Segment {
                (**self).cut()
            }

            fn size(&self) -> usize {
                (**self).size()
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

impl<M: Gather> Gather for Option<M> {
    type Segment = Option<M::Segment>;

    fn cut(&mut self) -> Option<M::Segment> {
        self.as_mut().map(Gather::cut)
    }

    fn size(&self) -> usize {
        self.as_ref().map_or(0, Gather::size)
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

impl<M: Gather> Gather for Vec<M> {
    type Segment = Vec<M::Segment>;

    fn cut(&mut self) -> Vec<M::Segment> {
        self.iter_mut().map(Gather::cut).collect()
    }

    fn size(&self) -> usize {
        self.iter().fold(0, |size, emitter| size.saturating_add(emitter.size()))
    }
}

/// No emitter, so no memory.
impl Resume for () {
    type State = ();

    fn state(&self) {}

    fn resume(&mut self, (): ()) {}
}

impl Gather for () {
    type Segment = ();

    fn cut(&mut self) {}

    fn size(&self) -> usize {
        0
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
            type Segment = ($($M::Segment,)+);

            fn cut(&mut self) -> Self::Segment {
                ($(self.$at.cut(),)+)
            }

            fn size(&self) -> usize {
                0_usize$(.saturating_add(self.$at.size()))+
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
