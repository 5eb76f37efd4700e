//! [`LineIndex`]: the digests of the lines of a log, in a temporary file. A log may have so many lines that they would
//! not fit into memory.

use std::{
    fs::File,
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
};

use foldline_domain::Digest;

/// The number of lines that are read at once. Their records are compared in the order of the log.
const BLOCK: usize = 128;

/// The size of a line in the file, in bytes.
const SIZE: usize = 8 + 8 + 8 + 32;

/// A line of a log.
#[derive(Clone, Copy)]
pub(super) struct IndexedLine {
    pub(super) number: u64,
    pub(super) offset: u64,
    /// The length of a line that is kept whole; 0 for other lines.
    pub(super) length: u64,
    pub(super) digest: Digest,
}

/// The lines of a log, in order.
pub(super) struct LineIndex {
    file: File,
    /// The number of the first line of each block.
    firsts: Vec<u64>,
    /// The block that was read last, and its lines.
    block: Option<usize>,
    lines: Vec<IndexedLine>,
}

/// Writes a [`LineIndex`].
pub(super) struct IndexWriter {
    file: BufWriter<File>,
    firsts: Vec<u64>,
    count: usize,
}

impl IndexWriter {
    pub(super) fn new() -> io::Result<Self> {
        let file = BufWriter::with_capacity(64 << 10, tempfile::tempfile()?);
        Ok(Self { file, firsts: Vec::new(), count: 0 })
    }

    /// Adds the next line.
    pub(super) fn push(&mut self, line: &IndexedLine) -> io::Result<()> {
        if self.count.is_multiple_of(BLOCK) {
            self.firsts.push(line.number);
        }
        self.count += 1;
        for number in [line.number, line.offset, line.length] {
            self.file.write_all(&number.to_le_bytes())?;
        }
        self.file.write_all(line.digest.as_bytes())
    }

    pub(super) fn finish(self) -> io::Result<LineIndex> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(LineIndex { file, firsts: self.firsts, block: None, lines: Vec::new() })
    }
}

impl LineIndex {
    /// The line with this number.
    pub(super) fn line(&mut self, number: u64) -> io::Result<Option<IndexedLine>> {
        let Some(block) = self.firsts.partition_point(|first| *first <= number).checked_sub(1)
        else {
            return Ok(None);
        };
        if self.block != Some(block) {
            self.read(block)?;
        }
        let found = self.lines.binary_search_by_key(&number, |line| line.number);
        Ok(found.ok().and_then(|at| self.lines.get(at)).copied())
    }

    fn read(&mut self, block: usize) -> io::Result<()> {
        self.block = None;
        self.lines.clear();
        self.file.seek(SeekFrom::Start((block * BLOCK * SIZE) as u64))?;
        let mut bytes = Vec::with_capacity(BLOCK * SIZE);
        (&self.file).take((BLOCK * SIZE) as u64).read_to_end(&mut bytes)?;
        let (lines, _) = bytes.as_chunks::<SIZE>();
        self.lines.extend(lines.iter().map(decoded));
        self.block = Some(block);
        Ok(())
    }
}

fn decoded(bytes: &[u8; SIZE]) -> IndexedLine {
    let number = |at: usize| {
        let number = bytes.get(at..at + 8).and_then(|number| number.try_into().ok());
        u64::from_le_bytes(number.unwrap_or_default())
    };
    let digest: Option<[u8; 32]> = bytes.get(24..).and_then(|digest| digest.try_into().ok());
    let digest = Digest::from(digest.unwrap_or_default());
    IndexedLine { number: number(0), offset: number(8), length: number(16), digest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_any_order() {
        let mut writer = IndexWriter::new().unwrap();
        // Every third line; the others are parts of records that span several lines.
        let line = |number: u64| IndexedLine {
            number,
            offset: number * 10,
            length: 9,
            digest: Digest::of(&number.to_le_bytes()),
        };
        let numbers: Vec<u64> = (1..3_000).step_by(3).collect();
        numbers.iter().for_each(|number| writer.push(&line(*number)).unwrap());
        let mut index = writer.finish().unwrap();
        for &number in numbers.iter().chain(numbers.iter().rev()) {
            let found = index.line(number).unwrap().unwrap();
            assert_eq!((found.offset, found.digest), (number * 10, line(number).digest));
            assert!(index.line(number + 1).unwrap().is_none());
        }
        assert!(index.line(0).unwrap().is_none());
        assert!(IndexWriter::new().unwrap().finish().unwrap().line(1).unwrap().is_none());
    }
}
