//! [`Regular`]: a file with random access.

use std::{
    fmt,
    io::{self, Read, Seek, SeekFrom},
};

use sha2::{Digest as _, Sha256};

use super::content::FileContent;
use crate::{ledger::Extent, position::Digest};

/// The number of bytes read at once.
pub(super) const CHUNK: usize = 256 << 10;

/// An open file.
pub(super) struct Regular {
    pub(super) file: FileContent,
    /// The position of the file handle, if it is known.
    position: Option<u64>,
    /// The hash of the first `hashed` bytes, which the next identity continues.
    hasher: Sha256,
    hashed: u64,
    first_line: Option<Digest>,
}

impl Regular {
    pub(super) fn new(file: FileContent) -> Self {
        Self { file, position: Some(0), hasher: Sha256::new(), hashed: 0, first_line: None }
    }

    /// The SHA-256 digest of the first `length` bytes; `None` if the file is shorter.
    pub(super) fn content(
        &mut self,
        length: u64,
        chunk: &mut Vec<u8>,
    ) -> io::Result<Option<Digest>> {
        if length < self.hashed {
            (self.hasher, self.hashed) = (Sha256::new(), 0);
        }
        chunk.resize(CHUNK, 0);
        while self.hashed < length {
            let left = usize::try_from(length - self.hashed).unwrap_or(CHUNK).min(CHUNK);
            match self.read(self.hashed, &mut chunk[..left])? {
                0 => return Ok(None),
                read => {
                    self.hasher.update(&chunk[..read]);
                    self.hashed += read as u64;
                }
            }
        }
        let digest: [u8; 32] = self.hasher.clone().finalize().into();
        Ok(Some(digest.into()))
    }

    /// Reads a chunk at `offset`.
    pub(super) fn read(&mut self, offset: u64, chunk: &mut [u8]) -> io::Result<usize> {
        if self.position.take() != Some(offset) {
            self.file.seek(SeekFrom::Start(offset))?;
        }
        let length = retried(&mut self.file, chunk)?;
        self.position = Some(offset + length as u64);
        Ok(length)
    }

    /// Up to `length` bytes at `offset`.
    pub(super) fn read_at(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(length.min(CHUNK));
        self.position = None;
        self.file.seek(SeekFrom::Start(offset))?;
        (&mut self.file).take(length as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn extent(&mut self, length: u64) -> io::Result<Option<Extent>> {
        self.position = None;
        Extent::read(&mut self.file, length)
    }

    /// The SHA-256 digest of the first line: see [`Identity::first_line`](crate::ledger::Identity::first_line).
    pub(super) fn first_line(&mut self) -> io::Result<Digest> {
        if let Some(known) = self.first_line {
            return Ok(known);
        }
        let bytes = self.read_at(0, Extent::EDGE)?;
        let digest = first_line(&bytes);
        if bytes.contains(&b'\n') {
            self.first_line = Some(digest);
        }
        Ok(digest)
    }
}

impl fmt::Debug for Regular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(f)
    }
}

/// The digest of the first line of a file that begins with these bytes.
pub(super) fn first_line(bytes: &[u8]) -> Digest {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Digest::of(line.strip_suffix(b"\r").unwrap_or(line))
}

/// Reads, and retries if a signal interrupts the read.
pub(super) fn retried(reader: &mut impl Read, chunk: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}
