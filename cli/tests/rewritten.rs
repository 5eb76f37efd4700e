//! Documents that an agent writes again whenever they change are one log each.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    logs::{Random, assert_same, dump, foldline, run, stdout},
    opencode_database::OpencodeDatabase,
};

/// The logs of a home, and databases of them.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("logs/chats")).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, document: &Value) {
        let text = serde_json::to_string_pretty(document).unwrap();
        fs::write(self.path("logs/chats").join(name), text).unwrap();
    }

    fn ingest(&self, db: &str, more: &[&str]) -> String {
        let (logs, db) = (self.text("logs"), self.text(db));
        stdout(&[&["ingest", &logs, "--db", &db], more].concat())
    }

    fn rows(&self, query: &[&str]) -> Vec<Value> {
        let db = self.text("db");
        serde_json::from_str(&stdout(&[query, &["-f", "json", "--db", &db]].concat())).unwrap()
    }

    /// The database has what one has that sees only the present state.
    fn is_as_if_new(&self, what: &str) {
        let _ = fs::remove_file(self.path("fresh"));
        self.ingest("fresh", &[]);
        assert_same(&dump(&self.path("db")), &dump(&self.path("fresh")), what);
        assert_eq!(run(&["check", "--db", &self.text("db")]).status.code(), Some(0), "{what}");
    }
}

fn message(number: usize, words: &str) -> Value {
    let at = format!("2026-01-10T20:{number:02}:00.000Z");
    let tokens =
        json!({"input": 1000, "output": 100, "cached": 0, "thoughts": 0, "tool": 0, "total": 1100});
    let call = json!({"id": format!("c{number}"), "name": "run_shell_command", "args": {"command": "false"},
        "status": "error", "timestamp": at, "result": [], "resultDisplay": "exit 1"});
    json!({"id": format!("g{number}"), "timestamp": at, "type": "gemini", "content": words, "thoughts": [],
        "model": "gemini-2.5-pro", "tokens": tokens, "toolCalls": [call]})
}

fn session(id: &str, messages: &[Value]) -> Value {
    json!({"sessionId": id, "projectHash": "p", "startTime": "2026-01-10T20:00:00.000Z",
        "lastUpdated": format!("2026-01-10T21:{:02}:00.000Z", messages.len()), "messages": messages})
}

#[test]
fn each_state_of_a_document_is_what_it_is_alone() {
    let place = Place::new();
    // Sessions before and after it keep their numbers, as it does.
    place.write("session-1.json", &session("first", &[message(0, "begin")]));
    place.write("session-2.json", &session("second", &[message(1, "one")]));
    place.write("session-3.json", &session("third", &[message(9, "end")]));
    place.ingest("db", &[]);
    let numbers = |place: &Place| {
        place.rows(&["query", "sql", "SELECT session_id, id FROM sessions ORDER BY session_id"])
    };
    let before = numbers(&place);
    let states: [&[Value]; 6] = [
        &[message(1, "one"), message(2, "two")],
        // The last message grows, the first changes, one is withdrawn.
        &[message(1, "one"), message(2, "two and more")],
        &[message(1, "another"), message(2, "two and more"), message(3, "three")],
        &[message(2, "two and more"), message(3, "three")],
        &[message(2, "two and more"), message(3, "three"), message(4, "four")],
        &[],
    ];
    for (number, messages) in states.iter().enumerate() {
        let whole = session("second", messages);
        // In place, and by another file that takes its name.
        if number % 2 == 0 {
            place.write("session-2.json", &whole);
        } else {
            place.write("next", &whole);
            fs::rename(place.path("logs/chats/next"), place.path("logs/chats/session-2.json"))
                .unwrap();
        }
        let said = place.ingest("db", &[]);
        let grown = if number == 0 || number == 4 { "1 grown" } else { "1 read again" };
        assert!(said.contains(grown), "{number}: {said}");
        place.is_as_if_new(&format!("state {number}"));
        assert_eq!(numbers(&place), before, "state {number}");
        let used = place.rows(&["usage", "--by", "session"]);
        let used =
            used.iter().find(|row| row["session"] == "second").map(|row| &row["input_tokens"]);
        let tokens = (!messages.is_empty()).then(|| json!(1000 * messages.len()));
        assert_eq!(used, tokens.as_ref(), "state {number}");
        assert!(place.ingest("db", &[]).contains("3 unchanged"));
    }
}

