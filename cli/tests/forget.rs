//! Sessions that are forgotten are removed for good, and do not come back when their logs are read again.

use std::{fs, path::Path};

use serde_json::Value;

use crate::{first_hour::Home, interleaved::session, opencode_database::OpencodeHome};

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

/// A line that the session of Claude Code goes on with.
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
    let settings = r#"{"model":"large","tokenUsage":{"inputTokens":70000,"outputTokens":9}}"#;
    fs::write(log.with_file_name("b.settings.json"), settings).unwrap();
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
