//! What people and agents did: `diff`, `prompts`, `commands`, `compare`.

use std::fs;

use serde_json::{Value, json};

use crate::first_hour::Home;

/// The id of the session that changes a file and runs a command; that of the home's other session is `Home::claude`.
const EDITING: &str = "eeeeeeee-2222-4222-8222-222222222222";

/// A home with a session that edits a file and runs two commands, one of which deletes a folder.
fn home() -> Home {
    let home = Home::new();
    let line = |uuid: &str, second: u32, kind: &str, content: Value, result: Value| {
        let usage = json!({"input_tokens": 1000, "output_tokens": 100});
        let usage = if kind == "user" { Value::Null } else { usage };
        json!({
            "type": kind, "uuid": uuid, "timestamp": format!("2026-02-01T10:00:{second:02}Z"), "cwd": "/home/me/src/shop",
            "sessionId": EDITING, "version": "2.0.0", "toolUseResult": result,
            "message": {"role": kind, "model": "claude-sonnet-4-5", "id": uuid, "content": content, "usage": usage},
        })
        .to_string()
            + "\n"
    };
    let call = |id: &str, name: &str, input: Value| json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
    let done = |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": "done"}]);
    let edit = json!({"file_path": "/home/me/src/shop/total.rs", "old_string": "let sum = 0;", "new_string": "let sum = 1;"});
    let ran = json!({"stdout": "done", "stderr": "", "interrupted": false});
    let log = line("e1", 0, "user", "Count from one".into(), Value::Null)
        + &line("e2", 1, "assistant", call("c1", "Edit", edit), Value::Null)
        + &line("e3", 2, "user", done("c1"), Value::Null)
        + &line(
            "e4",
            3,
            "assistant",
            call("c2", "Bash", json!({"command": "cd /tmp && cargo test"})),
            Value::Null,
        )
        + &line("e5", 4, "user", done("c2"), ran.clone())
        + &line(
            "e6",
            5,
            "assistant",
            call("c3", "Bash", json!({"command": "sudo rm -rf target"})),
            Value::Null,
        )
        + &line("e7", 6, "user", done("c3"), ran);
    fs::write(home.log().with_file_name("e.jsonl"), log).unwrap();
    home
}

/// The names of the columns of an answer, in their order.
fn columns(home: &Home, command: &[&str]) -> String {
    let csv = home.ask(&[command, &["-f", "csv"]].concat());
    csv.lines().next().unwrap_or_default().replace(',', " ")
}

#[test]
fn the_changes_of_a_session_are_a_diff() {
    let home = home();
    let diff = home.ask(&["diff", EDITING]);
    for line in ["total.rs", "-let sum = 0;", "+let sum = 1;"] {
        assert!(diff.contains(line), "{line}: {diff}");
    }
    let rows = home.json(&["diff", EDITING]);
    assert_eq!(columns(&home, &["diff", EDITING]), "path old_path changes added removed diff");
    assert_eq!((&rows[0]["added"], &rows[0]["removed"]), (&json!(1), &json!(1)));
    assert_eq!(columns(&home, &["diff", EDITING, "--stat"]), "path old_path changes added removed");
    // Nothing is printed where nothing changed, and it is said.
    let nothing = home.run(&["diff", home.claude()]);
    assert!(nothing.status.success() && nothing.stdout.is_empty(), "{nothing:?}");
    let said = String::from_utf8(nothing.stderr).unwrap();
    assert!(said.contains("the session changed no file"), "{said}");
    assert_eq!(home.ask(&["diff", home.claude(), "--stat"]), "nothing was found\n");
    assert_eq!(home.run(&["diff", "ffffffff"]).status.code(), Some(4));
}

