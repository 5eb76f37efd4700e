//! Fan-out of one event to several emitters in tuples, `Vec` and `Option`; emitters behind pointers.

use std::convert::Infallible;

use super::Emitter;
use crate::transduce::Batch;

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
    ($($M:ident $Out:ident),+) => {
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
    };
    (@unless_empty $($M:ident)+, $($out:expr),+) => {{
        #[allow(non_snake_case, reason = "one name serves for the type and the value")]
        let ($($M,)+) = ($($out,)+);
        if $($M.is_empty())&&+ { Batch::EMPTY } else { Batch::one(($($M,)+)) }
    }};
}

tuple!(A OutA);
tuple!(A OutA, B OutB);
tuple!(A OutA, B OutB, C OutC);
tuple!(A OutA, B OutB, C OutC, D OutD);
tuple!(A OutA, B OutB, C OutC, D OutD, E OutE);
tuple!(A OutA, B OutB, C OutC, D OutD, E OutE, F OutF);
tuple!(A OutA, B OutB, C OutC, D OutD, E OutE, F OutF, G OutG);
tuple!(A OutA, B OutB, C OutC, D OutD, E OutE, F OutF, G OutG, H OutH);
