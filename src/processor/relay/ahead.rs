//! [`Ahead`]: the lines of a chunk, parsed ahead of their turn.

use memchr::memchr_iter;

use super::parse::ParseAhead;
use crate::processor::{
    Processor,
    decode::{Decode, Reads},
    drive::{OpenLine, Stage, reducing},
    line::{Encoding, FramerState, Line, is_open_ended, shift},
};
use crate::{
    position::{Located, Position},
    transduce::Reducer,
};

/// The maximum number of parsed lines of a chunk: a parsed input takes many times the memory of a short line.
const LINES: usize = 1 << 11;

/// The assumed minimum length of a line, used to size the list.
const SHORT: usize = 256;

/// The lines at the beginning of a chunk that can be parsed independently of the preceding data. Positions are
/// relative to the chunk.
#[derive(Debug)]
pub(super) struct Ahead<'b, In, C> {
    bytes: &'b [u8],
    lines: Vec<AheadLine<'b, In, C>>,
    /// The rest of the chunk.
    rest: &'b [u8],
}

#[derive(Debug)]
enum AheadLine<'b, In, C> {
    /// The line is a single input.
    Whole { input: Located<In>, next: FramerState },
    /// Any other line, which is rare.
    Other(Box<OpenLine<'b, C>>),
}

impl<'b, In, C: Default> Ahead<'b, In, C> {
    /// Splits a chunk that begins with a line, and parses the inputs.
    pub(super) fn of<A, D>(
        ahead: &'b A,
        decoder: &D,
        bytes: &'b [u8],
        max_line: usize,
        hashes_lines: bool,
    ) -> Self
    where
        A: ParseAhead<D, Parsed<'b> = In>,
        D: Decode<Cursor = C>,
    {
        let at = |line, offset: usize| FramerState {
            position: Position { line, offset: offset as u64 },
            encoding: Encoding::Utf8,
            unended: false,
        };
        let mut lines = Vec::with_capacity(LINES.min(bytes.len() / SHORT));
        let (mut begin, mut start) = (at(0, 0), 0);
        for (number, end) in (1..).zip(memchr_iter(b'\n', bytes).take(LINES)) {
            let line = &bytes[start..end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            // The framer may have to join this line with the following ones.
            if end - start > max_line || is_open_ended(line) {
                break;
            }
            let (position, next) = (begin.position, at(number, end + 1));
            let line = Line {
                position,
                bytes: line,
                skipped: 0,
                is_shortened: false,
                sha256: None,
                lines: 1,
                next,
            };
            let line = OpenLine::new(line, begin, hashes_lines);
            lines.push(match line.whole(decoder) {
                Some(Located { position, line_sha256, session, item }) => {
                    let item = ahead.parse_ahead(item);
                    let input = Located { position, line_sha256, session, item };
                    AheadLine::Whole { input, next }
                }
                None => AheadLine::Other(Box::new(line)),
            });
            (begin, start) = (next, end + 1);
        }
        Self { bytes, lines, rest: &bytes[start..] }
    }
}

impl<R, S, M, D: Decode> Processor<R, S, M, D> {
    /// Reduces the lines of a chunk, like [`push`](Self::push): `ahead` reduces parsed inputs.
    pub(super) fn push_ahead<In, Event>(
        &mut self,
        ahead: &impl Reducer<Located<In>, S, Located<Event>>,
        chunk: Ahead<'_, In, D::Cursor>,
        mut each: impl FnMut(Located<Event>),
    ) where
        R: Reads<D, S, Located<Event>>,
    {
        let Ahead { bytes, lines, rest } = chunk;
        let Self { framer, drive } = self;
        let is_plain = framer.is_between_lines() && !drive.pauses;
        // In any other state, the parsed inputs are discarded.
        if !(is_plain && matches!(drive.stage, Stage::Reading(None))) {
            return self.push_bytes(bytes, &mut reducing(each));
        }
        let before = framer.position();
        for line in lines {
            match line {
                AheadLine::Whole { mut input, mut next } => {
                    shift(&mut input.position, before);
                    shift(&mut next.position, before);
                    framer.pass(next);
                    let events = drive.transducer.reduce(|_, state| ahead.reduce(state, input));
                    events.drain_with(&mut each);
                    drive.was_reduced(next, &reducing(&mut each));
                }
                AheadLine::Other(mut line) => {
                    line.shift(before);
                    framer.pass(line.next());
                    drive.take_open(*line, &mut reducing(&mut each));
                }
            }
            if drive.is_done() {
                return;
            }
        }
        self.push_bytes(rest, &mut reducing(each));
    }
}
