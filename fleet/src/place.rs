//! [`Place`]: a position in a log that continues from file to file.

use std::{fmt, str::FromStr};

use foldline_domain::Position;
use serde::{Deserialize, Serialize};

/// A position in a log that is followed: after a rotation it continues in another file, and offsets restart.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub(crate) struct Place {
    /// The number of earlier files of the log.
    pub(crate) file: u64,
    /// The offset in that file, in bytes from 0.
    pub(crate) offset: u64,
}

impl Place {
    /// The place `length` bytes further in the same file.
    pub(crate) fn after(self, length: usize) -> Self {
        Self { offset: self.offset + length as u64, ..self }
    }
}

/// As in messages: `FILE:OFFSET`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.offset)
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (file, offset) = text.split_once(':').ok_or(())?;
        Ok(Self { file: file.parse().map_err(drop)?, offset: offset.parse().map_err(drop)? })
    }
}

/// Combines the number of the file and the position in it.
impl From<(u64, Position)> for Place {
    fn from((file, position): (u64, Position)) -> Self {
        Self { file, offset: position.offset }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_the_order_of_the_log() {
        let place = |text: &str| text.parse::<Place>().unwrap();
        assert!(place("0:100") < place("1:0") && place("1:9") < place("1:10"));
        assert_eq!(place("3:17").to_string(), "3:17");
        assert_eq!(place("3:17").after(3), place("3:20"));
        for wrong in ["", "1", "1:", ":1", "1:-1", "a:1"] {
            assert_eq!(wrong.parse::<Place>(), Err(()), "{wrong}");
        }
    }
}
