//! [`SourceLines`]: the lines of a log, with which the records of a trail are compared.

use std::path::{Path, PathBuf};

use foldline::{
    conversation::Digest,
    processor::{Line, LineFramer},
    source::{LogFile, SourceError},
};
use sha2::{Digest as _, Sha256};

use crate::{error::Error, log::named};

/// The digests of a log's lines.
pub(super) struct SourceLines {
    /// The path on the command line.
    pub(super) path: PathBuf,
    /// Its full path.
    pub(super) absolute: PathBuf,
    /// The number of lines.
    pub(super) count: u64,
    log: LogFile,
    /// The lines that are not blank, in order; a record that spans several lines is one.
    lines: Vec<SourceLine>,
}

struct SourceLine {
    number: u64,
    offset: u64,
    /// Of a line that is kept whole; 0 of another one.
    length: usize,
    digest: Digest,
}

impl SourceLines {
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let input = |error| Error::Input { path: path.to_owned(), error };
        let absolute = std::path::absolute(path).map_err(input)?;
        let mut log = named(path, |path| LogFile::open(path))?;
        let mut framer = LineFramer::default();
        let (mut lines, mut count) = (Vec::new(), 0);
        let mut keep = |line: Line<'_>| {
            count += line.lines;
            let length = if line.skipped == 0 { line.bytes.len() } else { 0 };
            let (number, offset) = (line.position.line, line.position.offset);
            lines.push(SourceLine { number, offset, length, digest: line.digest() });
        };
        loop {
            let bytes = log.read()?;
            if bytes.is_empty() {
                framer.finish(&mut keep);
                return Ok(Self { path: path.to_owned(), absolute, count, log, lines });
            }
            framer.push(bytes, &mut keep);
        }
    }

    fn line(&self, number: u64) -> Option<&SourceLine> {
        let at = self.lines.binary_search_by_key(&number, |line| line.number).ok()?;
        self.lines.get(at)
    }

    /// The digest of a line.
    pub(super) fn digest(&self, number: u64) -> Option<Digest> {
        self.line(number).map(|line| line.digest)
    }

    /// The text of a line; `None` if the line is not kept whole, or not stored unchanged.
    pub(super) fn text(&mut self, number: u64) -> Result<Option<Vec<u8>>, SourceError> {
        let Some(&SourceLine { offset, length, digest, .. }) = self.line(number) else {
            return Ok(None);
        };
        if self.log.length()?.is_none() {
            // A stream cannot be read again.
            return Ok(None);
        }
        let text = self.log.read_at(offset, length)?;
        Ok(Some(text).filter(|text| Digest::of(text) == digest))
    }
}

/// The end of the text that begins at `start` and has this digest.
pub(super) fn end_of_part(text: &[u8], start: usize, digest: Digest) -> Option<usize> {
    let mut hasher = Sha256::new();
    let rest = text.get(start..)?;
    let length = rest.iter().position(|byte| {
        hasher.update([*byte]);
        let found: [u8; 32] = hasher.clone().finalize().into();
        digest == found.into()
    })?;
    Some(start + length + 1)
}
