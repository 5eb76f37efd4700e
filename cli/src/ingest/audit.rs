//! The audit trail of an ingest: it is committed together with the database.

use std::{io, path::Path};

use super::read::Records;
use crate::error::Error;
use foldline::{
    conversation::Json,
    emitters::{
        audit::{AuditCheckpoint, AuditFile, SyncPolicy},
        sqlite::Database,
    },
    ledger::{Ledger, Mark},
};

/// Opens the trail at the end that the database has recorded: later records belong to events that were not
/// committed, and will be written again. A trail that the database does not know is continued at its end,
/// which is recorded before anything is added.
pub(super) fn open(path: &Path, database: &mut Database) -> Result<AuditFile, Error> {
    let fail = |error| Error::Input { path: path.to_owned(), error };
    let absolute = std::path::absolute(path).map_err(fail)?;
    let stored = database.mark(&name(&absolute))?;
    let checkpoint = stored.and_then(|state| serde_json::from_str(state.get()).ok());
    if let Some(checkpoint) = checkpoint {
        return AuditFile::resume(absolute, checkpoint, SyncPolicy::End).map_err(Error::Audit);
    }
    let mut file = AuditFile::open(absolute, SyncPolicy::End).map_err(Error::Audit)?;
    let begun = state(&mut file)?;
    database.commit(&[], &[begun])?;
    Ok(file)
}

/// Syncs the trail to disk, and returns its end.
pub(super) fn state(file: &mut AuditFile) -> Result<Mark, Error> {
    try_state(file).map_err(|error| Error::output(file.path(), &error))
}

fn try_state(file: &mut AuditFile) -> io::Result<Mark> {
    file.sync()?;
    let checkpoint: AuditCheckpoint = file.checkpoint()?;
    let state = Json::of(&checkpoint)?;
    Ok(Mark { name: name(file.path()), state })
}

/// The records of a stretch.
pub(super) fn append(file: &mut AuditFile, records: Records) -> Result<(), Error> {
    let Records { log, task, session, events } = records;
    file.chain_mut().set_task(task);
    file.chain_mut().go_on_with(&log, session);
    let appended = events.iter().try_for_each(|event| file.append(event));
    appended.map_err(|error| Error::output(file.path(), &error))
}

fn name(path: &Path) -> String {
    format!("audit {}", path.display())
}
