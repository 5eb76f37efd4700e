//! [`Sequenced`]: a value with its number and its JSON.

use std::{ops::Deref, sync::OnceLock};

use serde::Serialize;

/// A value with its number in a sequence. Its JSON is generated on first use, and shared by all readers.
#[derive(Debug)]
pub struct Sequenced<T> {
    /// The number.
    pub seq: u64,
    value: T,
    json: OnceLock<Box<str>>,
}

impl<T> Sequenced<T> {
    /// A value with its number.
    pub fn new(seq: u64, value: T) -> Self {
        Self { seq, value, json: OnceLock::new() }
    }
}

impl<T: Serialize> Sequenced<T> {
    /// The value as JSON; an empty string for a value without a JSON form. Documents and patches always have one.
    pub fn json(&self) -> &str {
        self.json.get_or_init(|| foldline_json::to_string(&self.value).unwrap_or_default().into())
    }
}

impl<T> Deref for Sequenced<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: PartialEq> PartialEq for Sequenced<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.seq, &self.value) == (other.seq, &other.value)
    }
}
