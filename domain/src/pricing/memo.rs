//! [`Memo`]: what was looked up by name.

use std::sync::{Arc, PoisonError, RwLock};

use foldhash::HashMap;

/// The number of names that are kept, which are any texts of a log.
const MOST: usize = 1 << 10;

/// What was found in a table under the names that were looked up. A log names few, again and again.
///
/// It follows from the table: a copy begins empty, and all are equal.
#[derive(Debug)]
pub(super) struct Memo<T>(RwLock<HashMap<String, Option<Arc<T>>>>);

impl<T> Memo<T> {
    /// What `find` found under a name the first time.
    pub(super) fn get(&self, name: &str, find: impl FnOnce() -> Option<T>) -> Option<Arc<T>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        known.unwrap_or_else(|| {
            let found = find().map(Arc::new);
            let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if all.len() == MOST {
                all.clear();
            }
            all.insert(name.to_owned(), found.clone());
            found
        })
    }
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T> Clone for Memo<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> PartialEq for Memo<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
