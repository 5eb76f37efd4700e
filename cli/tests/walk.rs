//! A random walk over what happens to logs and to their database, against a model.
//!
//! After each step the database must be the one that a fresh run makes of the contents that the model
//! names. `FOLDLINE_WALK` sets the number of operations, `FOLDLINE_WALK_SEED` where the walk begins.

mod verified;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::Duration,
};

use crate::extreme_numbers::{EXTREMES, with_numbers};
use crate::logs::{Random, droid, foldline, run, stdout};
use crate::program::with_failing_sink;
use crate::walk_model::{Fresh, Model};
use tempfile::TempDir;

/// So many logs at the most.
const LOGS: usize = 10;

struct Walk {
    folder: TempDir,
    random: Random,
    /// The full contents of each log; a file has a beginning of one of them, or a mixture.
    texts: Vec<String>,
    model: Model,
    fresh: Fresh,
    /// A database at an earlier time, with the state of the model then.
    aside: Option<Model>,
    made: usize,
}

impl Walk {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("logs")).unwrap();
        let texts =
            (0..LOGS as u64).map(|log| droid(&format!("s-{log}"), 1 + log % 4, log)).collect();
        let random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        Self {
            folder,
            random,
            texts,
            model: Model::default(),
            fresh: Fresh::new(),
            aside: None,
            made: 0,
        }
    }

    fn db(&self) -> PathBuf {
        self.folder.path().join("db")
    }

    fn logs(&self) -> PathBuf {
        self.folder.path().join("logs")
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound.max(1) as u64) as usize
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<_> =
            fs::read_dir(self.logs()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    fn any_file(&mut self) -> Option<PathBuf> {
        let files = self.files();
        (!files.is_empty()).then(|| files[self.below(files.len())].clone())
    }

    fn new_path(&mut self) -> PathBuf {
        self.made += 1;
        // Names come in any order.
        let name = format!("{}-{}.jsonl", ["a", "m", "z"][self.below(3)], self.made);
        self.logs().join(name)
    }

    /// A beginning of one of the texts, cut anywhere, more often at a line end.
    fn beginning(&mut self, of: usize) -> String {
        let text = self.texts[of].clone();
        let mut at = 1 + self.below(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        if self.below(4) > 0 {
            at = text[..at].rfind('\n').map_or(text.len(), |end| end + 1);
        }
        text[..at].to_owned()
    }

    /// Does something, and says what.
    fn step(&mut self) -> String {
        let files = self.files();
        match self.below(32) {
            0..=2 if files.len() < LOGS => {
                let path = self.new_path();
                let log = self.below(LOGS);
                fs::write(&path, self.beginning(log)).unwrap();
                format!("new {path:?} of log {log}")
            }
            3..=6 => self.on_a_file("grow", |walk, path| {
                let mut content = fs::read(path).unwrap();
                let text = walk.texts.iter().find(|text| text.as_bytes().starts_with(&content));
                match text.cloned() {
                    Some(text) if text.len() > content.len() => {
                        let more = 1 + walk.below(text.len() - content.len());
                        content = text.as_bytes()[..content.len() + more].to_vec();
                    }
                    // The file continues with the beginning of another log.
                    _ => {
                        let log = walk.below(LOGS);
                        content.extend(walk.beginning(log).into_bytes());
                    }
                }
                fs::write(path, content).unwrap();
            }),
            7 if files.len() < LOGS => self.on_a_file("copy", |walk, path| {
                let copy = walk.new_path();
                fs::copy(path, copy).unwrap();
            }),
            8 if files.len() < LOGS => self.on_a_file("link", |walk, path| {
                let link = walk.new_path();
                fs::hard_link(path, link).unwrap();
            }),
            9 => self.on_a_file("rename", |walk, path| {
                let name = walk.new_path();
                fs::rename(path, name).unwrap();
            }),
            10 if files.len() < LOGS => self.on_a_file("rotate", |walk, path| {
                let name = walk.new_path();
                fs::rename(path, name).unwrap();
                let log = walk.below(LOGS);
                fs::write(path, walk.beginning(log)).unwrap();
            }),
            11 => self.on_a_file("exchange with its copy", |walk, path| {
                let name = walk.new_path();
                fs::rename(path, &name).unwrap();
                fs::copy(name, path).unwrap();
            }),
            12 => self.on_a_file("replace", |walk, path| {
                let log = walk.below(LOGS);
                fs::write(path, walk.beginning(log)).unwrap();
            }),
            13 => self.on_a_file("edit", |walk, path| {
                let mut content = fs::read(path).unwrap();
                if let Some(at) = content.windows(7).position(|part| part == b"problem") {
                    content[at + walk.below(7)] = b'X';
                }
                fs::write(path, content).unwrap();
            }),
            14 => self.on_a_file("truncate", |walk, path| {
                let content = fs::read(path).unwrap();
                let length = walk.below(content.len());
                fs::write(path, &content[..length]).unwrap();
            }),
            15 => self.on_a_file("remove", |_, path| fs::remove_file(path).unwrap()),
            16 => self.prune(),
            17 => self.put_aside(),
            18 => self.restore(),
            19 => self.kill(),
            20 => match self.any_file() {
                Some(path) => self.ingest(&path, &[]),
                None => "nothing".to_owned(),
            },
            21 => self.ingest(&self.logs(), &["--final"]),
            22 => self.ingest(&self.logs(), &["--jobs", "1"]),
            23 => self.move_and_verify(),
            24 if files.len() < LOGS => self.rotate_and_verify(),
            25 => self.on_a_file("extreme numbers", |walk, path| {
                let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
                let number = EXTREMES[walk.below(EXTREMES.len())];
                fs::write(path, with_numbers(&text, number)).unwrap();
            }),
            26 => self.ingest_with_failing_sink(),
            27 => self.ask(),
            _ => self.ingest(&self.logs(), &[]),
        }
    }

    fn on_a_file(&mut self, what: &str, change: impl FnOnce(&mut Self, &Path)) -> String {
        let Some(path) = self.any_file() else { return "nothing".to_owned() };
        change(self, &path);
        format!("{what} {path:?}")
    }

    fn ingest(&mut self, path: &Path, options: &[&str]) -> String {
        let (db, folder) = (self.db(), path.to_owned());
        let arguments = [
            &[
                "ingest",
                path.to_str().unwrap(),
                "--db",
                db.to_str().unwrap(),
                "--executor",
                "droid",
            ],
            options,
        ]
        .concat();
        let output = run(&arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let summary = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{error}{summary}");
        let files = if path.is_dir() { self.files() } else { vec![folder] };
        self.model.ingest(&mut self.fresh, &files, options.contains(&"--final"));
        format!("ingest {path:?} {options:?}: {}", summary.lines().next().unwrap_or_default())
    }

    /// An ingest one of whose outputs fails, which does not hold up the database.
    fn ingest_with_failing_sink(&mut self) -> String {
        let (logs, db, files) = (self.logs(), self.db(), self.files());
        self.made += 1;
        let sink =
            format!("fails={}", self.folder.path().join(format!("sink-{}", self.made)).display());
        let [logs, db] = [logs.to_str().unwrap(), db.to_str().unwrap()];
        let arguments =
            ["foldline", "ingest", logs, "--db", db, "--executor", "droid", "--sink", &sink];
        let code = with_failing_sink().run_with(arguments);
        self.model.ingest(&mut self.fresh, &files, false);
        format!("ingest with a failing sink: {code:?}")
    }

    /// Whatever the database holds, it answers.
    fn ask(&self) -> String {
        if self.db().exists() {
            for verb in ["sessions", "usage", "errors", "files", "tools", "task list"] {
                let arguments: Vec<_> = verb.split(' ').collect();
                stdout(&[&arguments[..], &["--db", self.db().to_str().unwrap()]].concat());
            }
        }
        "ask".to_owned()
    }

    /// An ingest that is killed, and one that completes it.
    fn kill(&mut self) -> String {
        let mut child = foldline()
            .args(["ingest", self.logs().to_str().unwrap(), "--executor", "droid", "--db"])
            .arg(self.db())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_micros(self.random.below(20_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        format!("kill, and {}", self.ingest(&self.logs(), &[]))
    }

    fn prune(&mut self) -> String {
        if !self.db().exists() {
            return "nothing".to_owned();
        }
        let before = 1_760_000_000_000 + self.random.below(11 * 60_000);
        let when = jiff::Timestamp::from_millisecond(before as i64).unwrap().to_string();
        let db = self.db();
        let output = run(&["prune", "--db", db.to_str().unwrap(), "--older-than", &when]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.model.prune(&mut self.fresh, before as i64);
        format!("prune before {when}")
    }

    fn put_aside(&mut self) -> String {
        if !self.db().exists() {
            return "nothing".to_owned();
        }
        let aside = self.folder.path().join("aside");
        let _ = fs::remove_file(&aside);
        let connection = rusqlite::Connection::open(self.db()).unwrap();
        connection.execute("VACUUM INTO ?1", [aside.to_str().unwrap()]).unwrap();
        self.aside = Some(self.model.clone());
        "put the database aside".to_owned()
    }

    fn restore(&mut self) -> String {
        let Some(model) = self.aside.clone() else { return "nothing".to_owned() };
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(self.folder.path().join(format!("db{suffix}")));
        }
        fs::copy(self.folder.path().join("aside"), self.db()).unwrap();
        self.model = model;
        "restore the database that was put aside".to_owned()
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(default)
}

#[test]
fn whatever_happens_the_database_is_that_of_a_fresh_run() {
    let seed = number("FOLDLINE_WALK_SEED", 1);
    let mut walk = Walk::new(seed);
    let mut done = Vec::new();
    for step in 0..number("FOLDLINE_WALK", 60) {
        let what = walk.step();
        done.push(format!("{step}: {what}"));
        if !walk.db().exists() {
            continue;
        }
        let (is, should) =
            (crate::walk_model::dump(&walk.db()), walk.model.clone().expected(&mut walk.fresh));
        let last = done.len().saturating_sub(number("FOLDLINE_WALK_SHOWN", 30) as usize);
        assert!(
            is == should,
            "seed {seed}:\n{}\n{}\n{}",
            done[last..].join("\n"),
            walk.model.describe(&walk.db(), &walk.files()),
            crate::walk_model::difference(&is, &should)
        );
    }
}
