//! A closure that changes a variable has a memory.

use foldline::transduce::{Batch, memoryless};

fn main() {
    let mut sum = 0;
    let _sums = memoryless(|event: &u32| {
        sum += event;
        Batch::one(sum)
    });
}
