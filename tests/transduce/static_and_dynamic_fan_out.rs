//! Several emitters as one: tuples, vectors, options.

use foldline::transduce::*;

/// Emits every multiple of `.0`, and at the end how many there were.
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

/// An output of another type.
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
