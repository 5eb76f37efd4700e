//! Two reducers with the same input.

use foldline::transduce::*;

/// Emits the first `.0` inputs, and at the end the number of all inputs.
struct Take(usize);

impl Reducer<char, usize, String> for Take {
    fn init(&self) -> usize {
        0
    }
    fn reduce(&self, seen: usize, c: char) -> (usize, Batch<String>) {
        (seen + 1, Batch::one(format!("{}{c}", self.0)))
    }
    fn finish(&self, seen: usize) -> (usize, Batch<String>) {
        (seen, Batch::one(format!("{seen} of {}", self.0)))
    }
    fn is_done(&self, seen: &usize) -> bool {
        *seen == self.0
    }
}

#[test]
fn one_that_is_done_waits_for_the_other() {
    let both = Both { first: Take(1), second: Take(2) };
    let (state, events) = both.reduce(both.init(), 'a');
    assert_eq!(events.as_slice(), ["1a", "2a"]);
    assert!(!both.is_done(&state));

    let (state, events) = both.reduce(state, 'b');
    assert_eq!(events.as_slice(), ["2b"]);
    assert!(both.is_done(&state));

    let (state, events) = both.finish(state);
    assert_eq!(events.as_slice(), ["1 of 1", "2 of 2"]);
    assert_eq!(state, (1, 2));
}
