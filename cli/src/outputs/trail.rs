//! [`Trail`]: the audit trail of a database.

use std::collections::{BTreeMap, BTreeSet};

use foldline::ledger::SourceName;
use foldline_database::sqlite::{Database, KnownOutput, Output, SqliteError};
use foldline_domain::{
    Digest, Json, TaskId,
    audit::{About, AuditChain, EventRecord, Head, SigningKey, Verifier},
};

use super::file::{FileState, LockedFile, OutputFile};
use crate::{error::Error, random};

/// The prefix of the name of an audit trail in the database; its identity follows.
pub(super) const PREFIX: &str = "audit ";

/// An upper limit of the length of the first record.
pub(crate) const MAX_FIRST: u64 = 4096;

/// The records of a segment for the audit trail.
pub struct TrailRecords {
    /// The name of the log as a source of the database: its first path, which does not change when the file is moved.
    pub log: String,
    /// The task of its sessions, if one was named.
    pub task: Option<String>,
    /// The events, each of which becomes a record.
    pub events: Vec<EventRecord>,
    /// Whether the agent rewrites the log: what the trail has of it gets no record again, in whatever place it stands
    /// now.
    pub is_rewritten: bool,
}

/// The committed state of an audit trail.
pub(crate) struct StoredTrail {
    name: String,
    /// The file is synchronized up to this byte; later commits are in the outbox.
    pub(crate) written: u64,
    /// The head of the trail, including the outbox.
    pub(crate) head: Head,
    /// The number of the ledger's commits at that time.
    pub(crate) commits: u64,
}

impl StoredTrail {
    /// The trail with this identity, if it is known.
    pub(crate) fn find(database: &Database, trail: &str) -> Result<Option<Self>, Error> {
        let name = format!("{PREFIX}{trail}");
        let Some(known) = known(database)?.find(|known| known.name == name) else {
            return Ok(None);
        };
        let unreadable = |error: serde_json::Error| {
            let message = format!("the state of {name} cannot be read: {error}");
            SqliteError::Damaged { path: database.path().to_owned(), message }
        };
        let FileState { written, memory, .. } = state(&known).map_err(unreadable)?;
        let chain: AuditChain = serde_json::from_str(memory.get()).map_err(unreadable)?;
        let (written, head, commits) = (written.length, chain.head(), known.commits);
        Ok(Some(Self { name, written, head, commits }))
    }

    /// Committed data that may not be in the file yet.
    pub(crate) fn outbox(&self, database: &Database) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        while let Some(piece) = database.outbox(&self.name, self.written + bytes.len() as u64)? {
            bytes.extend(piece);
        }
        Ok(bytes)
    }
}

/// An audit trail. Its first record names its database.
pub(super) struct Trail {
    file: OutputFile,
    chain: AuditChain,
    /// The key that signs the trail.
    key: Option<SigningKey>,
    /// The records for the next commit of logs that are rewritten.
    recorded: BTreeSet<(SourceName, Digest)>,
}

impl Trail {
    /// Opens or begins the trail of a database with `commits` commits. If some commits were made without the
    /// trail, its next record states this, and their number is returned.
    pub(super) fn open(
        mut file: LockedFile,
        key: Option<SigningKey>,
        database: &Database,
        commits: u64,
    ) -> Result<(Self, Option<u64>), Error> {
        let mut known = known(database)?;
        let line = file.first_line(MAX_FIRST)?;
        let found = match Verifier::alone(&line).map(|record| record.about) {
            Ok(About::Trail { ledger, .. }) if ledger != database.id()? => {
                return Err(file.refuse("it is the audit trail of another database"));
            }
            Ok(About::Trail { trail, .. }) => {
                let name = format!("{PREFIX}{trail}");
                let found = known.find(|known| known.name == name);
                Some(found.ok_or_else(|| {
                    file.refuse(
                        "it is the audit trail of a later state of this database, which an older one has \
                         replaced; name another file",
                    )
                })?)
            }
            _ => {
                known.find(|known| state(known).is_ok_and(|state| state.path == file.stored_path()))
            }
        };
        let (mut trail, missed) = match found {
            Some(known) => Self::resume(known, file, database, commits)?,
            None if file.is_empty() => (Self::begin(file, database, commits)?, None),
            None => return Err(file.refuse(
                "it is not empty, and does not begin as the audit trail of a database does; name another file",
            )),
        };
        trail.key = key;
        Ok((trail, missed))
    }

    fn begin(file: LockedFile, database: &Database, commits: u64) -> Result<Self, Error> {
        let id = random::digits::<16>()?;
        let mut file = file.begin(format!("{PREFIX}{id}"))?;
        let chain = AuditChain::of_ledger(&database.id()?, &id, commits, file.staged());
        Ok(Self { file, chain, key: None, recorded: BTreeSet::new() })
    }

