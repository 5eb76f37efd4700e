//! [`verify`]: checks whether a trail is intact, and finds the first break.

use std::io::{self, BufRead, Read};

use serde_json::Value;

use super::{
    chain::Head,
    record::{GAP, MAX_LINE, SIGNATURE, TRAIL, VERSION},
    sign::Signature,
};
use crate::conversation::Digest;

/// A valid record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Its number, which is also that of its line.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
    /// The subject of the record.
    pub about: About,
}

/// The subject of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// An event.
    Event {
        /// The log of the event, if the trail names it.
        log: Option<String>,
        /// The line of the log.
        line: u64,
        /// The digest of that line, if it was computed.
        line_sha256: Option<Digest>,
    },
    /// The beginning of a trail.
    Trail {
        /// The ledger to which it belongs.
        ledger: String,
        /// The identity of the trail.
        trail: String,
        /// The number of earlier commits of the ledger.
        commits: u64,
    },
    /// Commits that are not in the trail.
    Gap {
        /// The number of commits at the previous record.
        after: u64,
        /// The number of commits at this record.
        commits: u64,
    },
    /// A signature of all preceding records, made with the key that it states. Whose key that is, is not checked here.
    Signature(Signature),
}

/// The first break of a trail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct BrokenRecord {
    /// The line of the trail, counted from 1.
    pub line: u64,
    /// The problem.
    pub problem: Problem,
}

/// A problem of a trail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The line does not have the form of a record.
    #[error("record {expected} was damaged: {why}")]
    Damaged {
        /// The expected record.
        expected: u64,
        /// The violated requirement.
        why: &'static str,
    },
    /// The record's hash does not match its contents.
    #[error("record {expected} was changed: its hash does not match its contents")]
    Changed {
        /// The expected record.
        expected: u64,
    },
    /// A later record was found, and the expected one is missing.
    #[error(
        "found record {found}, expected record {expected}: {} removed",
        missing(*expected, *found)
    )]
    Removed {
        /// The expected record.
        expected: u64,
        /// The record that was found.
        found: u64,
    },
    /// A later record was found, and the expected one follows later.
    #[error(
        "found record {found}, expected record {expected}, which is on line {at}: records were reordered"
    )]
    Reordered {
        /// The expected record.
        expected: u64,
        /// The record that was found.
        found: u64,
        /// The line of the expected record.
        at: u64,
    },
    /// A record whose number already occurred.
    #[error("found record {found} again, expected record {expected}: a record was inserted")]
    Inserted {
        /// The expected record.
        expected: u64,
        /// The record that was found.
        found: u64,
    },
    /// The number is right, but the record was linked to another one.
    #[error(
        "record {expected} is not linked to the previous record: one of the two was inserted or replaced"
    )]
    Unlinked {
        /// The expected record.
        expected: u64,
    },
    /// A trail begins within a trail.
    #[error("record {expected} begins a trail: two trails were joined")]
    Joined {
        /// The expected record.
        expected: u64,
    },
    /// A signature that was not made with the key that it states, or not of these records.
    #[error("the signature in record {expected} is wrong: its key did not sign these records")]
    Forged {
        /// The expected record.
        expected: u64,
    },
    /// A record of an unsupported version.
    #[error(
        "record {expected} has version {version}, and this program supports versions up to {VERSION}"
    )]
    Version {
        /// The expected record.
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

/// Reads a trail to its end, and passes on each valid record up to the first problem.
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
    while read_line(&mut trail, &mut line)? {
        match verifier.next(&line) {
            Ok(verified) => each(verified),
            Err(fault) => return verifier.look_further(fault, trail).map(Err),
        }
    }
    Ok(Ok(verifier.head))
}

/// Reads the next line, with its line end; `false` at the end. If a line is too long for a record, only its
/// beginning is kept.
fn read_line(trail: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    trail.take(MAX_LINE as u64 + 1).read_until(b'\n', line)?;
    if line.len() > MAX_LINE && !line.ends_with(b"\n") {
        trail.skip_until(b'\n')?;
    }
    Ok(!line.is_empty())
}

