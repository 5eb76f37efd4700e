//! [`Records`]: the decoder of agent logs.

use foldline::{
    position::Position,
    processor::{Damage, Decode},
};
use tracing::debug;

use crate::wire::{Irregular, Record, TooLong, cursor::RecordCursor};

/// Decodes the JSON [`Record`]s of agent logs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Records;

/// The progress within a line of [`Records`].
#[derive(Clone, Debug, Default)]
pub struct RecordsRead(RecordCursor);

impl Decode for Records {
    type Input<'a> = Record<'a>;
    type Cursor = RecordsRead;

    const JOINS_OBJECTS: bool = true;

    fn next<'a>(&self, cursor: &mut RecordsRead, line: &'a str) -> Option<(usize, Record<'a>)> {
        cursor.0.next(line)
    }

    fn peek(&self, cursor: &RecordsRead, line: &str) -> Option<usize> {
        cursor.0.peek(line)
    }

    fn damage<'a>(&self, damage: Damage<'a>) -> Option<Record<'a>> {
        Some(Record::Irregular(match damage {
            Damage::InvalidUtf8 { at } => Irregular::InvalidUtf8 { at },
            Damage::Shortened { bytes, sha256 } => Irregular::Shortened { bytes, sha256 },
            Damage::TooLong { head, bytes, sha256 } => {
                Irregular::TooLong(TooLong { head, bytes, sha256 })
            }
        }))
    }

    fn whole<'a>(&self, line: &'a str) -> Option<(usize, Record<'a>)> {
        RecordCursor::object(line)
    }

    fn is_whole(&self, record: &Record<'_>) -> bool {
        matches!(record, Record::Object(_))
    }

    fn note(&self, record: &Record<'_>, Position { line, offset }: Position) {
        if let Record::Irregular(irregular) = record {
            debug!(line, offset, %irregular, "not a record");
        }
    }
}
