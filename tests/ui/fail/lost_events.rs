//! Events without a receiver.

#![deny(unused_must_use)]

use foldline::transduce::{Batch, Transducer, emit_fn, reduce_fn};

fn main() {
    let count = reduce_fn(|| 0, |n: u32, _: char| (n + 1, Batch::one(n)));
    let mut shell = Transducer::new(count, emit_fn(|n: &u32| Batch::one(*n)));
    shell.step('a');
    shell.finish();
}
