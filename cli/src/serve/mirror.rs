//! [`ReceivedLogs`]: the logs that other machines have sent, in one folder: `MACHINE/USER/PATH`.
//!
//! Each is the same bytes as the log on its machine, up to some length, so that it is read, resumed and recognised like
//! any other log. A log that grew is continued; one that was rewritten is collected beside it, and replaces it when it is
//! whole. What a machine sends twice changes nothing, as it states where its bytes begin.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    path::{Component, Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, UNIX_EPOCH},
};

use foldline::{
    files::{owner_only_folder, sync_name},
    ledger::Extent,
    position::Digest,
};

use crate::{origin::RECEIVED, received::ReceivedAt};

/// The folder of logs that are collected, which no search for logs visits.
const PARTS: &str = ".parts";

/// The longest part of a path, in bytes, which file systems allow.
const LONGEST_PART: usize = 255;

/// The most parts of a path.
const DEEPEST: usize = 64;

/// The logs of other machines.
#[derive(Debug)]
pub(crate) struct ReceivedLogs {
    folder: PathBuf,
    /// Held while a log is written: two senders of one log do not mix their bytes.
    writing: Mutex<()>,
}

impl ReceivedLogs {
    /// The folder beside this database, which is made.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn beside(db: &Path) -> io::Result<Self> {
        let folder = Self::folder_of(&std::path::absolute(db)?);
        owner_only_folder(&folder)?;
        File::create(folder.join(RECEIVED))?;
        Ok(Self { folder, writing: Mutex::new(()) })
    }

    /// The folder beside a database, which need not exist.
    pub(crate) fn folder_of(db: &Path) -> PathBuf {
        let mut folder = db.as_os_str().to_owned();
        folder.push(".received");
        folder.into()
    }

    /// The path of the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of a log; `None` if a part of its path is none.
    fn file(&self, machine: &str, parts: &[String]) -> Option<PathBuf> {
        let is_part = |part: &String| {
            let is_name = matches!(
                Path::new(part).components().collect::<Vec<_>>()[..],
                [Component::Normal(name)] if name.len() == part.len()
            );
            let is_stream = cfg!(windows) && part.contains(':');
            is_name && part.len() < LONGEST_PART && !part.contains('\0') && !is_stream
        };
        let is_path = (2..=DEEPEST).contains(&parts.len()) && parts.iter().all(is_part);
        let (user, path) =
            parts.split_first().filter(|(user, _)| is_path && !user.starts_with('.'))?;
        let path: PathBuf = path.iter().map(|part| shown(part)).collect();
        Some(self.folder.join(machine).join(user).join(path))
    }

    fn collected(&self, file: &Path) -> PathBuf {
        let name = Digest::of(file.as_os_str().as_encoded_bytes());
        self.folder.join(PARTS).join(name.to_string())
    }

    /// What there is of a log of this machine, whose path begins with its user; `None` if the path is none.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn part(&self, machine: &str, path: &[String]) -> io::Result<Option<Extent>> {
        let Some(file) = self.file(machine, path) else { return Ok(None) };
        Ok(Some(match File::open(&file) {
            Ok(mut file) => {
                let length = file.metadata()?.len();
                Extent::read(&mut file, length)?.unwrap_or_default()
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Extent::of(b""),
            Err(error) => return Err(error),
        }))
    }

    /// Adds bytes to a log, durably, if they continue what there is; `None` if they do not.
    ///
    /// # Errors
    /// They cannot be written.
    pub(crate) fn add(
        &self,
        machine: &str,
        path: &[String],
        at: ReceivedAt,
        bytes: &[u8],
    ) -> io::Result<Option<()>> {
        let Some(file) = self.file(machine, path) else { return Ok(None) };
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let collected = self.collected(&file);
        let Some(of) = at.of else {
            return continued(&file, at, bytes);
        };
        if at.offset == 0 {
            remove(&collected)?;
        }
        if at.offset.checked_add(bytes.len() as u64).is_none_or(|end| end > of)
            || continued(&collected, at, bytes)?.is_none()
        {
            return Ok(None);
        }
        if fs::metadata(&collected)?.len() == of {
            made_folder(&file)?;
            fs::rename(&collected, &file)?;
            sync_name(&file)?;
        }
        Ok(Some(()))
    }
}

/// The name of a part of a path: a search for logs passes over what is hidden, and two names stay two.
fn shown(part: &str) -> String {
    let is_marked = part.starts_with(['.', '_']);
    if is_marked { format!("_{part}") } else { part.to_owned() }
}

