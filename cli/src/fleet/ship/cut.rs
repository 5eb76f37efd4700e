//! [`Cutter`]: cuts a log into pieces.

use super::mask::Masking;

/// What one long line needed is not kept: most lines are short.
const KEPT: usize = 64 << 10;

/// Cuts what is read of a log into lines with their line ends, and a line that is longer than a message may be into
/// parts. Bytes are not changed, unless secrets are masked.
#[derive(Debug)]
pub(super) struct Cutter {
    pub(super) max: usize,
    /// The beginning of a line whose end was not read yet.
    pub(super) held: Vec<u8>,
    /// How secrets are masked, if they are.
    pub(super) masking: Option<Masking>,
}

impl Cutter {
    pub(super) fn new(max: usize, masking: Option<Masking>) -> Self {
        Self { max, held: Vec::new(), masking }
    }

    /// How many bytes are held, as their line may go on.
    pub(super) fn held(&self) -> u64 {
        self.held.len() as u64
    }

    /// Takes what was read next; gives each piece as soon as it is known to be one, until `give` fails. Then it is to
    /// be read again from the last piece that was given.
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
        // The part of a line that no line end can make shorter.
        let whole = self.held.len().saturating_sub(1) / self.max * self.max;
        let held = std::mem::take(&mut self.held);
        held[..whole].chunks(self.max).try_for_each(give)?;
        self.held = held;
        self.held.drain(..whole);
        Ok(())
    }

    /// Gives what is held: there is no more of this line.
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

    /// Forgets what is held, which is read again.
    pub(super) fn clear(&mut self) {
        self.held = Vec::new();
        if let Some(masking) = &mut self.masking {
            masking.clear();
        }
    }
}

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
        // Parts of a line that has no end yet.
        assert_eq!(cut(4, &["01234567", "8"], false), ["0123", "4567"]);
    }
}