/// Verifies a trail line by line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verifier {
    head: Head,
}

impl Verifier {
    /// Verifies a trail that continues after `head`.
    pub fn after(head: Head) -> Self {
        Self { head }
    }

    /// Verifies a single line, with its line end, but not whether it follows the previous line.
    ///
    /// # Errors
    ///
    /// If it is not a valid record.
    pub fn alone(line: &[u8]) -> Result<Verified, Problem> {
        Ok(Parsed::of(0, line)?.verified)
    }

    /// The head of the valid part.
    pub fn head(&self) -> Head {
        self.head
    }

    /// Verifies the next line, with its line end.
    ///
    /// # Errors
    ///
    /// If it is not the expected record.
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
        if matches!(verified.about, About::Trail { .. }) && expected > 1 {
            return Err(Problem::Joined { expected });
        }
        Ok(verified)
    }

    /// Whether a record that seems to be removed appears later.
    fn look_further(
        self,
        fault: BrokenRecord,
        mut trail: impl BufRead,
    ) -> io::Result<BrokenRecord> {
        let Problem::Removed { expected, found } = fault.problem else { return Ok(fault) };
        let mut at = fault.line;
        let mut line = Vec::new();
        while read_line(&mut trail, &mut line)? {
            at += 1;
            if self.check(expected, &line).is_ok() {
                let problem = Problem::Reordered { expected, found, at };
                return Ok(BrokenRecord { problem, ..fault });
            }
        }
        Ok(fault)
    }
}

/// A record of the right form whose hash is valid.
struct Parsed {
    seq: u64,
    prev: Digest,
    verified: Verified,
}

impl Parsed {
    fn of(expected: u64, line: &[u8]) -> Result<Self, Problem> {
        let damaged = |why| Problem::Damaged { expected, why };
        if line.len() > MAX_LINE {
            return Err(damaged("it is longer than any record"));
        }
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
        let (Some(seq), Some(prev), Some(version)) =
            (number("seq"), digest(record.get("prev")), number("v"))
        else {
            return Err(damaged("a record has the members seq, prev and v"));
        };
        if !(1..=VERSION).contains(&version) {
            return Err(Problem::Version { expected, version });
        }
        let about = about(record).ok_or(damaged("a record names its event"))?;
        if matches!(&about, About::Signature(signature) if !signature.is_of_its_key()) {
            return Err(Problem::Forged { expected });
        }
        Ok(Self { seq, prev, verified: Verified { seq, hash, about } })
    }
}

fn about(record: &Value) -> Option<About> {
    let text = |name: &str| record.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| number(record.get(name));
    Some(match text("event")?.as_str() {
        TRAIL => About::Trail {
            ledger: text("ledger")?,
            trail: text("trail")?,
            commits: number("commits")?,
        },
        GAP => About::Gap { after: number("after")?, commits: number("commits")? },
        SIGNATURE => {
            let (key, signature) = (bytes(record.get("key"))?, bytes(record.get("signature"))?);
            let mut record = record.clone();
            record.as_object_mut()?.remove("signature");
            let signed = serde_json_canonicalizer::to_vec(&record).ok()?;
            About::Signature(Signature { key, signature, signed })
        }
        _ => About::Event {
            log: text("log"),
            line: number("line")?,
            line_sha256: digest(record.get("line_sha256")),
        },
    })
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

/// The bytes given by lowercase hexadecimal digits.
fn bytes<const N: usize>(value: Option<&Value>) -> Option<[u8; N]> {
    let digits = value?.as_str()?.as_bytes();
    let digit = |digit: u8| char::from(digit).to_digit(16).filter(|_| !digit.is_ascii_uppercase());
    let bytes = digits.chunks(2).map(|pair| match pair {
        [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    });
    bytes.collect::<Option<Vec<u8>>>()?.try_into().ok()
}
