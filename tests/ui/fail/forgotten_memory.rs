//! `Memoryless` does not forget a memory, nor that a guarded emitter panicked.



use foldline::transduce::{Batch, emit_fn, Emitter, guard, Memoryless, Resume};

struct Sum(u32);

impl Emitter<u32, u32> for Sum {
    fn emit(&mut self, event: &u32) -> Batch<u32> {
        self.0 += event;
        Batch::one(self.0)
    }
}

fn resumable(_: impl Resume) {}

fn main() {
    resumable(Memoryless(Sum(0)));
    resumable(Memoryless(guard(emit_fn(|_: &u32| Batch::one(1)))));
}
