//! The marks of a log: the positions from which it can be resumed.

use std::time::Instant;

use foldline::{ledger::Identity, source::SourceError};

use super::super::{checkpoint::Before, mark::Mark};
use super::ShippedLog;
use crate::error::Error;

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
