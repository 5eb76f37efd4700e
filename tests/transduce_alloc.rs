//! A step with at most one event allocates nothing.
//!
//! The counting allocator counts for the whole process, so this binary has one test only.

#![allow(unsafe_code, reason = "a global allocator cannot be written without it")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
};

use foldline::transduce::{Batch, Emitter, Reducer, Transducer};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block comes from `System`, by the functions here.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the block comes from `System`, and the caller keeps the contract of `realloc`.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Yields as many events as the input states, each as large as a real one.
struct Yields;

struct Event([u64; 32]);

impl Reducer<usize, u64, Event> for Yields {
    fn init(&self) -> u64 {
        0
    }
    fn reduce(&self, state: u64, events: usize) -> (u64, Batch<Event>) {
        (state + 1, (0..events).map(|_| Event([state; 32])).collect())
    }
}

struct First;

impl Emitter<Event, u64> for First {
    fn emit(&mut self, event: &Event) -> Batch<u64> {
        Batch::one(event.0[0])
    }
}

/// Yields an event at every other step.
struct Odd;

impl Emitter<Event, [u64; 32]> for Odd {
    fn emit(&mut self, event: &Event) -> Batch<[u64; 32]> {
        Batch::from((event.0[0] % 2 == 1).then_some(event.0))
    }
}

fn allocations_in(f: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    f();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// The minimum of several runs, since the thread of the test harness may also allocate.
fn least(mut run: impl FnMut() -> usize) -> usize {
    (0..5).map(|_| run()).min().unwrap_or(usize::MAX)
}

#[test]
fn nothing_and_one_are_free() {
    let mut shell = Transducer::new(Yields, (First, Odd));
    let mut sum = 0;

    let with = least(|| {
        allocations_in(|| {
            for events in [0, 1, 1, 0, 1, 0, 1, 1] {
                shell.step_with(events, |(first, odd)| {
                    first.drain_with(|n| sum += n);
                    odd.drain_with(|all| sum += all[31]);
                });
            }
        })
    });
    assert_eq!(with, 0, "step_with allocates");

    let collected = least(|| {
        allocations_in(|| {
            for events in [0, 1, 1, 0, 1, 0, 1, 1] {
                for (first, odd) in shell.step(events) {
                    sum += first.as_slice().len() as u64 + odd.as_slice().len() as u64;
                }
            }
        })
    });
    assert_eq!(collected, 0, "step allocates");

    // A check of the counter: two events are a vector.
    let two = least(|| allocations_in(|| shell.step_with(2, drop)));
    assert_eq!(two, 1, "two events take one allocation");
    assert!(sum > 0);
}
