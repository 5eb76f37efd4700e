//! [`Comparison`]: the records of a trail, compared with the log that they were made from.

use foldline_domain::Digest;

use super::{
    coverage::LineSet,
    source::{SourceLines, end_of_part},
};
use crate::error::Error;

/// The result of the comparison of the records of a log with its lines.
#[derive(Default)]
pub(super) struct Comparison {
    /// The records whose line is unchanged.
    pub(super) compared: u64,
    /// The records among them that cover a part of their line, which was continued later.
    pub(super) parts: u64,
    /// The lines with a record.
    pub(super) lines: LineSet,
    /// The records of earlier states of a database or a document.
    pub(super) earlier: u64,
    /// The problem of the first record that does not match.
    pub(super) problem: Option<String>,
    unfinished: Option<Unfinished>,
}

/// Whether a record matches the log.
pub(super) enum Fit {
    Fits,
    /// Its line is different or missing.
    Differs,
    /// This earlier line was extended.
    Grown(u64),
}

/// A line that was read before its line end was written, and was continued later.
///
/// Each part of the line that was read at once has its own records, and the parts are consecutive.
struct Unfinished {
    line: u64,
    text: Vec<u8>,
    /// The digests of the parts.
    parts: Vec<Digest>,
    /// The end of the last part.
    end: usize,
}

impl Unfinished {
    /// Whether no record is of the end of the line, although it is not blank.
    fn lacks_end(&self) -> bool {
        !self.text.get(self.end..).unwrap_or_default().trim_ascii().is_empty()
    }
}

impl Comparison {
    /// Finds the lines of a record of a log that is rewritten. What does not change in it has no second record, and may
    /// have moved; what is no longer there is of an earlier state.
    pub(super) fn find(&mut self, source: &mut SourceLines, digest: Digest) -> Result<(), Error> {
        let lines = source.lines_with(digest)?;
        *if lines.is_empty() { &mut self.earlier } else { &mut self.compared } += 1;
        lines.into_iter().for_each(|line| self.lines.insert(line));
        Ok(())
    }

    /// The line of the last record, if its end has no record.
    pub(super) fn line_without_end(&self) -> Option<u64> {
        self.unfinished.as_ref().filter(|line| line.lacks_end()).map(|line| line.line)
    }

    /// Compares a record with the line that it names, or with a part of the line, if it `may_be_part`.
    pub(super) fn fits(
        &mut self,
        source: &mut SourceLines,
        line: u64,
        digest: Digest,
        may_be_part: bool,
    ) -> Result<Fit, Error> {
        // Lines are read in order. For an earlier line, the log is read again from its beginning.
        match self.unfinished.take_if(|unfinished| unfinished.line != line) {
            Some(before) if before.line < line && before.lacks_end() => {
                return Ok(Fit::Grown(before.line));
            }
            _ => {}
        }
        if source.digest(line)? == Some(digest) {
            self.unfinished = None;
        } else if may_be_part && self.is_part(source, line, digest)? {
            self.parts += 1;
        } else {
            return Ok(Fit::Differs);
        }
        self.compared += 1;
        self.lines.insert(line);
        Ok(Fit::Fits)
    }

    /// Whether the record covers the next part of a line, or a known part.
    fn is_part(
        &mut self,
        source: &mut SourceLines,
        line: u64,
        digest: Digest,
    ) -> Result<bool, Error> {
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
