//! [`Dataset`]: the tables of sessions as Parquet files in a folder.

use std::{
    collections::BTreeSet,
    fmt::Display,
    fs,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use foldline_tables::{
    Row, Table,
    parquet::{Bounds, Dataset as Tables},
};
use tempfile::NamedTempFile;

use super::temporary::{replace, temporary_beside};
use crate::error::Error;

/// The new files, by their paths.
type Files = Arc<Mutex<Vec<(NamedTempFile, PathBuf)>>>;
type Create = Box<dyn FnMut(&str) -> io::Result<Box<dyn Write + Send>>>;

/// A dataset that replaces another one when all rows have come.
pub(super) struct Dataset {
    tables: Tables<Create>,
    files: Files,
    folder: PathBuf,
}

impl Dataset {
    pub(super) fn new(folder: &Path) -> Result<Self, Error> {
        fs::create_dir_all(folder).map_err(|error| Error::output(folder, &error))?;
        let (files, parent) = (Files::default(), folder.to_owned());
        let known = Arc::clone(&files);
        let create: Create = Box::new(move |name| {
            let path = parent.join(name);
            let file = temporary_beside(&path)?;
            let writer = BufWriter::new(file.reopen()?);
            let mut known = known.lock().map_err(|_| io::Error::other("a writer failed"))?;
            known.push((file, path));
            Ok(Box::new(writer) as _)
        });
        let tables = Tables::new(create, Bounds::default());
        let tables = tables.map_err(|error| unwritten(folder, error))?;
        Ok(Self { tables, files, folder: folder.to_owned() })
    }

    pub(super) fn push(&mut self, row: Row) -> Result<(), Error> {
        self.tables.push(row).map_err(|error| unwritten(&self.folder, error))
    }

    /// Replaces the files. Further partitions of an earlier dataset are removed: a reader would take them for rows.
    pub(super) fn finish(self) -> Result<(), Error> {
        let Self { tables, files, folder } = self;
        tables.finish().map_err(|error| unwritten(&folder, error))?;
        let mut files = files.lock().map_err(|error| unwritten(&folder, error))?;
        let mut written = BTreeSet::new();
        let failed = |error: io::Error| Error::output(&folder, &error);
        for (file, path) in files.drain(..) {
            replace(file, &path).map_err(failed)?;
            written.insert(path);
        }
        for table in Table::ALL {
            let partitions = (2..).map(|n| folder.join(format!("{}-{n}.parquet", table.name())));
            let old = partitions.skip_while(|path| written.contains(path));
            old.take_while(|path| path.is_file()).try_for_each(fs::remove_file).map_err(failed)?;
        }
        Ok(())
    }
}

fn unwritten(folder: &Path, error: impl Display) -> Error {
    Error::output(folder, &io::Error::other(error.to_string()))
}
