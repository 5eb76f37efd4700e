//! [`Writer`]: appends compact JSON to a buffer; [`Error`]: the error of writing a value.

use std::{fmt, io};

use serde::{Serialize, ser};

/// The size of a buffer in bytes from which on its contents are passed on.
const BLOCK: usize = 64 << 10;

/// What takes the contents of a full buffer.
type Drain<'d> = dyn FnMut(&[u8]) -> io::Result<()> + 'd;

/// Writes a value to the end of a buffer.
pub(super) struct Writer<'b> {
    pub(super) out: &'b mut Vec<u8>,
    /// The next string already is JSON, and is copied without escaping.
    pub(super) raw: bool,
    /// `None` if the buffer gets the whole value.
    drain: Option<&'b mut Drain<'b>>,
}

impl<'b> Writer<'b> {
    /// A writer of a whole value.
    pub(super) fn new(out: &'b mut Vec<u8>) -> Self {
        Self { out, raw: false, drain: None }
    }

    /// Writes a value in blocks, so that it is not kept in memory.
    pub(super) fn stream(
        value: &(impl Serialize + ?Sized),
        drain: &mut Drain<'_>,
    ) -> Result<(), Error> {
        let mut out = Vec::with_capacity(2 * BLOCK);
        value.serialize(&mut Writer { drain: Some(&mut *drain), ..Writer::new(&mut out) })?;
        drain(&out).map_err(Error::of_io)
    }

    /// Passes a full buffer on, between two elements.
    #[inline(always)]
    pub(super) fn end_element(&mut self) -> Result<(), Error> {
        if self.out.len() < BLOCK { Ok(()) } else { self.pass_on() }
    }

    #[inline(never)]
    fn pass_on(&mut self) -> Result<(), Error> {
        if let Some(drain) = &mut self.drain {
            drain(self.out).map_err(Error::of_io)?;
            self.out.clear();
            // One long text must not keep its memory.
            self.out.shrink_to(2 * BLOCK);
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn push(&mut self, json: &str) {
        self.out.extend_from_slice(json.as_bytes());
    }

    /// Appends `before` and the name of a field or a variant: a Rust identifier, or a name chosen in this crate, which
    /// needs no escapes.
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

/// The reason why a value could not be written.
#[derive(Debug)]
pub struct Error(Reason);

#[derive(Debug)]
enum Reason {
    /// The message from `Serialize`.
    Value(String),
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::Value(message) => f.write_str(message),
            Reason::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(Reason::Value(message.to_string()))
    }
}

impl Error {
    fn of_io(error: io::Error) -> Self {
        Self(Reason::Io(error))
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error.0 {
            Reason::Io(error) => error,
            Reason::Value(_) => Self::other(error),
        }
    }
}
