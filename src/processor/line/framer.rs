//! [`LineFramer`]: splits bytes, in chunks of any length, into lines with their positions.

use memchr::memchr_iter;
use sha2::{Digest as _, Sha256};

use super::{
    FramerState, Line,
    encoding::{Decoder, Encoding},
    joiner::Joiner,
    shortener::JsonShortener,
};
use crate::position::{Digest, Position};

/// Splits bytes into lines. The chunks may have any length.
///
/// A line ends with `\n` or `\r\n`, or with the input. A byte order mark at the start of the input is skipped, and
/// UTF-16 is decoded if the mark announces it. An object that spans several lines is returned as one line. A JSON object
/// longer than the limit is kept without the ends of its long strings, if that is short enough; of any other such line,
/// only the beginning is kept; both with the length and the digest of the line, so that memory is bounded.
#[derive(Clone, Debug)]
pub struct LineFramer {
    /// The beginning of an incomplete line, without a byte order mark.
    partial: Vec<u8>,
    /// That line is too long; `partial` is what is kept of it.
    overlong: Option<Overlong>,
    /// The number of bytes of that line so far.
    taken: u64,
    position: Position,
    encoding: Encoding,
    /// The length of the input's byte order mark.
    mark: u64,
    decoder: Decoder,
    /// `None` if lines are never joined.
    joiner: Option<Joiner>,
    max_line: usize,
    /// The previous line was passed on without its line end, which may still follow.
    unended: bool,
    /// The bytes since then, as long as they may be the beginning of that line end.
    line_end: Vec<u8>,
}

/// The default limit for the length of a line: 16 MiB.
pub const DEFAULT_MAX_LINE: usize = 16 << 20;

/// The number of bytes kept of a line that is too long.
pub(super) const HEAD: usize = 256;

impl Default for LineFramer {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_LINE)
    }
}

impl LineFramer {
    /// A framer that keeps lines of up to `max_line` bytes.
    pub fn new(max_line: usize) -> Self {
        Self::starting_at(Position { line: 1, offset: 0 }, max_line)
    }

    /// Continues at the beginning of the line at `position`. UTF-16 input can be continued by
    /// [`restore`](Self::restore) only.
    pub fn starting_at(position: Position, max_line: usize) -> Self {
        let encoding = if position.offset == 0 { Encoding::Unknown } else { Encoding::Utf8 };
        Self::restore(FramerState { position, encoding, unended: false }, max_line)
    }

    /// Continues from a stored state. The next bytes must be the bytes at its position.
    pub fn restore(state: FramerState, max_line: usize) -> Self {
        Self {
            partial: Vec::new(),
            overlong: None,
            taken: 0,
            position: state.position,
            encoding: state.encoding,
            mark: 0,
            decoder: Decoder::default(),
            joiner: Some(Joiner::default()),
            max_line: max_line.max(HEAD),
            unended: state.unended,
            line_end: Vec::new(),
        }
    }

    /// Sets whether a JSON object that spans several lines is returned as one line, which is the default.
    #[must_use]
    pub fn joining(mut self, joins: bool) -> Self {
        self.joiner = if joins { self.joiner.or_else(|| Some(Joiner::default())) } else { None };
        self
    }

    /// The state to store: everything before its position has been passed on.
    pub fn state(&self) -> FramerState {
        let position = self.position();
        let encoding = if position.offset == 0 { Encoding::Unknown } else { self.encoding };
        FramerState { position, encoding, unended: self.unended }
    }

    /// The position of the next line: everything before it has been passed on.
    pub fn position(&self) -> Position {
        self.joiner.as_ref().and_then(Joiner::begun).unwrap_or(self.position)
    }

    /// Whether the framer is at the beginning of a line that appears verbatim in the log and does not need framing:
    /// see [`pass`](Self::pass).
    pub(in crate::processor) fn is_between_lines(&self) -> bool {
        self.encoding == Encoding::Utf8
            && self.taken == 0
            && self.mark == 0
            && !self.unended
            && self.joiner.as_ref().and_then(Joiner::begun).is_none()
    }

    /// Continues after lines that were split elsewhere.
    pub(in crate::processor) fn pass(&mut self, to: FramerState) {
        self.position = to.position;
    }

