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

#[cfg(test)]
mod tests {
    use super::*;

    /// Emits every multiple of `.0`, and at the end their number.
    #[derive(Clone)]
    struct Multiples(u32, u32);

    impl Emitter<u32, u32> for Multiples {
        fn emit(&mut self, n: &u32) -> Batch<u32> {
            Batch::from(n.is_multiple_of(self.0).then(|| {
                self.1 += 1;
                *n
            }))
        }
        fn finish(&mut self) -> Batch<u32> {
            Batch::one(self.1)
        }
    }

    /// A different output type.
    struct Shout;

    impl Emitter<u32, String> for Shout {
        fn emit(&mut self, n: &u32) -> Batch<String> {
            Batch::from((*n > 5).then(|| format!("{n}!")))
        }
    }

    const TWO: Multiples = Multiples(2, 0);
    const THREE: Multiples = Multiples(3, 0);

    #[test]
    fn a_tuple_keeps_each_output_in_its_place() {
        let mut pair = (TWO, Shout);
        assert_eq!(pair.emit(&4), Batch::one((Batch::one(4), Batch::EMPTY)));
        assert_eq!(pair.emit(&7), Batch::one((Batch::EMPTY, Batch::one("7!".into()))));
        assert_eq!(pair.finish(), Batch::one((Batch::one(1), Batch::EMPTY)));
    }

    #[test]
    fn a_tuple_reports_nothing_for_nothing() {
        assert!((TWO, Shout).emit(&1).is_empty());
        assert!((Shout,).finish().is_empty());
    }

    #[test]
    fn eight_are_a_tuple_too() {
        let mut eight = (TWO, THREE, Shout, TWO, THREE, Shout, TWO, None::<Shout>);
        let out = eight.emit(&6);
        let [(a, .., g, h)] = out.as_slice() else { panic!("one event, one report") };
        assert_eq!((a.len(), g.len(), h.len()), (1, 1, 0));
    }

    #[test]
    fn a_vector_concatenates_in_order() {
        let mut plain = vec![TWO, THREE];
        let mut boxed: Vec<Box<dyn Emitter<u32, u32>>> = vec![Box::new(TWO), Box::new(THREE)];
        for n in 0..10 {
            assert_eq!(plain.emit(&n), boxed.emit(&n));
        }
        assert_eq!(plain.emit(&6).as_slice(), [6, 6]);
        assert_eq!(plain.finish().as_slice(), [6, 5]);
        assert_eq!(boxed.finish().as_slice(), [5, 4]);
    }

    #[test]
    fn an_option_switches() {
        assert_eq!(Some(TWO).emit(&2).as_slice(), [2]);
        assert_eq!(Some(TWO).finish().as_slice(), [0]);
        assert!(None::<Multiples>.emit(&2).is_empty());
        assert!(None::<Multiples>.finish().is_empty());
    }

    #[test]
    fn a_borrowed_emitter_keeps_what_it_saw() {
        let mut two = TWO;
        assert_eq!((&mut two,).emit(&2).len(), 1);
        assert_eq!(two.finish().as_slice(), [1]);
    }
}
