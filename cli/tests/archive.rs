//! The database is the memory of what agents did: answers stay when logs are deleted, moved or linked, and are those of
//! the logs themselves.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use crate::{
    first_hour::Home,
    logs::{run, stdout},
};
use serde_json::Value;

/// What a question is asked by, in an order that no row depends on.
const QUESTIONS: [&[&str]; 12] = [
    &["usage", "--by", "day,model"],
    &["usage", "--by", "session,agent,project,branch"],
    &["blocks"],
    &["blocks", "--agent", "codex"],
    &["sessions", "--limit", "100000"],
    &["tools"],
    &["errors", "--limit", "100000"],
    &["files", "--limit", "100000"],
    &["search", "test", "--limit", "100000"],
    &["task", "list", "--limit", "100000"],
    &["statusline"],
    &["query", "sql", "SELECT type, count(*) FROM entries GROUP BY type ORDER BY type"],
];

/// The rows of an answer, without what depends on the time of the question, or on the database.
fn answer(arguments: &[&str]) -> Value {
    if arguments[0] == "statusline" {
        return stdout(arguments).into();
    }
    let mut rows: Value =
        serde_json::from_str(&stdout(&[arguments, &["-f", "json"]].concat())).unwrap();
    for row in rows.as_array_mut().unwrap() {
        row.as_object_mut().unwrap().remove("number");
    }
    rows
}

#[test]
fn named_logs_give_the_answers_of_a_database() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let captures = std::env::var_os("FOLDLINE_CAPTURES").map(PathBuf::from);
    let captures = captures.unwrap_or(crates.join("../shared/captures"));
    for logs in [crates.join("tests/fixtures"), captures].iter().filter(|folder| folder.is_dir()) {
        let folder = tempfile::tempdir().unwrap();
        let (logs, db) = (logs.to_str().unwrap(), folder.path().join("db"));
        let db = db.to_str().unwrap();
        stdout(&["ingest", logs, "--db", db]);
        for question in QUESTIONS {
            let ask = |of: [&str; 2]| answer(&[question, &of].concat());
            assert_eq!(ask(["--db", db]), ask(["--logs", logs]), "{question:?}");
        }
    }
}

#[test]
fn dashboards_read_the_same_figures_from_views() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("db");
    let named = db.to_str().unwrap();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    stdout(&["ingest", crates.join("tests/fixtures").to_str().unwrap(), "--db", named]);
    // Any program reads them: without the functions of this one.
    let connection = rusqlite::Connection::open(&db).unwrap();
    let rows = |sql: &str| {
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| {
            Ok((row.get::<_, Option<String>>(0)?, row.get::<_, f64>(1)?, row.get::<_, f64>(2)?))
        });
        rows.unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    let cents = |usd: f64| (usd * 100.0).round() / 100.0;
    let agents = rows(
        "SELECT agent, total(output_tokens), total(coalesce(stated_usd, estimated_usd)) FROM cost GROUP BY agent",
    );
    assert!(agents.len() > 8);
    let usage = answer(&["usage", "--by", "agent", "--db", named]);
    for (agent, output, usd) in agents {
        let row =
            usage.as_array().unwrap().iter().find(|row| row["agent"].as_str() == agent.as_deref());
        let row = row.unwrap();
        assert_eq!(row["output_tokens"].as_f64().unwrap_or(0.0), output, "{agent:?}");
        assert_eq!(cents(row["cost_usd"].as_f64().unwrap_or(0.0)), cents(usd), "{agent:?}");
    }
    let sessions = answer(&["sessions", "--limit", "100000", "--db", named]);
    let count = |column: &str| {
        sessions.as_array().unwrap().iter().map(|row| row[column].as_f64().unwrap()).sum::<f64>()
    };
    let all = rows("SELECT min(began), sum(calls), sum(failures) FROM session");
    assert_eq!((all[0].1, all[0].2), (count("calls"), count("failures")));
    let calls = rows("SELECT max(at), count(*), count(DISTINCT session) FROM call");
    assert_eq!(calls[0].1, count("calls"));
}

