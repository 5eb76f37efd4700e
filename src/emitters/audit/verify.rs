//! [`verify`]: whether a trail is whole, and if not, where it breaks first.

use std::io::{self, BufRead};

use serde_json::Value;

use super::{Head, record::VERSION};
use crate::conversation::Digest;

/// What a good record says of where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// Its number, which is also that of its line.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
    /// The log that its event comes from, if the trail names it.
    pub log: Option<String>,
    /// The line of the log.
    pub line: u64,
    /// The digest of that line, if it was taken.
    pub line_sha256: Option<Digest>,
}

/// Where a trail breaks first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
#[non_exhaustive]
pub struct BrokenRecord {
    /// The line of the trail, counted from 1.
    pub line: u64,
    /// What is wrong there.
    pub problem: Problem,
}

/// What can be wrong with a trail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The line is not what a record looks like.
    #[error("record {expected} was damaged: {why}")]
    Damaged {
        /// The record that should stand here.
        expected: u64,
        /// What a record is, and this is not.
        why: &'static str,
    },
    /// The record's hash is not that of its contents.
    #[error("record {expected} was changed: its hash is not that of its contents")]
    Changed {
        /// The record that should stand here.
        expected: u64,
    },
    /// A later record stands here, and the one that should is nowhere.
    #[error(
        "record {found} stands where record {expected} should: {} removed",
        missing(*expected, *found)
    )]
    Removed {
        /// The record that should stand here.
        expected: u64,
        /// The one that does.
        found: u64,
    },
    /// A later record stands here, and the one that should stands further on.
    #[error(
        "record {found} stands where record {expected} should, which stands on line {at}: records were reordered"
    )]
    Reordered {
        /// The record that should stand here.
        expected: u64,
        /// The one that does.
        found: u64,
        /// The line of the one that should.
        at: u64,
    },
    /// A record with a number that was there already.
    #[error(
        "record {found} stands where record {expected} should, and there was a record {found} before: one was inserted"
    )]
    Inserted {
        /// The record that should stand here.
        expected: u64,
        /// The one that does.
        found: u64,
    },
    /// The number is right, but the record was made after another one.
    #[error(
        "record {expected} was not made after the record before it: one of the two was inserted or replaced"
    )]
    Unlinked {
        /// The record that should stand here.
        expected: u64,
    },
    /// A record of a version that this program does not know.
    #[error(
        "record {expected} has version {version}, and this program knows only version {VERSION}"
    )]
    Version {
        /// The record that should stand here.
        expected: u64,
        /// Its version.
        version: u64,
    },
}

fn missing(expected: u64, found: u64) -> String {
    match found.saturating_sub(1) {
        last if last <= expected => format!("record {expected} was"),
        last => format!("records {expected} to {last} were"),
    }
}

/// Reads a trail to its end, and gives out each record that is good until the first fault.
///
/// # Errors
///
/// If it cannot be read.
pub fn verify(
    mut trail: impl BufRead,
    mut each: impl FnMut(Verified),
) -> io::Result<Result<Head, BrokenRecord>> {
    let mut verifier = Verifier::default();
    let mut line = Vec::new();
    while trail.read_until(b'\n', &mut line)? > 0 {
        match verifier.next(&line) {
            Ok(verified) => each(verified),
            Err(fault) => return verifier.look_further(fault, trail).map(Err),
        }
        line.clear();
    }
    Ok(Ok(verifier.head))
}

/// Follows a trail line by line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verifier {
    head: Head,
}

impl Verifier {
    /// Follows a trail from after `head`.
    pub fn after(head: Head) -> Self {
        Self { head }
    }

    /// How far a trail goes whose last line this is, by what the line says itself.
    ///
    /// # Errors
    ///
    /// If it is no good record.
    pub fn head_of(line: &[u8]) -> Result<Head, Problem> {
        let Verified { seq: count, hash, .. } = Parsed::of(0, line)?.verified;
        Ok(Head { count, hash })
    }

