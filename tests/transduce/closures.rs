//! Closures as reducers.

use foldline::transduce::*;

fn any_lifetime<S, E>(reducer: &impl for<'a> Reducer<&'a str, S, E>) -> S {
    let line = String::from("short-lived");
    reducer.reduce(reducer.init(), &line).0
}

#[test]
fn a_closure_takes_input_of_any_lifetime() {
    let len = reduce_fn(|| 0, |sum: usize, line: &str| (sum + line.len(), Batch::<()>::EMPTY));
    assert_eq!(any_lifetime(&len), 11);
}
