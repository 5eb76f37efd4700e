//! [`Token`]: the secret that clients on other machines need.

use std::{fmt, fs, path::Path};

use crate::{error::Error, random};

/// The shortest stated token, in characters.
const SHORTEST: usize = 16;

/// A secret: 256 random bits for one run of the server, or what a file states.
#[derive(Clone)]
pub(super) struct Token(String);

impl Token {
    pub(super) fn random() -> Result<Self, Error> {
        Ok(Self(random::digits::<32>()?))
    }

    /// A stated token, or why it is none.
    pub(super) fn of(stated: &str) -> Result<Self, String> {
        match stated.len() {
            ..SHORTEST => Err(format!("the token has fewer than {SHORTEST} characters")),
            _ => Ok(Self(stated.to_owned())),
        }
    }

    /// The token in a file, which browsers get as a part of a link and as a cookie.
    pub(super) fn read(file: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(file)
            .map_err(|error| Error::Input { path: file.to_owned(), error })?;
        let wrong = |why| Error::WrongUse(format!("{}: {why}", file.display()));
        let token = Self::of(text.trim()).map_err(wrong)?;
        let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.' | '~');
        match token.0.chars().all(is_plain) {
            true => Ok(token),
            false => {
                Err(wrong("the token has other characters than A-Z a-z 0-9 - _ . ~".to_owned()))
            }
        }
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
