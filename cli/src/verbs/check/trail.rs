//! Compares the audit trail of a database with the committed data of the database.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    path::Path,
};

use foldline_database::sqlite::Database;
use foldline_domain::audit::{About, Verified, Verifier, verify};
use foldline_render::human;

use crate::{
    error::Error,
    outputs::{MAX_FIRST, StoredTrail},
};

/// Verifies the chain of a trail, and compares it with the database. Returns the checked parts, or the problem.
pub(super) fn check(database: &Database, path: &Path) -> Result<Result<String, String>, Error> {
    let input = |error| Error::Input { path: path.to_owned(), error };
    let mut file = File::open(path).map_err(input)?;
    let commits = database.commits()?;
    let stored = match of_database(database, first(&file).map_err(input)?) {
        Ok(stored) => stored,
        Err(problem) => return Ok(Err(problem)),
    };
    // Committed data that is not yet in the file is in the outbox, without a gap between the two.
    let rest = stored.outbox(database)?;
    file.seek(SeekFrom::Start(stored.written)).map_err(input)?;
    let mut beyond = Vec::new();
    (&file).take(rest.len() as u64 + 1).read_to_end(&mut beyond).map_err(input)?;
    if !rest.starts_with(&beyond) {
        return Ok(Err("it continues with records that the database has not committed".to_owned()));
    }
    file.seek(SeekFrom::Start(0)).map_err(input)?;
    let committed = BufReader::new(file.take(stored.written).chain(rest.as_slice()));
    let mut known = 0;
    let verified = verify(committed, |record| known = known.max(commits_in(&record)));
    let head = match verified.map_err(input)? {
        Ok(head) => head,
        Err(fault) => return Ok(Err(fault.to_string())),
    };
    if head != stored.head {
        return Ok(Err(format!(
            "it has {}, the last with the hash {}; the database has committed {}, the last with the hash {}",
            human::number_of(head.count, "record"),
            head.hash,
            human::number_of(stored.head.count, "record"),
            stored.head.hash
        )));
    }
    if known > commits {
        return Ok(Err(format!(
            "it states {}, the database only {commits}: the database was replaced by an older copy",
            human::number_of(known, "commit")
        )));
    }
    let missed = commits.saturating_sub(stored.commits);
    let mut checked = format!(
        "the audit trail, {}, compared with the database",
        human::number_of(head.count, "record")
    );
    if missed > 0 {
        checked += &format!(
            "; the last {} made without it, which its next record will state",
            human::number_of(missed, "commit")
        );
    }
    let waiting = rest.len() - beyond.len();
    if waiting > 0 {
        checked += &format!(
            "; {} of it not yet in the file, the next ingest writes them",
            human::number_of(waiting, "committed byte")
        );
    }
    Ok(Ok(checked))
}

/// The committed state of the trail that begins with this record.
fn of_database(database: &Database, first: Option<About>) -> Result<StoredTrail, String> {
    let fail = |error: Error| error.to_string();
    let ledger = database.id().map_err(|error| error.to_string())?;
    match first {
        Some(About::Trail { ledger: named, .. }) if named != ledger => {
            Err(format!("it belongs to another database, {named}; this one is {ledger}"))
        }
        Some(About::Trail { trail, .. }) => {
            StoredTrail::find(database, &trail).map_err(fail)?.ok_or_else(|| {
                "it was begun by a later state of this database, which an older copy has replaced"
                    .to_owned()
            })
        }
        _ => Err("its first record is not that of an audit trail of a database".to_owned()),
    }
}

/// The subject of the first record, if it is valid.
fn first(file: &File) -> io::Result<Option<About>> {
    let mut line = Vec::new();
    BufReader::new(file.take(MAX_FIRST)).read_until(b'\n', &mut line)?;
    Ok(Verifier::alone(&line).ok().map(|record| record.about))
}

/// The number of the ledger's commits that a record states.
fn commits_in(record: &Verified) -> u64 {
    match record.about {
        About::Trail { commits, .. } | About::Gap { commits, .. } => commits,
        _ => 0,
    }
}
