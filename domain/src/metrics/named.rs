//! [`Named`]: values by name, for a bounded number of names.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::conversation::Text;

/// The name that stands for all names beyond the limits.
pub const OTHER: &str = "other";

/// The maximum length of a separately counted name in bytes.
pub const MAX_NAME: usize = 128;

/// Values by name. The first `MAX` names have a value each; all others share the value of [`OTHER`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Named<V, const MAX: usize>(BTreeMap<String, V>);

impl<V, const MAX: usize> Default for Named<V, MAX> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<V, const MAX: usize> Named<V, MAX> {
    /// The value of a name, or of [`OTHER`] if this name is not counted separately; `None` if nothing was counted.
    pub fn get(&self, name: &str) -> Option<&V> {
        self.0.get(name).or_else(|| self.0.get(OTHER))
    }

    /// All values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub(super) fn get_mut(&mut self, name: &str) -> &mut V
    where
        V: Default,
    {
        let room = self.0.len() < MAX && name.len() <= MAX_NAME;
        let name = if room || self.0.contains_key(name) { name } else { OTHER };
        self.0.entry(name.to_owned()).or_default()
    }
}

/// The name under which a text is counted.
pub(super) fn name(text: &Text) -> String {
    let text = text.decode();
    let name = if text.len() <= MAX_NAME { &*text } else { OTHER };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_late_or_is_long_is_other() {
        let mut named = Named::<u32, 2>::default();
        let long = "x".repeat(MAX_NAME + 1);
        for name in [long.as_str(), "a", "b", "a", "c", "b"] {
            *named.get_mut(name) += 1;
        }
        // `other` takes the place of a name once it is needed.
        assert_eq!(named.iter().collect::<Vec<_>>(), [("a", &2), ("other", &4)]);
        assert_eq!(named.get("b"), Some(&4));
    }
}
