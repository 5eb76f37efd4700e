//! The guarantees of the shell.

use std::panic::{AssertUnwindSafe, catch_unwind};

use foldline::transduce::*;

/// Adds up; panics at 13; done at 100 or more.
struct Sum;

impl Reducer<u32, u32, u32> for Sum {
    fn init(&self) -> u32 {
        0
    }
    fn reduce(&self, sum: u32, n: u32) -> (u32, Batch<u32>) {
        assert!(n != 13, "thirteen");
        (sum + n, Batch::one(sum + n))
    }
    fn finish(&self, sum: u32) -> (u32, Batch<u32>) {
        (sum, Batch::one(sum + 1000))
    }
    fn is_done(&self, sum: &u32) -> bool {
        *sum >= 100
    }
}

#[derive(Default)]
struct Copy(usize);

impl Emitter<u32, u32> for Copy {
    fn emit(&mut self, n: &u32) -> Batch<u32> {
        self.0 += 1;
        Batch::one(*n)
    }
    fn finish(&mut self) -> Batch<u32> {
        Batch::one(0)
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    panic.downcast_ref::<&str>().copied().unwrap_or_default()
}

#[test]
fn steps_then_finishes_in_order() {
    let mut shell = Transducer::new(Sum, Copy::default());
    assert_eq!(shell.step(1).as_slice(), [1]);
    let mut seen = Vec::new();
    shell.step_with(2, |out| seen.push(out));
    assert_eq!(seen, [3]);
    let (state, emitter, out) = shell.finish();
    assert_eq!((state, emitter.0, out.as_slice()), (3, 3, &[1003, 0][..]));
}

#[test]
fn goes_on_from_a_snapshot() {
    let mut whole = Transducer::new(Sum, Copy::default());
    let _ = whole.step(5);
    let snapshot = *whole.state();
    let (reducer, _, emitter) = whole.into_parts();
    let mut resumed = Transducer::restore(reducer, snapshot, emitter);
    assert_eq!(resumed.step(6).as_slice(), [11]);
}

#[test]
fn after_a_panic_says_what_to_do() {
    let mut shell = Transducer::new(Sum, Copy::default());
    let _ = shell.step(1);
    assert!(!shell.is_poisoned());
    let thirteen = catch_unwind(AssertUnwindSafe(|| shell.step(13)));
    assert_eq!(message(&*thirteen.unwrap_err()), "thirteen");
    assert!(shell.is_poisoned());

    for attempt in [
        catch_unwind(AssertUnwindSafe(|| drop(shell.step(1)))),
        catch_unwind(AssertUnwindSafe(|| shell.step_with(1, drop::<u32>))),
        catch_unwind(AssertUnwindSafe(|| assert_eq!(shell.state(), &0))),
    ] {
        assert!(message(&*attempt.unwrap_err()).contains("Transducer::restore"));
    }
    // The emitter's collected output is still accessible.
    assert_eq!(shell.emitter().0, 1);
    assert!(matches!(shell.into_parts(), (_, None, Copy(1))));
}

#[test]
fn over_pulls_no_input_that_cannot_matter() {
    let mut copy = Copy::default();
    let mut inputs = [60, 50, 13].into_iter();
    let outputs: Vec<u32> = Transducer::new(Sum, &mut copy).over(&mut inputs).collect();
    assert_eq!(outputs, [60, 110, 1110, 0]);
    assert_eq!(inputs.next(), Some(13));
    assert_eq!(copy.0, 3);
}

#[test]
fn over_nothing_still_finishes_and_then_stays_at_the_end() {
    let mut outputs = Transducer::new(Sum, Copy::default()).over([]);
    assert_eq!(outputs.by_ref().collect::<Vec<_>>(), [1000, 0]);
    assert_eq!(outputs.next(), None);
}

#[test]
fn a_done_snapshot_takes_no_input() {
    let outputs = Transducer::restore(Sum, 100, Copy::default()).over([1]);
    assert!(outputs.eq([1100, 0]));
}
