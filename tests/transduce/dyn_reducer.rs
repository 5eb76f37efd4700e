//! Reducers behind pointers.

use std::sync::Arc;

use foldline::transduce::*;

/// Holds back one line, and is done at a full stop.
struct Lag;

impl<'a> Reducer<&'a str, Option<String>, String> for Lag {
    fn init(&self) -> Option<String> {
        None
    }
    fn reduce(&self, held: Option<String>, line: &'a str) -> (Option<String>, Batch<String>) {
        (Some(line.to_owned()), held.into())
    }
    fn finish(&self, held: Option<String>) -> (Option<String>, Batch<String>) {
        (None, held.into())
    }
    fn is_done(&self, held: &Option<String>) -> bool {
        held.as_deref() == Some(".")
    }
}

type DynLag = dyn for<'a> Reducer<&'a str, Option<String>, String>;

/// The buffer is used again between two steps: the input borrows for one call only.
fn drive<R>(reducer: &R) -> Vec<String>
where
    R: for<'a> Reducer<&'a str, Option<String>, String>,
{
    let mut buffer = String::new();
    let mut state = reducer.init();
    let mut all = Vec::new();
    for line in ["a", "b", "."] {
        buffer.clear();
        buffer.push_str(line);
        let (next, events) = reducer.reduce(state, &buffer);
        state = next;
        all.extend(events);
    }
    assert!(reducer.is_done(&state));
    all.extend(reducer.finish(state).1);
    all
}

#[test]
fn pointers_forward_every_method() {
    let expected = ["a", "b", "."];
    assert_eq!(drive(&Lag), expected);
    assert_eq!(drive(&&Lag), expected);
    assert_eq!(drive(&Box::new(Lag)), expected);
    assert_eq!(drive(&Arc::new(Lag)), expected);
}

#[test]
fn a_trait_object_takes_borrowed_input() {
    let by_ref: &DynLag = &Lag;
    let boxed: Box<DynLag> = Box::new(Lag);
    assert_eq!(drive(&by_ref), drive(&boxed));

    let by_ref: &DynLag = &Lag;
    let mut shell = Transducer::new(by_ref, ());
    for n in 0..3 {
        let line = n.to_string();
        shell.step_with(line.as_str(), |never| match never {});
    }
    assert_eq!(shell.state().as_deref(), Some("2"));
}
