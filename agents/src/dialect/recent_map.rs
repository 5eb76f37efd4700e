//! [`RecentMap`]: the values of the latest ids of a log.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The maximum number of ids.
const MOST: usize = 256;

/// The values of the latest 256 ids, such as the requests of one side that wait for their responses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecentMap<K, T>(VecDeque<(K, T)>);

impl<K, T> Default for RecentMap<K, T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<K: PartialEq, T> RecentMap<K, T> {
    /// Adds the value of an id. A value without an id is dropped.
    pub fn push(&mut self, id: Option<K>, what: T) {
        self.0.extend(id.map(|id| (id, what)));
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    /// The values, the oldest first.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, what)| what)
    }

    /// The latest value of an id.
    pub fn get(&self, id: &K) -> Option<&T> {
        self.0.iter().rfind(|(known, _)| known == id).map(|(_, what)| what)
    }

    /// Removes the latest value of an id.
    pub fn take(&mut self, id: &K) -> Option<T> {
        let at = self.0.iter().rposition(|(known, _)| known == id)?;
        self.0.remove(at).map(|(_, what)| what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_remembered_last_is_found_and_the_oldest_is_forgotten() {
        let mut known = RecentMap::default();
        known.push(None, "unknown");
        known.push(Some(1), "first");
        known.push(Some(1), "second");
        assert_eq!(known.get(&1), Some(&"second"));
        assert_eq!([known.take(&1), known.take(&1)], [Some("second"), Some("first")]);
        (0..=MOST).for_each(|n| known.push(Some(n), "more"));
        assert_eq!((known.values().count(), known.take(&0)), (MOST, None));
    }
}
