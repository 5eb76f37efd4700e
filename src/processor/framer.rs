//! [`LineFramer`]: from bytes, cut anywhere, to lines with their positions.

use memchr::memchr_iter;

use crate::conversation::Source;

/// Cuts bytes into lines, however the bytes themselves are cut.
///
/// A line ends with `\n` or `\r\n`, or with the input. A byte order mark at the start of the input is
/// skipped. Of a line longer than the limit only the beginning is kept: memory stays bounded whatever
/// comes.
#[derive(Clone, Debug)]
pub struct LineFramer {
    /// The beginning of a line whose end has not come yet.
    partial: Vec<u8>,
    /// How many bytes of that line were not kept.
    skipped: u64,
    /// Where that line stands.
    source: Source,
    max_line: usize,
}

/// A line as it stands in the log, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'b> {
    /// Where it stands: `offset` is that of its first byte.
    pub source: Source,
    /// Its bytes; of a line that is too long, only the beginning.
    pub bytes: &'b [u8],
    /// How many more bytes the line has, which were not kept.
    pub skipped: u64,
}

/// The longest line that is kept, unless another limit is given: 64 MiB.
pub const DEFAULT_MAX_LINE: usize = 64 << 20;

/// How much is kept of a line that is too long.
const HEAD: usize = 256;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl Default for LineFramer {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_LINE)
    }
}

impl LineFramer {
    /// Keeps lines of up to `max_line` bytes whole.
    pub fn new(max_line: usize) -> Self {
        Self::starting_at(Source { line: 1, offset: 0 }, max_line)
    }

    /// Goes on at the beginning of the line at `source`.
    pub fn starting_at(source: Source, max_line: usize) -> Self {
        Self { partial: Vec::new(), skipped: 0, source, max_line: max_line.max(HEAD) }
    }

    /// Where the next line begins: everything before it has been given out.
    pub fn position(&self) -> Source {
        self.source
    }

    /// Takes more bytes, and gives out every line that they complete.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Frame<'_>)) {
        let mut start = 0;
        for end in memchr_iter(b'\n', bytes) {
            let line = &bytes[start..end];
            start = end + 1;
            if self.partial.is_empty() && line.len() <= self.max_line {
                self.give_out(line, 0, line.len() as u64 + 1, &mut each);
            } else {
                self.keep(line);
                self.complete(1, &mut each);
            }
        }
        self.keep(&bytes[start..]);
    }

    /// The input ends: gives out the last line, if it has no line end of its own.
    pub fn finish(&mut self, mut each: impl FnMut(Frame<'_>)) {
        if !self.partial.is_empty() {
            self.complete(0, &mut each);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.max_line - self.partial.len().min(self.max_line);
        if self.skipped == 0 && bytes.len() <= room {
            self.partial.extend_from_slice(bytes);
            return;
        }
        // Too long: only its beginning stays, and the memory it took is given back.
        let head = HEAD - self.partial.len().min(HEAD);
        self.partial.extend_from_slice(&bytes[..bytes.len().min(head)]);
        let length = self.skipped + (self.partial.len() + bytes.len()) as u64;
        let length = length - bytes.len().min(head) as u64;
        self.partial.truncate(HEAD);
        self.partial.shrink_to(HEAD);
        self.skipped = length - self.partial.len() as u64;
    }

    fn complete(&mut self, line_end: u64, each: &mut impl FnMut(Frame<'_>)) {
        let mut partial = std::mem::take(&mut self.partial);
        let skipped = std::mem::take(&mut self.skipped);
        let length = partial.len() as u64 + skipped + line_end;
        self.give_out(&partial, skipped, length, each);
        partial.clear();
        self.partial = partial;
    }

    fn give_out(
        &mut self,
        line: &[u8],
        skipped: u64,
        length: u64,
        each: &mut impl FnMut(Frame<'_>),
    ) {
        let mut source = self.source;
        let mut bytes = line;
        if source.offset == 0
            && let Some(rest) = bytes.strip_prefix(BYTE_ORDER_MARK)
        {
            bytes = rest;
            source.offset = BYTE_ORDER_MARK.len() as u64;
        }
        bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        self.source.line += 1;
        self.source.offset += length;
        each(Frame { source, bytes, skipped });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(framer: &mut LineFramer, chunks: &[&[u8]]) -> Vec<(u64, u64, String, u64)> {
        let mut lines = Vec::new();
        let mut each = |frame: Frame<'_>| {
            let text = String::from_utf8_lossy(frame.bytes).into_owned();
            lines.push((frame.source.line, frame.source.offset, text, frame.skipped));
        };
        for chunk in chunks {
            framer.push(chunk, &mut each);
        }
        framer.finish(&mut each);
        lines
    }

    #[test]
    fn lines_know_where_they_stand() {
        let mut framer = LineFramer::default();
        assert_eq!(
            lines(&mut framer, &[b"\xEF\xBB\xBFa\r\n\nb", b"c\nlast"]),
            [
                (1, 3, "a".into(), 0),
                (2, 6, String::new(), 0),
                (3, 7, "bc".into(), 0),
                (4, 10, "last".into(), 0)
            ]
        );
        assert_eq!(framer.position(), Source { line: 5, offset: 14 });
    }

    #[test]
    fn of_a_line_that_is_too_long_the_beginning_is_kept() {
        let long = "x".repeat(1000);
        let input = format!("{long}\nnext\n");
        for size in [1, 7, 255, 256, 257, 2000] {
            let chunks: Vec<_> = input.as_bytes().chunks(size).collect();
            let mut framer = LineFramer::new(300);
            let lines = lines(&mut framer, &chunks);
            assert_eq!(lines[1], (2, 1001, "next".into(), 0), "in chunks of {size}");
            assert_eq!(lines[0].2.len() as u64 + lines[0].3, 1000, "in chunks of {size}");
            assert_eq!(lines[0].2.len(), 256, "in chunks of {size}");
        }
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_bytes_are_cut(
            input in "[a-c\n\r\u{FEFF}]{0,600}",
            cuts in prop::collection::vec(0usize..600, 0..8),
        ) {
            let bytes = input.as_bytes();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut start = 0;
            for cut in cuts {
                chunks.push(&bytes[start..cut]);
                start = cut;
            }
            chunks.push(&bytes[start..]);
            let whole = lines(&mut LineFramer::new(300), &[bytes]);
            prop_assert_eq!(lines(&mut LineFramer::new(300), &chunks), whole);
        }
    }
}
