//! A state for each key.

use std::collections::BTreeMap;

use foldline::transduce::*;

/// Adds up what it gets; an amount of zero ends the session.
struct Account;

type Entry = (&'static str, u32);

impl Reducer<Entry, (u32, bool), String> for Account {
    fn init(&self) -> (u32, bool) {
        (0, false)
    }
    fn reduce(&self, (sum, _): (u32, bool), (_, n): Entry) -> ((u32, bool), Batch<String>) {
        ((sum + n, n == 0), Batch::EMPTY)
    }
    fn finish(&self, (sum, _): (u32, bool)) -> ((u32, bool), Batch<String>) {
        ((sum, true), Batch::one(format!("sum {sum}")))
    }
    fn is_done(&self, (_, closed): &(u32, bool)) -> bool {
        *closed
    }
}

#[test]
fn a_session_that_is_done_is_finished_and_forgotten() {
    let accounts = Keyed::new(Account, |(who, _): &Entry| *who);
    let mut state = accounts.init();
    let mut events = Vec::new();
    for input in [("eve", 1), ("ada", 2), ("eve", 3), ("ada", 0), ("ada", 7)] {
        let (next, more) = accounts.reduce(state, input);
        state = next;
        events.extend(more);
    }
    assert_eq!(events, [("ada", "sum 2".to_owned())]);
    assert_eq!(state, BTreeMap::from([("ada", (7, false)), ("eve", (4, false))]));

    let (state, events) = accounts.close(state, &"ada");
    assert_eq!(events.as_slice(), [("ada", "sum 7".to_owned())]);
    let (state, events) = accounts.close(state, &"ada");
    assert!(events.is_empty());
    let (state, _) = accounts.reduce(state, ("ada", 7));

    let (state, events) = accounts.finish(state);
    assert_eq!(events.as_slice(), [("ada", "sum 7".to_owned()), ("eve", "sum 4".to_owned())]);
    assert_eq!(state["eve"], (4, true));
}

/// The sum so far, and at the end.
#[derive(Default)]
struct Sum(u32);

impl Emitter<Entry, u32> for Sum {
    fn emit(&mut self, (_, n): &Entry) -> Batch<u32> {
        self.0 += n;
        Batch::one(self.0)
    }
    fn finish(&mut self) -> Batch<u32> {
        Batch::one(self.0)
    }
}

impl Resume for Sum {
    type State = u32;
    fn state(&self) -> u32 {
        self.0
    }
    fn resume(&mut self, state: u32) {
        self.0 = state;
    }
}

#[test]
fn each_emitter_goes_on_from_its_memory_and_is_closed_alone() {
    let make = || KeyedEmitter::new(|(who, _): &Entry| *who, |_: &&'static str| Sum::default());
    let mut before = make();
    for entry in [("eve", 1), ("ada", 2), ("eve", 3)] {
        let _ = before.emit(&entry);
    }
    let mut sums = make();
    sums.resume(before.state());
    assert_eq!(sums.emit(&("eve", 5)).as_slice(), [("eve", 9)]);
    assert_eq!(sums.close::<Entry, u32>(&"eve").unwrap().as_slice(), [9]);
    assert!(sums.close::<Entry, u32>(&"eve").is_none());
    assert_eq!(sums.finish().as_slice(), [("ada", 2)]);
}

#[test]
fn what_an_emitter_says_at_the_end_of_its_key_follows_its_last_output() {
    let sums = KeyedEmitter::new(|(who, _): &Entry| *who, |_: &&'static str| Sum::default());
    let mut sums = sums.ending(|(_, n): &Entry| *n == 0);
    assert_eq!(sums.emit(&("eve", 5)).as_slice(), [("eve", 5)]);
    assert_eq!(sums.emit(&("eve", 0)).as_slice(), [("eve", 5), ("eve", 5)]);
    assert_eq!(sums.emit(&("eve", 1)).as_slice(), [("eve", 1)]);
}

#[test]
fn what_is_applied_to_a_state_reaches_the_emitter() {
    let accounts = Keyed::new(Account, |(who, _): &Entry| *who);
    let texts =
        emit_fn(|(who, text): &(&'static str, String)| Batch::one(format!("{who}: {text}")));
    let mut shell = Transducer::new(accounts, texts);
    assert!(shell.step(("eve", 3)).is_empty());
    let last = shell.apply(|accounts, state| accounts.close(state, &"eve"));
    assert_eq!(last.as_slice(), ["eve: sum 3"]);
}

#[test]
fn a_guarded_reducer_is_done_and_finishes_as_the_reducer_in_it() {
    let account = guard(Account);
    let (state, _) = account.reduce(account.init(), ("eve", 3));
    assert!(!account.is_done(&state));
    assert_eq!(account.finish(state).1.as_slice(), [Ok("sum 3".to_owned())]);
    let (state, _) = account.reduce(account.init(), ("eve", 0));
    assert!(account.is_done(&state));
}
