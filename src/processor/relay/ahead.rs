//! [`Ahead`]: the lines of a chunk, parsed ahead of their turn.

use memchr::memchr_iter;

use crate::processor::{
    Processor,
    decode::Reads,
    drive::{OpenLine, Stage, reducing},
    line::{Encoding, FramerState, Line, is_open_ended, shift},
    records::{Records, RecordsRead},
};
use crate::{
    conversation::DomainEvent,
    position::{Located, Position},
    transduce::Reducer,
    wire::ParseAhead,
};

/// The maximum number of parsed lines of a chunk: a parsed record takes many times the memory of a short line.
const LINES: usize = 1 << 11;

/// The assumed minimum length of a line, used to size the list.
const SHORT: usize = 256;

/// The lines at the beginning of a chunk that can be parsed independently of the preceding data. Positions are
/// relative to the chunk.
#[derive(Debug)]
pub(super) struct Ahead<'b, In> {
    bytes: &'b [u8],
    lines: Vec<AheadLine<'b, In>>,
    /// The rest of the chunk.
    rest: &'b [u8],
}

#[derive(Debug)]
enum AheadLine<'b, In> {
    /// The line is a single object.
    Object { record: Located<In>, next: FramerState },
    /// Any other line, which is rare.
    Other(Box<OpenLine<'b, RecordsRead>>),
}

impl<'b, In> Ahead<'b, In> {
    /// Splits a chunk that begins with a line, and parses the records.
    pub(super) fn of<A>(ahead: &'b A, bytes: &'b [u8], max_line: usize, hashes_lines: bool) -> Self
    where
        A: ParseAhead<Parsed<'b> = In>,
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
            let line = Line { position, bytes: line, skipped: 0, sha256: None, lines: 1, next };
            let line = OpenLine::new(line, begin, hashes_lines);
            lines.push(match line.object() {
                Some(Located { position, line_sha256, session, item }) => {
                    let item = ahead.parse_ahead(item);
                    let record = Located { position, line_sha256, session, item };
                    AheadLine::Object { record, next }
                }
                None => AheadLine::Other(Box::new(line)),
            });
            (begin, start) = (next, end + 1);
        }
        Self { bytes, lines, rest: &bytes[start..] }
    }
}

impl<R, S, M> Processor<R, S, M> {
    /// Reduces the lines of a chunk, like [`push`](Self::push): `ahead` reduces parsed records.
    pub(super) fn push_ahead<In>(
        &mut self,
        ahead: &impl Reducer<Located<In>, S, Located<DomainEvent>>,
        chunk: Ahead<'_, In>,
        mut each: impl FnMut(Located<DomainEvent>),
    ) where
        R: Reads<Records, S, Located<DomainEvent>>,
    {
        let Ahead { bytes, lines, rest } = chunk;
        let Self { framer, drive } = self;
        let is_plain = framer.is_between_lines() && drive.limit.is_none();
        // In any other state, the parsed records are discarded.
        if !(is_plain && matches!(drive.stage, Stage::Reading(None))) {
            return self.push_bytes(bytes, &mut reducing(each));
        }
        let before = framer.position();
        for line in lines {
            match line {
                AheadLine::Object { mut record, mut next } => {
                    shift(&mut record.position, before);
                    shift(&mut next.position, before);
                    framer.pass(next);
                    let events = drive.transducer.reduce(|_, state| ahead.reduce(state, record));
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
