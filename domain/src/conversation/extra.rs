//! [`Extra`]: fields of the log without an equivalent in the domain.

use std::fmt;

use foldline_json::Json;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Fields of the log without an equivalent in the domain, by name, in the log's order. A JSON object.
///
/// A list, because there are few: cheap to build, and searched linearly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra(Vec<(Box<str>, Json)>);

impl Extra {
    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.iter().find(|(field, _)| &**field == name).map(|(_, value)| value)
    }

    /// Adds a field, or replaces the field with that name.
    pub fn insert(&mut self, name: impl Into<Box<str>>, value: Json) {
        let name = name.into();
        match self.0.iter_mut().find(|(field, _)| *field == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// The fields and their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }
}

impl<N: Into<Box<str>>> Extend<(N, Json)> for Extra {
    fn extend<I: IntoIterator<Item = (N, Json)>>(&mut self, fields: I) {
        for (name, value) in fields {
            self.insert(name, value);
        }
    }
}

impl<N: Into<Box<str>>> FromIterator<(N, Json)> for Extra {
    fn from_iter<I: IntoIterator<Item = (N, Json)>>(fields: I) -> Self {
        let mut extra = Self::default();
        extra.extend(fields);
        extra
    }
}

impl IntoIterator for Extra {
    type Item = (Box<str>, Json);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Serialize for Extra {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Extra {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Extra;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Extra, A::Error> {
                let mut extra = Extra::default();
                while let Some((name, value)) = map.next_entry::<String, Json>()? {
                    extra.insert(name, value);
                }
                Ok(extra)
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}
