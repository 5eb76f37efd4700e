//! [`Raw`] and [`Json`]: an uninterpreted JSON value, borrowed and owned.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeStruct};
use serde_json::{Value, value::RawValue};

use super::{portable::made_portable, text::Text};
/// The struct name under which `serde_json` serialises and reads a raw value. A test checks it.
pub const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// The text of one valid JSON value, borrowed from its line.
///
/// Like `serde_json`'s [`RawValue`], and serialised and deserialised like it. In addition, a part of a valid value is
/// known to be valid, and is not parsed again.
///
/// ```
/// use foldline_json::Raw;
///
/// let raw = Raw::parse(r#" {"a": [1, 2]} "#)?;
/// assert_eq!(raw.get(), r#"{"a": [1, 2]}"#);
/// assert_eq!(serde_json::to_string(&[raw])?, r#"[{"a": [1, 2]}]"#);
/// assert!(Raw::parse("{").is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// Wraps a text that is known to be one JSON value.
    pub const fn known(text: &'a str) -> Self {
        Self(text)
    }

    /// The text.
    pub const fn get(self) -> &'a str {
        self.0
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Whether it is a string.
    pub fn is_string(self) -> bool {
        self.0.as_bytes().first() == Some(&b'"')
    }
}

impl<'a> From<&'a RawValue> for Raw<'a> {
    fn from(raw: &'a RawValue) -> Self {
        Self(raw.get())
    }
}

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(RAW_VALUE, 1)?;
        raw.serialize_field(RAW_VALUE, self.0)?;
        raw.end()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(Self::from)
    }
}

/// Any JSON value, kept as its original text: the arguments of an unsupported tool, a field that a release added.
/// Numbers keep every digit.
///
/// Compares by value: white space, key order and escapes do not matter. Values of more than 64 KiB compare by their
/// text, because a tree would take many times their memory.
///
/// The output is portable: in a value taken from a log, a lone surrogate is replaced by U+FFFD as in a
/// [`Text`], and a value that nests too deep, or contains a number beyond the range of a double, becomes
/// a string with its text.
///
/// ```
/// use foldline_json::Json;
///
/// let json: Json = serde_json::from_str(r#"{"b": 1, "a": 18446744073709551616}"#)?;
/// assert_eq!(json.get(), r#"{"b": 1, "a": 18446744073709551616}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Json(Box<str>);

impl Json {
    /// Serialises `value`.
    ///
    /// # Errors
    /// The value's `Serialize` fails.
    pub fn of(value: &(impl Serialize + ?Sized)) -> Result<Self, crate::Error> {
        crate::to_string(value).map(|json| Self(json.into_boxed_str()))
    }

    /// The JSON text.
    pub fn get(&self) -> &str {
        &self.0
    }

    /// The JSON text.
    pub fn into_string(self) -> String {
        self.0.into_string()
    }

    /// The value as a tree; `Null` if it is nested deeper than `serde_json` allows.
    pub fn to_value(&self) -> Value {
        serde_json::from_str(self.get()).unwrap_or_default()
    }
}

/// Reads a value that is present: `null` is a value, not an absent one. For `deserialize_with`.
///
/// # Errors
/// It is not JSON.
pub fn stated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

impl Default for Json {
    fn default() -> Self {
        Self("null".into())
    }
}

impl From<Raw<'_>> for Json {
    fn from(raw: Raw<'_>) -> Self {
        Self(made_portable(raw.get()).map_or_else(|| raw.get().into(), String::into_boxed_str))
    }
}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        Self(made_portable(raw.get()).map_or_else(|| raw.into(), String::into_boxed_str))
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        Self(value.to_string().into_boxed_str())
    }
}

impl From<Text> for Json {
    fn from(text: Text) -> Self {
        Self(text.into_literal())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Raw::known(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Self(raw.into()))
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        const SMALL: usize = 64 << 10;
        let (a, b) = (self.get(), other.get());
        a == b || (a.len().max(b.len()) <= SMALL && self.to_value() == other.to_value())
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}
