//! Two reducers in one type: which of them is meant?

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

impl Reducer<String, u32, u32> for Count {
    fn init(&self) -> u32 {
        0
    }
    fn reduce(&self, n: u32, _: String) -> (u32, Batch<u32>) {
        (n + 1, Batch::one(n))
    }
}

fn main() {
    let _ = Transducer::new(Count, ());
}
