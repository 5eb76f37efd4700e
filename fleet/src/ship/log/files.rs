//! The files of a log: whether they changed, which one is next, and the marks from which it can be resumed.

use std::{path::Path, time::Instant};

use foldline::{
    ledger::Identity,
    source::{LogFile, Notice, SourceError, rotated_files},
};

use super::super::{
    checkpoint::{Before, Hole, Mark},
    examine::{Look, Number},
};
use super::ShippedLog;
use crate::{error::Error, piece::Place};

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

impl ShippedLog {
    /// Marks the position up to which everything was sent, to resume from there.
    pub(super) fn mark(&mut self) -> Result<(), SourceError> {
        let is_begun = self.place.offset > 0;
        let is_marked = self.marked.is_some_and(|(place, _)| place == self.place);
        // Empty beginnings of files are all alike: the held bytes identify the file.
        let end = if is_begun { self.place.offset } else { self.cutter.held() };
        if (is_marked && is_begun) || end == 0 {
            return Ok(());
        }
        let Some(follow) = &mut self.follow else { return Ok(()) };
        // If it was truncated in the meantime, the next step reports it.
        let Some(identity) = follow.identity(end)? else { return Ok(()) };
        (self.current, self.latest) = (Some(Before::of(&identity)), Some(identity));
        self.marked = Some((self.place, Instant::now()));
        if is_begun {
            self.push_mark(identity);
        }
        Ok(())
    }

    pub(super) fn push_mark(&mut self, identity: Identity) {
        let (place, previous) = (self.place, self.previous);
        self.marks.push_back(Mark { place, identity, previous });
    }

    /// Advances to the last mark before which everything was acknowledged; returns whether there is one.
    pub(in crate::ship) fn settle(&mut self) -> bool {
        let mut is_further = false;
        while let Some(mark) = self.marks.front()
            && self.flight.is_past(mark.place)
        {
            self.stored = self.marks.pop_front();
            is_further = true;
        }
        is_further
    }

    /// Marks the position at the end of the run.
    pub(in crate::ship) fn mark_now(&mut self) -> Result<(), Error> {
        Ok(self.mark()?)
    }
}

impl ShippedLog {
    /// The log continues in another file.
    pub(super) fn next_file(&mut self, notice: &Notice) {
        let is_truncated = matches!(notice, Notice::Truncated { .. });
        // A truncated file is itself read again.
        let previous = self.follow.as_ref().and_then(|follow| follow.previous());
        let has_begun = self.current.take().is_some();
        if let Some(previous) = previous.map(Before::of).filter(|_| has_begun && !is_truncated) {
            self.previous = Some(previous);
            // It may be known from an earlier run.
            if !self.before.contains(&previous) {
                self.before.push(previous);
            }
        }
        self.latest = None;
        if is_truncated {
            self.lose(notice.to_string());
        }
        // An earlier run may have sent more of a file than its checkpoint says.
        let is_known = !is_truncated || self.flight.next() > 0;
        // An empty file has no number.
        if self.place.offset > 0 || !is_known {
            self.ended = is_known.then_some(self.place.offset);
            self.place = Place { file: self.place.file + 1, offset: 0 };
        }
        (self.marked, self.last_change) = (None, Instant::now());
    }

    /// Records that bytes may be missing here.
    pub(in crate::ship) fn lose(&mut self, note: String) {
        self.has_lost = true;
        self.holes.push(Hole { file: self.place.file, offset: self.place.offset, note });
    }

    /// Whether bytes are held until the checkpoint names the file.
    pub(in crate::ship) fn is_waiting(&self) -> bool {
        self.opening.is_held() && !self.opening.is_named(self.place.file)
    }

    /// Records that the checkpoint was stored.
    pub(in crate::ship) fn checkpoint_stored(&mut self) {
        if let Some(stored) = self.stored {
            self.opening.name(stored.place.file);
        }
    }

    /// Marks the beginning of a file, which is identified by the bytes that were read.
    pub(super) fn begin(&mut self) -> Result<(), SourceError> {
        let Some(follow) = &self.follow else { return Ok(()) };
        let identity = follow.identity_so_far()?;
        (self.current, self.latest) = (Some(Before::of(&identity)), Some(identity));
        self.push_mark(identity);
        Ok(())
    }
}
