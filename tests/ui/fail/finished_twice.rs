//! There is one end only.

use foldline::transduce::{Batch, Transducer, emit_fn, reduce_fn};

fn main() {
    let count = reduce_fn(|| 0, |n: u32, _: char| (n + 1, Batch::one(n)));
    let shell = Transducer::new(count, emit_fn(|n: &u32| Batch::one(*n)));
    let _ = shell.finish();
    let _ = shell.finish();
}