    fn resume(
        known: KnownOutput,
        file: LockedFile,
        database: &Database,
        commits: u64,
    ) -> Result<(Self, Option<u64>), Error> {
        let fail = |error: serde_json::Error| Error::output(file.path(), &error.into());
        let FileState { written, memory, .. } = state(&known).map_err(fail)?;
        let chain: AuditChain = serde_json::from_str(memory.get()).map_err(fail)?;
        let KnownOutput { name, commits: after, .. } = known;
        let file = file.resume(name, written, database)?;
        let mut trail = Self { file, chain, key: None, recorded: BTreeSet::new() };
        let missed = commits.saturating_sub(after);
        if missed > 0 {
            trail.chain.append_gap(after, commits, trail.file.staged());
        }
        Ok((trail, (missed > 0).then_some(missed)))
    }

    /// Adds the records of a segment.
    pub(super) fn append(
        &mut self,
        records: &TrailRecords,
        database: &Database,
    ) -> Result<(), SqliteError> {
        let TrailRecords { log, task, events, is_rewritten } = records;
        self.chain.set_task(task.as_deref().map(TaskId::from));
        self.chain.set_log(Some(log));
        if *is_rewritten {
            let source = SourceName::from(log.as_str());
            for line in events.chunk_by(|a, b| a.position().line == b.position().line) {
                self.append_news(line, &source, database)?;
            }
        } else {
            for event in events {
                self.chain.append(event, self.file.staged());
            }
        }
        Ok(())
    }

    /// Adds the records of a line of a log that is rewritten, unless the trail has them. A new line has one at least.
    fn append_news(
        &mut self,
        line: &[EventRecord],
        source: &SourceName,
        database: &Database,
    ) -> Result<(), SqliteError> {
        let digest = line.first().and_then(EventRecord::line_sha256);
        let mut lacks_record = self.is_new(source, digest, database)?;
        let mut equal = BTreeMap::new();
        let mut news = Vec::new();
        for event in line {
            let number = equal.entry(event.content_sha256(0)).or_insert(0);
            let content = event.content_sha256(*number);
            *number += 1;
            if self.is_new(source, content, database)? {
                news.push(event);
                lacks_record = false;
            }
        }
        let first = line.first().filter(|_| lacks_record);
        for event in first.into_iter().chain(news) {
            self.chain.append(event, self.file.staged());
        }
        Ok(())
    }

    /// Whether the trail does not have this of a source; then it is noted.
    fn is_new(
        &mut self,
        source: &SourceName,
        digest: Option<Digest>,
        database: &Database,
    ) -> Result<bool, SqliteError> {
        let Some(digest) = digest else { return Ok(true) };
        let key = (source.clone(), digest);
        if self.recorded.contains(&key) || database.is_recorded(self.file.name(), source, digest)? {
            return Ok(false);
        }
        Ok(self.recorded.insert(key))
    }

    /// Whether the trail is signed, and has records since the last signature.
    pub(super) fn is_unsigned(&self) -> bool {
        self.key.is_some() && !self.chain.is_signed()
    }

    /// Whether earlier records are signed, and the next ones are not.
    pub(super) fn ends_signing(&self) -> bool {
        self.key.is_none() && self.chain.has_signature()
    }

    /// The output for the next commit of the database, after which it has this many commits.
    pub(super) fn output(&mut self, commits: u64) -> Result<Output, Error> {
        if let Some(key) = self.key.as_ref().filter(|_| !self.chain.is_signed()) {
            self.chain.append_signature(key, commits, self.file.staged());
        }
        let memory = Json::of(&self.chain)
            .map_err(|error| Error::output(self.file.path(), &error.into()))?;
        let output = self.file.output(memory)?;
        Ok(Output { recorded: std::mem::take(&mut self.recorded), ..output })
    }

    pub(super) fn chain(&self) -> &AuditChain {
        &self.chain
    }

    /// Returns to an earlier state, without the records since then.
    pub(super) fn set_chain(&mut self, chain: AuditChain) {
        self.chain = chain;
        self.recorded.clear();
    }

    pub(super) fn file(&self) -> &OutputFile {
        &self.file
    }

    pub(super) fn file_mut(&mut self) -> &mut OutputFile {
        &mut self.file
    }
}

/// The trails that include all commits of the database: their identities, with their paths.
///
/// # Errors
/// The database cannot be read.
pub fn whole_trails(database: &Database) -> Result<BTreeMap<String, String>, Error> {
    let commits = database.commits()?;
    let whole = known(database)?.filter(|known| known.commits == commits);
    let named = whole.filter_map(|known| {
        let path = state(&known).ok()?.path;
        Some((known.name, path))
    });
    Ok(named.collect())
}

/// The known trails.
fn known(database: &Database) -> Result<impl Iterator<Item = KnownOutput> + use<>, Error> {
    Ok(database.outputs()?.into_iter().filter(|known| known.name.starts_with(PREFIX)))
}

pub(super) fn state(known: &KnownOutput) -> serde_json::Result<FileState> {
    serde_json::from_str(known.state.get())
}
