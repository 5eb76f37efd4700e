//! A reducer for the right input, with another state than is asked for.

use foldline::transduce::{Batch, Reducer};

struct Count;

impl Reducer<char, u32, u32> for Count {
    fn init(&self) -> u32 {
        0
    }
    fn reduce(&self, n: u32, _: char) -> (u32, Batch<u32>) {
        (n + 1, Batch::one(n))
    }
}

fn counts_far(_: impl Reducer<char, u64, u32>) {}

fn names(_: impl Reducer<char, u32, String>) {}

fn main() {
    counts_far(Count);
    names(Count);
}
