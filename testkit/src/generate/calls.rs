//! Parallel tool calls.

use proptest::{collection::vec, prelude::*};

use super::value::quote;

/// A few parallel calls, answered in any order; the last ones possibly not at all.
#[derive(Clone, Debug)]
pub struct Calls {
    order: Vec<u8>,
    unanswered: usize,
}

/// Generates [`Calls`].
pub fn calls() -> BoxedStrategy<Calls> {
    (vec(any::<u8>(), 1..5), prop_oneof![6 => Just(0), 1 => Just(1usize)])
        .prop_map(|(order, unanswered)| Calls { order, unanswered })
        .boxed()
}

impl Calls {
    /// The number of calls.
    pub fn count(&self) -> usize {
        self.order.len()
    }

    /// An id for each call as JSON text: `"call_0"`, `"call_1"`, ... for the name `call`.
    pub fn ids(&self, name: &str) -> Vec<String> {
        (0..self.order.len()).map(|n| quote(&format!("{name}_{n}"))).collect()
    }

    /// Selects the items of answered calls from one item per call, in the order of the answers.
    pub fn answered<T>(&self, calls: Vec<T>) -> Vec<T> {
        let mut answers: Vec<_> = self.order.iter().zip(calls).collect();
        answers.sort_by_key(|(order, _)| **order);
        answers.truncate(self.order.len().saturating_sub(self.unanswered));
        answers.into_iter().map(|(_, call)| call).collect()
    }
}