/// Adds bytes to a file of exactly the length at which they begin.
fn continued(file: &Path, at: ReceivedAt, bytes: &[u8]) -> io::Result<Option<()>> {
    let ReceivedAt { offset: from, of: _, modified } = at;
    made_folder(file)?;
    let is_new = !file.exists();
    let mut output = OpenOptions::new().create(true).truncate(false).write(true).open(file)?;
    if output.metadata()?.len() != from {
        return Ok(None);
    }
    output.seek(SeekFrom::Start(from))?;
    let dated = || {
        let at = modified.and_then(|millis| UNIX_EPOCH.checked_add(Duration::from_millis(millis)));
        at.map_or(Ok(()), |at| output.set_modified(at))
    };
    if let Err(error) =
        (&output).write_all(bytes).and_then(|()| dated()).and_then(|()| output.sync_data())
    {
        // No part of them remains, unless the system refuses that too.
        let _ = output.set_len(from);
        return Err(error);
    }
    if is_new {
        sync_name(file)?;
    }
    Ok(Some(()))
}

fn made_folder(file: &Path) -> io::Result<()> {
    file.parent().map_or(Ok(()), fs::create_dir_all)
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origin;

    fn path(text: &str) -> Vec<String> {
        text.split('/').map(str::to_owned).collect()
    }

    fn received() -> (tempfile::TempDir, ReceivedLogs) {
        let folder = tempfile::tempdir().unwrap();
        let logs = ReceivedLogs::beside(&folder.path().join("team.db")).unwrap();
        (folder, logs)
    }

    #[test]
    fn bytes_that_do_not_continue_a_log_change_nothing() {
        let (_folder, logs) = received();
        let log = path("ada/.x/a.jsonl");
        let add = |offset, of, bytes: &[u8]| {
            let at = ReceivedAt { offset, of, modified: Some(1_700_000_000_000) };
            logs.add("box", &log, at, bytes).unwrap().is_some()
        };
        let has = || logs.part("box", &log).unwrap().unwrap();
        assert_eq!(has(), Extent::of(b""));
        assert!(add(0, None, b"one\n"));
        // Sent twice, and from a place that is not reached.
        assert!(!add(0, None, b"one\n") && !add(9, None, b"two\n"));
        assert!(add(4, None, b"two\n"));
        assert_eq!(has(), Extent::of(b"one\ntwo\n"));

        // One that replaces it is seen when it is whole.
        assert!(add(0, Some(6), b"new"));
        assert_eq!(has(), Extent::of(b"one\ntwo\n"));
        assert!(!add(3, Some(5), b"er\n"));
        assert!(add(3, Some(6), b"er\n"));
        assert_eq!(has(), Extent::of(b"newer\n"));
        let modified = fs::metadata(logs.file("box", &log).unwrap()).unwrap().modified().unwrap();
        assert_eq!(modified.duration_since(UNIX_EPOCH).unwrap().as_secs(), 1_700_000_000);
    }

    #[test]
    fn a_path_stays_in_the_folder_of_its_machine() {
        let (_folder, logs) = received();
        for odd in ["a", ".ada/x", "ada/../x", "ada//x", "ada/./x", "ada/\0", "/x", "ada/"] {
            assert_eq!(logs.part("box", &path(odd)).unwrap(), None, "{odd}");
        }
        assert_eq!(logs.part("box", &path(&["x"; 65].join("/"))).unwrap(), None);
        let file = logs.file("box", &path("ada/.claude/a.jsonl")).unwrap();
        assert!(file.ends_with("box/ada/_.claude/a.jsonl"), "{}", file.display());
        let names = [".x", "_x", "_.x", "__x", "x"].map(shown);
        assert_eq!(names, ["_.x", "__x", "__.x", "___x", "x"]);
        // No machine names another one, whatever it sends.
        let marker = path(&format!("ada/{RECEIVED}"));
        let at = ReceivedAt { offset: 0, of: None, modified: None };
        logs.add("box", &marker, at, b"x").unwrap();
        let below = logs.file("box", &path("ada/other/bob/a.jsonl")).unwrap();
        assert_eq!(origin::of(&below), (Some("box".to_owned()), Some("ada".to_owned())));
        assert_eq!(origin::of(&file), (Some("box".to_owned()), Some("ada".to_owned())));
    }
}
