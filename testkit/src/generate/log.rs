//! The bytes of a log, and its lines.

use std::{fmt, ops::Deref};

use proptest::{collection::vec, prelude::*};

/// The bytes of a log. A failing test prints them as a string.
#[derive(Clone, PartialEq, Eq)]
pub struct LogBytes(pub Vec<u8>);

impl fmt::Debug for LogBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

impl Deref for LogBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Any bytes except a line end.
pub fn garbage() -> BoxedStrategy<Vec<u8>> {
    let byte = any::<u8>().prop_map(|byte| if byte == b'\n' { b' ' } else { byte });
    vec(byte, 0..40).boxed()
}

/// The lines of several parts of a conversation, concatenated.
pub fn concat(parts: Vec<BoxedStrategy<Vec<String>>>) -> BoxedStrategy<Vec<String>> {
    parts.prop_map(|parts| parts.concat()).boxed()
}
