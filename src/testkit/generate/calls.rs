//! Tool calls that are made at once.

use proptest::{collection::vec, prelude::*};

use super::value::quote;

/// A few calls that are made at once, answered in any order; the last ones maybe not at all.
#[derive(Clone, Debug)]
pub struct Calls {
    order: Vec<u8>,
    unanswered: usize,
}

/// Some [`Calls`].
pub fn calls() -> BoxedStrategy<Calls> {
    (vec(any::<u8>(), 1..5), prop_oneof![6 => Just(0), 1 => Just(1usize)])
        .prop_map(|(order, unanswered)| Calls { order, unanswered })
        .boxed()
}

impl Calls {
    /// How many they are.
    pub fn count(&self) -> usize {
        self.order.len()
    }

    /// An id for each as JSON text: `"call_0"`, `"call_1"`, ... for the name `call`.
    pub fn ids(&self, name: &str) -> Vec<String> {
        (0..self.order.len()).map(|n| quote(&format!("{name}_{n}"))).collect()
    }

    /// Of these, one for each call, those that are answered, in the order of the answers.
    pub fn answered<T>(&self, calls: Vec<T>) -> Vec<T> {
        let mut answers: Vec<_> = self.order.iter().zip(calls).collect();
        answers.sort_by_key(|(order, _)| **order);
        answers.truncate(self.order.len().saturating_sub(self.unanswered));
        answers.into_iter().map(|(_, call)| call).collect()
    }
}