#[test]
fn a_document_is_found_where_it_was_moved_and_its_copy_adds_nothing() {
    let place = Place::new();
    place.write("session-1.json", &session("one", &[message(0, "begin"), message(1, "more")]));
    place.ingest("db", &[]);
    place.write("copy.json", &session("one", &[message(0, "begin"), message(1, "more")]));
    let said = place.ingest("db", &[]);
    assert!(said.contains("1 unchanged, 1 skipped"), "{said}");
    fs::remove_file(place.path("logs/chats/copy.json")).unwrap();
    let to = place.path("logs/chats/moved.json");
    fs::rename(place.path("logs/chats/session-1.json"), to).unwrap();
    place.ingest("db", &[]);
    assert_eq!(place.rows(&["sessions"]).len(), 1);
}

#[test]
fn a_trail_has_what_a_document_says_once() {
    let place = Place::new();
    let trail = place.text("trail");
    let document = place.text("logs/chats/session-1.json");
    let mut messages = vec![message(0, "begin")];
    for number in 1..5 {
        messages.push(message(number, "more"));
        place.write("session-1.json", &session("one", &messages));
        place.ingest("db", &["--audit", &trail]);
        let verified = run(&["verify", &trail, "--source", &document]);
        assert_eq!(verified.status.code(), Some(0), "{verified:?}");
    }
    let lines = || fs::read_to_string(&trail).unwrap().lines().count();
    let calls = |trail: &str| {
        let trail = fs::read_to_string(place.path(trail)).unwrap();
        trail.lines().filter(|line| line.contains("run_shell_command")).count()
    };
    let (before, called) = (lines(), calls("trail"));
    // Of one that is rewritten, what changed has new records.
    for words in ["changed", "changed again"] {
        messages[1] = message(1, words);
        place.write("session-1.json", &session("one", &messages));
        let verify = || run(&["verify", &trail, "--source", &document]);
        assert_eq!(verify().status.code(), Some(1));
        place.ingest("db", &["--audit", &trail]);
        let verified = verify();
        assert_eq!(verified.status.code(), Some(0), "{verified:?}");
        let said = String::from_utf8(verified.stdout).unwrap();
        assert!(said.contains("of earlier states of"), "{said}");
    }
    // A message, and neither its call nor the others.
    assert_eq!((lines() - before, calls("trail")), (2, called));
    place.ingest("fresh", &["--audit", &place.text("once")]);
    assert_eq!(called, calls("once"));
}

#[test]
fn size_loses_no_tokens() {
    let place = Place::new();
    let words = "a".repeat(400_000);
    let mut messages: Vec<_> = (0..50).map(|number| message(number, &words)).collect();
    messages.push(message(50, &"b".repeat(18 << 20)));
    place.write("session-1.json", &session("long", &messages));
    let pictures = vec![
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png",
        "data": "A".repeat(4_500_000)}});
        4
    ];
    let line = |kind: &str, id: &str, message: Value| {
        json!({"type": kind, "uuid": id, "timestamp": "2026-05-01T10:00:00.000Z", "cwd": "/w", "version": "2.1.0",
            "sessionId": "pictures", "userType": "external", "message": message})
    };
    let asked = line("user", "u", json!({"role": "user", "content": pictures}));
    let text = json!([{"type": "text", "text": "t"}]);
    let answer = line(
        "assistant",
        "a",
        json!({"id": "m", "role": "assistant", "model": "claude-opus-4-5",
        "content": text, "usage": {"input_tokens": 5, "output_tokens": 7}}),
    );
    fs::write(place.path("logs/pictures.jsonl"), format!("{asked}\n{answer}\n")).unwrap();
    place.ingest("db", &[]);
    let used: Vec<_> = place
        .rows(&["usage", "--by", "agent"])
        .iter()
        .map(|row| (row["agent"].clone(), row["input_tokens"].clone()))
        .collect();
    assert!(used.contains(&(json!("gemini"), json!(51_000))), "{used:?}");
    assert!(used.contains(&(json!("claude-code"), json!(5))), "{used:?}");
    let pictures = stdout(&["show", "pictures", "--db", &place.text("db")]);
    assert_eq!(pictures.matches("image/png").count(), 4, "{pictures}");
    let warnings = place.rows(&["query", "sql", "SELECT kind, count FROM warnings"]);
    assert!(warnings.iter().any(|row| row["kind"] == "too_long"), "{warnings:?}");
}

/// Documents that are rewritten at random, in place or by renaming, and a database of opencode.
struct Walk {
    place: Place,
    random: Random,
    opencode: OpencodeDatabase,
    /// The number of its sessions and messages so far.
    said: usize,
    /// The numbers and the words of the messages of each session.
    sessions: Vec<Vec<(usize, usize)>>,
}

