//! Logs of several machines in one database, without a broker: `foldline push` to `foldline serve --receive`.
#![cfg(all(feature = "serve", feature = "otlp"))]

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags, types::ValueRef};

use crate::{
    logs::{droid, foldline, run, signal, stdout},
    opencode_database::OpencodeDatabase,
    serve::client::Server,
};

const PATIENCE: Duration = Duration::from_secs(60);

/// A team: a folder with the file of machines, and the database of the server.
struct Team {
    folder: tempfile::TempDir,
}

impl Team {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let machines = "# of the team\nbox-a token-of-box-a-0001\nbox-b token-of-box-b-0002\n";
        fs::write(folder.path().join("machines"), machines).unwrap();
        fs::write(folder.path().join("a"), "token-of-box-a-0001\n").unwrap();
        fs::write(folder.path().join("b"), "token-of-box-b-0002").unwrap();
        fs::create_dir(folder.path().join("none")).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn db(&self) -> String {
        self.path("team.db").to_str().unwrap().to_owned()
    }

    fn serve(&self, address: &str) -> Server {
        let begun = Instant::now();
        loop {
            let mut command = foldline();
            command.arg("serve").arg(self.path("none")).args(["--db", &self.db()]);
            command.args(["--listen", address]).arg("--receive").arg(self.path("machines"));
            if let Some(server) = Server::listening(command) {
                return server;
            }
            assert!(begun.elapsed() < PATIENCE, "{address} is taken");
        }
    }

    fn push(&self, machine: &str, logs: &Path, address: &str) -> Command {
        let mut command = foldline();
        command.arg("push").arg(format!("http://{address}")).arg(logs);
        command.arg("--token-file").arg(self.path(machine));
        command
    }

    /// Waits until an answer of the database is this.
    fn has(&self, question: &str, answer: &str) {
        let begun = Instant::now();
        loop {
            let said = asked(&self.path("team.db"), question).unwrap_or_default();
            if said == answer {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{question}: {said:?} is not {answer:?}");
            thread::sleep(Duration::from_millis(100));
        }
    }
}

/// The rows of an answer, with commas between columns.
fn asked(db: &Path, question: &str) -> rusqlite::Result<String> {
    let database = Connection::open_with_flags(db, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut question = database.prepare(question)?;
    let columns = question.column_count();
    let rows = question.query_map((), |row| {
        let text = |column| {
            row.get_ref(column).map(|value| match value {
                ValueRef::Integer(number) => number.to_string(),
                ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                _ => String::new(),
            })
        };
        Ok((0..columns).map(text).collect::<Result<Vec<_>, _>>()?.join(","))
    })?;
    Ok(rows.collect::<Result<Vec<_>, _>>()?.join("\n"))
}

/// A process that ends with the value.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn append(log: &Path, text: &str) {
    OpenOptions::new().append(true).open(log).unwrap().write_all(text.as_bytes()).unwrap();
}

const SESSIONS: &str = "SELECT host, session_id, entries FROM sessions JOIN sources ON \
                        sources.id = sessions.source ORDER BY host, sources.id";

#[test]
fn two_machines_send_into_one_database_and_nothing_is_lost_or_doubled() {
    let team = Team::new();
    let server = team.serve("127.0.0.1:0");
    let (a, b) = (team.path("home-a"), team.path("home-b"));
    let (one, two) = (droid("one", 5, 1), droid("two", 3, 1));
    let begun = one.split_inclusive('\n').take(7).collect::<String>();
    for (home, log) in [(&a, &begun), (&b, &two)] {
        fs::create_dir_all(home.join(".hidden")).unwrap();
        fs::write(home.join("log: 1.jsonl"), log).unwrap();
        fs::write(home.join("notes.json"), "{\"private\": true}").unwrap();
    }
    for (machine, home) in [("a", &a), ("b", &b)] {
        let output = team.push(machine, home, &server.address).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let told = said(&output);
        assert!(told.contains("1 log sent") && told.contains("1 skipped, 0 failed"), "{told}");
    }
    // What is no log stays where it is.
    let received = team.path("team.db.received");
    let private = walk(&received).into_iter().filter(|file| file.ends_with("notes.json"));
    assert_eq!(private.count(), 0);

    let alone = |log: &str| {
        let folder = tempfile::tempdir().unwrap();
        let (file, db) = (folder.path().join("x.jsonl"), folder.path().join("x.db"));
        fs::write(&file, log).unwrap();
        stdout(&["ingest", file.to_str().unwrap(), "--db", db.to_str().unwrap()]);
        asked(&db, "SELECT entries FROM sessions").unwrap()
    };
    team.has(SESSIONS, &format!("box-a,one,{}\nbox-b,two,{}", alone(&begun), alone(&two)));

    // The server is killed, and the logs grow in the meantime; one is rewritten.
    let address = server.address.clone();
    drop(server);
    append(&a.join("log: 1.jsonl"), one.strip_prefix(&begun).unwrap());
    fs::write(b.join("log: 1.jsonl"), droid("two", 2, 7)).unwrap();
    let output = team.push("a", &a, &address).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("cannot reach"), "{}", said(&output));

