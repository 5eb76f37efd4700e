//! Reading and writing JSON. Text that already is JSON is copied, not parsed and written again.
//!
//! [`Raw`] is the text of a value, found in a line without inspecting its strings.
//!
//! [`append`] writes any serde value as compact JSON, with the same bytes as `serde_json::to_vec`. It is faster for
//! values that are mostly structs and raw text, like the events of a log: field names, which are Rust identifiers,
//! are not searched for characters to escape, and everything is written directly into one buffer.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod escape;
mod escapes;
mod portable;
mod pretty;
mod scan;
#[cfg(feature = "schema")]
mod schema;
mod serializer;
mod text;
mod unescape;
mod value;
pub mod word;
mod writer;

use std::io;

use serde::{Serialize, ser};
use serde_json::value::RawValue;

pub use self::{
    escapes::{count_line_feeds, has_escape},
    pretty::indented,
    scan::{Key, Scanner},
    text::{EscapedText, Form, Lines, Text},
    unescape::{
        decode_body, decode_literal, decoded_len, is_same_string, string_body, unescape,
        unescape_to, unescapes_to,
    },
    value::{Json, RAW_VALUE, Raw, stated},
    writer::Error,
};
use self::{pretty::Indenter, writer::Writer};

/// Appends `value` as compact JSON.
///
/// # Errors
/// The value's `Serialize` fails; the types of this crate never do. The buffer is then unchanged.
///
/// ```
/// let mut out = b"data: ".to_vec();
/// foldline_json::append(&mut out, &("a\n", 1, [true]))?;
/// assert_eq!(out, br#"data: ["a\n",1,[true]]"#);
/// # Ok::<(), foldline_json::Error>(())
/// ```
pub fn append(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
    let length = out.len();
    value.serialize(&mut Writer::new(out)).inspect_err(|_| out.truncate(length))
}

/// `value` as compact JSON.
///
/// # Errors
/// As for [`append`].
pub fn to_string(value: &(impl Serialize + ?Sized)) -> Result<String, Error> {
    let mut out = Vec::new();
    append(&mut out, value)?;
    String::from_utf8(out).map_err(ser::Error::custom)
}

/// Writes `value` as compact JSON, in blocks of about 64 KiB: only its largest element is in memory as JSON.
///
/// # Errors
/// As for [`append`], and the errors of the writer.
pub fn write(out: &mut dyn io::Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    Ok(Writer::stream(value, &mut |json| out.write_all(json))?)
}

/// Writes `value` as human-readable JSON: one line per field and item, indented by two spaces. Embedded JSON text is
/// indented as well. In blocks of about 64 KiB, between elements.
///
/// # Errors
/// As for [`append`], and the errors of the writer.
pub fn write_pretty(out: &mut dyn io::Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    let (mut indenter, mut text) = (Indenter::default(), Vec::new());
    Ok(Writer::stream(value, &mut |json| {
        text.clear();
        indenter.push(json, &mut text);
        out.write_all(&text)
    })?)
}

/// `value` as human-readable JSON, see [`write_pretty`].
///
/// # Errors
/// As for [`append`].
///
/// ```
/// assert_eq!(foldline_json::to_string_pretty(&("a", [1]))?, "[\n  \"a\",\n  [\n    1\n  ]\n]");
/// # Ok::<(), foldline_json::Error>(())
/// ```
pub fn to_string_pretty(value: &(impl Serialize + ?Sized)) -> Result<String, Error> {
    Ok(indented(&to_string(value)?))
}

/// Whether a text is one JSON value.
pub fn is_valid(text: &str) -> bool {
    Scanner::new(text).whole().is_some() || serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Whether a string contains characters that JSON escapes.
pub fn needs_escape(text: &str) -> bool {
    escape::find_special(text.as_bytes()).is_some()
}

/// A string as a JSON literal, with its quotes.
pub fn literal(text: &str) -> String {
    // A string always has a JSON form, so the fallback is never taken.
    to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests;
