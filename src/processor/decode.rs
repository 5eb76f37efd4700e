//! [`Decode`]: the decoder of a log's lines; [`TextLines`]: plain text.

use std::fmt;

use crate::{
    position::{Digest, Located, Position},
    transduce::Reducer,
};

/// Damage of a line, whose text differs from the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage<'a> {
    /// The following line is not UTF-8; the invalid bytes were replaced by U+FFFD.
    InvalidUtf8 {
        /// The first invalid byte of the line, counted from 0.
        at: usize,
    },
    /// The following line exceeds the limit; the ends of its long strings were left out.
    Shortened {
        /// Its length in bytes, without the line end.
        bytes: u64,
        /// The SHA-256 digest of these bytes, if the framer computed it.
        sha256: Option<Digest>,
    },
    /// The line exceeds the limit, or is binary; only its beginning was kept.
    TooLong {
        /// Its beginning.
        head: &'a str,
        /// Its length in bytes, without the line end.
        bytes: u64,
        /// The SHA-256 digest of these bytes, if the framer computed it.
        sha256: Option<Digest>,
    },
}

/// Splits the text of a line into the inputs of a reducer.
///
/// ```
/// use foldline::processor::{Damage, Decode};
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
///     fn damage(&self, _: Damage<'_>) -> Option<u32> {
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
    /// An input, which may borrow from the line.
    type Input<'a>;

    /// The progress within a line; the default is its beginning. It borrows nothing, so that reading can pause.
    type Cursor: Clone + fmt::Debug + Default;

    /// Whether a JSON object that spans several lines is read as one line.
    const JOINS_OBJECTS: bool = false;

    /// The next input of a line, and its offset in the line.
    fn next<'a>(
        &self,
        cursor: &mut Self::Cursor,
        line: &'a str,
    ) -> Option<(usize, Self::Input<'a>)>;

    /// The offset of the next input; `None` at the end of the line.
    fn peek(&self, cursor: &Self::Cursor, line: &str) -> Option<usize>;

    /// The input that reports a damaged line; `None` if the damage is ignored. A line that is [not
    /// UTF-8](Damage::InvalidUtf8) follows, repaired, and one that was [shortened](Damage::Shortened) as well; nothing
    /// follows for a line that is [too long](Damage::TooLong).
    fn damage<'a>(&self, damage: Damage<'a>) -> Option<Self::Input<'a>>;

    /// The input that is the whole line, and its offset; `None` if that cannot be known without reading the line from
    /// its beginning. Such lines can be [parsed ahead](super::ParseAhead) of their turn.
    fn whole<'a>(&self, line: &'a str) -> Option<(usize, Self::Input<'a>)> {
        let _ = line;
        None
    }

    /// Whether an input is certainly complete, although its line has no end yet.
    fn is_whole(&self, input: &Self::Input<'_>) -> bool {
        let _ = input;
        false
    }

    /// Traces oddities of an input in the program's own log.
    fn note(&self, input: &Self::Input<'_>, at: Position) {
        let _ = (input, at);
    }
}

/// A reducer of the inputs that `D` decodes from lines, for any lifetime. Every matching [`Reducer`] implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not reduce the inputs of `{D}` to events `{E}`",
    note = "its input is `Located<..>`, for every lifetime: `locating(reducer)` adapts another reducer",
    note = "`D` is the decoder that the `Processor` was made with, such as `TextLines`"
)]
pub trait Reads<D: Decode, S, E>: for<'a> Reducer<Located<D::Input<'a>>, S, E> {}

impl<D: Decode, S, E, R> Reads<D, S, E> for R where R: for<'a> Reducer<Located<D::Input<'a>>, S, E> {}

/// Lines of text; blank lines are skipped. Invalid UTF-8 is replaced by U+FFFD, and only the beginning of a line that
/// is too long is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextLines;

impl Decode for TextLines {
    type Input<'a> = &'a str;
    /// Whether the line was read.
    type Cursor = bool;

    fn next<'a>(&self, is_read: &mut bool, line: &'a str) -> Option<(usize, &'a str)> {
        let at = self.peek(is_read, line)?;
        *is_read = true;
        Some((at, line))
    }

    fn peek(&self, is_read: &bool, line: &str) -> Option<usize> {
        (!is_read && !line.trim_ascii().is_empty()).then_some(0)
    }

    fn damage<'a>(&self, damage: Damage<'a>) -> Option<&'a str> {
        match damage {
            Damage::TooLong { head, .. } => Some(head),
            Damage::InvalidUtf8 { .. } | Damage::Shortened { .. } => None,
        }
    }
}
