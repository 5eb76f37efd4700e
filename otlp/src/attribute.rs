//! [`Attributes`]: names with values, in the form of OTLP.

use serde::{Serialize, Serializer};

/// A list of attributes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct Attributes(Vec<Attribute>);

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Attribute {
    key: String,
    value: AttributeValue,
}

/// A value. In OTLP/JSON, an object with one field that names its type; an integer is a string.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) enum AttributeValue {
    #[serde(rename = "stringValue")]
    Text(String),
    #[serde(rename = "boolValue")]
    Bool(bool),
    #[serde(rename = "intValue", serialize_with = "as_string")]
    Int(i64),
    #[serde(rename = "doubleValue")]
    Double(f64),
}

impl Attributes {
    /// The same list with one more attribute.
    #[must_use]
    pub(super) fn with(mut self, key: &str, value: impl Into<AttributeValue>) -> Self {
        self.0.push(Attribute { key: key.to_owned(), value: value.into() });
        self
    }

    /// The same list with one more attribute, if its value is known.
    #[must_use]
    pub(super) fn with_known(self, key: &str, value: Option<impl Into<AttributeValue>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Whether there is an attribute of this name.
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|attribute| attribute.key == key)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for AttributeValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for AttributeValue {
    fn from(is: bool) -> Self {
        Self::Bool(is)
    }
}

impl From<u64> for AttributeValue {
    fn from(count: u64) -> Self {
        Self::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<i32> for AttributeValue {
    fn from(number: i32) -> Self {
        Self::Int(number.into())
    }
}

impl From<f64> for AttributeValue {
    fn from(number: f64) -> Self {
        Self::Double(number)
    }
}

/// A 64-bit integer as OTLP/JSON writes it.
pub(super) fn as_string<S: Serializer>(
    number: &impl std::fmt::Display,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}
