//! [`SourceLines`]: the lines of a log, with which the records of a trail are compared.

use std::{
    io,
    path::{Path, PathBuf},
};

use foldline::{
    processor::{Line, LineFramer},
    source::{LogFile, Openers},
};
use foldline_domain::Digest;
use sha2::{Digest as _, Sha256};

use super::index::{IndexWriter, IndexedLine, LineIndex};
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
    index: LineIndex,
}

impl SourceLines {
    pub(super) fn read(path: &Path, openers: &Openers) -> Result<Self, Error> {
        let input = |error| Error::Input { path: path.to_owned(), error };
        let absolute = std::path::absolute(path).map_err(input)?;
        let mut log = named(path, |path| openers.open(path))?;
        let mut framer = LineFramer::default();
        let mut index = IndexWriter::new().map_err(indexing)?;
        let (mut written, mut count) = (Ok(()), 0);
        let mut keep = |line: Line<'_>| {
            count += line.lines;
            let length = if line.skipped == 0 { line.bytes.len() as u64 } else { 0 };
            let (number, offset) = (line.position.line, line.position.offset);
            let indexed = IndexedLine { number, offset, length, digest: line.digest() };
            if written.is_ok() {
                written = index.push(&indexed);
            }
        };
        loop {
            let bytes = log.read()?;
            if bytes.is_empty() {
                framer.finish(&mut keep);
                let index = written.and_then(|()| index.finish()).map_err(indexing)?;
                return Ok(Self { path: path.to_owned(), absolute, count, log, index });
            }
            framer.push(bytes, &mut keep);
        }
    }

    /// The digest of a line.
    pub(super) fn digest(&mut self, number: u64) -> Result<Option<Digest>, Error> {
        let line = self.index.line(number).map_err(indexing)?;
        Ok(line.map(|line| line.digest))
    }

    /// The text of a line; `None` if the line is not kept whole, or not stored unchanged.
    pub(super) fn text(&mut self, number: u64) -> Result<Option<Vec<u8>>, Error> {
        let Some(line) = self.index.line(number).map_err(indexing)? else { return Ok(None) };
        let IndexedLine { offset, length, digest, .. } = line;
        if self.log.length()?.is_none() {
            // A stream cannot be read again.
            return Ok(None);
        }
        let text = self.log.read_at(offset, usize::try_from(length).unwrap_or(usize::MAX))?;
        Ok(Some(text).filter(|text| Digest::of(text) == digest))
    }
}

/// An error of the temporary file.
fn indexing(error: io::Error) -> Error {
    Error::Input { path: std::env::temp_dir(), error }
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
