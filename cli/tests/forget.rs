//! Sessions that are forgotten are removed for good, and do not come back when their logs are read again.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{first_hour::Home, interleaved::session, opencode_database::OpencodeHome};

/// A file of Droid beside a log, which states the tokens of the session.
const SETTINGS: &str = r#"{"model":"large","autonomyMode":"normal","tokenUsage":{"inputTokens":70000,"outputTokens":9}}"#;

/// The agents of the sessions.
fn agents(home: &Home) -> Vec<String> {
    let sessions = home.json(&["sessions"]);
    let agent = |row: &Value| row["agent"].as_str().unwrap().to_owned();
    let mut agents: Vec<_> = sessions.as_array().unwrap().iter().map(agent).collect();
    agents.sort();
    agents
}

/// The database of a home.
fn database(home: &Home) -> String {
    home.path().join(".local/share/foldline/foldline.db").to_str().unwrap().to_owned()
}

/// A further line of the session of Claude Code.
fn more(home: &Home) -> String {
    let log = fs::read_to_string(home.log()).unwrap();
    log.lines().next().unwrap().replace("u1", "u9").replace("Mend the cart", "Paint the horse")
}

fn is_gone(home: &Home) {
    assert_eq!(agents(home), ["droid"]);
    for words in ["確認", "cart", "horse"] {
        assert_eq!(home.ask(&["search", words]), "nothing was found\n", "{words}");
    }
    let usage = home.ask(&["usage", "--by", "agent,model"]);
    assert!(!usage.contains("claude"), "{usage}");
    assert_eq!(home.run(&["show", "aaaa"]).status.code(), Some(4));
    assert!(home.ask(&["check"]).contains("sound: "));
}

#[test]
fn a_session_does_not_come_back() {
    let home = Home::new();
    assert_eq!(agents(&home), ["claude-code", "droid"]);
    let said = home.ask(&["forget", "aaaa", "--dry-run"]);
    assert!(said.starts_with("would forget 1 session (4 entries, 1 tool call, "), "{said}");
    assert_eq!(agents(&home), ["claude-code", "droid"]);

    let said = home.ask(&["forget", "aaaa"]);
    assert!(said.starts_with("forgot 1 session (4 entries"), "{said}");
    assert!(said.contains("not deleted: 1 log of an agent"), "{said}");
    is_gone(&home);
    // Neither are its words in a free page of the file.
    let bytes = fs::read(database(&home)).unwrap();
    for words in ["確認", "Mend the cart", "cart.rs"] {
        let words = words.as_bytes();
        assert!(!bytes.windows(words.len()).any(|window| window == words));
    }

    // The log has grown.
    let line = more(&home);
    home.change(|log| format!("{log}{line}\n"));
    is_gone(&home);
    // A copy of it, and one that goes on.
    let copy = home.log().with_file_name("copy.jsonl");
    fs::copy(home.log(), &copy).unwrap();
    is_gone(&home);
    fs::write(&copy, format!("{}{line}\n", fs::read_to_string(&copy).unwrap())).unwrap();
    is_gone(&home);
    // It was moved, and its copy was changed.
    fs::rename(home.log(), home.log().with_file_name("moved.jsonl")).unwrap();
    is_gone(&home);
    fs::write(&copy, format!("{line}\n{}", fs::read_to_string(&copy).unwrap())).unwrap();
    is_gone(&home);
    let said = home.ask(&["ingest", "--db", &database(&home), "--final"]);
    assert!(said.contains("skipped, forgotten: "), "{said}");
    is_gone(&home);
    // A session of another id does.
    let other = fs::read_to_string(&copy).unwrap().replace("aaaaaaaa", "bbbbbbbb");
    fs::write(home.log(), other.replace(":\"u", ":\"v")).unwrap();
    assert_eq!(agents(&home), ["claude-code", "droid"]);
    assert!(home.ask(&["forget", "latest", "--dry-run"]).contains("1 session"));
    assert!(home.ask(&["forget", "--before", "2030-01-01", "--compact"]).contains("2 sessions"));
    assert_eq!(agents(&home), Vec::<String>::new());
    assert!(home.ask(&["check"]).contains("sound: "));
}

