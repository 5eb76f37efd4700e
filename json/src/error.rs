//! [`Error`]: the error of writing a value.

use std::{fmt, io};

use serde::ser;

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
    pub(super) fn of_io(error: io::Error) -> Self {
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
