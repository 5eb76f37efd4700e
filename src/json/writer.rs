//! [`Writer`]: appends compact JSON to a buffer.

use serde::{Serialize, ser};

use super::error::Error;

/// Writes a value to the end of a buffer.
pub(super) struct Writer<'b> {
    pub(super) out: &'b mut Vec<u8>,
    /// The next string already is JSON, and is copied without escaping.
    pub(super) raw: bool,
}

impl Writer<'_> {
    #[inline(always)]
    pub(super) fn push(&mut self, json: &str) {
        self.out.extend_from_slice(json.as_bytes());
    }

    /// Appends `before` and a field name: a Rust identifier, or a name chosen in this crate, which needs no escapes.
    #[inline(always)]
    pub(super) fn name(&mut self, before: u8, name: &'static str) {
        self.out.extend_from_slice(&[before, b'"']);
        self.push(name);
        self.out.extend_from_slice(b"\":");
    }

    /// Appends the name of a variant, which needs no escapes either.
    pub(super) fn variant(&mut self, name: &'static str) {
        self.out.push(b'"');
        self.push(name);
        self.out.push(b'"');
    }

    pub(super) fn whole(&mut self, value: impl itoa::Integer) -> Result<(), Error> {
        self.push(itoa::Buffer::new().format(value));
        Ok(())
    }

    /// `serde_json` writes floats, so that the digits are the same.
    pub(super) fn float(&mut self, value: &impl Serialize) -> Result<(), Error> {
        serde_json::to_writer(&mut *self.out, value).map_err(ser::Error::custom)
    }
}
