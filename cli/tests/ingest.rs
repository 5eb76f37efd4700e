//! `foldline ingest` as its users run it: again, while logs grow, and killed.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::Duration,
};

use crate::logs::{Random, assert_same, droid, dump, foldline, run, said, stdout, write_logs};
use tempfile::TempDir;

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("logs")).unwrap();
        Self { folder }
    }

    fn logs(&self) -> PathBuf {
        self.folder.path().join("logs")
    }

    fn db(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn ingest(&self, db: &str, more: &[&str]) -> String {
        let (logs, db) = (self.logs(), self.db(db));
        let mut arguments = vec!["ingest", text(&logs), "--db", text(&db)];
        arguments.extend(more);
        stdout(&arguments)
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn sql(db: &Path, query: &str) -> i64 {
    rusqlite::Connection::open(db).unwrap().query_row(query, [], |row| row.get(0)).unwrap()
}

#[test]
fn again_adds_nothing() {
    let place = Place::new();
    write_logs(&place.logs(), 5, 10);
    place.ingest("db", &[]);
    let before = dump(&place.db("db"));
    let summary = place.ingest("db", &[]);
    assert!(summary.contains("0 read (0 new, 0 grown), 5 unchanged"), "{summary}");
    assert_same(&dump(&place.db("db")), &before, "");
    assert!(before.lines().count() > 200);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let place = Place::new();
    write_logs(&place.logs(), 40, 5);
    fs::write(place.logs().join("large.jsonl"), droid("large", 3_000, 77)).unwrap();
    let one = place.ingest("one", &["--jobs", "1"]);
    let many = place.ingest("many", &["--jobs", "5"]);
    assert_eq!(one, many);
    assert_same(&dump(&place.db("one")), &dump(&place.db("many")), "");
    // Even the row numbers are the same.
    let rows = "SELECT group_concat(session_id) FROM (SELECT * FROM sessions ORDER BY id)";
    let order = |db: &str| -> String {
        let db = rusqlite::Connection::open(place.db(db)).unwrap();
        db.query_row(rows, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(order("one"), order("many"));
}

#[test]
fn a_log_that_grows_anyhow_ends_up_the_same() {
    let place = Place::new();
    let path = place.logs().join("log.jsonl");
    let log = droid("grows", 12, 3);
    fs::write(&path, &log).unwrap();
    place.ingest("whole", &[]);
    let whole = dump(&place.db("whole"));

    let mut random = Random(99);
    for round in 0..6 {
        let db = format!("cut-{round}");
        let mut at = 0;
        while at < log.len() {
            at = (at + 1 + random.below(1_500) as usize).min(log.len());
            // Also in the middle of lines and of characters.
            fs::write(&path, &log.as_bytes()[..at]).unwrap();
            place.ingest(&db, &[]);
        }
        assert_same(&dump(&place.db(&db)), &whole, &format!("round {round}"));
    }
}

#[test]
fn the_line_end_of_the_last_record_may_come_later() {
    let place = Place::new();
    let path = place.logs().join("log.jsonl");
    let log = droid("ends", 3, 3).replace('\n', "\r\n");
    fs::write(&path, &log).unwrap();
    place.ingest("whole", &[]);
    let whole = dump(&place.db("whole"));
    let ends: Vec<usize> = log.match_indices("\r\n").map(|(at, _)| at).collect();
    for (number, at) in ends.into_iter().enumerate() {
        let db = format!("cut-{number}");
        for end in [at, at + 1, at + 2, log.len()] {
            fs::write(&path, &log.as_bytes()[..end]).unwrap();
            place.ingest(&db, &[]);
            let offset = sql(&place.db(&db), "SELECT offset FROM sources");
            assert!(offset >= at as i64, "the whole record was not read at once");
        }
        assert_same(&dump(&place.db(&db)), &whole, &format!("cut at {at}"));
    }
}

#[test]
fn moved_replaced_and_copied_files_are_told_apart() {
    let place = Place::new();
    let (a, b) = (place.logs().join("a.jsonl"), place.logs().join("b.jsonl"));
    let sessions = "SELECT count(*) FROM sessions";
    fs::write(&a, droid("one", 4, 1)).unwrap();
    place.ingest("db", &[]);

    fs::copy(&a, &b).unwrap();
    let summary = place.ingest("db", &[]);
    assert!(summary.contains("skipped, a copy of"), "{summary}");
    fs::remove_file(&b).unwrap();

    fs::rename(&a, &b).unwrap();
    let longer = droid("one", 4, 1) + &droid("one", 2, 9);
    fs::write(&b, &longer).unwrap();
    place.ingest("db", &[]);
    assert_eq!(sql(&place.db("db"), sessions), 1);
    assert_eq!(sql(&place.db("db"), "SELECT path LIKE '%b.jsonl' FROM sources"), 1);

    // The same path and the same beginning, but another log; the earlier rows are kept.
    fs::write(&b, longer.replace("All done.", "All done!")).unwrap();
    place.ingest("db", &[]);
    assert_eq!(sql(&place.db("db"), sessions), 2);
    place.ingest("db", &[]);
    assert_eq!(sql(&place.db("db"), sessions), 2);
}

#[test]
fn calls_stay_open_until_the_log_is_said_to_be_complete() {
    let place = Place::new();
    let path = place.logs().join("log.jsonl");
    let log = droid("open", 8, 5);
    let open = "SELECT count(*) FROM tool_calls WHERE status = 'created'";
    let unfinished = "SELECT count(*) FROM tool_calls WHERE status = 'unfinished'";
    fs::write(&path, &log).unwrap();
    place.ingest("db", &[]);
    let left = sql(&place.db("db"), open);
    assert!(left > 0);
    assert_eq!(sql(&place.db("db"), unfinished), 0);
    place.ingest("db", &["--final"]);
    assert_eq!(sql(&place.db("db"), open), 0);
    assert_eq!(sql(&place.db("db"), unfinished), left);
    let summary = place.ingest("db", &["--final"]);
    assert!(summary.contains("1 unchanged"), "{summary}");

    // It was not complete after all.
    let longer = log + &droid("open", 1, 6);
    fs::write(&path, &longer).unwrap();
    let summary = place.ingest("db", &[]);
    assert!(summary.contains("1 read again"), "{summary}");
    place.ingest("fresh", &[]);
    assert_same(&dump(&place.db("db")), &dump(&place.db("fresh")), "");
}

#[test]
fn sessions_belong_to_tasks() {
    let place = Place::new();
    write_logs(&place.logs(), 3, 2);
    let tasks = |db: &str| -> String {
        let db = rusqlite::Connection::open(place.db(db)).unwrap();
        let tasks =
            "SELECT group_concat(task) FROM (SELECT task FROM sessions ORDER BY session_id)";
        db.query_row(tasks, [], |row| row.get(0)).unwrap()
    };
    place.ingest("file", &["--task-from", "file"]);
    assert_eq!(tasks("file"), "log-0,log-1,log-2");
    place.ingest("dir", &["--task-from", "dir"]);
    assert_eq!(tasks("dir"), "a,b,a");
    // Files of one name in different folders are different tasks.
    place.ingest("session", &[]);
    assert_eq!(tasks("session"), "session-0,session-1,session-2");
    place.ingest("one", &["--task", "T-1"]);
    assert_eq!(tasks("one"), "T-1,T-1,T-1");

    // Another task later is not taken for granted, and not passed over either.
    let summary = place.ingest("one", &["--task", "T-2"]);
    assert_eq!(tasks("one"), "T-1,T-1,T-1");
    assert!(summary.contains("sessions keep their task"), "{summary}");
    let db = place.db("one");
    let set = |arguments: &[&str]| {
        let arguments = [&["task", "set"], arguments, &["--db", db.to_str().unwrap()]].concat();
        stdout(&arguments)
    };
    set(&["session-1", "T-2"]);
    assert_eq!(tasks("one"), "T-1,T-2,T-1");
    set(&["session-2"]);
    assert_eq!(tasks("one"), "T-1,T-2,session-2");
    // It stays when the log grows.
    let log = place.logs().join("b/log-1.jsonl");
    let grown = fs::read_to_string(&log).unwrap()
        + "{\"type\":\"message\",\"role\":\"user\",\"id\":\"x\",\"text\":\"more\",\"session_id\":\"session-1\"}\n";
    fs::write(&log, grown).unwrap();
    place.ingest("one", &[]);
    assert_eq!(tasks("one"), "T-1,T-2,session-2");
}

#[test]
fn killed_at_any_moment_and_run_again_it_comes_out_the_same() {
    let kills = std::env::var("FOLDLINE_KILLS").ok().and_then(|kills| kills.parse().ok());
    let kills: u64 = kills.unwrap_or(6);
    let place = Place::new();
    write_logs(&place.logs(), 12, 20);
    fs::write(place.logs().join("large.jsonl"), droid("large", 2_000, 7)).unwrap();
    let begun = std::time::Instant::now();
    let beside = |db: &str| {
        ["trail", "metrics"].map(|what| place.folder.path().join(format!("{db}.{what}")))
    };
    let args = |db: &str| {
        let [trail, metrics] = beside(db).map(|path| text(&path).to_owned());
        ["--audit".to_owned(), trail, "--metrics".to_owned(), metrics]
    };
    place.ingest("whole", &args("whole").each_ref().map(String::as_str));
    let took = begun.elapsed().as_millis() as u64;
    let whole = dump(&place.db("whole"));
    let all_beside = |db: &str| {
        let [trail, metrics] = beside(db);
        [said(&trail), fs::read_to_string(metrics).unwrap()]
    };
    let whole_beside = all_beside("whole");

    let (mut random, mut struck) = (Random(kills), 0);
    while struck < kills {
        let db = format!("killed-{struck}");
        let begun = struck;
        for attempt in 0.. {
            let mut child = foldline()
                .args(["ingest", text(&place.logs()), "--db", text(&place.db(&db))])
                .args(args(&db))
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            // Later with each attempt, so that it gets somewhere.
            let pause = random.below((took * (attempt + 1) / 3).max(2));
            thread::sleep(Duration::from_millis(pause));
            if child.try_wait().unwrap().is_none() && struck < begun + 3 && struck < kills {
                child.kill().unwrap();
                child.wait().unwrap();
                struck += 1;
            } else {
                assert!(child.wait().unwrap().success());
                break;
            }
        }
        assert_same(&dump(&place.db(&db)), &whole, &db);
        assert!(
            all_beside(&db) == whole_beside,
            "{db}: the trail and the metrics are those of a whole run"
        );
        for file in fs::read_dir(place.folder.path()).unwrap() {
            let file = file.unwrap().path();
            if text(&file).contains("killed-") {
                fs::remove_file(file).unwrap();
            }
        }
    }
}

#[test]
fn two_at_once_do_not_double_anything() {
    let place = Place::new();
    write_logs(&place.logs(), 30, 20);
    place.ingest("alone", &[]);
    let mut children: Vec<_> = (0..3)
        .map(|_| {
            foldline()
                .args(["ingest", text(&place.logs()), "--db", text(&place.db("together"))])
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children.drain(..) {
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let overtaken = error.contains("was read by another program meanwhile");
        assert!(output.status.success() || overtaken, "{error}");
    }
    place.ingest("together", &[]);
    assert_same(&dump(&place.db("together")), &dump(&place.db("alone")), "");
}

#[test]
fn what_is_no_log_is_skipped_with_a_reason() {
    let place = Place::new();
    fs::write(place.logs().join("empty.jsonl"), "").unwrap();
    fs::create_dir(place.logs().join(".git")).unwrap();
    fs::write(place.logs().join(".git/hidden.jsonl"), droid("hidden", 1, 1)).unwrap();
    fs::write(place.logs().join("log.jsonl"), droid("shown", 1, 2)).unwrap();
    std::os::unix::fs::symlink("/no/such/log", place.logs().join("link.jsonl")).unwrap();
    let summary = place.ingest("db", &[]);
    assert!(summary.contains("1 read (1 new, 0 grown), 0 unchanged, 2 skipped"), "{summary}");
    assert!(summary.contains("skipped, a link without a target: 1 file"), "{summary}");
    assert!(summary.contains("skipped, empty: 1 file"), "{summary}");
    let summary = place.ingest("db", &["--hidden"]);
    assert!(summary.contains("1 read (1 new"), "{summary}");
    let output = run(&["ingest", "/no/such/folder", "--db", text(&place.db("db"))]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_database_that_cannot_be_written_is_a_clear_sentence() {
    let place = Place::new();
    write_logs(&place.logs(), 1, 1);
    let (db, logs) = (place.db("db"), place.logs());
    let fails = |arguments: &[&str], sentence: &str| {
        let output = run(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains(sentence), "{error}");
    };
    let ingest = ["ingest", text(&logs), "--db", text(&db), "--wait", "0"];
    place.ingest("db", &[]);
    write_logs(&place.logs(), 3, 1);

    let holder = rusqlite::Connection::open(&db).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    fails(&ingest, "is locked: another program is writing to it");
    holder.execute_batch("ROLLBACK; PRAGMA journal_mode = DELETE").unwrap();
    drop(holder);

    // The file format can say that it may be read but not written, which holds for any user.
    let mut bytes = fs::read(&db).unwrap();
    bytes[18] = 3;
    fs::File::create(&db).unwrap().write_all(&bytes).unwrap();
    fails(&ingest, "read-only");

    fs::write(&db, "this is a text that is long enough to be taken for one".repeat(30)).unwrap();
    fails(&ingest, "is not a SQLite database");
    let foreign = place.db("foreign");
    rusqlite::Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    fails(&["ingest", text(&logs), "--db", text(&foreign)], "a database of another program");
}
