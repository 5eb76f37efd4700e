//! The memory of an emitter without a `Resume` is not forgotten.

use foldline::transduce::{Batch, Emitter, Resume, emit_fn, guard};

struct Sum(u32);

impl Emitter<u32, u32> for Sum {
    fn emit(&mut self, event: &u32) -> Batch<u32> {
        self.0 += event;
        Batch::one(self.0)
    }
}

fn resumable(_: impl Resume) {}

fn main() {
    resumable(Sum(0));
    resumable(guard(emit_fn(|_: &u32| Batch::one(1))));
}
