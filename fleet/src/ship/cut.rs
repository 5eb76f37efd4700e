//! [`Cutter`]: cuts a log into pieces.

use foldline::source::{Follow, SourceError};

use super::mask::{Masking, cover};

/// Larger buffers, left by a long line, are released: most lines are short.
const KEPT: usize = 64 << 10;

/// The block size for reading backwards to the beginning of a line.
const BACK: usize = 64 << 10;

/// Cuts the bytes of a log into lines with their line ends, and splits lines that exceed the size of a message. Bytes
/// are not changed, unless secrets are masked.
#[derive(Debug)]
pub(super) struct Cutter {
    max: usize,
    /// The beginning of a line whose end was not read yet.
    held: Vec<u8>,
    /// The masking of secrets, if enabled.
    masking: Option<Masking>,
}

impl Cutter {
    pub(super) fn new(max: usize, masking: Option<Masking>) -> Self {
        Self { max, held: Vec::new(), masking }
    }

    /// The number of held bytes, whose line may continue.
    pub(super) fn held(&self) -> u64 {
        self.held.len() as u64
    }

    /// Takes the next bytes, and passes each piece to `give` as soon as it is complete, until `give` fails. Then
    /// reading must resume after the last piece that `give` accepted.
    pub(super) fn push<E>(
        &mut self,
        mut bytes: &[u8],
        mut give: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.masking.is_some() {
            return self.push_masked(bytes, give);
        }
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            let (line, rest) = bytes.split_at(end + 1);
            if self.held.is_empty() {
                line.chunks(self.max).try_for_each(&mut give)?;
            } else {
                self.held.extend_from_slice(line);
                self.release(&mut give)?;
            }
            bytes = rest;
        }
        self.held.extend_from_slice(bytes);
        // The parts of a line whose length does not depend on the position of its line end.
        let whole = self.held.len().saturating_sub(1) / self.max * self.max;
        let held = std::mem::take(&mut self.held);
        held[..whole].chunks(self.max).try_for_each(give)?;
        self.held = held;
        self.held.drain(..whole);
        Ok(())
    }

    /// Passes on the held bytes: the line has ended.
    pub(super) fn release<E>(
        &mut self,
        mut give: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut held = std::mem::take(&mut self.held);
        let sent = self.masking.as_mut().map_or(0, |masking| masking.line(&mut held));
        held.get(sent..).unwrap_or_default().chunks(self.max).try_for_each(&mut give)?;
        if held.capacity() <= KEPT {
            self.held = held;
            self.held.clear();
        }
        Ok(())
    }

    /// [`push`](Self::push) with masking of secrets.
    fn push_masked<E>(
        &mut self,
        bytes: &[u8],
        mut give: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.held.extend_from_slice(part);
            let held = self.held.len();
            let Some(masking) = &mut self.masking else { break };
            let is_too_long = masking.holds(held);
            if part.ends_with(b"\n") {
                self.release(&mut give)?;
            } else if is_too_long {
                let sent = masking.sent.min(held);
                // As for a line that is not masked: the length of these parts does not depend on the line end.
                let whole = sent + (held - sent).saturating_sub(1) / self.max * self.max;
                let mut ready: Vec<u8> = self.held.drain(..whole).collect();
                masking.sent = sent.saturating_sub(whole);
                cover(&mut ready);
                let ready = ready.get(sent..).unwrap_or_default();
                ready.chunks(self.max).try_for_each(&mut give)?;
            }
        }
        Ok(())
    }

    /// Prepares to resume at this offset, up to which everything was sent: if secrets are masked, its line is read
    /// again from the beginning.
    pub(super) fn resume_at(
        &mut self,
        follow: &mut Follow,
        offset: u64,
    ) -> Result<(), SourceError> {
        let Some(masking) = &mut self.masking else { return Ok(()) };
        // Otherwise the file was truncated, and is read from its beginning.
        if follow.file().offset() != offset {
            return Ok(());
        }
        let least = offset.saturating_sub(masking.longest as u64);
        let mut begin = offset;
        while begin > least {
            let from = begin.saturating_sub(BACK as u64).max(least);
            let bytes = follow.read_at(from, BACK.min((begin - from) as usize))?;
            if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
                begin = from + end as u64 + 1;
                break;
            }
            begin = from;
        }
        if begin == least && least > 0 {
            masking.is_too_long = true;
            return Ok(());
        }
        masking.sent = (offset - begin) as usize;
        if masking.sent > 0 { follow.seek(begin) } else { Ok(()) }
    }

    /// Whether to report that a line was too long to be searched for secrets; true once.
    pub(super) fn has_too_long(&mut self) -> bool {
        self.masking.as_mut().is_some_and(Masking::has_too_long)
    }

    /// Discards the held bytes, which are read again.
    pub(super) fn clear(&mut self) {
        self.held = Vec::new();
        if let Some(masking) = &mut self.masking {
            masking.clear();
        }
    }
}

#[cfg(test)]
mod masked;

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn cut(max: usize, chunks: &[&str], is_end: bool) -> Vec<String> {
        let mut pieces = Vec::new();
        let mut cutter = Cutter::new(max, None);
        let mut give = |piece: &[u8]| {
            pieces.push(String::from_utf8(piece.to_vec()).unwrap());
            Ok::<_, Infallible>(())
        };
        chunks.iter().for_each(|chunk| cutter.push(chunk.as_bytes(), &mut give).unwrap());
        if is_end {
            cutter.release(&mut give).unwrap();
        }
        pieces
    }

    #[test]
    fn a_line_is_a_piece_with_its_end() {
        assert_eq!(cut(9, &["a\r\n\nb", "c\nd"], false), ["a\r\n", "\n", "bc\n"]);
        assert_eq!(cut(9, &["a\r\n\nb", "c\nd"], true), ["a\r\n", "\n", "bc\n", "d"]);
    }

    #[test]
    fn a_long_line_is_cut_in_the_same_places_however_it_is_read() {
        let line = "0123456789\nx\n";
        let expected = ["0123", "4567", "89\n", "x\n"];
        assert_eq!(cut(4, &[line], false), expected);
        for at in 1..line.len() {
            assert_eq!(cut(4, &[&line[..at], &line[at..]], false), expected, "{at}");
        }
        assert_eq!(cut(4, &["012\n", "0123\n"], false), ["012\n", "0123", "\n"]);
        // Parts of an unterminated line.
        assert_eq!(cut(4, &["01234567", "8"], false), ["0123", "4567"]);
    }
}
