//! A type without an `impl` of `Reducer` for the input at hand.
//!
//! It has one for another input, since the compiler would else list what else is a reducer, and
//! that list changes with every new one.

use foldline::transduce::{Batch, Reducer, Transducer};

struct Count;

impl Reducer<char, u32, u32> for Count {
    fn init(&self) -> u32 {
        0
    }
    fn reduce(&self, n: u32, _: char) -> (u32, Batch<u32>) {
        (n + 1, Batch::one(n))
    }
}

fn counts_lines<'a>(_: impl Reducer<&'a str, u32, u32>) {}

fn main() {
    counts_lines(Count);
    let _ = Transducer::new(Count, ()).step(String::new());
}
