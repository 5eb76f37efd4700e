//! [`Found`]: a file with its identity, which can be compared with others.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use foldline::{
    ledger::Identity,
    source::{Openers, SourceError},
};
use foldline_database::sqlite::Known;
use foldline_domain::Digest;

/// A file with its identity.
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// The metadata of the file.
    pub(super) status: Identity,
    pub(super) first_line: Digest,
    /// It is a database or a document, any part of which may change.
    pub(super) is_rewritten: bool,
    /// It is a document, whose content may be that of another one.
    pub(super) is_document: bool,
    /// The source of which an earlier run found the file to be a copy; the file is unchanged since.
    pub(super) copy_of: Option<Box<Known>>,
    openers: Openers,
}

impl Found {
    /// Reads the metadata of a file.
    pub(super) fn look(path: &Path, openers: &Openers) -> Result<Self, SourceError> {
        let mut log = openers.open_regular(path)?;
        let status = log.status()?.unwrap_or_default();
        let is_rewritten = log.is_rewritten();
        // A database shares its beginning with no other file, and is not read to be compared.
        let first_line = match is_rewritten {
            true => Digest::of(path.as_os_str().as_encoded_bytes()),
            false => log.first_line()?,
        };
        Ok(Self {
            path: path.to_owned(),
            status,
            first_line,
            is_rewritten,
            is_document: log.is_document(),
            copy_of: None,
            openers: openers.clone(),
        })
    }

    /// Reads a document to be compared with others.
    pub(super) fn measure(&mut self) -> Result<(), SourceError> {
        let mut log = self.openers.open_regular(&self.path)?;
        self.first_line = log.first_line()?;
        self.status.size = log.length()?.unwrap_or_default();
        Ok(())
    }

    /// Whether its content begins with this many bytes, which have this digest.
    pub(super) fn begins_with(
        &self,
        length: u64,
        content: Option<Digest>,
    ) -> Result<bool, SourceError> {
        let mut log = self.openers.open_regular(&self.path)?;
        Ok(log.content(length)? == content)
    }

    /// The inode of the file, if the system has inodes.
    pub(super) fn number(&self) -> Option<(u64, u64)> {
        self.status.device.zip(self.status.inode)
    }

    /// The digests of the first bytes of the file, by their length.
    pub(super) fn contents(
        &self,
        lengths: impl IntoIterator<Item = u64>,
    ) -> Result<BTreeMap<u64, Digest>, SourceError> {
        let mut lengths: Vec<u64> = lengths.into_iter().collect();
        if lengths.is_empty() {
            return Ok(BTreeMap::new());
        }
        // In one pass.
        lengths.sort_unstable();
        let mut log = self.openers.open_regular(&self.path)?;
        let failed = |what| {
            let (path, error) = (self.path.clone(), io::Error::other(what));
            SourceError::Read { path, error }
        };
        let now = log.status()?.unwrap_or_default();
        if self.number().is_some() && !now.is_same_file(&self.status) {
            return Err(failed("replaced by another file while it was examined"));
        }
        let mut contents = BTreeMap::new();
        for length in lengths {
            let content = log.content(length)?;
            let content = content.ok_or_else(|| failed("truncated while it was examined"))?;
            contents.insert(length, content);
        }
        Ok(contents)
    }
}