#[test]
fn answers_stay_when_logs_are_deleted() {
    let home = Home::new();
    let answers = || {
        QUESTIONS.map(|question| match question {
            ["statusline"] => home.ask(question),
            _ => home.json(question).to_string(),
        })
    };
    let before = answers();
    assert!(before[0].contains("claude-sonnet-4-5"), "{}", before[0]);
    fs::remove_file(home.log()).unwrap();
    assert_eq!(answers(), before);
    fs::remove_dir_all(home.path().join(".factory")).unwrap();
    fs::remove_dir_all(home.path().join(".claude")).unwrap();
    assert_eq!(answers(), before);
}

/// A home whose agent deletes logs after 30 days and whose folders are moved, beside one that stays.
#[test]
fn a_month_of_retention_and_moves_changes_no_total() {
    let (disturbed, undisturbed) = (Home::empty(), Home::empty());
    let code = tempfile::tempdir().unwrap();
    let code = fs::canonicalize(code.path()).unwrap();
    for folder in ["shop/.git/worktrees/a", "shop/.git/worktrees/b", "till"] {
        fs::create_dir_all(code.join(folder)).unwrap();
    }
    let line = |day: u64, number: u64, cwd: &str| {
        serde_json::json!({
            "type": "assistant", "uuid": format!("u{day}-{number}"), "parentUuid": null, "sessionId": format!("s{day}"),
            "timestamp": format!("2026-{:02}-{:02}T10:00:{number:02}Z", 1 + (day - 1) / 28, 1 + (day - 1) % 28),
            "cwd": code.join(cwd), "version": "2.1.0",
            "message": {"role": "assistant", "model": "claude-sonnet-4-5", "id": format!("m{day}-{number}"),
                "content": [{"type": "text", "text": format!("work {day}")}],
                "usage": {"input_tokens": 100 + day, "output_tokens": number}},
        })
        .to_string()
            + "\n"
    };
    let mut folder = "projects/-shop";
    for day in (4..=48).step_by(4) {
        let cwd = match day {
            20 | 24 => "a/src",
            28 | 32 => "b",
            40 => "till",
            _ => "shop/src",
        };
        if day == 20 {
            for tree in ["a/src", "b", "shop/src"] {
                fs::create_dir_all(code.join(tree)).unwrap();
            }
            for tree in ["a", "b"] {
                let link =
                    format!("gitdir: {}\n", code.join("shop/.git/worktrees").join(tree).display());
                fs::write(code.join(tree).join(".git"), link).unwrap();
            }
        }
        for home in [&disturbed, &undisturbed] {
            let named = if std::ptr::eq(home, &disturbed) { folder } else { "projects/-shop" };
            let logs = home.path().join(".claude").join(named);
            fs::create_dir_all(&logs).unwrap();
            let log = logs.join(format!("s{day}.jsonl"));
            fs::write(&log, line(day, 1, cwd) + &line(day, 2, cwd)).unwrap();
            // The session of four days ago goes on.
            let earlier = logs.join(format!("s{}.jsonl", day - 4));
            if let Ok(text) = fs::read_to_string(&earlier) {
                fs::write(&earlier, text + &line(day - 4, 3, "shop/src")).unwrap();
            }
        }
        let logs = |folder: &str| disturbed.path().join(".claude").join(folder);
        let _ = fs::remove_file(logs(folder).join(format!("s{}.jsonl", day.saturating_sub(32))));
        for keys in ["day,agent", "project", "session"] {
            let usage = |home: &Home| home.json(&["usage", "--by", keys]);
            assert_eq!(usage(&disturbed), usage(&undisturbed), "day {day}, by {keys}");
        }
        let count = |home: &Home| home.json(&["sessions", "-n", "0"]).as_array().unwrap().len();
        assert_eq!(count(&disturbed), count(&undisturbed), "day {day}");
        if day == 24 {
            let moved = "projects/-moved";
            fs::rename(logs(folder), logs(moved)).unwrap();
            folder = moved;
        }
    }
    let projects = disturbed.json(&["usage", "--by", "project"]);
    let projects: Vec<_> =
        projects.as_array().unwrap().iter().map(|row| row["project"].as_str()).collect();
    assert_eq!(projects, [code.join("shop").to_str(), code.join("till").to_str()]);
}

