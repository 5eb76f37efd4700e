//! An audit trail: one record for every event, each bound to the one before it.
//!
//! [`AuditTrail`] is an emitter: an event in, a line out. [`verify`] finds the first record that was changed, removed,
//! inserted or moved.
//!
//! # The file
//!
//! JSON Lines in UTF-8. Every line ends with `\n` and is exactly the canonical form (RFC 8785) of
//!
//! ```json
//! {"hash":"<SHA-256 of the canonical form of record>","record":{ ... }}
//! ```
//!
//! so that no byte of it can be another one: not a space, not an escape. The members of the `record` of an
//! event, absent where there is nothing to say:
//!
//! | Member | What |
//! | --- | --- |
//! | `v` | The version of this format: 2. Version 1 has only records of events |
//! | `seq` | 1, 2, 3, ... without gaps |
//! | `prev` | The `hash` of the record before it; 64 zeros in the first |
//! | `log`, `line`, `offset` | Which log, and where the record stands in it that caused the event: line from 1, byte from 0 |
//! | `line_sha256` | SHA-256 of that line as it stands in the log, without its line end (`\n` or `\r\n`), and without the byte order mark of the log |
//! | `event_sha256` | SHA-256 of the whole event, see below |
//! | `session`, `task` | The agent's session, and the task that whoever keeps the trail runs |
//! | `at` | When it happened, in milliseconds since 1970, where the log says |
//! | `event` | What kind of event it is: `new_entry`, `new_tool_call`, `usage`, ... |
//! | `entry`, `corr_id`, `tool`, `action`, `status` | The type of the entry; of a tool call its id, the tool, what it does and where it stands |
//! | `warning` | The kind of a warning |
//! | `summary` | The first [`MAX_SUMMARY`] bytes of what was said, of the command, of the path, ... |
//!
//! Some records are about the trail itself. They have `v`, `seq` and `prev`, and these members:
//!
//! | `event` | Members |
//! | --- | --- |
//! | `trail` | The first record of a trail that belongs to a ledger. `ledger` and `trail` are their identities, random each; `commits` is how many commits the ledger had before |
//! | `gap` | Of the `commits` commits that the ledger has by now, those behind the first `after` are not in the trail |
//! | `signature` | Of all records up to here: `signature` and the public `key` are those of Ed25519 (RFC 8032), in hexadecimal digits; `commits` is how many commits the ledger has with them |
//!
//! Of a text of the log other than `summary`, such as an id, at most the first [`MAX_TEXT`] bytes are kept, so that
//! no line is longer than [`MAX_LINE`]: a longer one is no record, and is not read into memory.
//!
//! An integer beyond ±(2^53 - 1) is written as a string of its digits: numbers of RFC 8785 are IEEE
//! doubles, which do not hold it.
//!
//! # Why not the whole event
//!
//! Whoever audits asks what the agent did, in which order, and whether this is what the log said. The
//! first two stand in the record. For the third, `line_sha256` binds the record to its line, contents
//! and all: with the log at hand, `foldline verify --source` compares. The
//! contents themselves stay where they are, so that a log can be deleted, as it may have to be, and
//! its trail still holds.
//!
//! An event whose line has no digest ([`Located::line_sha256`](crate::conversation::Located)) gets
//! one of its own, `event_sha256`: over the canonical form of `{"event":..,"data":..}`, as `foldline
//! replay --format events` prints it without `source`, numbers that no double holds as strings.
//! [`EventRecords::with_event_digests`] asks for it always, to pin what this version of the program made
//! of the log; that costs several times what everything else here does.
//!
//! # A trail and its ledger
//!
//! What is recorded beside a [ledger](crate::ledger), such as the database of `foldline ingest`, has to be what
//! the ledger holds: no record of an event that was not committed, none twice, and none missing. Such a trail
//! belongs to one ledger, which its first record names ([`AuditChain::of_ledger`]). The ledger commits the
//! records together with the rows of the same events; then they are appended to the file. So nothing ever has
//! to be removed from it, and a run that was killed in between is completed by the next one.
//!
//! `foldline ingest` refuses a trail of another ledger, and one that holds anything else than the ledger has
//! committed: more, when a copy of the database has gone on with it, or when an older database was restored;
//! less, when it was cut. If commits were made to the database without the trail, its next record is a `gap`.
//!
//! # Signatures
//!
//! With a private key (`foldline ingest --sign`), each commit ends with a signature of the head: of all
//! records up to there. `foldline verify --key` checks them with the public key. Anybody can, with a library for
//! Ed25519: what is signed is the canonical form of that record without its member `signature`.
//!
//! # What is found, and what is not
//!
//! | Somebody who can write to the trail | Found by |
//! | --- | --- |
//! | changes, removes, inserts or moves a record, or a byte | `verify` |
//! | does so, and makes all records after it anew | `verify --head`, `verify --key` |
//! | appends records | `verify --key`; the next `ingest` |
//! | cuts off the end, not at a signature | `verify --head`, `verify --key`; the next `ingest` |
//! | cuts off the end at a signature, or restores an older copy of the trail | `verify --head`; the next `ingest` |
//! | removes the trail, or replaces it by another one | `verify --head`, `verify --key`; the next `ingest` |
//! | sets back the trail and its database together | `verify --head` |
//! | changes the log that it was made from | `verify --source` |
//!
//! `--head` takes a head, the `hash` of a record, that was printed by an earlier `verify` and kept where they
//! cannot write. It shows that the trail still contains everything up to that record.
//!
//! Not found, by any of them:
//!
//! - what the owner of the private key makes anew, unless a head of before was kept elsewhere. Keep the key where
//!   those cannot read it who are audited, and where the trail is not. A key shows who signed, not when;
//! - a log that was changed before it was read, and what never was in a log. The trail says what the log said;
//! - which lines of the log cause no event, and what a version of the program did not understand of a line
//!   beyond the `unknown_event` and `unknown_field` warnings that it records;
//! - that records were lost which were never written: after a run without the trail there is a `gap`, but
//!   whoever can write to the database can take back its count of commits.
//!
//! A line of the log that causes no event (one that repeats another, a blank one) is in no record.

mod about;
mod canonical;
mod chain;
mod event_record;
mod event_records;
mod format;
mod record;
#[cfg(feature = "sign")]
mod sign;
mod signature;
mod trail;
mod verify;

#[cfg(feature = "sign")]
pub use self::sign::{KeyError, PublicKey, SigningKey};
pub use self::{
    canonical::{canonical_json, event_digest},
    chain::{AuditChain, Head},
    event_record::EventRecord,
    event_records::EventRecords,
    format::{MAX_LINE, MAX_SUMMARY, MAX_TEXT},
    signature::Signature,
    trail::{AuditTrail, AuditTrailState},
    verify::{About, BrokenRecord, Problem, Verified, Verifier, verify},
};