    /// The limit for the length of a line.
    pub(in crate::processor) fn max_line(&self) -> usize {
        self.max_line
    }

    /// Pushes bytes, and passes on every completed line.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        let each: &mut dyn FnMut(Line<'_>) = &mut each;
        if self.unended {
            return self.push_line_end(bytes, each);
        }
        self.push_lines(bytes, each);
    }

    /// Consumes the line end of a line that was passed on without it.
    fn push_line_end(&mut self, bytes: &[u8], each: &mut dyn FnMut(Line<'_>)) {
        let mut begun = std::mem::take(&mut self.line_end);
        begun.extend_from_slice(bytes);
        let [short, long] = self.encoding.line_ends();
        let length = [short, long].iter().find(|end| begun.starts_with(end)).map(|end| end.len());
        if length.is_none() && long.starts_with(&begun) {
            self.line_end = begun;
            return;
        }
        self.unended = false;
        match length {
            Some(length) => self.position.offset += length as u64,
            // More text on a line that was assumed to be complete.
            None => self.position.line -= 1,
        }
        self.push_lines(&begun[length.unwrap_or(0)..], each);
    }

    fn push_lines(&mut self, bytes: &[u8], each: &mut dyn FnMut(Line<'_>)) {
        if self.encoding != Encoding::Unknown {
            return self.push_encoded(bytes, each);
        }
        let mut begun = std::mem::take(&mut self.partial);
        let bytes = if begun.is_empty() {
            bytes
        } else {
            begun.extend_from_slice(bytes);
            &*begun
        };
        let Some((encoding, mark)) = Encoding::of(bytes) else {
            self.partial = bytes.to_vec();
            return;
        };
        self.encoding = encoding;
        self.mark = mark as u64;
        self.taken = self.mark;
        self.push_encoded(&bytes[mark..], each);
    }

    fn push_encoded(&mut self, bytes: &[u8], each: &mut dyn FnMut(Line<'_>)) {
        if self.encoding == Encoding::Utf8 {
            self.push_utf8(bytes, each);
            return;
        }
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.decode(self.encoding, bytes, |text, taken, ends| {
            self.keep(text.as_bytes(), taken);
            if ends {
                self.complete(0, each);
            }
        });
        self.decoder = decoder;
    }

    fn push_utf8(&mut self, bytes: &[u8], each: &mut dyn FnMut(Line<'_>)) {
        let mut start = 0;
        for end in memchr_iter(b'\n', bytes) {
            let line = &bytes[start..end];
            start = end + 1;
            if self.taken == 0 && line.len() <= self.max_line {
                self.give_out(line, None, line.len() as u64 + 1, each);
            } else {
                self.keep(line, line.len() as u64);
                self.complete(1, each);
            }
        }
        let rest = &bytes[start..];
        self.keep(rest, rest.len() as u64);
    }

    /// The end of the input: passes on held lines, and the last line, if it has no line end.
    pub fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        let each: &mut dyn FnMut(Line<'_>) = &mut each;
        if !self.line_end.is_empty() {
            let begun = std::mem::take(&mut self.line_end);
            (self.unended, self.position.line) = (false, self.position.line - 1);
            self.push_lines(&begun, each);
        }
        if self.encoding == Encoding::Unknown {
            // Too short for a byte order mark.
            self.encoding = Encoding::Utf8;
            self.taken = self.partial.len() as u64;
        }
        if let Some((text, taken)) = std::mem::take(&mut self.decoder).finish() {
            self.keep(text.as_bytes(), taken);
        }
        if self.taken > 0 {
            self.complete(0, each);
            self.unended = true;
        }
        if let Some(joiner) = &mut self.joiner {
            joiner.finish(each);
        }
    }

    /// Restarts with another input.
    pub(in crate::processor) fn begin_again(&mut self) {
        *self = Self::new(self.max_line).joining(self.joiner.is_some());
    }

    fn keep(&mut self, bytes: &[u8], taken: u64) {
        self.taken += taken;
        if let Some(overlong) = &mut self.overlong {
            overlong.push(bytes, &mut self.partial, self.max_line);
        } else if bytes.len() <= self.max_line - self.partial.len().min(self.max_line) {
            self.partial.extend_from_slice(bytes);
        } else {
            let begun = std::mem::take(&mut self.partial);
            let first = begun.iter().chain(bytes).find(|byte| !byte.is_ascii_whitespace());
            let is_object = self.joiner.is_some() && first == Some(&b'{');
            let mut overlong = Overlong::new(is_object, self.max_line);
            overlong.push(&begun, &mut self.partial, self.max_line);
            overlong.push(bytes, &mut self.partial, self.max_line);
            self.overlong = Some(overlong);
        }
    }

    fn complete(&mut self, line_end: u64, each: &mut dyn FnMut(Line<'_>)) {
        let mut partial = std::mem::take(&mut self.partial);
        let overlong = self.overlong.take();
        let taken = std::mem::take(&mut self.taken) + line_end;
        self.give_out(&partial, overlong, taken, each);
        partial.clear();
        // Release the memory of a long line, so that it is not held for the rest of the log.
        partial.shrink_to(64 << 10);
        self.partial = partial;
    }

    fn give_out(
        &mut self,
        line: &[u8],
        overlong: Option<Overlong>,
        taken: u64,
        each: &mut dyn FnMut(Line<'_>),
    ) {
        let bytes = line.strip_suffix(b"\r").filter(|_| overlong.is_none()).unwrap_or(line);
        let mut position = self.position;
        position.offset += std::mem::take(&mut self.mark);
        self.position.line += 1;
        self.position.offset += taken;
        let is_shortened = overlong.as_ref().is_some_and(Overlong::is_shortened);
        let (skipped, sha256) = match overlong.map(Overlong::finish) {
            Some((length, sha256)) => (length.saturating_sub(bytes.len() as u64), Some(sha256)),
            None => (0, None),
        };
        let next = FramerState { position: self.position, encoding: self.encoding, unended: false };
        let frame = Line { position, bytes, skipped, is_shortened, sha256, lines: 1, next };
        match &mut self.joiner {
            Some(joiner) => joiner.push(frame, self.max_line, each),
            None => each(frame),
        }
    }
}

/// Measures a line and computes its digest, without the `\r` of its end.
#[derive(Clone, Debug)]
pub(super) struct Overlong {
    length: u64,
    hasher: Sha256,
    /// The last byte was `\r`, which may belong to the line's end.
    held: bool,
    /// What is left out; `None` if only the beginning is kept.
    shortener: Option<JsonShortener>,
}

/// The part of the longest line that a string in it may have, so that a line may have many of them.
const STRINGS: usize = 64;

impl Overlong {
    fn new(is_object: bool, max_line: usize) -> Self {
        let shortener = is_object.then(|| JsonShortener::new((max_line / STRINGS).max(HEAD)));
        Self { length: 0, hasher: Sha256::new(), held: false, shortener }
    }

    /// Whether what is kept is a whole JSON text.
    fn is_shortened(&self) -> bool {
        self.shortener.is_some()
    }

    /// Adds the next bytes, of which some are kept.
    fn push(&mut self, bytes: &[u8], kept: &mut Vec<u8>, max_line: usize) {
        self.measure(bytes);
        if let Some(shortener) = &mut self.shortener {
            shortener.push(bytes, kept);
            if kept.len() <= max_line {
                return;
            }
            // Too long all the same: only its beginning is kept, and the memory is released.
            self.shortener = None;
            kept.truncate(HEAD);
            kept.shrink_to(HEAD);
            return;
        }
        let more = HEAD.saturating_sub(kept.len()).min(bytes.len());
        kept.extend_from_slice(&bytes[..more]);
    }

    fn measure(&mut self, bytes: &[u8]) {
        let Some((last, before)) = bytes.split_last() else { return };
        if std::mem::take(&mut self.held) {
            self.add(b"\r");
        }
        self.held = *last == b'\r';
        self.add(if self.held { before } else { bytes });
    }

    /// The line's length in bytes, and its digest.
    pub(super) fn finish(self) -> (u64, Digest) {
        (self.length, Digest::from(<[u8; 32]>::from(self.hasher.finalize())))
    }

    fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.hasher.update(bytes);
    }
}
