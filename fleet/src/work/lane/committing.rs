//! The commits of a lane.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use foldline::ledger::{CommitError, SourceName};

use super::super::{group::Shared, source::Cut};
use super::{AGAIN, Batch, Lane};
use crate::{
    error::Error,
    ledger::{Extra, INPUT, KafkaLedgerError},
    marks::{DELETED, Unfolded, mark},
};

/// Bytes of output messages per byte of log after which a commit is due.
const GROWTH: usize = 4;

/// The maximum time between commits.
const LONGEST: Duration = Duration::from_secs(2);

/// The time after which a commit is due if no more messages wait: then it delays nothing.
const IDLE: Duration = Duration::from_millis(100);

/// The time without messages after which all states are stored, so that the next owner folds nothing again.
const REST: Duration = Duration::from_secs(5);

/// The maximum number of states in a transaction, apart from those of complete sources.
const STATES: usize = 512;

impl Lane {
    /// Whether a commit is due; `is_idle` means that no messages wait.
    pub(in super::super) fn is_due(&self, shared: &Shared, is_idle: bool) -> bool {
        let Batch { bytes, size, since } = self.batch;
        let share = shared.bytes();
        let longest = if is_idle { IDLE } else { LONGEST };
        let is_waiting = self.unsaved.is_due(self.counts.bytes)
            || is_idle && self.is_resting() && !self.unsaved.is_empty()
            || self.expiry.is_due(shared.expire);
        bytes >= share
            || size >= GROWTH * share
            || self.sources.len() >= 2 * shared.open()
            || since.is_some_and(|since| since.elapsed() >= longest)
            || is_waiting && self.ended.elapsed() >= longest
    }

    fn is_resting(&self) -> bool {
        self.heard.elapsed() >= REST
    }

    /// Commits folded data: messages, states and the input offset. Returns the offset if there was anything to
    /// commit.
    pub(in super::super) fn commit(&mut self, shared: &Shared) -> Result<Option<i64>, Error> {
        let crowd = self.crowd(shared.open());
        let mut stored = self.unsaved.oldest(self.counts.bytes, self.is_resting(), STATES);
        stored.extend(crowd.iter().cloned());
        let expired = self.expiry.expired(shared.expire, &self.ledger);
        let ended = self.commit_with(stored, &expired)?;
        crowd.iter().for_each(|name| drop(self.sources.remove(name)));
        Ok(ended)
    }

    /// Commits folded data and all states: the next owner folds nothing again.
    pub(in super::super) fn conclude(&mut self) -> Result<Option<i64>, Error> {
        let mut ended = self.commit_with(Vec::new(), &[])?;
        while !self.unsaved.is_empty() {
            let stored = self.unsaved.oldest(self.counts.bytes, true, STATES);
            ended = self.commit_with(stored, &[])?;
        }
        Ok(ended)
    }

    /// Commits folded data, the states of these sources, and the removal of expired ones.
    fn commit_with(
        &mut self,
        stored: Vec<SourceName>,
        expired: &[SourceName],
    ) -> Result<Option<i64>, Error> {
        let Some(next) = self.next else { return Ok(None) };
        if self.batch.since.is_none() && stored.is_empty() && expired.is_empty() {
            return Ok(None);
        }
        let begun = Instant::now();
        let (mut commits, mut ahead) = (Vec::new(), Vec::new());
        let states: HashSet<_> = stored.iter().cloned().collect();
        for name in self.touched.drain(..).chain(stored) {
            let Some(open) = self.sources.get_mut(&name) else { continue };
            open.is_touched = false;
            match open.source.cut(states.contains(&name))? {
                Cut::Ahead(mut messages) => ahead.append(&mut messages),
                Cut::Stored(commit) => {
                    self.unsaved.remove(&name);
                    self.sent.stored(&name, open.source.sent());
                    commits.push(*commit);
                }
            }
        }
        // A line that is too long for the state is read again from the first message that is not in it.
        let open = self.sources.values().filter_map(|open| open.source.begun());
        let again = open.chain(self.unsaved.first()).fold(next, i64::min);
        self.folded = self.folded.max(next);
        let mut marks = vec![mark(INPUT, &self.folded)?, mark(AGAIN, &again)?];
        marks.extend(self.deleted.mark(DELETED.to_owned())?);
        marks.extend(self.expiry.mark()?);
        for (source, note) in std::mem::take(&mut self.notes) {
            marks.push(mark(Unfolded::mark(&source), &note)?);
        }
        ahead.extend(expired.iter().map(|source| self.target.removal(source)));
        let extra = Extra { ahead: &ahead, removed: expired };
        let committed = self.ledger.commit_with(&commits, extra, &marks);
        committed.map_err(|error| match error {
            // Only this ledger commits to its partition.
            CommitError::Moved { .. } => Error::KafkaLedger(KafkaLedgerError::Fenced),
            CommitError::Failed(error) => Error::KafkaLedger(error),
        })?;
        expired.iter().for_each(|source| drop(self.sources.remove(source)));
        self.deleted.committed();
        self.committed = again;
        self.batch = Batch::default();
        self.commits += 1;
        self.counts.commits += 1;
        self.counts.committing += begun.elapsed();
        self.counts.sources = self.known();
        self.ended = Instant::now();
        Ok(Some(self.folded))
    }

    /// The number of known sources.
    fn known(&self) -> usize {
        let is_unstored = |name: &&SourceName| !self.ledger.has(name);
        let open = self.sources.keys().filter(is_unstored).count();
        let sent = self.sent.sources().filter(|name| !self.sources.contains_key(*name));
        self.ledger.sources().len() + open + sent.filter(is_unstored).count()
    }

    /// The least recently used sources, if there are more than `most` in memory: their states are stored, and they are
    /// dropped.
    fn crowd(&self, most: usize) -> Vec<SourceName> {
        if self.sources.len() <= most {
            return Vec::new();
        }
        let mut used: Vec<_> = self
            .sources
            .iter()
            .filter(|(_, open)| open.source.begun().is_none())
            .map(|(name, open)| (open.used, name))
            .collect();
        used.sort_unstable();
        let count = self.sources.len() - most / 4 * 3;
        used.into_iter().take(count).map(|(_, name)| name.clone()).collect()
    }
}
