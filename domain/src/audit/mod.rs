//! An audit trail: one record for every event, each linked to the previous one.
//!
//! [`AuditTrail`] is an emitter that converts events into lines. [`verify`] finds the first record that was changed,
//! removed, inserted or moved.
//!
//! # The file
//!
//! JSON Lines in UTF-8. Every line ends with `\n` and is exactly the canonical form (RFC 8785) of
//!
//! ```json
//! {"hash":"<SHA-256 of the canonical form of record>","record":{ ... }}
//! ```
//!
//! so that no byte can differ: neither white space nor escapes. The members of the `record` of an event, omitted if
//! there is no value:
//!
//! | Member | Meaning |
//! | --- | --- |
//! | `v` | The version of this format: 2. Version 1 has only records of events |
//! | `seq` | 1, 2, 3, ... without gaps |
//! | `prev` | The `hash` of the previous record; 64 zeros in the first |
//! | `log`, `line`, `offset` | The log and the position of the record that caused the event: line from 1, byte from 0 |
//! | `line_sha256` | SHA-256 of the bytes of that line in the log, without its line end (`\n` or `\r\n`), and without the byte order mark of the log |
//! | `event_sha256` | SHA-256 of the whole event, see below |
//! | `session`, `task` | The agent's session, and the task assigned by the operator of the trail |
//! | `at` | The time of the event, in milliseconds since 1970, if the log states it |
//! | `event` | The kind of the event: `new_entry`, `new_tool_call`, `usage`, ... |
//! | `entry`, `corr_id`, `tool`, `action`, `status` | The type of the entry; of a tool call its id, tool, action and status |
//! | `warning` | The kind of a warning |
//! | `summary` | The first [`MAX_SUMMARY`] bytes of the message, the command, the path, ... |
//!
//! Some records are about the trail itself. They have `v`, `seq` and `prev`, and these members:
//!
//! | `event` | Members |
//! | --- | --- |
//! | `trail` | The first record of a trail that belongs to a ledger. `ledger` and `trail` are their random identities; `commits` is the number of earlier commits of the ledger |
//! | `gap` | Of the ledger's `commits` commits so far, those after the first `after` are not in the trail |
//! | `signature` | A signature of all records up to here: `signature` and the public `key` are Ed25519 (RFC 8032), in hexadecimal digits; `commits` is the number of the ledger's commits including them |
//!
//! Texts of the log other than `summary`, such as ids, are truncated to [`MAX_TEXT`] bytes, so that no line is longer
//! than [`MAX_LINE`]: a longer line is not a record, and is not read into memory.
//!
//! An integer beyond ±(2^53 - 1) is written as a string of its digits: numbers of RFC 8785 are IEEE doubles, which
//! cannot represent it.
//!
//! # Why not the whole event
//!
//! An auditor asks what the agent did, in which order, and whether the log said so. The record answers the first two.
//! For the third, `line_sha256` links the record to its line, including all contents: if the log is available,
//! `foldline verify --source` compares them. The contents themselves stay in the log, so that a log can be deleted,
//! as may be required, and its trail remains valid.
//!
//! An event whose line has no digest ([`Located::line_sha256`](crate::conversation::Located)) gets a separate one,
//! `event_sha256`: of the canonical form of `{"event":..,"data":..}`, as printed by `foldline replay --format events`
//! without `source`, with numbers that no double represents as strings. [`EventRecords::with_event_digests`] always
//! adds it, to record how this version of the program interpreted the log; that costs several times as much as all
//! other work here.
//!
//! # A trail and its ledger
//!
//! A trail that accompanies a [ledger](foldline::ledger), such as the database of `foldline ingest`, must match the
//! ledger: no record of an uncommitted event, no duplicate, and no missing record. Such a trail belongs to one
//! ledger, which its first record names ([`AuditChain::of_ledger`]). The ledger commits the records together with the
//! rows of the same events; afterwards they are appended to the file. Nothing ever has to be removed from the file,
//! and the next run completes a run that was killed in between.
//!
//! `foldline ingest` refuses a trail of another ledger, and a trail that differs from what the ledger has committed:
//! one with more records, because a copy of the database continued it or an older database was restored; or one with
//! fewer, because it was truncated. If commits were made to the database without the trail, its next record is a
//! `gap`.
//!
//! # Signatures
//!
//! With a private key (`foldline ingest --sign`), each commit ends with a signature of the head, and thereby of all
//! records up to there. `foldline verify` checks each signature with the public key in its record, and with `--key`
//! whether that key is one of the given keys. So can any other program with an Ed25519 library: the signed message is
//! the canonical form of that record without its member `signature`.
//!
//! A trail may change its key. Each key signs one range of the trail, from its first to its last signature: a key that
//! was succeeded by another one may not sign again, and the last signature is of the last key. `verify` takes the keys
//! in that order. Otherwise the owner of a key that is no longer in use could sign the whole trail again.
//!
//! # What is found, and what is not
//!
//! | An attacker with write access to the trail | Detected by |
//! | --- | --- |
//! | changes, removes, inserts or moves a record, or a byte | `verify` |
//! | does so, and regenerates all later records | `verify --head`, `verify --key` |
//! | changes a signature, or what it signs | `verify` |
//! | appends records | `verify --key`; the next `ingest` |
//! | truncates the end, not at a signature | `verify --head`, `verify --key`; the next `ingest` |
//! | truncates the end at a signature, or restores an older copy of the trail | `verify --head`; the next `ingest` |
//! | removes the trail, or replaces it by another one | `verify --head`, `verify --key`; the next `ingest` |
//! | resets the trail and its database together | `verify --head` |
//! | changes the original log, or adds a line to it that no run has read | `verify --source` |
//!
//! `--head` takes a head, the `hash` of a record, that was printed by an earlier `verify` and kept out of the
//! attacker's reach. It proves that the trail still contains everything up to that record.
//!
//! None of them detects:
//!
//! - records that the owner of the private key regenerates, unless an earlier head was kept elsewhere. Keep the key
//!   where the audited users cannot read it, and away from the trail. A key proves who signed, not when;
//! - a log that was changed before it was read, and actions that never were in a log. The trail reports what the log
//!   said;
//! - which parts of a line a version of the program did not interpret, beyond the `unknown_event` and `unknown_field`
//!   warnings that it records;
//! - missing records that were never written: a run without the trail leaves a `gap`, but an attacker with write
//!   access to the database can reset its count of commits.
//!
//! A line of the log that causes no event (a repetition, a blank line) is in no record. `verify --source` therefore
//! reads the log again, and names the lines that do cause an event and have no record, such as those that were read
//! without the trail or not at all. A later version of the program may find an event in a line in which the version
//! that made the trail did not.

mod chain;
mod event_record;
mod record;
mod sign;
mod verify;

pub use self::sign::{KeyError, PublicKey, SigningKey};
pub use self::{
    chain::{AuditChain, AuditTrail, AuditTrailState, Head},
    event_record::{EventRecord, EventRecords},
    record::{MAX_LINE, MAX_SUMMARY, MAX_TEXT, canonical_json, event_digest},
    sign::Signature,
    verify::{About, BrokenRecord, Problem, Verified, Verifier, verify},
};
