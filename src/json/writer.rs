//! [`Writer`]: appends compact JSON to a buffer.

use serde::{Serialize, ser};

use super::error::Error;

/// Writes a value to the end of a buffer.
pub(super) struct Writer<'b> {
    pub(super) out: &'b mut Vec<u8>,
    /// The next string is JSON, to be copied without escaping.
    pub(super) raw: bool,
}

impl Writer<'_> {
    #[inline(always)]
    pub(super) fn push(&mut self, json: &str) {
        self.out.extend_from_slice(json.as_bytes());
    }

    /// Appends `before`, and the name of a field, a Rust identifier, or one that was chosen in this crate: never escaped.
    #[inline(always)]
    pub(super) fn name(&mut self, before: u8, name: &'static str) {
        self.out.extend_from_slice(&[before, b'"']);
        self.push(name);
        self.out.extend_from_slice(b"\":");
    }

    /// Appends the name of a variant, which is chosen as those of fields are.
    pub(super) fn variant(&mut self, name: &'static str) {
        self.out.push(b'"');
        self.push(name);
        self.out.push(b'"');
    }

    pub(super) fn whole(&mut self, value: impl itoa::Integer) -> Result<(), Error> {
        self.push(itoa::Buffer::new().format(value));
        Ok(())
    }

    /// Floats are written by `serde_json`, so that they are spelt the same.
    pub(super) fn float(&mut self, value: &impl Serialize) -> Result<(), Error> {
        serde_json::to_writer(&mut *self.out, value).map_err(ser::Error::custom)
    }
}
