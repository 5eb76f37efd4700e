//! [`Token`]: the secret that clients on other machines need.

use std::fmt;

use crate::{error::Error, random};

/// A secret: 256 random bits for one run of the server, or what a file states.
#[derive(Clone)]
pub(super) struct Token(String);

impl Token {
    pub(super) fn random() -> Result<Self, Error> {
        Ok(Self(random::digits::<32>()?))
    }

    /// A token that a file states.
    pub(super) fn of(stated: &str) -> Self {
        Self(stated.to_owned())
    }

    /// Whether the tokens are equal. Takes constant time.
    pub(super) fn is(&self, other: &str) -> bool {
        let differing = self.0.bytes().zip(other.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        self.0.len() == other.len() && differing == 0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
