//! Reading and writing JSON. Text that is JSON already is copied, not parsed and written again.
//!
//! [`Raw`] is the text of a value, found in a line without looking into its strings.
//!
//! [`append`] writes any serde value as compact JSON, the same bytes as `serde_json::to_vec`. It is
//! faster where a value is mostly structs and raw text, which is what the events of a log are: the
//! names of fields, which are Rust identifiers, are not searched for characters to escape, and
//! everything goes straight into one buffer.

mod compound;
mod escape;
mod escapes;
mod pretty;
mod raw;
mod scan;
mod unescape;
pub(crate) mod word;

use std::{
    fmt::{self, Write},
    io,
};

use serde::{Serialize, Serializer, ser};

use self::compound::{Close, Compound};
pub(crate) use self::escapes::count_line_feeds;
pub(crate) use self::pretty::indented;
pub use self::raw::Raw;
pub(crate) use self::scan::Scanner;
pub(crate) use self::unescape::decode_body;
pub(crate) use self::unescape::{
    decode_literal, decoded_len, has_escape, is_same_string, string_body, unescape, unescape_to,
    unescapes_to,
};

/// Appends `value` as compact JSON.
///
/// # Errors
/// The value's `Serialize` fails; that of this crate's types never does. The buffer is then unchanged.
///
/// ```
/// let mut out = b"data: ".to_vec();
/// foldline::json::append(&mut out, &("a\n", 1, [true]))?;
/// assert_eq!(out, br#"data: ["a\n",1,[true]]"#);
/// # Ok::<(), foldline::json::Error>(())
/// ```
pub fn append(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
    let length = out.len();
    value.serialize(&mut Writer { out, raw: false }).inspect_err(|_| out.truncate(length))
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

/// Writes `value` as JSON for people: a line for each field and item, indented by two spaces. JSON that it holds
/// as text is indented as well.
///
/// # Errors
/// As for [`append`], and those of the writer.
pub fn write_pretty(out: &mut dyn io::Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    let mut out = pretty::IndentingWriter::new(out);
    // The writer has no type of its own, so that each value is compiled once, not once for each writer.
    Ok(serde_json::to_writer(&mut out as &mut dyn io::Write, value)?)
}

/// `value` as JSON for people, see [`write_pretty`].
///
/// # Errors
/// As for [`append`].
///
/// ```
/// assert_eq!(foldline::json::to_string_pretty(&("a", [1]))?, "[\n  \"a\",\n  [\n    1\n  ]\n]");
/// # Ok::<(), foldline::json::Error>(())
/// ```
pub fn to_string_pretty(value: &(impl Serialize + ?Sized)) -> Result<String, Error> {
    Ok(indented(&to_string(value)?))
}

/// Whether a string needs escapes in JSON.
pub(crate) fn needs_escape(text: &str) -> bool {
    escape::find_special(text.as_bytes()).is_some()
}

/// A string as a JSON literal, with its quotes.
pub(crate) fn literal(text: &str) -> String {
    // A string has a JSON form, so the fallback is never taken.
    to_string(text).unwrap_or_default()
}

/// Why a value could not be written.
#[derive(Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::other(error)
    }
}

/// The name of the struct as which `serde_json` serialises and reads a raw value. A test checks it.
pub(crate) const RAW_VALUE: &str = "$serde_json::private::RawValue";

struct Writer<'b> {
    out: &'b mut Vec<u8>,
    /// The next string is JSON, to be copied without escaping.
    raw: bool,
}

impl Writer<'_> {
    #[inline(always)]
    fn push(&mut self, json: &str) {
        self.out.extend_from_slice(json.as_bytes());
    }

    /// Appends `before`, and the name of a field, a Rust identifier, or one that was chosen in this crate: never escaped.
    #[inline(always)]
    fn name(&mut self, before: u8, name: &'static str) {
        self.out.extend_from_slice(&[before, b'"']);
        self.push(name);
        self.out.extend_from_slice(b"\":");
    }

    /// Appends the name of a variant, which is chosen as those of fields are.
    fn variant(&mut self, name: &'static str) {
        self.out.push(b'"');
        self.push(name);
        self.out.push(b'"');
    }

    fn whole(&mut self, value: impl itoa::Integer) -> Result<(), Error> {
        self.push(itoa::Buffer::new().format(value));
        Ok(())
    }

    /// Floats are written by `serde_json`, so that they are spelt the same.
    fn float(&mut self, value: &impl Serialize) -> Result<(), Error> {
        serde_json::to_writer(&mut *self.out, value).map_err(ser::Error::custom)
    }
}

impl<'w, 'b> Serializer for &'w mut Writer<'b> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'w, 'b>;
    type SerializeTuple = Compound<'w, 'b>;
    type SerializeTupleStruct = Compound<'w, 'b>;
    type SerializeTupleVariant = Compound<'w, 'b>;
    type SerializeMap = Compound<'w, 'b>;
    type SerializeStruct = Compound<'w, 'b>;
    type SerializeStructVariant = Compound<'w, 'b>;

    #[inline(always)]
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        if self.raw {
            self.push(value);
        } else {
            escape::string(self.out, value);
        }
        Ok(())
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.push("\"");
        write!(escape::Escaped(self.out), "{value}").map_err(ser::Error::custom)?;
        self.push("\"");
        Ok(())
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.push(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_i16(self, value: i16) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_i32(self, value: i32) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_i64(self, value: i64) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_i128(self, value: i128) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_u16(self, value: u16) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_u32(self, value: u32) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.float(&value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        self.float(&value)
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    #[inline(always)]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.push("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.variant(variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.push("{");
        self.variant(variant);
        self.push(":");
        value.serialize(&mut *self)?;
        self.push("}");
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'w, 'b>, Error> {
        Ok(Compound::open(self, Close::Array))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'w, 'b>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'w, 'b>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w, 'b>, Error> {
        self.push("{");
        self.variant(variant);
        self.push(":");
        Ok(Compound::open(self, Close::ArrayInObject))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'w, 'b>, Error> {
        Ok(Compound::open(self, Close::Object))
    }

    #[inline(always)]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Compound<'w, 'b>, Error> {
        if name == RAW_VALUE {
            self.raw = true;
            return Ok(Compound::open(self, Close::Raw));
        }
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w, 'b>, Error> {
        self.push("{");
        self.variant(variant);
        self.push(":");
        Ok(Compound::open(self, Close::ObjectInObject))
    }
}

#[cfg(test)]
mod tests;
