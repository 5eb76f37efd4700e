//! A model of the contents of a database, in a few lines, with the contents themselves instead of digests.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, Row, ToSql};
use tempfile::TempDir;

use super::logs::stdout;

/// The expected contents of a database.
#[derive(Clone, Default)]
pub(crate) struct Model {
    sources: Vec<Source>,
}

#[derive(Clone)]
struct Source {
    content: Vec<u8>,
    complete: bool,
    path: PathBuf,
    inode: u64,
    /// Contents that were found to be its beginning.
    copies: BTreeSet<Vec<u8>>,
    /// How far the entries of which sessions were removed.
    pruned: BTreeMap<String, i64>,
}

/// Where a content is the whole or the beginning of: a file that is kept, or a source.
#[derive(Clone, Copy)]
enum Origin {
    Kept(usize),
    Stored(usize),
}

struct File {
    path: PathBuf,
    inode: u64,
    content: Vec<u8>,
}

impl Model {
    /// The files were ingested.
    pub(crate) fn ingest(&mut self, fresh: &mut Fresh, paths: &[PathBuf], complete: bool) {
        let mut inodes = BTreeSet::new();
        let files = paths.iter().map(|path| File {
            path: path.clone(),
            inode: fs::metadata(path).unwrap().ino(),
            content: fs::read(path).unwrap(),
        });
        let mut files: Vec<File> =
            files.filter(|file| !file.content.is_empty() && inodes.insert(file.inode)).collect();
        files.sort_by_key(|file| {
            let is_known = self.sources.iter().any(|source| source.inode == file.inode);
            let is_there = self.sources.iter().any(|source| source.path == file.path);
            (std::cmp::Reverse((file.content.len(), is_known, is_there)), file.path.clone())
        });
        // The decision: the content, and the file or source that it is a copy of, or itself.
        let mut decided = Vec::<(Vec<u8>, Origin)>::new();
        let (mut kept, mut copies) = (Vec::<File>::new(), Vec::new());
        for file in files {
            let earlier = decided.iter().find(|(content, _)| begins(content, &file.content));
            let stored = self.sources.iter().position(|source| {
                let is_there = || {
                    !paths.contains(&source.path)
                        && fs::read(&source.path)
                            .is_ok_and(|there| there.starts_with(&source.content))
                };
                (begins(&source.content, &file.content) && is_there())
                    || source.copies.contains(&file.content)
            });
            let origin = earlier.map(|(_, origin)| *origin).or(stored.map(Origin::Stored));
            decided.push((file.content.clone(), origin.unwrap_or(Origin::Kept(kept.len()))));
            match origin {
                Some(origin) => copies.push((file.content, origin)),
                None => kept.push(file),
            }
        }
        let mut claims: Vec<Option<usize>> = kept.iter().map(|_| None).collect();
        let rules: [fn(&File, &Source) -> bool; 3] = [
            |file, source| source.inode == file.inode,
            |file, source| source.path == file.path,
            |file, source| begins(&file.content, &source.content),
        ];
        for rule in rules {
            for (index, file) in kept.iter().enumerate() {
                let free = |source: &usize| !claims.contains(&Some(*source));
                let mut candidates: Vec<usize> = (0..self.sources.len()).filter(free).collect();
                candidates.retain(|source| {
                    let source = &self.sources[*source];
                    let is_stored = !source.content.is_empty();
                    is_stored && rule(file, source) && file.content.starts_with(&source.content)
                });
                candidates
                    .sort_by_key(|source| std::cmp::Reverse(self.sources[*source].content.len()));
                if claims[index].is_none() {
                    claims[index] = candidates.first().copied();
                }
            }
        }
        for (file, claim) in kept.into_iter().zip(&mut claims) {
            let read = fresh.committed(&file.content, complete);
            let index = match *claim {
                Some(index) => index,
                None if read.is_empty() => continue,
                None => {
                    self.sources.push(Source {
                        content: Vec::new(),
                        complete: false,
                        path: PathBuf::new(),
                        inode: 0,
                        copies: BTreeSet::new(),
                        pruned: BTreeMap::new(),
                    });
                    self.sources.len() - 1
                }
            };
            *claim = Some(index);
            let source = &mut self.sources[index];
            let has_grown = file.content.len() > source.content.len();
            if source.complete && has_grown {
                let end = if complete { file.content.len() } else { read.len() };
                source.pruned.values_mut().for_each(|to| *to = (*to).min(end as i64));
            }
            source.complete = if has_grown { complete } else { source.complete || complete };
            source.content = if source.complete { file.content } else { read };
            (source.path, source.inode) = (file.path, file.inode);
        }
        for (copy, origin) in copies {
            let source = match origin {
                Origin::Kept(kept) => claims[kept],
                Origin::Stored(source) => Some(source),
            };
            if let Some(source) = source.map(|source| &mut self.sources[source])
                && source.content.starts_with(&copy)
            {
                source.copies.insert(copy);
            }
        }
    }

