//! A type without an `impl` of `Emitter` for the events at hand.

use foldline::transduce::{Batch, Emitter, Reducer, Transducer};

struct Count;

impl Reducer<char, u32, u32> for Count {
    fn init(&self) -> u32 {
        0
    }
    fn reduce(&self, n: u32, _: char) -> (u32, Batch<u32>) {
        (n + 1, Batch::one(n))
    }
}

struct Print;

impl Emitter<String, String> for Print {
    fn emit(&mut self, event: &String) -> Batch<String> {
        Batch::one(event.clone())
    }
}

fn main() {
    let mut shell = Transducer::new(Count, Print);
    shell.step_with('a', drop);
}
