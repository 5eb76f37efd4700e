//! [`Files`]: the log of a run, and its database.

use std::{
    fs::{self, File},
    path::PathBuf,
};

use foldline::files::{owner_only, owner_only_folder};

use super::args::RunArgs;
use crate::{distinct::DistinctFiles, error::Error, homes, sink::SinkName};

/// The log and the database of a run, if it has them.
pub(super) struct Files {
    pub(super) log: Option<PathBuf>,
    pub(super) db: Option<PathBuf>,
    /// Whether the files are temporary: the database was not requested, serves only viewers of the run, and is
    /// removed at its end.
    is_passing: bool,
}

impl Files {
    /// The named files. A database requires a log, and a server requires both.
    pub(super) fn of(args: &RunArgs) -> Result<Self, Error> {
        let is_passing = args.is_served() && args.db.is_none();
        let (mut log, mut db) = (args.log.clone(), args.db.clone());
        if is_passing || (log.is_none() && db.is_some()) {
            let folder = homes::data_folder()?.join("runs");
            owner_only_folder(&folder).map_err(|error| Error::output(&folder, &error))?;
            let moment = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%.3fZ");
            let name = format!("{moment}-{}", std::process::id());
            log.get_or_insert_with(|| folder.join(format!("{name}.jsonl")));
            db.get_or_insert_with(|| folder.join(format!("{name}.db")));
        }
        let files = Self { log, db, is_passing };
        files.check(args)?;
        Ok(files)
    }

    fn check(&self, args: &RunArgs) -> Result<(), Error> {
        let mut files = DistinctFiles::default();
        if let Some(log) = &self.log {
            files.output("--log", log)?;
        }
        if let Some(db) = &self.db {
            files.database(db)?;
        }
        if let Some(audit) = &args.audit {
            files.output("--audit", audit)?;
        }
        files.stdout()?;
        files.stderr()?;
        SinkName::name_files(&args.sinks, &mut files)
    }

    /// Creates the log, which contains only this run.
    pub(super) fn create_log(&self) -> Result<Option<(PathBuf, File)>, Error> {
        let create = |path: &PathBuf| {
            let created = owner_only().write(true).create_new(true).open(path);
            let created = created.map_err(|error| Error::output(path, &error))?;
            Ok((path.clone(), created))
        };
        self.log.as_ref().map(create).transpose()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if let (true, Some(db)) = (self.is_passing, &self.db) {
            for suffix in ["", "-wal", "-shm"] {
                let mut path = db.clone().into_os_string();
                path.push(suffix);
                // The remaining files are private and useless.
                let _ = fs::remove_file(path);
            }
        }
    }
}