    /// Sessions in which nothing happened since `before` were pruned.
    pub(crate) fn prune(&mut self, fresh: &mut Fresh, before: i64) {
        for Source { content, complete, pruned, .. } in &mut self.sources {
            let sessions = fresh.ask(
                content,
                *complete,
                "SELECT coalesce(session_id, ''), sources.offset, max(entries.offset)
                 FROM sources JOIN sessions ON source = sources.id
                 JOIN entries ON entries.session = sessions.id
                 WHERE last_at < ?1 GROUP BY sessions.id",
                &[&before],
                |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?)),
            );
            for (session, to, last) in sessions {
                // Only where an entry is left.
                if pruned.get(&session).is_none_or(|before| last >= *before) {
                    pruned.insert(session, to);
                }
            }
        }
    }

    /// The sources and the files, in words.
    pub(crate) fn describe(&self, db: &Path, files: &[PathBuf]) -> String {
        let database = Connection::open(db).unwrap();
        let mut stored =
            database.prepare("SELECT path, read_length, complete, inode FROM sources").unwrap();
        let stored = stored.query_map([], |row| {
            let (path, length): (String, i64) = (row.get(0)?, row.get(1)?);
            let (complete, inode): (bool, i64) = (row.get(2)?, row.get(3)?);
            Ok(format!("stored {length} bytes, complete: {complete}, {path:?}, inode {inode}"))
        });
        let stored: Vec<String> = stored.unwrap().map(Result::unwrap).collect();
        let sources = self.sources.iter().map(|source| {
            let Source { content, complete, path, inode, .. } = source;
            format!("source {} bytes, complete: {complete}, {path:?}, inode {inode}", content.len())
        });
        let files = files.iter().map(|path| {
            let metadata = fs::metadata(path).unwrap();
            format!("file {} bytes, {path:?}, inode {}", metadata.len(), metadata.ino())
        });
        sources.chain(stored).chain(files).collect::<Vec<_>>().join("\n")
    }

    /// The database that a fresh run makes of this.
    pub(crate) fn expected(&self, fresh: &mut Fresh) -> Vec<String> {
        let mut expected: Vec<String> = self
            .sources
            .iter()
            .filter(|source| !source.content.is_empty())
            .map(|source| fresh.dump(&source.content, source.complete, &source.pruned))
            .collect();
        expected.sort();
        expected
    }
}

/// Whether a content is the beginning of another content, and is distinguished from it by more than the first line.
fn begins(whole: &[u8], beginning: &[u8]) -> bool {
    let first = |content: &[u8]| content.split(|byte| *byte == b'\n').next().map(<[u8]>::to_owned);
    whole.starts_with(beginning) && first(whole) == first(beginning)
}

/// Databases of one log each.
pub(crate) struct Fresh {
    folder: TempDir,
    made: BTreeMap<(Vec<u8>, bool), PathBuf>,
}

impl Fresh {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), made: BTreeMap::new() }
    }

    /// The database of a log with this content.
    fn database(&mut self, content: &[u8], complete: bool) -> Connection {
        let number = self.made.len();
        let folder = self.folder.path();
        let db = self.made.entry((content.to_owned(), complete)).or_insert_with(|| {
            let log = folder.join("log.jsonl");
            let db = folder.join(format!("{number}.db"));
            fs::write(&log, content).unwrap();
            let option = if complete { &["--final"][..] } else { &[] };
            let (log, path) = (log.to_str().unwrap(), db.to_str().unwrap());
            stdout(&[&["ingest", log, "--db", path, "--executor", "droid"], option].concat());
            db
        });
        Connection::open(db).unwrap()
    }

    fn ask<T>(
        &mut self,
        content: &[u8],
        complete: bool,
        sql: &str,
        parameters: &[&dyn ToSql],
        each: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Vec<T> {
        let database = self.database(content, complete);
        let mut query = database.prepare(sql).unwrap();
        query.query_map(parameters, each).unwrap().map(Result::unwrap).collect()
    }

    /// The part of a file with this content that a run commits.
    fn committed(&mut self, content: &[u8], complete: bool) -> Vec<u8> {
        let length = self.ask(content, complete, "SELECT read_length FROM sources", &[], |row| {
            row.get::<_, i64>(0)
        });
        content[..length.first().map_or(0, |length| *length as usize)].to_owned()
    }

    fn dump(&mut self, content: &[u8], complete: bool, pruned: &BTreeMap<String, i64>) -> String {
        let database = self.database(content, complete);
        dump_source(&database, 1, Some(pruned))
    }
}

