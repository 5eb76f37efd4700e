//! The next file of a log.

use std::time::Instant;

use foldline::source::{Notice, SourceError};

use super::super::{checkpoint::Before, hole::Hole};
use super::ShippedLog;
use crate::place::Place;

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
