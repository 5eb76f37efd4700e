//! [`KeptLogs`]: the raw logs that are kept beside a database, so that they can be read again after an agent has deleted
//! them.
//!
//! Of each source, what was read of its log is one file, compressed with gzip: `<database>.logs/xx/<SHA-256>/..`, where
//! the last parts of its path follow, since some agents state the session there. The files are logs like any other:
//! `foldline ingest <database>.logs --db NEW` reads them. The database records which file belongs to which source.

use std::{
    borrow::Cow,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Component, Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use foldline::{
    files::{owner_only_folder, sync_name},
    source::{LogFile, Openers},
};
use foldline_database::sqlite::{Database, KeptLog, Unkept};
use foldline_domain::Digest;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use crate::{error::Error, finder::is_compressed_name, program::Program};

/// The number of parts of a path that may state a session: the file, and the folders `session_.../agents/main` of Kimi.
const PARTS: usize = 4;

/// The length from which a log is long, in bytes.
const LONG: u64 = 1 << 20;

/// The folder of the raw logs that are kept beside a database.
#[derive(Debug)]
pub(crate) struct KeptLogs {
    folder: PathBuf,
}

impl KeptLogs {
    /// The folder of this database, which need not exist.
    pub(crate) fn of(db: &Path) -> Self {
        let mut folder = dunce::canonicalize(db).unwrap_or_else(|_| db.to_owned()).into_os_string();
        folder.push(".logs");
        Self { folder: folder.into() }
    }

    /// The path of the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps every log that is new or has grown, if the database keeps logs. A log that is missing, or that was changed
    /// since it was read, is left out; so are the databases of agents, of which lines are made.
    ///
    /// # Errors
    /// A file or the database cannot be written.
    pub(crate) fn update(&self, program: &Program, database: &mut Database) -> Result<(), Error> {
        if !database.keeps_logs()? {
            return Ok(());
        }
        let openers = program.openers();
        for log in database.unkept()? {
            let stored = self.store(&openers, &log);
            let stored = stored.map_err(|error| Error::output(&self.folder, &error))?;
            let Some(kept) = stored else { continue };
            if let Some(unused) = database.set_kept(&kept)? {
                self.remove(&unused)?;
            }
        }
        Ok(())
    }

    /// Removes the file of a log, which may be missing, and the folders that were made for it.
    ///
    /// # Errors
    /// It cannot be removed.
    pub(crate) fn remove(&self, file: &str) -> Result<(), Error> {
        let Some(path) = self.inside(file) else { return Ok(()) };
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::output(&path, &error));
            }
            _ => {}
        }
        let folders = path.ancestors().skip(1).take_while(|folder| *folder != self.folder);
        // A folder with other files stays.
        let _ = folders.map(fs::remove_dir).find(Result::is_err);
        Ok(())
    }

    /// The path of a file in the folder: a database of someone else may name any file.
    fn inside(&self, file: &str) -> Option<PathBuf> {
        let file = Path::new(file);
        let is_inside = file.components().all(|part| matches!(part, Component::Normal(_)));
        is_inside.then(|| self.folder.join(file))
    }

    /// Compresses what was read of a log into its file; `None` if the log has other contents now. Of a long log that has
    /// grown, only the rest is compressed, and appended to a copy of its earlier file.
    fn store(&self, openers: &Openers, log: &Unkept) -> io::Result<Option<KeptLog>> {
        let path = Path::new(&log.path);
        let Ok(mut source) = openers.open_regular(path) else { return Ok(None) };
        if source.is_rewritten() && !source.is_document() {
            return Ok(None);
        }
        owner_only_folder(&self.folder)?;
        let temporary = NamedTempFile::new_in(&self.folder)?;
        let (mut hash, mut begun) = (Sha256::new(), 0);
        if let Some(before) = log.before.as_ref().filter(|before| before.size >= LONG) {
            let is_same = before.size <= log.length
                && each(&mut source, before.size, |bytes| {
                    hash.update(bytes);
                    Ok(())
                })?
                && digest(&hash) == before.content;
            let copy = self.inside(&before.file).filter(|_| is_same).map(File::open);
            match copy {
                Some(Ok(mut copy)) => {
                    io::copy(&mut copy, &mut temporary.as_file())?;
                    begun = before.size;
                }
                // As a whole.
                _ => return self.store(openers, &Unkept { before: None, ..log.clone() }),
            }
        }
        if source.seek(begun).is_err() {
            return Ok(None);
        }
        let mut packed =
            GzEncoder::new(BufWriter::new(temporary.as_file()), Compression::default());
        let is_whole = each(&mut source, log.length - begun, |bytes| {
            hash.update(bytes);
            packed.write_all(bytes)
        })?;
        packed.finish()?.flush()?;
        if !is_whole || digest(&hash) != log.content {
            return Ok(None);
        }
        // Without timestamps in a log, the age of its file is the age of its session.
        if let Ok(modified) = fs::metadata(path).and_then(|metadata| metadata.modified()) {
            temporary.as_file().set_modified(modified)?;
        }
        temporary.as_file().sync_all()?;
        let stored_size = temporary.as_file().metadata()?.len();
        let file = file_of(log);
        let target = self.folder.join(&file);
        if let Some(folder) = target.parent() {
            owner_only_folder(folder)?;
        }
        temporary.persist(&target).map_err(|failed| failed.error)?;
        sync_name(&target)?;
        let (source, content, size) = (log.source.clone(), log.content, log.length);
        Ok(Some(KeptLog { source, file, content, size, stored_size }))
    }
}

/// Passes the next bytes of a log; returns whether it has so many.
fn each(
    log: &mut LogFile,
    mut rest: u64,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<bool> {
    let mut bytes = Vec::new();
    while rest > 0 {
        bytes.clear();
        // A log that cannot be read is not kept, and the next update reports it.
        if log.read_to(&mut bytes).is_err() || bytes.is_empty() {
            return Ok(false);
        }
        let length = usize::try_from(rest).unwrap_or(usize::MAX).min(bytes.len());
        each(bytes.get(..length).unwrap_or_default())?;
        rest -= length as u64;
    }
    Ok(true)
}

fn digest(hash: &Sha256) -> Digest {
    <[u8; 32]>::from(hash.clone().finalize()).into()
}

/// The path of the file of a log below the folder.
fn file_of(log: &Unkept) -> String {
    let digest = log.content.to_string();
    let path = PathBuf::from(&log.path);
    // The name without what says that it is compressed already.
    let path = if is_compressed_name(&path) { path.with_extension("") } else { path };
    // Hidden files and folders are not found in a folder.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut parts = vec![name.trim_start_matches('.').to_owned()];
    let folders = path.components().rev().skip(1).map_while(|part| match part {
        Component::Normal(part) => Some(part.to_string_lossy()),
        _ => None,
    });
    let shown = folders.take_while(|folder| !folder.starts_with('.'));
    parts.extend(shown.take(PARTS - 1).map(Cow::into_owned));
    parts.reverse();
    let last = parts.join("/");
    format!("{}/{digest}/{last}.gz", digest.get(..2).unwrap_or_default())
}