    let server = team.serve(&address);
    for (machine, home) in [("a", &a), ("b", &b), ("a", &a), ("b", &b)] {
        let output = team.push(machine, home, &server.address).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }
    let (long, new) = (alone(&one), alone(&droid("two", 2, 7)));
    // What another log replaces is kept, as it is of a log on this machine.
    team.has(SESSIONS, &format!("box-a,one,{long}\nbox-b,two,{}\nbox-b,two,{new}", alone(&two)));
    let repeated = team.push("a", &a, &server.address).output().unwrap();
    assert!(said(&repeated).contains("0 logs sent (0 B), 1 unchanged"), "{}", said(&repeated));
    assert!(said(&run(&["check", "--db", &team.db()])).is_empty());

    // An agent asks who worked on what.
    #[cfg(feature = "mcp")]
    {
        let mut client = crate::mcp::client::Client::of(&team.path("team.db"));
        let asked = serde_json::json!({ "all_projects": true, "host": "box-b" });
        let recent = client.text("recent_sessions", &asked);
        assert!(recent.contains("@box-b") && !recent.contains("@box-a"), "{recent}");
        let asked = serde_json::json!({ "all_projects": true, "host": "box-c" });
        for tool in ["recent_sessions", "usage"] {
            let none = client.text(tool, &asked);
            assert!(none.contains("of the host \"box-c\" in sessions of all projects"), "{none}");
        }
        assert!(client.end());
    }
}

#[test]
fn a_follower_sends_what_is_written_and_outlives_the_server() {
    let team = Team::new();
    let server = team.serve("127.0.0.1:0");
    let (home, address) = (team.path("home"), server.address.clone());
    fs::create_dir(&home).unwrap();
    let mut follower = team.push("a", &home, &address);
    let follower = follower.arg("--follow").stderr(Stdio::null()).spawn();
    let mut follower = Ends(follower.unwrap());
    let (log, parts) = (home.join("a.jsonl"), droid("one", 4, 1));
    let half = parts.lines().count() / 2;
    let (first, rest): (Vec<_>, Vec<_>) =
        parts.split_inclusive('\n').enumerate().partition(|(number, _)| *number < half);
    let text =
        |lines: Vec<(usize, &str)>| lines.into_iter().map(|(_, line)| line).collect::<String>();
    fs::write(&log, text(first)).unwrap();
    team.has("SELECT count(*) FROM sessions", "1");
    drop(server);
    append(&log, &text(rest));
    thread::sleep(Duration::from_secs(1));
    let _server = team.serve(&address);
    let whole = "SELECT read_length FROM sources";
    team.has(whole, &parts.len().to_string());
    signal("TERM", follower.0.id());
    assert!(follower.0.wait().unwrap().success());
}

#[test]
fn a_database_of_an_agent_is_sent_as_a_copy() {
    let team = Team::new();
    let server = team.serve("127.0.0.1:0");
    let home = team.path("home");
    fs::create_dir(&home).unwrap();
    let database = OpencodeDatabase::new(&home.join("opencode.db"));
    database.add("ses_1", "One");
    let output = team.push("a", &home, &server.address).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    team.has("SELECT DISTINCT host FROM sources", "box-a");
    team.has("SELECT count(*) FROM entries", "2");
    // One that changed is sent again, while its agent has it open.
    database.say("ses_1", "2");
    let output = team.push("a", &home, &server.address).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    team.has("SELECT count(*) FROM entries", "3");
}

