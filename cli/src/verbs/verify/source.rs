//! [`SourceLines`]: the lines of a log, with which the records of a trail are compared.

use std::{
    io,
    path::{Path, PathBuf},
};

use foldline::{
    processor::{DEFAULT_MAX_LINE, Line, LineFramer},
    source::Step,
    transduce::{Batch, emit_fn},
};
use foldline_domain::{Digest, DomainEvent, Located};
use sha2::{Digest as _, Sha256};

use super::{
    coverage::LineSet,
    index::{IndexWriter, IndexedLine, LineIndex},
};
use crate::{error::Error, log::Log, pipeline, program::Program};

/// The digests of a log's lines.
pub(super) struct SourceLines {
    /// The path on the command line.
    pub(super) path: PathBuf,
    /// Its full path.
    pub(super) absolute: PathBuf,
    /// The number of lines.
    pub(super) count: u64,
    /// It is a database or a document, any part of which may change.
    pub(super) is_rewritten: bool,
    /// The lines that cause an event, as this version of the program reads them; `None` if the format is unknown.
    pub(super) events: Option<LineSet>,
    log: Log,
    /// The lines that are not blank, in order; a record that spans several lines is one.
    index: LineIndex,
    /// The lines of a log that is rewritten, by the beginnings of their digests.
    places: Vec<(u64, u64)>,
}

impl SourceLines {
    pub(super) fn read(path: &Path, executor: &str, program: &Program) -> Result<Self, Error> {
        let absolute = std::path::absolute(path);
        let absolute = absolute.map_err(|error| Error::Input { path: path.to_owned(), error })?;
        let mut log = Log::open(&program.openers(), path)?;
        // The lines of a log of an unknown format are compared, too.
        let executor = log.executor(&program.registry, executor, DEFAULT_MAX_LINE).ok();
        let line_of = emit_fn(|event: &Located<DomainEvent>| Batch::one(event.position.line));
        let span = log.span();
        let mut processor =
            executor.map(|executor| pipeline::begin(executor, line_of, DEFAULT_MAX_LINE, span));
        let mut events = processor.as_ref().map(|_| LineSet::default());
        let mut event = |line| events.iter_mut().for_each(|events| events.insert(line));
        let mut framer = LineFramer::default();
        let mut index = IndexWriter::new().map_err(indexing)?;
        let (mut written, mut count, mut places) = (Ok(()), 0, Vec::new());
        let is_rewritten = matches!(&log, Log::Once(file) if file.is_rewritten());
        let mut keep = |line: Line<'_>| {
            count += line.lines;
            let length = if line.skipped == 0 { line.bytes.len() as u64 } else { 0 };
            let (number, offset) = (line.position.line, line.position.offset);
            let indexed = IndexedLine { number, offset, length, digest: line.digest() };
            if written.is_ok() {
                written = index.push(&indexed);
            }
            if is_rewritten {
                places.push((beginning(indexed.digest), number));
            }
        };
        while let Step::Bytes(bytes) = log.step()? {
            framer.push(bytes, &mut keep);
            if let Some(processor) = &mut processor {
                processor.push(bytes, &mut event);
            }
        }
        framer.finish(&mut keep);
        // As an ingest does: the log may grow, and its last line may be incomplete.
        if let Some(processor) = &mut processor {
            processor.flush_last_line(&mut event);
        }
        let index = written.and_then(|()| index.finish()).map_err(indexing)?;
        places.sort_unstable();
        let path = path.to_owned();
        Ok(Self { path, absolute, count, is_rewritten, events, log, index, places })
    }

    /// The digest of a line.
    pub(super) fn digest(&mut self, number: u64) -> Result<Option<Digest>, Error> {
        let line = self.index.line(number).map_err(indexing)?;
        Ok(line.map(|line| line.digest))
    }

    /// The lines of a log that is rewritten which have this digest.
    pub(super) fn lines_with(&mut self, digest: Digest) -> Result<Vec<u64>, Error> {
        let begins = beginning(digest);
        let first = self.places.partition_point(|place| place.0 < begins);
        let alike = self.places.get(first..).unwrap_or_default().iter();
        let alike: Vec<_> = alike.take_while(|place| place.0 == begins).copied().collect();
        let mut lines = Vec::new();
        for (_, line) in alike {
            if self.digest(line)? == Some(digest) {
                lines.push(line);
            }
        }
        Ok(lines)
    }

    /// The text of a line; `None` if the line is not kept whole, or not stored unchanged.
    pub(super) fn text(&mut self, number: u64) -> Result<Option<Vec<u8>>, Error> {
        let Some(line) = self.index.line(number).map_err(indexing)? else { return Ok(None) };
        let IndexedLine { offset, length, digest, .. } = line;
        let Log::Once(log) = &mut self.log else { return Ok(None) };
        if log.length()?.is_none() {
            // A stream cannot be read again.
            return Ok(None);
        }
        let text = log.read_at(offset, usize::try_from(length).unwrap_or(usize::MAX))?;
        Ok(Some(text).filter(|text| Digest::of(text) == digest))
    }
}

/// The first bytes of a digest.
fn beginning(digest: Digest) -> u64 {
    let bytes = digest.as_bytes().first_chunk().copied();
    u64::from_be_bytes(bytes.unwrap_or_default())
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
