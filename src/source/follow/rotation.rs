//! Where a log continues after it was renamed, copied or truncated.

use std::fs;

use super::super::{
    LogFile, Notice, SourceError, Until, rotated,
    status::{Number, milliseconds, number},
};
use super::{Follow, Look};
use crate::ledger::{CERTAIN, Extent, Identity};

impl Follow {
    /// Resumes a log from an earlier run: in this file, or in the sibling to which it was renamed or copied in the
    /// meantime. If the same file was truncated or rewritten in the meantime, and has grown since, it is read from
    /// its beginning, as the next step reports.
    ///
    /// # Errors
    /// [`SourceError::Unrecognised`] if none of this applies; or a read error.
    pub fn resume(&mut self, left: &Identity) -> Result<Option<Notice>, SourceError> {
        loop {
            let notice = self.try_resume(left)?;
            // The file may have been truncated, and written again, after it was compared.
            let found = Extent::of_edges(self.file.offset(), &self.head, &self.tail);
            if self.truncated.is_some() || found == left.read {
                notice.iter().for_each(|notice| self.log(notice));
                return Ok(notice);
            }
            self.file = self.file.openers().open_regular(&self.path)?;
            self.is_rotated = false;
            self.seek(0)?;
        }
    }

    fn try_resume(&mut self, left: &Identity) -> Result<Option<Notice>, SourceError> {
        let here = self.identity(left.read.length)?;
        // The beginnings of lines may be alike: then the order of the files tells.
        let is_alike = here.is_some_and(|here| here.is_alike(left))
            && (left.read.length >= CERTAIN || self.copies()?.is_empty());
        let is_same = self.number()? == (left.device, left.inode);
        let mut notice = None;
        if !(is_alike && is_same) {
            let elsewhere = rotated::left_in(&self.path, left, self.left.as_ref())
                .map_err(|error| self.failed(error))?;
            // A file that was restored, or copied here, has the same content and another inode.
            match elsewhere.filter(|(_, found)| !is_alike || found.is_same_file(left)) {
                Some((file, _)) => {
                    notice = Some(Notice::Rotated { to: file.path().to_owned() });
                    self.read_rotated(file);
                }
                None if is_alike => {}
                None if is_same && left.inode.is_some() && self.until != Until::EndOfFile => {
                    let read = left.read.length;
                    let lost = left.size.saturating_sub(read);
                    self.truncated = Some(Notice::Truncated { read, lost });
                    self.seek(0)?;
                    return Ok(None);
                }
                None => {
                    let (path, is_shorter) = (self.path.clone(), here.is_none());
                    return Err(SourceError::Unrecognised { path, is_shorter });
                }
            }
        }
        self.seek(left.read.length)?;
        Ok(notice)
    }

    /// A document or a database is opened again after a change. If its lines begin with those that were read, the rest
    /// is what is new.
    pub(super) fn look_again(&mut self) -> Result<Option<Look>, SourceError> {
        let mut file = match self.file.openers().open_regular(&self.path) {
            // It was removed, or is about to be restored.
            Err(error) if error.is_not_found() => return Ok(Some(Look::Nothing)),
            file => file?,
        };
        let (before, now) = (self.file.status()?, file.status()?);
        if before == now {
            return Ok(None);
        }
        let read = self.file.offset();
        let content = self.file.content(read)?;
        // Its program may be writing it at this moment.
        let goes_on = match file.content(read) {
            Ok(now) if file.is_rewritten() => now.is_some() && now == content,
            Ok(_) | Err(_) => return Ok(Some(Look::Nothing)),
        };
        self.file = file;
        self.watch();
        self.seek(if goes_on { read } else { 0 })?;
        Ok((!goes_on).then_some(Look::NextFile(Notice::Rewritten)))
    }

    /// The previous content of the file is in its copy, or lost.
    pub(super) fn was_truncated(&mut self) -> Result<Look, SourceError> {
        let read = Extent::of_edges(self.file.offset(), &self.head, &self.tail);
        let modified = self.modified.and_then(milliseconds);
        let left = Identity { read, modified, ..Identity::default() };
        let copy = rotated::left_in(&self.path, &left, self.left.as_ref());
        let copy = copy.map_err(|error| self.failed(error))?;
        let Some((copy, found)) = copy else {
            let lost = self.length.saturating_sub(read.length);
            self.seek(0)?;
            return Ok(Look::NextFile(Notice::Truncated { read: read.length, lost }));
        };
        let (to, unread) = (copy.path().to_owned(), found.size.saturating_sub(read.length));
        self.read_rotated(copy);
        self.seek(read.length)?;
        Ok(Look::Notice(Notice::Copied { to, unread }))
    }

    /// The copies of this file that were made since the file before it was left, unless it was itself renamed.
    pub(super) fn copies(&self) -> Result<Vec<rotated::Rotated>, SourceError> {
        let Some(left) = self.left.filter(|_| !self.is_rotated) else { return Ok(Vec::new()) };
        let younger = self.younger_than((left.device, left.inode))?.unwrap_or_default();
        let here = self.number()?;
        let is_renamed = younger.iter().any(|younger| younger.number == here);
        Ok(if is_renamed { Vec::new() } else { younger })
    }

    /// Whether this file was copied and truncated: a copy is longer than it is. Content does not tell where few bytes
    /// were read, as the beginnings of lines may be alike.
    pub(super) fn was_copied(&self, length: u64) -> Result<bool, SourceError> {
        let is_longer =
            |copy: &rotated::Rotated| fs::metadata(&copy.path).is_ok_and(|it| it.len() > length);
        Ok(self.file.offset() < CERTAIN && self.copies()?.iter().any(is_longer))
    }

    /// Continues in the next file that had the log's name after this one.
    pub(super) fn next_file(&mut self, left: Identity) -> Result<Look, SourceError> {
        // The files may be being renamed at this moment: the opened file must be at the path before and after.
        let here = (left.device, left.inode);
        for _ in 0..10 {
            let younger = self.younger_than(here)?;
            let next = younger.as_ref().and_then(|younger| younger.first());
            let path = next.map_or(&self.path, |next| &next.path);
            let file = match self.file.openers().open_regular(path) {
                Err(error) if error.is_not_found() => break,
                file => file?,
            };
            let found = file.metadata()?.map(|metadata| number(&metadata));
            if next.is_some_and(|next| Some(next.number) != found)
                || self.younger_than(here)? != younger
            {
                continue;
            }
            let notice = match next {
                Some(next) => Notice::RotatedAgain { next: next.path.clone() },
                None => Notice::Replaced { may_have_gap: younger.is_none() },
            };
            (self.file, self.is_rotated, self.quiet_since) = (file, next.is_some(), None);
            self.left = Some(left);
            self.watch();
            self.seek(0)?;
            return Ok(Look::NextFile(notice));
        }
        Ok(Look::Nothing)
    }

    pub(super) fn younger_than(
        &self,
        number: Number,
    ) -> Result<Option<Vec<rotated::Rotated>>, SourceError> {
        rotated::younger_than(&self.path, number).map_err(|error| self.failed(error))
    }

    pub(super) fn read_rotated(&mut self, file: LogFile) {
        (self.file, self.is_rotated) = (file, true);
        self.watch();
    }
}
