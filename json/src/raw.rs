//! [`Raw`]: the text of one JSON value.

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeStruct};
use serde_json::value::RawValue;

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
