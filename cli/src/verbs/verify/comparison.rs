//! [`Comparison`]: the records of a trail, compared with the log that they were made from.

use foldline::{conversation::Digest, source::SourceError};

use super::source::{SourceLines, end_of_part};

/// How the records of one log compare with its lines.
#[derive(Default)]
pub(super) struct Comparison {
    /// The records whose line is unchanged.
    pub(super) compared: u64,
    /// Those among them that were made from a part of their line, which went on later.
    pub(super) parts: u64,
    /// What is wrong, from the first record for which something is.
    pub(super) problem: Option<String>,
    unfinished: Option<Unfinished>,
}

/// Whether a record fits the log.
pub(super) enum Fit {
    Fits,
    /// Its line is another one, or not there.
    Differs,
    /// Something was added to this line, which comes before it.
    Grown(u64),
}

/// A line that was read before it had its line end, and has gone on since.
///
/// What was read of it by then has records of its own, and what was added has its own, too. So each record is
/// of a part of the line, and the parts follow one another.
struct Unfinished {
    line: u64,
    text: Vec<u8>,
    /// The digests of the parts.
    parts: Vec<Digest>,
    /// Where the last one ends.
    end: usize,
}

impl Unfinished {
    /// Whether no record is of the end of the line, although it is not blank.
    fn lacks_end(&self) -> bool {
        !self.text.get(self.end..).unwrap_or_default().trim_ascii().is_empty()
    }
}

impl Comparison {
    /// Compares a record that says that it was made from this line, or from a part of it, if it `may_be_part`.
    pub(super) fn fits(
        &mut self,
        source: &mut SourceLines,
        line: u64,
        digest: Digest,
        may_be_part: bool,
    ) -> Result<Fit, SourceError> {
        // A line is read to its end before the next one is. Before it, the log is read again from its beginning.
        match self.unfinished.take_if(|unfinished| unfinished.line != line) {
            Some(before) if before.line < line && before.lacks_end() => {
                return Ok(Fit::Grown(before.line));
            }
            _ => {}
        }
        if source.digest(line) == Some(digest) {
            self.unfinished = None;
        } else if may_be_part && self.is_part(source, line, digest)? {
            self.parts += 1;
        } else {
            return Ok(Fit::Differs);
        }
        self.compared += 1;
        Ok(Fit::Fits)
    }

    /// Whether the record is of the next part of a line, or of one that is known.
    fn is_part(
        &mut self,
        source: &mut SourceLines,
        line: u64,
        digest: Digest,
    ) -> Result<bool, SourceError> {
        if self.unfinished.as_ref().is_some_and(|before| before.parts.contains(&digest)) {
            return Ok(true);
        }
        let mut unfinished = match self.unfinished.take() {
            Some(unfinished) => unfinished,
            None => match source.text(line)? {
                Some(text) => Unfinished { line, text, parts: Vec::new(), end: 0 },
                None => return Ok(false),
            },
        };
        let end = end_of_part(&unfinished.text, unfinished.end, digest);
        if let Some(end) = end {
            unfinished.end = end;
            unfinished.parts.push(digest);
            self.unfinished = Some(unfinished);
        }
        Ok(end.is_some())
    }
}
