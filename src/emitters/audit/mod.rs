//! An audit trail: one record for every event, each bound to the one before it.
//!
//! [`AuditChain`] is the pure core: an event in, a line out. [`AuditFile`] appends the lines to a file,
//! and [`verify`] finds the first record that was changed, removed, inserted or moved.
//!
//! # The file
//!
//! JSON Lines in UTF-8. Every line ends with `\n` and is exactly the canonical form (RFC 8785) of
//!
//! ```json
//! {"hash":"<SHA-256 of the canonical form of record>","record":{ ... }}
//! ```
//!
//! so that no byte of it can be another one: not a space, not an escape. The members of `record`,
//! absent where there is nothing to say:
//!
//! | Member | What |
//! | --- | --- |
//! | `v` | The version of this format: 1 |
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
//! [`AuditChain::with_event_digests`] asks for it always, to pin what this version of the program made
//! of the log; that costs several times what everything else here does.
//!
//! # What it shows, and what not
//!
//! A record cannot be changed, removed, inserted or moved without the records after it showing it. Two
//! things a chain alone cannot show: that its end was cut off, and that somebody made it all anew from
//! some record on. Both show when the head, the `hash` of the last record, was kept elsewhere:
//! `foldline verify --head`.
//!
//! A line of the log that causes no event (one that repeats another, a blank one) is in no record.

mod canonical;
mod chain;
mod file;
mod record;
mod verify;

pub use self::{
    canonical::{canonical_json, event_digest},
    chain::{AuditChain, Head},
    file::{AuditCheckpoint, AuditError, AuditFile, SyncPolicy},
    record::MAX_SUMMARY,
    verify::{BrokenRecord, Problem, Verified, Verifier, verify},
};