impl Walk {
    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    /// Changes one document, and says how.
    fn rewrite(&mut self) -> String {
        let which = self.below(self.sessions.len());
        let words = self.below(3);
        let at = self.below(self.sessions[which].len() + 1);
        let messages = &mut self.sessions[which];
        let next = messages.iter().map(|(number, _)| number + 1).max().unwrap_or_default();
        let what = match words {
            _ if next < 50 && at >= messages.len() => {
                messages.push((next, words));
                "grown"
            }
            0 if at < messages.len() => {
                messages.truncate(at);
                "withdrawn"
            }
            _ if at < messages.len() => {
                messages[at].1 += 1;
                "changed"
            }
            _ => "as it was",
        };
        let text = ["a word", "some more words", "a long text, \"quoted\", with ä"];
        let said = |(number, words): &(usize, usize)| {
            message(*number, &format!("{words} {}", text[words % 3]))
        };
        let messages: Vec<_> = self.sessions[which].iter().map(said).collect();
        let (name, id) = (format!("session-{which}.json"), format!("s-{which}"));
        if words == 1 {
            // Not in the folder of the logs, where an ingest would find it.
            let from = self.place.path("next");
            fs::write(&from, serde_json::to_vec(&session(&id, &messages)).unwrap()).unwrap();
            let to = self.place.path("logs/chats").join(&name);
            fs::rename(from, to).unwrap();
        } else {
            self.place.write(&name, &session(&id, &messages));
        }
        let settings =
            json!({"model": "m", "autonomyMode": "off", "tokenUsage": {"outputTokens": next}});
        self.place.write("s.settings.json", &settings);
        format!("{name} {what}")
    }

    /// Adds to the database of opencode, or changes it.
    fn work(&mut self) -> String {
        self.said += 1;
        // Sessions keep the numbers that they were given first, and a fresh run gives them in the order of their ids.
        let begun = (0..3).filter(|at| self.opencode.has(&format!("ses_{at}"))).count();
        let session = format!("ses_{}", self.below(3.min(begun + 1)));
        let number = self.said;
        let changes = [
            format!("UPDATE session SET title = 'title {number}' WHERE id = '{session}'"),
            format!(
                "UPDATE part SET data = replace(data, 'Answer', 'Say') WHERE session_id = '{session}'"
            ),
            format!("DELETE FROM part WHERE session_id = '{session}' AND message_id LIKE '%1'"),
        ];
        match self.below(6) {
            at if at < changes.len() => self.opencode.change(&changes[at]),
            _ if self.opencode.has(&session) => self.opencode.say(&session, &number.to_string()),
            _ => self.opencode.add(&session, "begun"),
        }
        format!("opencode {session}")
    }

    fn start(&self) -> Child {
        let mut ingest = foldline();
        ingest.args(["ingest", &self.place.text("logs"), "--db", &self.place.text("db")]);
        ingest.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// An ingest while agents work.
    fn ingest_meanwhile(&mut self) -> String {
        let mut child = self.start();
        for _ in 0..self.below(20) {
            thread::sleep(Duration::from_micros(self.random.below(2_000)));
            drop(if self.below(2) == 0 { self.work() } else { self.rewrite() });
        }
        // A document may be half written.
        assert!(child.wait().unwrap().code().is_some_and(|code| code < 2));
        "ingest meanwhile".to_owned()
    }

    /// An ingest that is killed.
    fn kill(&mut self) -> String {
        let mut child = self.start();
        thread::sleep(Duration::from_micros(self.random.below(20_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        "kill".to_owned()
    }
}

/// More and other steps: `FOLDLINE_WALK=1000 FOLDLINE_WALK_SEED=2`.
#[test]
fn whatever_is_rewritten_the_database_is_that_of_a_fresh_run() {
    let number = |name: &str, default: u64| -> u64 {
        std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(default)
    };
    let seed = number("FOLDLINE_WALK_SEED", 1);
    let random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let place = Place::new();
    let opencode = OpencodeDatabase::new(&place.path("logs/opencode.db"));
    let mut walk = Walk { place, random, opencode, said: 0, sessions: vec![Vec::new(); 4] };
    let mut done = Vec::new();
    for step in 0..number("FOLDLINE_WALK", 60) {
        let what = match walk.below(10) {
            0 => walk.kill(),
            1 => walk.ingest_meanwhile(),
            2..=3 => {
                walk.place.ingest("db", &[]);
                walk.place.is_as_if_new(&format!("seed {seed}: {done:#?}"));
                "ingest".to_owned()
            }
            4..=6 => walk.work(),
            _ => walk.rewrite(),
        };
        done.push(format!("{step}: {what}"));
    }
}
