//! [`Records`]: the decoder of agent logs.

use tracing::debug;

use super::{
    decode::{Damage, Decode},
    line::{Line, LineInputs},
};
use crate::{
    position::{Located, Position},
    wire::{Irregular, Record, TooLong, cursor::RecordCursor},
};

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
            Damage::TooLong { head, bytes, sha256 } => {
                Irregular::TooLong(TooLong { head, bytes, sha256 })
            }
        }))
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

/// Reads the records of a line.
///
/// Line breaks within a record that spans several lines become spaces, so that a copied part of the record is always
/// one line.
pub fn read_records(line: Line<'_>, mut each: impl FnMut(Located<Record<'_>>)) {
    let mut records = LineInputs::new(line);
    while let Some(record) = records.next(&Records) {
        each(record);
    }
}

/// The record that is the whole line, if it is an object.
pub(super) fn whole_object<'b>(line: &LineInputs<'b, RecordsRead>) -> Option<Located<Record<'b>>> {
    let (text, position) = line.verbatim()?;
    let (at, record) = RecordCursor::object(text)?;
    Some(Located::new(position(at), record))
}