    /// How far the trail is good.
    pub fn head(&self) -> Head {
        self.head
    }

    /// Takes the next line, with its line end.
    ///
    /// # Errors
    ///
    /// If it is not the record that should follow.
    pub fn next(&mut self, line: &[u8]) -> Result<Verified, BrokenRecord> {
        let expected = self.head.count.saturating_add(1);
        let result = self.check(expected, line);
        if let Ok(verified) = &result {
            self.head = Head { count: verified.seq, hash: verified.hash };
        }
        result.map_err(|problem| BrokenRecord { line: expected, problem })
    }

    fn check(&self, expected: u64, line: &[u8]) -> Result<Verified, Problem> {
        let Parsed { seq: found, prev, verified } = Parsed::of(expected, line)?;
        if found > expected {
            return Err(Problem::Removed { expected, found });
        }
        if found < expected {
            return Err(Problem::Inserted { expected, found });
        }
        if prev != self.head.hash {
            return Err(Problem::Unlinked { expected });
        }
        Ok(verified)
    }

    /// Whether a record that seems to be removed stands further on.
    fn look_further(
        self,
        fault: BrokenRecord,
        mut trail: impl BufRead,
    ) -> io::Result<BrokenRecord> {
        let Problem::Removed { expected, found } = fault.problem else { return Ok(fault) };
        let mut at = fault.line;
        let mut line = Vec::new();
        while trail.read_until(b'\n', &mut line)? > 0 {
            at += 1;
            if self.check(expected, &line).is_ok() {
                let problem = Problem::Reordered { expected, found, at };
                return Ok(BrokenRecord { problem, ..fault });
            }
            line.clear();
        }
        Ok(fault)
    }
}

/// A record that is what a record looks like, and has the hash that it says.
struct Parsed {
    seq: u64,
    prev: Digest,
    verified: Verified,
}

impl Parsed {
    fn of(expected: u64, line: &[u8]) -> Result<Self, Problem> {
        let damaged = |why| Problem::Damaged { expected, why };
        let line = line.strip_suffix(b"\n").ok_or(damaged("a record ends with a line end"))?;
        let json = damaged("a record is a JSON object");
        let value: Value = serde_json::from_slice(line).map_err(|_| json.clone())?;
        let canonical = serde_json_canonicalizer::to_vec(&value).map_err(|_| json)?;
        if canonical != line {
            return Err(damaged("a record is written as canonical JSON"));
        }
        let (Some(record), Some(hash), Some(2)) = (
            value.get("record").filter(|record| record.is_object()),
            digest(value.get("hash")),
            value.as_object().map(serde_json::Map::len),
        ) else {
            return Err(damaged("a record has a hash and a record, and nothing else"));
        };
        let contents = serde_json_canonicalizer::to_vec(record).unwrap_or_default();
        if Digest::of(&contents) != hash {
            return Err(Problem::Changed { expected });
        }
        let number = |name: &str| number(record.get(name));
        let (Some(seq), Some(prev), Some(line), Some(version)) =
            (number("seq"), digest(record.get("prev")), number("line"), number("v"))
        else {
            return Err(damaged("a record has the members seq, prev, line and v"));
        };
        if version != VERSION {
            return Err(Problem::Version { expected, version });
        }
        let log = record.get("log").and_then(Value::as_str).map(str::to_owned);
        let line_sha256 = digest(record.get("line_sha256"));
        let verified = Verified { seq, hash, log, line, line_sha256 };
        Ok(Self { seq, prev, verified })
    }
}

fn digest(value: Option<&Value>) -> Option<Digest> {
    value?.as_str()?.parse().ok()
}

fn number(value: Option<&Value>) -> Option<u64> {
    match value? {
        Value::String(digits) => digits.parse().ok(),
        value => value.as_u64(),
    }
}
