//! [`Text`]: a string from a log.

mod escaped;
mod lines;

use std::{borrow::Cow, fmt, hash, sync::Arc};

use memchr::memrchr_iter;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

pub use self::{escaped::EscapedText, lines::Lines};
use crate::{
    RAW_VALUE, Raw, decode_body, decode_literal, decoded_len,
    escapes::{has_code, strip_escape},
    string_body, unescape, unescape_to, unescapes_to,
};

/// A string from a log that goes, usually unread, into an output.
///
/// File contents, command output and messages are most of a log's bytes, and no reducer inspects them. `Text` carries
/// such a string as its original JSON literal: taking it from a line and writing it to a JSON output copies it,
/// without unescaping and re-escaping. Only [`decode`](Text::decode) and methods that need the string decode it.
///
/// The contract is small: it decodes to a `Cow<str>`, serialises as a string, and compares by decoded value
/// (`"\u0041"` equals `"A"`). A lone surrogate, which JSON can express and UTF-8 cannot, is replaced by U+FFFD when
/// the text is created, so that the output is valid for every reader.
///
/// ```
/// use foldline_json::Text;
///
/// let text: Text = serde_json::from_str(r#""caf\u00e9\n""#)?;
/// assert_eq!(text.decode(), "café\n");
/// assert_eq!(text, Text::from("café\n"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Text(Repr);

#[derive(Clone)]
enum Repr {
    /// A decodable string literal, exactly as in the log. Shared, because entries are cloned.
    Literal(Arc<str>),
    /// A literal that was composed of several.
    #[allow(clippy::box_collection, reason = "in one word, every text stays small")]
    Grown(Box<String>),
    /// A string that was created or changed after parsing.
    String(String),
}

/// How a text is spelt.
pub enum Form<'t> {
    /// A decodable string literal.
    Literal(&'t str),
    /// The string.
    String(&'t str),
}

impl Text {
    /// The text of a raw JSON value, if it is a string. Copies the literal.
    pub fn from_raw(raw: Raw<'_>) -> Option<Self> {
        let body = string_body(raw.get())?;
        if may_hold_lone_surrogate(body) && serde_json::from_str::<String>(raw.get()).is_err() {
            return Some(Self::from(unescape(body)));
        }
        Some(Self(Repr::Literal(raw.get().into())))
    }

    /// The length of the decoded text in bytes.
    pub fn length(&self) -> usize {
        match self.form() {
            Form::Literal(literal) => decoded_len(string_body(literal).unwrap_or_default()),
            Form::String(string) => string.len(),
        }
    }

    /// How it is spelt.
    pub fn form(&self) -> Form<'_> {
        match &self.0 {
            Repr::Literal(literal) => Form::Literal(literal),
            Repr::Grown(literal) => Form::Literal(literal),
            Repr::String(string) => Form::String(string),
        }
    }

    /// The decoded string; borrowed if there is nothing to unescape.
    pub fn decode(&self) -> Cow<'_, str> {
        match self.form() {
            Form::Literal(literal) => decode_literal(literal),
            Form::String(string) => Cow::Borrowed(string),
        }
    }

    /// The decoded string, by value.
    pub fn into_string(self) -> String {
        match self.0 {
            Repr::Literal(literal) => decode_literal(&literal).into_owned(),
            Repr::Grown(literal) => decode_literal(&literal).into_owned(),
            Repr::String(string) => string,
        }
    }

    /// Appends `more`, in time proportional to its length. Strings of the log stay as they are spelt.
    pub fn push(&mut self, more: &Self) {
        if self.is_empty() {
            return *self = more.clone();
        }
        let mut literal = match std::mem::take(self).0 {
            Repr::Literal(literal) => Box::new(String::from(&*literal)),
            Repr::Grown(literal) => literal,
            Repr::String(string) => Box::new(crate::literal(&string)),
        };
        // No literal ends within a pair of surrogates.
        literal.pop();
        let more = match more.form() {
            Form::Literal(more) => Cow::Borrowed(more),
            Form::String(more) => Cow::Owned(crate::literal(more)),
        };
        literal.push_str(more.get(1..).unwrap_or("\""));
        self.0 = Repr::Grown(literal);
    }

    /// Appends the text to a string.
    pub fn push_to(&self, string: &mut String) {
        match self.form() {
            Form::Literal(literal) => {
                unescape_to(string, string_body(literal).unwrap_or_default());
            }
            Form::String(more) => string.push_str(more),
        }
    }

    /// The string as a JSON literal, with its quotes.
    pub fn into_literal(self) -> Box<str> {
        match self.0 {
            Repr::Literal(literal) => (*literal).into(),
            Repr::Grown(literal) => literal.into_boxed_str(),
            Repr::String(string) => crate::literal(&string).into_boxed_str(),
        }
    }

    /// Whether the string is empty.
    pub fn is_empty(&self) -> bool {
        match self.form() {
            Form::Literal(literal) => literal.len() == 2,
            Form::String(string) => string.is_empty(),
        }
    }

    /// Its approximate size in memory, in bytes.
    pub fn size(&self) -> usize {
        match self.form() {
            Form::Literal(text) | Form::String(text) => text.len(),
        }
    }

    /// The text before the last `marker`, without up to `most` line feeds at its end, and the string after the
    /// marker. `marker` must consist of characters that JSON never escapes. If it begins like the end of an escape,
    /// the text is decoded.
    pub fn rsplit_once(&self, marker: &str, most: usize) -> Option<(Self, Cow<'_, str>)> {
        match self.form() {
            Form::Literal(literal) => {
                let in_escape = |c: char| c.is_ascii_alphanumeric() || "\"\\/".contains(c);
                if marker.starts_with(in_escape) {
                    let decoded = Self::from(decode_literal(literal).into_owned());
                    let (before, after) = decoded.rsplit_once(marker, most)?;
                    return Some((before, after.into_owned().into()));
                }
                let (mut before, after) = rsplit_once(string_body(literal)?, marker)?;
                for _ in 0..most {
                    before = strip_escape(before, b"\\n").unwrap_or(before);
                }
                Some((Self::from_body(before), decode_body(after)))
            }
            Form::String(string) => {
                let (mut before, after) = rsplit_once(string, marker)?;
                for _ in 0..most {
                    before = before.strip_suffix('\n').unwrap_or(before);
                }
                Some((before.into(), after.into()))
            }
        }
    }

    /// Whether it begins with `prefix`, which needs no escapes. Only a text that escapes a character of its beginning
    /// without need is decoded.
    pub fn begins_with(&self, prefix: &str) -> bool {
        let body = match self.form() {
            Form::Literal(literal) => string_body(literal).unwrap_or_default(),
            Form::String(string) => return string.starts_with(prefix),
        };
        let plain = body.bytes().zip(prefix.bytes()).take_while(|(one, two)| one == two).count();
        let rest = &body.as_bytes()[plain..];
        let is_escaped = || rest.starts_with(b"\\u") || rest.starts_with(b"\\/");
        plain == prefix.len() || is_escaped() && decode_body(body).starts_with(prefix)
    }

    /// A literal from a part of another literal's content, which must not begin or end within an escape.
    fn from_body(body: &str) -> Self {
        Self(Repr::Literal(["\"", body, "\""].concat().into()))
    }
}

