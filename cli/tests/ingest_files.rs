//! `foldline ingest` and its input files: copies, links, renames, edits, and pruned sessions.

use std::{
    convert::Infallible,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use crate::logs::{assert_same, droid, dump, stdout};
use foldline::transduce::{Batch, memoryless};
use foldline_cli::Program;
use foldline_database::sqlite::{DEFAULT_WAIT, Database};
use foldline_domain::{DomainEvent, Located};
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

    fn log(&self, name: &str) -> PathBuf {
        self.folder.path().join("logs").join(name)
    }

    fn db(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn ingest(&self, db: &str, more: &[&str]) -> String {
        let (logs, db) = (self.log(""), self.db(db));
        stdout(&[&["ingest", text(&logs), "--db", text(&db)], more].concat())
    }

    fn number(&self, db: &str, query: &str) -> i64 {
        let db = rusqlite::Connection::open(self.db(db)).unwrap();
        db.query_row(query, [], |row| row.get(0)).unwrap()
    }

    fn sessions(&self, db: &str) -> i64 {
        self.number(db, "SELECT count(*) FROM sessions")
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn all_names_of_a_file_are_one_source() {
    let place = Place::new();
    let (a, b) = (place.log("a.jsonl"), place.log("b.jsonl"));
    let log = droid("one", 3, 1);
    fs::write(&a, &log).unwrap();
    place.ingest("db", &[]);
    fs::hard_link(&a, &b).unwrap();
    fs::write(&b, log.clone() + &droid("one", 2, 2)).unwrap();
    let summary = place.ingest("db", &[]);
    assert!(summary.contains("1 grown") && summary.contains("another name of"), "{summary}");
    assert_eq!(place.sessions("db"), 1);
    fs::remove_file(&b).unwrap();
    place.ingest("fresh", &[]);
    assert_same(&dump(&place.db("db")), &dump(&place.db("fresh")), "");
}

#[test]
fn a_file_that_changed_places_with_its_copy_is_still_one_source() {
    let place = Place::new();
    let (a, b) = (place.log("a.jsonl"), place.log("b.jsonl"));
    let log = droid("one", 3, 1);
    fs::write(&a, &log).unwrap();
    place.ingest("db", &[]);
    fs::rename(&a, &b).unwrap();
    fs::copy(&b, &a).unwrap();
    place.ingest("db", &[]);
    assert_eq!(place.sessions("db"), 1);
    // The renamed file grows first, then the other file.
    fs::write(&b, log.clone() + &droid("one", 2, 2)).unwrap();
    let other = droid("other", 2, 2);
    fs::write(place.log("c.jsonl"), &other).unwrap();
    for _ in 0..2 {
        let summary = place.ingest("db", &[]);
        assert!(summary.contains(" 0 failed"), "{summary}");
        assert_eq!(place.sessions("db"), 2);
    }
    fs::write(&a, log + &droid("one", 4, 3)).unwrap();
    place.ingest("db", &[]);
    assert_eq!(place.sessions("db"), 3);
}

#[test]
fn a_log_that_is_compressed_stays_the_same_log() {
    let place = Place::new();
    let (a, packed) = (place.log("a.jsonl"), place.log("a.jsonl.1.gz"));
    let log = droid("one", 3, 1);
    fs::write(&a, &log).unwrap();
    place.ingest("db", &[]);
    // Its last lines were not ingested when it was rotated.
    let log = log + &droid("one", 2, 2);
    let file = fs::File::create(&packed).unwrap();
    let mut writer = flate2::write::GzEncoder::new(file, flate2::Compression::default());
    writer.write_all(log.as_bytes()).unwrap();
    writer.finish().unwrap();
    fs::remove_file(&a).unwrap();
    for (run, counted) in ["1 grown", "0 grown"].into_iter().enumerate() {
        let summary = place.ingest("db", &[]);
        assert!(summary.contains(counted) && summary.contains(" 0 failed"), "{run}: {summary}");
    }
    assert_eq!(place.sessions("db"), 1);
    // As plain text, the log is the same.
    fs::write(&a, &log).unwrap();
    assert!(place.ingest("db", &[]).contains("copy of"));
    fs::remove_file(&packed).unwrap();
    place.ingest("plain", &[]);
    let entries = |db| place.number(db, "SELECT sum(line * 7 + crc32 % 1000) FROM entries");
    assert_eq!(entries("db"), entries("plain"));
}

#[test]
fn logs_that_differ_in_the_middle_are_different_logs() {
    let place = Place::new();
    let (a, b) = (place.log("a.jsonl"), place.log("b.jsonl"));
    let log = droid("one", 40, 1);
    let other = log.replacen("problem 20", "problem XX", 1);
    assert!(log.len() > 20_000 && log.len() == other.len() && log != other);
    fs::write(&a, &log).unwrap();
    fs::write(&b, &other).unwrap();
    place.ingest("db", &[]);
    assert_eq!(place.sessions("db"), 2);
    // An edit in place, of equal length: the earlier rows are kept, as for any replaced file.
    fs::write(&a, log.replacen("problem 21", "problem YY", 1)).unwrap();
    let summary = place.ingest("db", &[]);
    assert!(summary.contains("1 new"), "{summary}");
    assert_eq!(place.sessions("db"), 3);
    let found = "SELECT count(*) FROM entries WHERE content LIKE '%problem YY%'";
    assert_eq!(place.number("db", found), 1);
    assert!(place.ingest("db", &[]).contains("2 unchanged"));
}

#[test]
fn a_copy_counts_once_whenever_it_was_made() {
    let log = droid("one", 12, 1);
    let middle = log[..log.len() / 2].rfind('\n').unwrap() + 1;
    let end = |length: usize| log[..length].to_owned();
    let fresh = Place::new();
    fs::write(fresh.log("a.jsonl"), &log).unwrap();
    fresh.ingest("db", &[]);
    let entries = "SELECT count(*) FROM entries";
    let whole = fresh.number("db", entries);

    // Made after growth, before both are read again.
    let place = Place::new();
    let (a, b) = (place.log("b.jsonl"), place.log("a.jsonl"));
    fs::write(&a, end(middle)).unwrap();
    place.ingest("db", &[]);
    fs::write(&a, &log).unwrap();
    fs::copy(&a, &b).unwrap();
    for _ in 0..2 {
        place.ingest("db", &[]);
        assert_eq!((place.sessions("db"), place.number("db", entries)), (1, whole));
    }

    // Made before growth: the copy is the beginning of the log, whichever is read first.
    for copy_first in [true, false] {
        let place = Place::new();
        let (a, b) = (place.log("a.jsonl"), place.log("b.jsonl"));
        let (first, second) = if copy_first { (&b, &a) } else { (&a, &b) };
        let write = |path: &Path| {
            fs::write(path, if path == a { log.clone() } else { end(middle) }).unwrap();
        };
        write(first);
        place.ingest("db", &[]);
        write(second);
        for _ in 0..2 {
            let summary = place.ingest("db", &[]);
            assert!(summary.contains("skipped, a copy of"), "{summary}");
            assert_eq!((place.sessions("db"), place.number("db", entries)), (1, whole));
        }
        // The copy grows differently, and becomes a separate log.
        fs::write(&b, end(middle) + &droid("one", 1, 8)).unwrap();
        place.ingest("db", &[]);
        assert_eq!(place.sessions("db"), 2);
    }

    // Of a file that is not among those that are read.
    let (place, copies) = (Place::new(), tempfile::tempdir().unwrap());
    fs::write(place.log("a.jsonl"), &log).unwrap();
    place.ingest("db", &[]);
    let copy = copies.path().join("copy.jsonl");
    fs::write(&copy, end(middle)).unwrap();
    stdout(&["ingest", text(&copy), "--db", text(&place.db("db"))]);
    assert_eq!(place.sessions("db"), 1);
}

#[test]
fn what_was_pruned_stays_pruned() {
    let place = Place::new();
    let path = place.log("log.jsonl");
    let log = droid("one", 6, 1);
    fs::write(&path, &log).unwrap();
    let query = "SELECT count(*) FROM search WHERE search MATCH 'problem'";
    for (db, option) in [("open", None), ("final", Some("--final"))] {
        place.ingest(db, option.as_slice());
        assert_eq!(place.number(db, query), 6);
        stdout(&["prune", "--db", text(&place.db(db)), "--older-than", "2100-01-01"]);
        assert_eq!(place.number(db, query), 0);
    }
    let usage = "SELECT sum(output_tokens) FROM usage";
    // The new turn is there, and so are all tokens; also where the log had to be read again as a whole.
    fs::write(&path, log + &droid("one", 1, 2)).unwrap();
    for db in ["open", "final"] {
        let summary = place.ingest(db, &[]);
        assert!(summary.contains("1 read again") == (db == "final"), "{summary}");
        assert_eq!((place.number(db, query), place.number(db, usage)), (1, 14), "{db}");
    }
    assert_same(&dump(&place.db("final")), &dump(&place.db("open")), "");
}

#[test]
fn a_stored_format_is_tried_first() {
    let place = Place::new();
    let path = place.log("log.jsonl");
    // Nothing in it identifies the agent.
    let line = |text: &str| format!("{{\"note\":\"{text}\"}}\n");
    fs::write(&path, line("one")).unwrap();
    place.ingest("db", &["--executor", "droid"]);
    assert_eq!(place.sessions("db"), 1);
    fs::write(&path, line("one") + &line("two")).unwrap();
    let summary = place.ingest("db", &[]);
    assert!(summary.contains("1 grown"), "{summary}");
    // Also if its state cannot be resumed, and the whole log is read again.
    let db = Database::open(&place.db("db"), DEFAULT_WAIT).unwrap();
    let other = "UPDATE sources SET
             state = 'of another version',
             crc32 = row_crc32(name, path, format, device, inode, size, modified_at, changed_ns, read_length,
                               read_edges, read_sha256, first_line, line, offset, 'of another version', complete,
                               host, user_name)";
    db.connection().execute(other, []).unwrap();
    drop(db);
    fs::write(&path, line("one") + &line("two") + &line("three")).unwrap();
    let summary = place.ingest("db", &[]);
    assert!(summary.contains("1 grown") || summary.contains("1 read again"), "{summary}");
    place.ingest("fresh", &["--executor", "droid"]);
    assert_same(&dump(&place.db("db")), &dump(&place.db("fresh")), "");
}

#[test]
fn a_log_that_is_replaced_while_others_are_read_is_not_mistaken_for_its_successor() {
    let place = Place::new();
    let (a, b, moved) = (place.log("a.jsonl"), place.log("b.jsonl"), place.log("c.jsonl"));
    for (path, seed) in [(&a, 1), (&b, 2)] {
        fs::write(path, droid(&format!("s-{seed}"), 3, seed)).unwrap();
    }
    place.ingest("db", &[]);
    for (path, seed) in [(&a, 1), (&b, 2)] {
        let grown = droid(&format!("s-{seed}"), 3, seed) + &droid(&format!("s-{seed}"), 2, 7);
        fs::write(path, grown).unwrap();
    }
    // A consumer that replaces the second log with another file while the first is read.
    let successor = droid("successor", 9, 3);
    let program = {
        let (b, moved, successor) = (b.clone(), moved.clone(), successor.clone());
        Program::builtin().sink("replaces", move || {
            let (b, moved, successor) = (b.clone(), moved.clone(), successor.clone());
            memoryless(move |_: &Located<DomainEvent>| -> Batch<Result<String, Infallible>> {
                if !moved.exists() {
                    fs::rename(&b, &moved).unwrap();
                    fs::write(&b, &successor).unwrap();
                }
                Batch::EMPTY
            })
        })
    };
    let (logs, db) = (place.log(""), place.db("db"));
    let sink = format!("replaces={}", text(&place.db("sink")));
    let ingest = ["foldline", "ingest", text(&logs), "--db", text(&db), "--jobs", "1"];
    let code = program.run_with([&ingest[..], &["--sink", &sink]].concat());
    assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(1)), "it says so");
    let of = |session: &str| {
        let sql = format!("SELECT count(*) FROM sessions WHERE session_id = '{session}'");
        place.number("db", &sql)
    };
    assert_eq!((of("s-1"), of("s-2"), of("successor")), (1, 1, 0));
    place.ingest("db", &[]);
    assert_eq!((of("s-1"), of("s-2"), of("successor")), (1, 1, 1));
    place.ingest("fresh", &[]);
    let entries = "SELECT count(*) FROM entries";
    assert_eq!(place.number("db", entries), place.number("fresh", entries));
}

/// Droid states the tokens of a session in a separate file next to it, which it rewrites.
#[test]
fn the_tokens_of_a_settings_file_that_was_written_anew_count_once() {
    let place = Place::new();
    let start =
        r#"{"type":"session_start","id":"s-1","title":"t","owner":"o","version":2,"cwd":"/w"}"#;
    let settings = |output: u64| {
        format!(
            "{{\n  \"assistantActiveTimeMs\": {output},\n  \"model\": \"m-1\",\n  \
             \"autonomyMode\": \"off\",\n  \"tokenUsage\": {{ \"outputTokens\": {output} }}\n}}\n"
        )
    };
    let said = r#"{"type":"message","id":"m","message":{"role":"user","content":[{"type":"text","text":"hello"}]}}"#;
    fs::write(place.log("s-1.jsonl"), format!("{start}\n{said}\n")).unwrap();
    let metrics = place.db("metrics");
    for (output, summary) in [(10, "2 new"), (25, "1 read again")] {
        fs::write(place.log("s-1.settings.json"), settings(output)).unwrap();
        let told = place.ingest("db", &["--metrics", text(&metrics)]);
        assert!(told.contains(summary) && told.contains("0 skipped"), "{told}");
        let used = "SELECT sum(output_tokens) FROM usage JOIN sessions ON id = session
            WHERE session_id = 's-1' AND task = 's-1'";
        assert_eq!(place.number("db", used), i64::try_from(output).unwrap());
        let metrics = fs::read_to_string(&metrics).unwrap();
        let line = format!("gen_ai_token_type=\"output\"}} {output}\n");
        assert!(metrics.contains(&line), "{metrics}");
        let sessions =
            "foldline_sessions_total{gen_ai_agent_name=\"droid\",outcome=\"unknown\"} 1\n";
        assert!(metrics.contains(sessions), "{metrics}");
    }
    let told = place.ingest("db", &["--metrics", text(&metrics)]);
    assert!(told.contains("2 unchanged"), "{told}");
    // The settings do not add a second session of that name.
    let session = stdout(&["show", "s-1", "--db", text(&place.db("db"))]);
    assert!(session.contains("hello"), "{session}");
}
