//! The folders of the agents' logs, and the folder of this program's database.

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use etcetera::BaseStrategy;
use foldline::files::owner_only_folder;
use foldline_agents::{DynExecutor, Format, Registry};

use crate::{error::Error, place::DatabasePlace};

/// A folder in which an agent keeps logs, or its database.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) format: &'static Format,
    pub(crate) folder: PathBuf,
}

/// The log folders of the supported agents, without duplicates. They depend on the environment, and need not
/// exist.
pub(crate) fn homes(registry: &Registry) -> Vec<Home> {
    collect(registry, |format| format.homes, &|alternatives| alternatives.concat())
}

/// The existing folders and databases; of alternatives, the first ones.
pub(crate) fn existing(registry: &Registry) -> Vec<Home> {
    collect(registry, |format| format.homes, &first_existing)
}

/// The existing folders of sessions that no executor reads yet.
pub(crate) fn unread(registry: &Registry) -> Vec<Home> {
    collect(registry, |format| format.unread, &first_existing)
}

fn first_existing(alternatives: Vec<Vec<PathBuf>>) -> Vec<PathBuf> {
    let exist = |folders: Vec<PathBuf>| folders.iter().flat_map(|it| matching(it)).collect();
    let mut existing = alternatives.into_iter().map(exist);
    existing.find(|folders: &Vec<_>| !folders.is_empty()).unwrap_or_default()
}

/// The existing paths that match a path, of which one part may have a `*`, sorted.
fn matching(path: &Path) -> Vec<PathBuf> {
    // Of a folder that cannot be read, a search says so.
    let is_there = |path: &PathBuf| path.try_exists().unwrap_or(true);
    let text = |part: &OsStr| part.to_str().map(str::to_owned);
    let mut parts = path.iter();
    let above: PathBuf =
        parts.by_ref().take_while(|part| !part.as_encoded_bytes().contains(&b'*')).collect();
    let below = parts.as_path();
    let pattern = path.iter().nth(above.iter().count()).and_then(text);
    let Some((before, after)) = pattern.as_deref().and_then(|part| part.split_once('*')) else {
        return Some(path.to_owned()).into_iter().filter(is_there).collect();
    };
    let matches = |name: &OsStr| {
        let rest = name.to_str().and_then(|name| name.strip_prefix(before));
        rest.is_some_and(|rest| rest.ends_with(after))
    };
    let entries = fs::read_dir(&above).into_iter().flatten().flatten();
    let matching = entries.filter(|entry| matches(&entry.file_name()));
    let paths = matching.map(|entry| self::below(entry.path(), &below.to_string_lossy()));
    let mut paths: Vec<PathBuf> = paths.filter(is_there).collect();
    paths.sort();
    paths
}

/// The name of a home for a person, with `*` for any folder.
pub(crate) fn name(homes: &[Home], folder: &Path) -> String {
    let is_it = |name: &Path| {
        name.iter().count() == folder.iter().count()
            && name.iter().zip(folder).all(|(part, of)| part == "*" || part == of)
    };
    let known = homes.iter().find(|home| is_it(&home.folder));
    tilde(known.map_or(folder, |home| &home.folder))
}

/// The folders that are chosen from the alternatives of each home, without duplicates.
fn collect(
    registry: &Registry,
    patterns: fn(&Format) -> &'static [&'static str],
    choose: &dyn Fn(Vec<Vec<PathBuf>>) -> Vec<PathBuf>,
) -> Vec<Home> {
    let Ok(home) = etcetera::home_dir() else { return Vec::new() };
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let mut homes = BTreeMap::new();
    for format in registry.iter().map(DynExecutor::format) {
        for pattern in patterns(format) {
            let alternatives = pattern.split("||").map(str::trim);
            let folders = alternatives.map(|folder| expand(folder, &home, &variable));
            for folder in choose(folders.collect()) {
                homes.entry(folder).or_insert(format);
            }
        }
    }
    homes.into_iter().map(|(folder, format)| Home { format, folder }).collect()
}

/// The paths that were given, or else the folders of the agents.
///
/// # Errors
/// No path was given, and no folder exists.
pub fn or_homes(paths: &[PathBuf], registry: &Registry) -> Result<Vec<PathBuf>, Error> {
    if !paths.is_empty() {
        return Ok(paths.to_vec());
    }
    let found: Vec<_> = existing(registry).into_iter().map(|home| home.folder).collect();
    match found.is_empty() {
        true => Err(Error::NoHomes { searched: names(&homes(registry)) }),
        false => Ok(found),
    }
}

/// The folders, for a message.
pub(crate) fn names(homes: &[Home]) -> String {
    homes.iter().map(|home| tilde(&home.folder)).collect::<Vec<_>>().join(", ")
}

/// The path with `~` for the home directory.
pub(crate) fn tilde(path: &Path) -> String {
    let below = etcetera::home_dir().ok().and_then(|home| {
        let below = path.strip_prefix(home).ok()?;
        Some(Path::new("~").join(below).display().to_string())
    });
    below.unwrap_or_else(|| path.display().to_string())
}