/// Surrogates, paired or not, are written as `\\ud800` to `\\udfff`.
pub(super) fn may_hold_lone_surrogate(body: &str) -> bool {
    has_code(body) && (body.contains("\\ud") || body.contains("\\uD"))
}

/// Like the method of `str`, but faster if the last `marker` is near the end.
fn rsplit_once<'b>(body: &'b str, marker: &str) -> Option<(&'b str, &'b str)> {
    let (first, bytes) = (*marker.as_bytes().first()?, body.as_bytes());
    let mut begins = memrchr_iter(first, bytes);
    let at = begins.find(|at| bytes[*at..].starts_with(marker.as_bytes()))?;
    Some((body.get(..at)?, body.get(at + marker.len()..)?))
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        // Names and paths are serialised more often than they are created.
        match crate::needs_escape(text) {
            true => Self::from(text.to_owned()),
            false => Self::from_body(text),
        }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Repr::String(text))
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(text: Cow<'_, str>) -> Self {
        match text {
            Cow::Borrowed(text) => Self::from(text),
            Cow::Owned(text) => Self::from(text),
        }
    }
}

impl Default for Text {
    fn default() -> Self {
        Self(Repr::String(String::new()))
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        match (self.form(), other.form()) {
            (Form::Literal(a), Form::Literal(b)) => crate::is_same_string(a, b),
            (_, Form::String(string)) => *self == *string,
            (Form::String(string), _) => *other == *string,
        }
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        match self.form() {
            Form::Literal(literal) => unescapes_to(string_body(literal).unwrap_or_default(), other),
            Form::String(string) => string == other,
        }
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl hash::Hash for Text {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.decode().hash(state);
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.decode())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.decode(), f)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.form() {
            // A literal is JSON syntax; other formats get the string.
            Form::Literal(literal) if serializer.is_human_readable() => {
                Raw::known(literal).serialize(serializer)
            }
            _ => serializer.serialize_str(&self.decode()),
        }
    }
}

/// Keeps the literal if the text comes from JSON, so that a restored state writes the same bytes as an uninterrupted
/// run.
impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text::from(text))
            }

            /// `serde_json` reading from text.
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Text, A::Error> {
                let raw = Box::<RawValue>::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Text::from_raw((&*raw).into()).ok_or_else(|| de::Error::custom("expected a string"))
            }

            /// Any other deserializer.
            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                inner: D,
            ) -> Result<Text, D::Error> {
                inner.deserialize_str(self)
            }
        }
        deserializer.deserialize_newtype_struct(RAW_VALUE, Visitor)
    }
}