#[test]
fn prompts_are_those_of_people_latest_first() {
    let home = home();
    let rows = home.json(&["prompts", "--agent", "claude"]);
    assert_eq!(columns(&home, &["prompts"]), "at session session_id project index text");
    let texts: Vec<_> = rows.as_array().unwrap().iter().map(|row| &row["text"]).collect();
    assert_eq!(texts, ["Count from one", "Mend the cart\nplease"]);
    assert_eq!(rows[0]["at"], "2026-02-01T10:00:00Z");
    let one = home.json(&["prompts", home.claude()]);
    assert_eq!((one.as_array().unwrap().len(), &one[0]["text"]), (1, texts[1]));
    assert!(home.ask(&["prompts"]).contains("Count from one"));
    assert_eq!(home.ask(&["prompts", "--project", "other"]), "nothing was found\n");
}

#[test]
fn commands_are_counted_by_program_or_listed() {
    let home = home();
    let programs = home.json(&["commands", EDITING]);
    assert_eq!(columns(&home, &["commands", EDITING]), "program count failures at");
    let mut named: Vec<_> =
        programs.as_array().unwrap().iter().map(|row| &row["program"]).collect();
    named.sort_by_key(ToString::to_string);
    assert_eq!(named, ["cargo", "rm"]);
    let list = home.json(&["commands", EDITING, "--list"]);
    let all = "at session session_id project index program command status exit_code duration_ms sudo destructive \
               unsandboxed";
    assert_eq!(columns(&home, &["commands", EDITING, "--list"]), all);
    let commands: Vec<_> = list.as_array().unwrap().iter().map(|row| &row["command"]).collect();
    assert_eq!(commands, ["sudo rm -rf target", "cd /tmp && cargo test"]);
    for choice in ["--sudo", "--destructive"] {
        let chosen = home.json(&["commands", EDITING, "--list", choice]);
        assert_eq!(
            (chosen.as_array().unwrap().len(), &chosen[0]["sudo"]),
            (1, &json!(1)),
            "{choice}"
        );
    }
    assert_eq!(home.ask(&["commands", EDITING, "--unsandboxed"]), "nothing was found\n");
    assert_eq!(home.ask(&["commands", home.claude()]), "nothing was found\n");
}

#[test]
fn two_sessions_are_compared_fact_by_fact() {
    let home = home();
    let rows = home.json(&["compare", home.claude(), EDITING]);
    assert_eq!(columns(&home, &["compare", home.claude(), EDITING]), "fact of a b");
    let row = |fact: &str, of: Value| {
        let is_it = |row: &&Value| row["fact"] == fact && row["of"] == of;
        let row = rows.as_array().unwrap().iter().find(is_it);
        let row = row.unwrap_or_else(|| panic!("{fact} {of}: {rows:#}"));
        [row["a"].clone(), row["b"].clone()]
    };
    assert_eq!(row("session", Value::Null), [json!(home.claude()), json!(EDITING)]);
    assert_eq!(row("calls", Value::Null), [json!(1), json!(3)]);
    assert_eq!(row("calls", "Bash".into()), [json!(0), json!(2)]);
    assert_eq!(row("cost_basis", Value::Null), ["estimated", "estimated"]);
    let changed = rows.as_array().unwrap().iter().find(|row| row["fact"] == "changed_only_in_b");
    assert!(
        changed.is_some_and(|row| row["of"].as_str().unwrap().ends_with("total.rs")),
        "{rows:#}"
    );
    // A cost that no log states is marked as in every other answer.
    let table = home.ask(&["compare", home.claude(), EDITING]);
    let cost = table.lines().find(|line| line.starts_with("cost_usd")).unwrap();
    assert_eq!(cost.matches('≈').count(), 2, "{table}");
    assert_eq!(home.run(&["compare", "latest", "ffffffff"]).status.code(), Some(4));
}

#[test]
fn settings_for_the_status_line_can_be_pasted() {
    let home = Home::empty();
    let output =
        home.run(&["statusline", "--print-config", "--timezone", "UTC", "--db", "/srv/it's/db"]);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("~/.claude/settings.json"), "{said}");
    let settings: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(settings["statusLine"]["type"], "command");
    let command = settings["statusLine"]["command"].as_str().unwrap();
    assert!(command.ends_with(r" statusline --timezone UTC --db '/srv/it'\''s/db'"), "{command}");
    assert_eq!(home.run(&["statusline", "--print-config", "--prices", "p"]).status.code(), Some(2));
}
