//! The files of a log: whether they changed, and whether other files are parts of the log.

use std::path::Path;

use foldline::source::{LogFile, SourceError, rotated_files};

use super::super::{
    checkpoint::Before,
    look::{Look, Number},
};
use super::ShippedLog;

impl ShippedLog {
    /// The device and inode of the current file.
    pub(in crate::ship) fn file_number(&self) -> Option<Number> {
        let status = self.follow.as_ref().and_then(|follow| follow.file().status().ok()?);
        let file = status.as_ref().map(Before::of).or(self.current)?;
        Some((file.device, file.inode))
    }

    /// Whether the current file is at the path of the log, or no file is.
    pub(in crate::ship) fn is_settled(&self) -> bool {
        let here = Look::at(&self.path);
        here.is_none_or(|here| self.file_number().is_none_or(|number| number == here.number))
    }

    /// Whether the file may have changed since it was last read.
    pub(in crate::ship) fn is_changed(&self) -> bool {
        let here = Look::at(&self.path);
        here != self.seen || self.opening.is_held() || (self.is_open() && !self.is_settled())
    }

    /// Whether the file is unchanged since an earlier run shipped it completely. Then it need not be read.
    pub(in crate::ship) fn is_as_it_was(&mut self) -> bool {
        let here = Look::at(&self.path);
        let status = LogFile::open_regular(&self.path).and_then(|file| file.status());
        let Ok(Some(status)) = status else { return false };
        let is_as_it_was = self.latest.is_some_and(|left| {
            let (length, modified) = (status.size, status.modified);
            // A file is named before its bytes are sent.
            self.place.offset == left.read.length
                && status.is_same_file(&left)
                && (length, modified) == (left.read.length, left.modified)
                && left.size == length
        });
        if is_as_it_was {
            self.seen = here;
        }
        is_as_it_was
    }

    /// Whether the file at this path is the beginning of the data that was read: a copy that is being made.
    pub(in crate::ship) fn begins_with(&self, path: &Path) -> bool {
        let Some(latest) = self.latest else { return false };
        let identities = || -> Result<_, SourceError> {
            let mut copy = LogFile::open_regular(path)?;
            let length = copy.length()?.unwrap_or_default();
            if length >= latest.read.length {
                return Ok(None);
            }
            let read = LogFile::open_regular(&self.path)?.identity(length)?;
            Ok(copy.identity(length)?.zip(read))
        };
        identities().ok().flatten().is_some_and(|(copy, read)| copy.is_copy_of(&read))
    }

    /// Whether the file at this path was read as a part of this log.
    pub(in crate::ship) fn has_part(&self, path: &Path) -> bool {
        let part = Before::at(path).ok().flatten();
        part.is_some_and(|part| self.before.contains(&part) || self.current == Some(part))
    }

    /// Whether the file at this path is a copy of the data read from this log, made before the log is truncated.
    pub(in crate::ship) fn has_copy(&self, path: &Path) -> bool {
        let Some(latest) = self.latest else { return false };
        let identity = || LogFile::open_regular(path)?.identity(latest.read.length);
        let is_copy = || identity().ok().flatten().is_some_and(|found| found.is_copy_of(&latest));
        rotated_files(&self.path).is_ok_and(|rotated| rotated.iter().any(|one| one == path))
            && is_copy()
    }
}