#[test]
fn sessions_are_those_of_a_machine_and_of_a_user() {
    let home = Home::new();
    let all = home.json(&["sessions"]);
    let [host, user] = ["host", "user"].map(|name| all[0][name].as_str().unwrap().to_owned());
    assert!(!host.is_empty() && !user.is_empty());
    assert_eq!(home.json(&["sessions", "--host", &host, "--user", &user]), all);
    assert_eq!(home.json(&["sessions", "--host", "elsewhere"]).as_array().map(Vec::len), Some(0));
    for row in home.json(&["usage", "--by", "host,user"]).as_array().unwrap() {
        assert_eq!((row["host"].as_str(), row["user"].as_str()), (Some(&*host), Some(&*user)));
    }
}

#[test]
fn links_to_logs_and_to_folders_are_followed_once() {
    let home = Home::new();
    let all = |verb: &[&str]| home.json(verb);
    let before = [all(&["usage", "--by", "agent"]), all(&["sessions"])];
    let (projects, elsewhere) =
        (home.path().join(".claude/projects"), home.path().join("elsewhere"));
    fs::rename(projects.join("-repo"), &elsewhere).unwrap();
    symlink(&elsewhere, projects.join("-repo")).unwrap();
    symlink(elsewhere.join("a.jsonl"), projects.join("b.jsonl")).unwrap();
    // A cycle.
    symlink(&projects, elsewhere.join("cycle")).unwrap();
    let mut after = [all(&["usage", "--by", "agent"]), all(&["sessions"])];
    let source = |rows: &Value| {
        rows.as_array().unwrap().iter().map(|row| row["source"].clone()).collect::<Vec<_>>()
    };
    assert_ne!(source(&before[1]), source(&after[1]));
    for (row, earlier) in
        after[1].as_array_mut().unwrap().iter_mut().zip(before[1].as_array().unwrap())
    {
        row["source"] = earlier["source"].clone();
    }
    assert_eq!(after, before);
    let logs = projects.to_str().unwrap();
    assert_eq!(answer(&["usage", "--by", "agent", logs]).as_array().unwrap().len(), 1);
    assert!(stdout(&["doctor", logs]).contains("everything was understood"));
}

#[test]
fn a_home_that_cannot_be_read_is_reported() {
    let home = Home::new();
    home.ask(&["sessions"]);
    let codex = home.path().join(".codex");
    // A link to itself.
    symlink(&codex, &codex).unwrap();
    for verb in [&["usage"][..], &["sessions"], &["blocks"], &["files"], &[], &["doctor"]] {
        let output = home.run(verb);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{verb:?}: {error}");
        assert_eq!(error.matches(".codex/sessions").count(), 1, "{verb:?}: {error}");
        assert!(!output.stdout.is_empty());
    }
}

#[test]
fn a_home_whose_files_are_not_understood_is_reported() {
    let home = Home::new();
    let gemini = home.path().join(".gemini/tmp/a");
    fs::create_dir_all(gemini.join("chats")).unwrap();
    // Gemini writes this one before there is any session.
    fs::write(gemini.join("logs.json"), "[]").unwrap();
    assert!(home.run(&["sessions"]).status.success());
    fs::write(gemini.join("chats/session-1.json"), r#"{"version": 9, "turns": []}"#).unwrap();
    for verb in [&["sessions"][..], &["usage"], &["ingest"]] {
        let output = home.run(verb);
        let said = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap());
        let [_, error] = &said;
        assert_eq!(output.status.code(), Some(1), "{verb:?}: {error}");
        let words = "1 file, and no session of Gemini CLI, session file that is understood";
        assert!(said.concat().contains(words), "{verb:?}: {said:?}");
    }
}