/// The folders of a home of a [`Format`].
fn expand(pattern: &str, home: &Path, variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let named = pattern.strip_prefix("${").and_then(|rest| {
        let (named, rest) = rest.split_once('}')?;
        let (name, default) = named.split_once(":-")?;
        Some((name, default, rest.trim_start_matches('/')))
    });
    let Some((name, default, rest)) = named else { return vec![at_home(pattern, home)] };
    match variable(name) {
        None => vec![below(at_home(default, home), rest)],
        // Only text can have several parts.
        Some(value) => match value.to_str() {
            None => vec![below(PathBuf::from(value), rest)],
            Some(folders) => {
                let folders = folders.split(',').map(str::trim).filter(|folder| !folder.is_empty());
                folders.map(|folder| below(at_home(folder, home), rest)).collect()
            }
        },
    }
}

/// The path below a folder; an empty one would end the folder's own path with a separator.
fn below(folder: PathBuf, rest: &str) -> PathBuf {
    if rest.is_empty() { folder } else { folder.join(rest) }
}

fn at_home(folder: &str, home: &Path) -> PathBuf {
    match folder.strip_prefix('~') {
        Some(rest) => home.join(rest.trim_start_matches('/')),
        None => PathBuf::from(folder),
    }
}

/// Which database a command works on.
#[derive(Clone, Debug, Default, Args)]
pub struct DatabaseOption {
    /// Database: a file, or postgresql://USER@HOST/NAME [default: FOLDLINE_DB, else foldline/foldline.db in the user's
    /// data folder]
    #[arg(long, value_name = "FILE", global = true)]
    db: Option<PathBuf>,
}

impl DatabaseOption {
    /// Whether no database was named. The default database contains the sessions of this user's agents.
    pub(crate) fn is_default(&self) -> bool {
        self.db.is_none()
    }

    /// The database as it was named on the command line.
    pub(crate) fn named(&self) -> Option<&Path> {
        self.db.as_deref()
    }

    /// Where the database is. A missing folder of the default database is created, accessible to its owner only.
    ///
    /// # Errors
    /// There is no home directory, or the folder cannot be made.
    pub fn place(&self) -> Result<DatabasePlace, Error> {
        let named = self.db.clone().map(PathBuf::into_os_string);
        let named = named.or_else(|| env::var_os("FOLDLINE_DB").filter(|path| !path.is_empty()));
        let Some(named) = named else {
            return Ok(DatabasePlace::File(data_folder()?.join("foldline.db")));
        };
        Ok(DatabasePlace::of(named))
    }

    /// The path of the database, for what only works with a file.
    ///
    /// # Errors
    /// As [`place`](Self::place), or the database is on a server.
    pub fn path(&self) -> Result<PathBuf, Error> {
        match self.place()? {
            DatabasePlace::File(path) => Ok(path),
            DatabasePlace::Server(_) => Err(Error::WrongUse(
                "this command needs a database file: a PostgreSQL database is filled by foldline-fleet sink, and \
                 maintained with the tools of PostgreSQL"
                    .to_owned(),
            )),
        }
    }
}

/// The data folder of this program. A missing folder is created, accessible to its owner only.
///
/// # Errors
/// There is no home directory, or the folder cannot be made.
pub fn data_folder() -> Result<PathBuf, Error> {
    let strategy = etcetera::choose_base_strategy().map_err(|_| {
        Error::WrongUse("there is no home directory: name a file with --db or --log".to_owned())
    })?;
    let folder = strategy.data_dir().join("foldline");
    owner_only_folder(&folder).map_err(|error| Error::output(&folder, &error))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_home_may_be_any_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/logs")).unwrap();
        fs::create_dir_all(folder.path().join("b")).unwrap();
        fs::create_dir_all(folder.path().join("c/logs")).unwrap();
        let found = matching(&folder.path().join("*/logs"));
        assert_eq!(found, ["a/logs", "c/logs"].map(|name| folder.path().join(name)));
        assert_eq!(matching(&folder.path().join("d/*")), Vec::<PathBuf>::new());
        assert_eq!(matching(folder.path()), [folder.path()]);
    }

    #[test]
    fn a_home_may_be_named_by_the_environment() {
        let expand = |pattern, value: Option<&str>| {
            let variable = |name: &str| {
                assert_eq!(name, "TOOL_HOME");
                value.map(OsString::from)
            };
            let folders = expand(pattern, Path::new("/home/me"), &variable);
            folders.into_iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(expand("~/.tool/logs", None), ["/home/me/.tool/logs"]);
        let home = "${TOOL_HOME:-~/.tool}/logs";
        assert_eq!(expand(home, None), ["/home/me/.tool/logs"]);
        assert_eq!(expand(home, Some("/a")), ["/a/logs"]);
        assert_eq!(expand(home, Some("/a, ~/b,")), ["/a/logs", "/home/me/b/logs"]);
    }

    #[test]
    fn a_home_may_be_several_files_of_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["tool-next.db", "tool.db", "tool.db-wal", "other.db"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let names = |pattern: &str| {
            let paths = matching(&folder.path().join(pattern));
            let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
            paths.iter().map(name).collect::<Vec<_>>()
        };
        assert_eq!(names("tool*.db"), ["tool-next.db", "tool.db"]);
        assert_eq!(names("tool.db"), ["tool.db"]);
        assert!(names("none*.db").is_empty() && names("none.db").is_empty());
    }
}
