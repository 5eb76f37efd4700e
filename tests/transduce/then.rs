//! One reducer behind another.

use foldline::transduce::*;

/// Gives `n` and `n` again; holds a 0 for the end; done after 9.
#[derive(Clone, Debug)]
struct Twice;

impl Reducer<u32, u32, u32> for Twice {
    fn init(&self) -> u32 {
        0
    }
    fn reduce(&self, _: u32, n: u32) -> (u32, Batch<u32>) {
        (n, [n, n].into())
    }
    fn finish(&self, last: u32) -> (u32, Batch<u32>) {
        (last, Batch::one(0))
    }
    fn is_done(&self, last: &u32) -> bool {
        *last == 9
    }
}

#[test]
fn the_end_of_the_first_flows_through_the_second() {
    let four = Twice.then(Twice);
    let (state, out) = four.reduce(four.init(), 3);
    assert_eq!((state, out.as_slice()), ((3, 3), &[3; 4][..]));
    let (_, out) = four.finish(state);
    assert_eq!(out.as_slice(), [0, 0, 0]);
}

#[test]
fn a_second_that_is_done_gets_no_more() {
    let four = Twice.then(Twice);
    let (state, out) = four.reduce(four.init(), 9);
    assert_eq!(out.as_slice(), [9, 9]);
    assert!(four.is_done(&state));
    assert_eq!(four.finish(state).1.as_slice(), [0]);
}

#[test]
fn clone_and_debug_ask_nothing_of_the_events() {
    assert_eq!(format!("{:?}", Twice.then(Twice).clone()), "Then { first: Twice, second: Twice }");
}