#[test]
fn a_project_is_a_repository_with_its_work_trees_and_folders() {
    let home = Home::new();
    let code = fs::canonicalize(home.path()).unwrap().join("code");
    for folder in ["shop/.git/worktrees/fix", "shop/src", "fix", "other/src"] {
        fs::create_dir_all(code.join(folder)).unwrap();
    }
    fs::write(
        code.join("fix/.git"),
        format!("gitdir: {}\n", code.join("shop/.git/worktrees/fix").display()),
    )
    .unwrap();
    let log = fs::read_to_string(home.log()).unwrap();
    let session = |name: &str, cwd: &str| {
        let cwd = code.join(cwd).display().to_string();
        let cwd = if name == "windows" { "C:\\\\code\\\\till".to_owned() } else { cwd };
        let log = log
            .replace("/home/me/src/shop", &cwd)
            .replace("aaaaaaaa", name)
            .replace("uuid\":\"u", &format!("uuid\":\"{name}"))
            .replace("\"id\":\"u", &format!("\"id\":\"{name}"));
        fs::write(home.log().with_file_name(format!("{name}.jsonl")), log).unwrap();
    };
    fs::remove_file(home.log()).unwrap();
    let sessions = [
        ("root", "shop"),
        ("sub", "shop/src"),
        ("tree", "fix"),
        ("plain", "other/src"),
        ("windows", ""),
    ];
    sessions.iter().for_each(|(name, cwd)| session(name, cwd));
    let projects = || {
        let rows = home.json(&["usage", "--by", "project", "--agent", "claude"]);
        let row = |row: &Value| {
            (row["project"].as_str().unwrap().to_owned(), row["sessions"].as_u64().unwrap())
        };
        let mut projects: Vec<_> = rows.as_array().unwrap().iter().map(row).collect();
        projects.sort();
        projects
    };
    let shop = code.join("shop").display().to_string();
    let expected = [
        (shop.clone(), 3),
        (code.join("other/src").display().to_string(), 1),
        ("C:\\code\\till".to_owned(), 1),
    ];
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(projects(), expected);
    let count =
        |project: &str| home.json(&["sessions", "--project", project]).as_array().unwrap().len();
    assert_eq!(
        [count("shop"), count("SHOP"), count("fix"), count("till"), count("sho")],
        [3, 3, 1, 1, 0]
    );
    assert_eq!(count(&code.join("fix").display().to_string()), 3);
    // A folder of the root is not one of the same name elsewhere.
    assert_eq!([count("/shop"), count("shop/src")], [0, 1]);
    let here = |folder: &str| {
        let mut asked = crate::logs::foldline();
        asked.env("HOME", home.path()).current_dir(code.join(folder));
        let asked = asked.args(["sessions", "--project", ".", "-f", "json"]).output().unwrap();
        serde_json::from_slice::<Value>(&asked.stdout).unwrap().as_array().unwrap().len()
    };
    assert_eq!([here("shop"), here("shop/src"), here("fix"), here("other")], [3, 3, 3, 1]);
    // A file has one path in all work trees and folders of its repository, and is not that of another.
    let files = home.json(&["files", "--agent", "claude"]);
    let of = |project: &str, path: &str| {
        let is_it = |row: &&Value| row["project"] == project && row["path"] == path;
        files.as_array().unwrap().iter().find(is_it).map(|row| row["sessions"].clone())
    };
    assert_eq!(of(&shop, "src/cart.rs"), Some(2.into()), "{files}");
    assert_eq!(of(&shop, "src/src/cart.rs"), Some(1.into()), "{files}");
    assert_eq!(of("C:\\code\\till", "src/cart.rs"), Some(1.into()), "{files}");
    assert_eq!(home.json(&["files", "shop/src/cart.rs"]).as_array().unwrap().len(), 2);
    // What was found is remembered.
    fs::remove_dir_all(&code).unwrap();
    session("later", "shop/src/cart");
    expected.iter_mut().filter(|(project, _)| *project == shop).for_each(|(_, count)| *count += 1);
    assert_eq!(projects(), expected);
    // Work trees of an agent are known by their paths.
    let output = run(&[
        "sessions",
        "--project",
        "shop",
        "--logs",
        home.log().parent().unwrap().to_str().unwrap(),
    ]);
    assert!(output.status.success());
}