#[test]
fn who_has_no_token_sends_and_learns_nothing() {
    let team = Team::new();
    let server = team.serve("127.0.0.1:0");
    let home = team.path("home");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("a.jsonl"), droid("one", 1, 1)).unwrap();
    fs::write(team.path("wrong"), "token-of-nobody-at-all").unwrap();
    let output = team.push("wrong", &home, &server.address).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("refuses the token of this machine"), "{}", said(&output));
    assert_eq!(server.get("/push/ada/a.jsonl").status, 401);
    // The token of one machine reaches only its own logs, and no path leaves them.
    let ask = |path: &str| {
        let bearer = ("Authorization", "Bearer token-of-box-a-0001");
        server.ask("GET", path, &[("Host", &server.address), bearer]).status
    };
    assert_eq!(ask("/push/ada/a.jsonl"), 200);
    assert_eq!(ask("/push/ada/%2E%2E/%2E%2E/machines"), 400);
    assert_eq!(ask("/push/..%2F..%2Fmachines"), 400);

    // A server that receives nothing says so.
    let logs = team.path("none");
    let deaf = Server::start(&logs, &[]);
    let output = team.push("a", &home, &deaf.address).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("receives no logs"), "{}", said(&output));
}

/// A log that cannot be stored, as another has the place of its folder, spoils no other.
#[test]
fn a_log_that_cannot_be_stored_is_a_failure_of_its_own() {
    let team = Team::new();
    let server = team.serve("127.0.0.1:0");
    let home = team.path("home");
    fs::create_dir(&home).unwrap();
    let (a, b) = (home.join("a.jsonl"), home.join("b.jsonl"));
    fs::write(&a, droid("one", 1, 1)).unwrap();
    assert!(team.push("a", &home, &server.address).status().unwrap().success());
    fs::remove_file(&a).unwrap();
    fs::create_dir(&a).unwrap();
    fs::write(a.join("c.jsonl"), droid("three", 1, 1)).unwrap();
    fs::write(&b, droid("two", 1, 1)).unwrap();
    let output = team.push("a", &home, &server.address).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("1 log sent"), "{}", said(&output));
    assert!(said(&output).contains("c.jsonl: ") && said(&output).contains("1 failed"));
    team.has("SELECT count(*) FROM sessions", "2");
}

#[test]
fn a_file_of_machines_is_checked() {
    let team = Team::new();
    for (text, why) in [
        ("box short\n", "machines:1: the token has fewer than 16 characters"),
        ("../box token-of-box-a-0001\n", "machines:1: the name has other characters"),
        ("box token-of-box-a-0001 x\n", "machines:1: there are not two words"),
        (
            "\nb token-of-box-a-0001\nb token-of-box-b-0002\n",
            "machines:3: the machine is named twice",
        ),
    ] {
        fs::write(team.path("machines"), text).unwrap();
        let mut command = foldline();
        command.arg("serve").arg(team.path("none")).args(["--db", &team.db()]);
        let output = command.arg("--receive").arg(team.path("machines")).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains(why), "{}", said(&output));
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn a_session_in_several_files_is_sent_as_one_log() {
    let team = Team::new();
    let server = team.serve("127.0.0.1:0");
    let home = team.path("storage");
    for (path, text) in [
        (
            "session/p1/ses_a.json",
            r#"{"id":"ses_a","projectID":"p1","directory":"/srv","time":{"created":1780000000000}}"#,
        ),
        (
            "message/ses_a/msg_2.json",
            r#"{"id":"msg_2","sessionID":"ses_a","role":"user","time":{"created":1780000000001}}"#,
        ),
        ("part/msg_2/prt_1.json", r#"{"id":"prt_1","type":"text","text":"Mend it."}"#),
    ] {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let output = team.push("a", &home, &server.address).output().unwrap();
    assert!(said(&output).contains("1 log sent"), "{}", said(&output));
    team.has("SELECT content FROM entries", "Mend it.");
}