#[test]
fn sessions_are_chosen_by_name_project_and_time() {
    let forget = |arguments: &[&str]| {
        let home = Home::new();
        home.ask(&["sessions"]);
        let said = home.ask(&[&["forget"], arguments].concat());
        assert!(home.ask(&["check"]).contains("sound: "));
        (agents(&home), said)
    };
    for chosen in [
        &["the cart"][..],
        &["--project", "shop"],
        &["--before", "2026-02-01", "--project", "shop"],
    ] {
        assert_eq!(forget(chosen).0, ["droid"], "{chosen:?}");
    }
    for chosen in [&["--project", "nowhere"][..], &["--before", "2001-01-01"]] {
        let (left, said) = forget(chosen);
        assert_eq!(left, ["claude-code", "droid"], "{chosen:?}");
        assert!(said.starts_with("forgot 0 sessions"), "{said}");
    }
    let home = Home::new();
    let status = |arguments: &[&str]| home.run(arguments).status.code();
    assert_eq!(status(&["forget"]), Some(2));
    assert_eq!(status(&["forget", "aaaa", "--project", "shop"]), Some(2));
    assert_eq!(status(&["forget", "no-such-session"]), Some(4));
    assert_eq!(status(&["forget", "1", "--db", "missing.db"]), Some(1));
    assert!(!Path::new("missing.db").exists());
}

#[test]
fn a_companion_goes_with_its_session() {
    let home = Home::new();
    let log = home.path().join(".factory/sessions/-repo/b.jsonl");
    fs::write(log.with_file_name("s-1.settings.json"), SETTINGS).unwrap();
    home.ask(&["sessions"]);
    let droid = home.json(&["sessions", "--agent", "droid"])[0]["number"].to_string();
    home.ask(&["forget", &droid]);
    assert_eq!(agents(&home), ["claude-code"]);
    let rows = "SELECT count(*) AS n FROM sessions";
    assert_eq!(home.json(&["query", "sql", rows])[0]["n"], 1);
}

#[test]
fn other_sessions_of_the_same_database_stay() {
    let opencode = OpencodeHome::new();
    opencode.add("ses_a", "Mend the cart");
    opencode.add("ses_b", "Paint it");
    let home = &opencode.home;
    let titles = || opencode.sessions().into_iter().map(|(title, _)| title).collect::<Vec<_>>();
    assert_eq!(titles(), ["Mend the cart", "Paint it"]);
    home.ask(&["forget", "ses_a"]);
    assert_eq!(titles(), ["Paint it"]);
    opencode.say("ses_a", "2");
    opencode.add("ses_0", "Begun later");
    assert_eq!(titles(), ["Begun later", "Paint it"]);
    opencode.say("ses_a", "3");
    assert_eq!(titles(), ["Begun later", "Paint it"]);
    assert!(home.ask(&["check"]).contains("sound: "));
    home.ask(&["forget", "--before", "2100-01-01"]);
    opencode.add("ses_d", "New");
    assert_eq!(titles(), ["New"]);
    let marks = "SELECT count(*) AS n FROM forgotten";
    assert_eq!(home.json(&["query", "sql", marks])[0]["n"], 3);
}

