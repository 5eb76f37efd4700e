//! [`Decode`]: what the lines of a log are made of. [`Records`] of JSON, or [`TextLines`].

use std::fmt;

use tracing::debug;

use crate::{
    conversation::{Located, Position},
    transduce::Reducer,
    wire::{Irregular, Record, TooLong, cursor::RecordCursor},
};

/// Splits the text of a line into the inputs of a reducer.
///
/// ```
/// use foldline::{conversation::Position, processor::Decode, wire::Irregular};
///
/// /// The numbers of a line.
/// struct Numbers;
///
/// impl Decode for Numbers {
///     type Input<'a> = u32;
///     type Cursor = usize;
///
///     fn next<'a>(&self, read: &mut usize, line: &'a str) -> Option<(usize, u32)> {
///         let at = self.peek(read, line)?;
///         let word = line[at..].split(' ').next()?;
///         *read = at + word.len();
///         Some((at, word.parse().unwrap_or_default()))
///     }
///
///     fn peek(&self, read: &usize, line: &str) -> Option<usize> {
///         Some(read + line[*read..].find(|c| c != ' ')?)
///     }
///
///     fn irregular(&self, _: Irregular<'_>) -> Option<u32> {
///         None
///     }
/// }
///
/// let (mut read, line) = (0, "7  12");
/// assert_eq!(Numbers.next(&mut read, line), Some((0, 7)));
/// assert_eq!(Numbers.next(&mut read, line), Some((3, 12)));
/// assert_eq!(Numbers.next(&mut read, line), None);
/// ```
pub trait Decode {
    /// An input, which may borrow from its line.
    type Input<'a>;

    /// How much of a line was read; the default is nothing. It borrows nothing, so that reading can pause.
    type Cursor: Clone + fmt::Debug + Default;

    /// Whether an object of JSON over several lines is read as one line.
    const JOINS_OBJECTS: bool = false;

    /// The next input of a line, and the byte of the line at which it begins.
    fn next<'a>(
        &self,
        cursor: &mut Self::Cursor,
        line: &'a str,
    ) -> Option<(usize, Self::Input<'a>)>;

    /// Where the next input begins; `None` at the end of the line.
    fn peek(&self, cursor: &Self::Cursor, line: &str) -> Option<usize>;

    /// What says that the line which follows is [not UTF-8](Irregular::InvalidUtf8), or stands for one that is
    /// [too long](Irregular::TooLong); `None` if that is passed over.
    fn irregular<'a>(&self, irregular: Irregular<'a>) -> Option<Self::Input<'a>>;

    /// Whether an input is sure to be whole, although its line has no end yet.
    fn is_whole(&self, input: &Self::Input<'_>) -> bool {
        let _ = input;
        false
    }

    /// Says in the program's own log what is odd about an input.
    fn note(&self, input: &Self::Input<'_>, at: Position) {
        let _ = (input, at);
    }
}

/// A reducer of what `D` makes of lines, for inputs of any lifetime. Every such [`Reducer`] is one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not reduce what `{D}` makes of a line, to events `{E}`",
    note = "its input is `Located<..>`, for every lifetime: `locating(reducer)` makes such a reducer of another",
    note = "a `Processor` reads `Records` unless it is told otherwise: `Processor::of(TextLines, ..)`"
)]
pub trait Reads<D: Decode, S, E>: for<'a> Reducer<Located<D::Input<'a>>, S, E> {}

impl<D: Decode, S, E, R> Reads<D, S, E> for R where R: for<'a> Reducer<Located<D::Input<'a>>, S, E> {}

/// The JSON records of the logs of agents: [`Record`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Records;

/// How much of a line of [`Records`] was read.
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

    fn irregular<'a>(&self, irregular: Irregular<'a>) -> Option<Record<'a>> {
        Some(Record::Irregular(irregular))
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

/// Lines of text, of which those without content are passed over. What is not UTF-8 is replaced by U+FFFD, and
/// of a line that is too long the beginning is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextLines;

impl Decode for TextLines {
    type Input<'a> = &'a str;
    /// Whether it was read.
    type Cursor = bool;

    fn next<'a>(&self, is_read: &mut bool, line: &'a str) -> Option<(usize, &'a str)> {
        let at = self.peek(is_read, line)?;
        *is_read = true;
        Some((at, line))
    }

    fn peek(&self, is_read: &bool, line: &str) -> Option<usize> {
        (!is_read && !line.trim_ascii().is_empty()).then_some(0)
    }

    fn irregular<'a>(&self, irregular: Irregular<'a>) -> Option<&'a str> {
        match irregular {
            Irregular::TooLong(TooLong { head, .. }) => Some(head),
            _ => None,
        }
    }
}