/// The rows of each source of a database, without names and numbers.
pub(crate) fn dump(db: &Path) -> Vec<String> {
    stdout(&["check", "--db", db.to_str().unwrap()]);
    let database = Connection::open(db).unwrap();
    let mut sources = database.prepare("SELECT id FROM sources").unwrap();
    let sources = sources.query_map([], |row| row.get::<_, i64>(0)).unwrap();
    let mut dump: Vec<String> =
        sources.map(|source| dump_source(&database, source.unwrap(), None)).collect();
    dump.sort();
    dump
}

/// With `pruned`, entries are left out as pruning would remove them.
fn dump_source(
    database: &Connection,
    source: i64,
    pruned: Option<&BTreeMap<String, i64>>,
) -> String {
    let from = "FROM sources s JOIN sessions n ON n.source = s.id";
    let entries = format!("{from} JOIN entries e ON e.session = n.id");
    let sql = [
        "SELECT hex(read_sha256), format, line, offset, complete, state FROM sources s".to_owned(),
        format!(
            "SELECT n.session_id, task, agent, version, model, cwd, title, tools, outcome,
                    outcome_reason, turns, duration_ms, active_ms, started_at, ended_at, first_at, last_at,
                    entries, pruned_to {from}"
        ),
        format!("SELECT n.session_id, u.* {from} JOIN usage u ON u.session = n.id"),
        format!("SELECT n.session_id, w.* {from} JOIN warnings w ON w.session = n.id"),
        format!("SELECT n.session_id, e.* {entries}"),
        format!("SELECT n.session_id, e.offset, t.* {entries} JOIN tool_calls t ON t.entry = e.id"),
        format!("SELECT n.session_id, e.offset, p.* {entries} JOIN tool_paths p ON p.entry = e.id"),
    ];
    let mut dump = String::new();
    for sql in sql {
        let mut statement = database.prepare(&format!("{sql} WHERE s.id = ?1")).unwrap();
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut lines = Vec::new();
        let mut rows = statement.query([source]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let value = |name: &str| -> Option<rusqlite::types::Value> {
                let column = names.iter().position(|known| known == name)?;
                match row.get(column).unwrap() {
                    rusqlite::types::Value::Text(state) if name == "state" => {
                        Some(without_sinks(&state).into())
                    }
                    value => Some(value),
                }
            };
            let session = match value("session_id") {
                Some(rusqlite::types::Value::Text(session)) => session,
                _ => String::new(),
            };
            let pruned_to = pruned.and_then(|pruned| pruned.get(&session).copied());
            let is_of_an_entry = names.iter().any(|name| name == "idx" || name == "entry");
            if let (true, Some(to), Some(rusqlite::types::Value::Integer(offset))) =
                (is_of_an_entry, pruned_to, value("offset"))
                && offset < to
            {
                continue;
            }
            let mut line = String::new();
            for name in &names {
                // Numbers of rows, and so checksums, differ from database to database.
                if ["id", "session", "entry", "crc32"].contains(&name.as_str()) {
                    continue;
                }
                match (name.as_str(), pruned_to) {
                    ("pruned_to", Some(to)) => line += &format!("Integer({to}) "),
                    _ => line += &format!("{:?} ", value(name).unwrap()),
                }
            }
            lines.push(line);
        }
        lines.sort();
        dump += &lines.join("\n");
        dump.push('\n');
    }
    dump
}

/// A state without the memory of the outputs, which a fresh run does not have.
fn without_sinks(state: &str) -> String {
    let Ok(mut state) = serde_json::from_str::<serde_json::Value>(state) else {
        return state.to_owned();
    };
    if let Some(sinks) = state.pointer_mut("/snapshot/emitter/3") {
        *sinks = serde_json::Value::Null;
    }
    state.to_string()
}

/// The first line that differs.
pub(crate) fn difference(is: &[String], should: &[String]) -> String {
    let extra: Vec<_> = is.iter().filter(|one| !should.contains(one)).collect();
    let missing: Vec<_> = should.iter().filter(|one| !is.contains(one)).collect();
    let lines = |sources: &[&String]| -> BTreeSet<String> {
        sources.iter().flat_map(|source| source.lines().map(str::to_owned)).collect()
    };
    let (is_lines, should_lines) = (lines(&extra), lines(&missing));
    let first = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        one.difference(other).take(4).cloned().collect::<Vec<_>>().join("\n  ")
    };
    format!(
        "{} sources are, {} should be; {} are not as any should be\nonly there:\n  {}\nmissing:\n  {}",
        is.len(),
        should.len(),
        extra.len(),
        first(&is_lines, &should_lines),
        first(&should_lines, &is_lines)
    )
}