#[test]
fn a_session_of_an_interleaved_log_stays_forgotten() {
    let home = Home::empty();
    let log = home.path().join("log.jsonl");
    let (one, other) = (session("a"), session("b"));
    let both = one.iter().zip(&other).map(|(one, other)| format!("{one}\n{other}\n"));
    fs::write(&log, both.collect::<String>()).unwrap();
    let (log, db) = (log.to_str().unwrap(), home.path().join("db"));
    let db = db.to_str().unwrap();
    let sessions = |extra: &[&str]| {
        home.ask(&[&["ingest", log, "--db", db], extra].concat());
        assert!(home.ask(&["check", "--db", db]).contains("sound: "));
        let sql = "SELECT session_id, entries FROM sessions ORDER BY id";
        home.json(&["query", "sql", sql, "--db", db]).to_string()
    };
    let grow = |lines: &[String]| {
        let more = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        fs::write(log, fs::read_to_string(log).unwrap() + &more).unwrap();
    };
    let a = r#"[{"entries":3,"session_id":"a"}]"#;
    assert!(sessions(&[]).contains(r#""session_id":"b""#));
    home.ask(&["forget", "b", "--db", db]);
    assert_eq!(sessions(&[]), a);
    grow(&other[1..]);
    assert_eq!(sessions(&[]), a);
    // It is read again from its beginning.
    assert_eq!(sessions(&["--final"]), a);
    grow(&other[3..4]);
    assert_eq!(sessions(&[]), a);
    grow(&session("c"));
    assert!(sessions(&[]).contains(r#""session_id":"c""#));
    assert_eq!(home.ask(&["search", "\"done b\"", "--db", db]), "nothing was found\n");
}

#[test]
fn an_audit_trail_keeps_its_records() {
    let home = Home::new();
    let (db, trail) = (home.path().join("db"), home.path().join("trail"));
    let (db, trail) = (db.to_str().unwrap(), trail.to_str().unwrap());
    home.ask(&["ingest", "--db", db, "--audit", trail]);
    let before = fs::read(trail).unwrap();
    let said = home.ask(&["forget", "aaaa", "--db", db]);
    assert!(said.contains("not changed: the audit trail "), "{said}");
    assert_eq!(fs::read(trail).unwrap(), before);
    assert!(home.ask(&["check", "--db", db, "--audit", trail]).contains("sound: "));
    home.ask(&["ingest", "--db", db, "--audit", trail]);
    assert_eq!(fs::read(trail).unwrap(), before);
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// The folder of the kept logs of a home.
fn kept(home: &Home) -> PathBuf {
    format!("{}.logs", database(home)).into()
}

/// The answers that do not depend on where logs are, nor on their order.
fn answers(home: &Home, db: &str) -> Vec<Value> {
    let questions: [&[&str]; 4] =
        [&["sessions"], &["usage", "--by", "day,agent,model"], &["tools"], &["search", "cart"]];
    let ask = |question: &&[&str]| {
        let mut rows = home.json(&[question, &["--db", db][..]].concat());
        for row in rows.as_array_mut().unwrap() {
            let row = row.as_object_mut().unwrap();
            for column in ["number", "source"] {
                row.remove(column);
            }
            if question[0] == "search" {
                row.remove("session");
            }
        }
        rows
    };
    questions.iter().map(ask).collect()
}

#[test]
fn logs_are_kept_and_can_be_read_again() {
    let home = Home::new();
    let droid = home.path().join(".factory/sessions/-repo/b.jsonl");
    let settings = droid.with_file_name("s-1.settings.json");
    fs::write(&settings, SETTINGS).unwrap();
    home.ask(&["sessions"]);
    assert!(home.ask(&["keep"]).starts_with("off: "));
    assert!(!kept(&home).exists());

    let said = home.ask(&["keep", "on"]);
    assert!(said.starts_with("on: ") && said.contains("kept: 3 logs ("), "{said}");
    assert!(said.contains("deletes its logs after 30 days"), "{said}");
    fs::write(home.path().join(".claude/settings.json"), r#"{"cleanupPeriodDays": 7}"#).unwrap();
    assert!(home.ask(&["keep", "status"]).contains("after 7 days"));
    let first = files(&kept(&home));
    assert_eq!(first.len(), 3);

    // A log that has grown replaces its earlier copy at the next answer.
    let line = more(&home);
    home.change(|log| format!("{log}{line}\n"));
    home.ask(&["sessions"]);
    let second = files(&kept(&home));
    assert_eq!(second.len(), 3);
    assert_eq!(second.iter().filter(|file| first.contains(file)).count(), 2);
    let folders = fs::read_dir(kept(&home)).unwrap().count();
    assert!(folders <= 3, "{folders}");

    let db = database(&home);
    let before = answers(&home, &db);
    [home.log(), droid, settings].iter().for_each(|log| fs::remove_file(log).unwrap());
    home.ask(&["sessions"]);
    assert_eq!(files(&kept(&home)), second);
    let new = home.path().join("new.db");
    let (new, folder) = (new.to_str().unwrap(), kept(&home));
    home.ask(&["ingest", folder.to_str().unwrap(), "--db", new]);
    assert_eq!(answers(&home, new), before);
    assert!(home.ask(&["replay", second[0].to_str().unwrap()]).len() > 20);
    assert!(home.ask(&["check"]).contains("sound: "));

    let said = home.ask(&["forget", "aaaa"]);
    assert!(said.contains("forgot 1 file in the folder of kept logs"), "{said}");
    let left = files(&kept(&home));
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|file| second.contains(file)));
    assert!(home.ask(&["check"]).contains("sound: "));

    home.ask(&["keep", "off"]);
    fs::write(home.log(), line.replace("aaaaaaaa", "bbbbbbbb").replace("u9", "w9") + "\n").unwrap();
    home.ask(&["sessions"]);
    assert_eq!(files(&kept(&home)), left);
    assert!(home.ask(&["keep"]).contains("kept: 2 logs"));
}

#[cfg(unix)]
#[test]
fn a_log_that_cannot_be_kept_is_reported_and_read() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.ask(&["sessions"]);
    home.ask(&["keep", "on"]);
    let file = &files(&kept(&home))[0];
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    fs::remove_dir_all(kept(&home)).unwrap();
    fs::write(kept(&home), "").unwrap();
    let line = more(&home);
    home.change(|log| format!("{log}{line}\n"));
    let output = home.run(&["search", "horse"]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("foldline.db.logs: logs are not kept: "), "{error}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("horse"));
    fs::remove_file(kept(&home)).unwrap();
    home.ask(&["sessions"]);
    assert_eq!(files(&kept(&home)).len(), 1);
}

/// Only the rest of a long log that has grown is compressed.
#[test]
fn a_long_log_is_kept_as_it_grows() {
    let home = Home::new();
    let line = more(&home);
    let lines = |range: std::ops::Range<usize>| {
        let line = |number| line.replace("u9", &format!("w{number}")) + "\n";
        range.map(line).collect::<String>()
    };
    home.change(|log| log + &lines(0..5000));
    assert!(fs::metadata(home.log()).unwrap().len() > 1 << 20);
    home.ask(&["sessions"]);
    home.ask(&["keep", "on"]);
    let size = || files(&kept(&home)).iter().map(|file| fs::metadata(file).unwrap().len()).max();
    let first = size();
    home.change(|log| log + &lines(5000..5010));
    home.ask(&["sessions"]);
    assert!(size() > first);
    assert_eq!(files(&kept(&home)).len(), 2);
    assert!(files(&kept(&home)).iter().any(|file| content(file) == fs::read(home.log()).unwrap()));
    // A copy that is gone is made again.
    fs::remove_dir_all(kept(&home)).unwrap();
    home.change(|log| log + &lines(5010..5020));
    home.ask(&["sessions"]);
    let copies = files(&kept(&home));
    assert_eq!(copies.len(), 1);
    assert!(content(&copies[0]) == fs::read(home.log()).unwrap());
}

/// The content of a copy.
fn content(file: &Path) -> Vec<u8> {
    let mut content = Vec::new();
    let file = fs::File::open(file).unwrap();
    flate2::read::MultiGzDecoder::new(file).read_to_end(&mut content).unwrap();
    content
}
