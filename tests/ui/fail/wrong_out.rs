//! An emitter for the right event, with another output than is asked for.

use foldline::transduce::{Batch, Emitter};

struct Length;

impl Emitter<str, usize> for Length {
    fn emit(&mut self, line: &str) -> Batch<usize> {
        Batch::one(line.len())
    }
}

fn prints(_: impl Emitter<str, String>) {}

fn main() {
    prints(Length);
    let _: Vec<Box<dyn Emitter<str, String>>> = vec![Box::new(Length)];
}
