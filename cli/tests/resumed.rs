//! `foldline resume` runs the command of the agent in the folder of the session.
#![cfg(unix)]

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Output};

use crate::{first_hour::Home, logs::foldline};

/// Runs the program with a folder of programs as the only path.
fn run(home: &Home, programs: &Path, arguments: &[&str]) -> Output {
    foldline().env("HOME", home.path()).env("PATH", programs).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A home directory whose session of Claude Code worked in this folder of it.
fn home_with(folder: &str) -> Home {
    let home = Home::new();
    let whole = home.path().join(folder);
    home.change(|log| log.replace("/home/me/src/shop", whole.to_str().unwrap()));
    home
}

#[test]
fn the_agent_runs_in_the_folder_of_the_session() {
    let home = home_with("my shop");
    let folder = home.path().join("my shop");
    let programs = home.path().join("bin");
    fs::create_dir(&programs).unwrap();

    let printed = text(&run(&home, &programs, &["resume", "the cart", "--print"]).stdout);
    assert_eq!(
        printed,
        format!("cd '{}' && claude --resume {}\n", folder.display(), home.claude())
    );

    let gone = run(&home, &programs, &["resume", "aaaa"]);
    assert_eq!(gone.status.code(), Some(4));
    assert!(text(&gone.stderr).contains("does not exist"), "{}", text(&gone.stderr));

    fs::create_dir(&folder).unwrap();
    let missing = run(&home, &programs, &["resume", "aaaa"]);
    assert_eq!(missing.status.code(), Some(127));
    assert!(text(&missing.stderr).contains("cannot start claude: there is no such program"));

    let claude = programs.join("claude");
    fs::write(&claude, "#!/bin/sh\necho \"$PWD: $*\"\nexit 7\n").unwrap();
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
    let ran = run(&home, &programs, &["resume", "--agent", "claude"]);
    assert_eq!(ran.status.code(), Some(7));
    let folder = folder.canonicalize().unwrap();
    assert_eq!(text(&ran.stdout), format!("{}: --resume {}\n", folder.display(), home.claude()));
}

#[test]
fn a_sub_agent_resumes_the_session_that_called_it() {
    let home = home_with("shop");
    let agents = home.log().with_file_name("a").join("subagents");
    let agents = agents.to_str().unwrap().replace("/a/", &format!("/{}/", home.claude()));
    fs::create_dir_all(&agents).unwrap();
    let said = fs::read_to_string(home.log()).unwrap();
    let line = said.lines().next().unwrap();
    let line = line.replace("Mend the cart", "Count the carts").replace("\"u1\"", "\"s1\"");
    let marks = r#"{"isSidechain":true,"agentId":"77aa","#;
    let line = format!("{marks}{}\n", line.strip_prefix('{').unwrap());
    fs::write(Path::new(&agents).join("agent-77aa.jsonl"), line).unwrap();
    let sessions = home.json(&["sessions", "--agents", "--agent", "claude"]);
    let agent = sessions.as_array().unwrap().iter().find(|row| row["parent"] == home.claude());
    let number = agent.unwrap_or_else(|| panic!("{sessions:#}"))["number"].to_string();
    let line = home.ask(&["resume", &number, "--print"]);
    assert!(line.ends_with(&format!("claude --resume {}\n", home.claude())), "{line}");
}

#[test]
fn an_agent_without_a_command_is_named() {
    let home = Home::empty();
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/gemini-session");
    let output = home.run(&["resume", "--logs", log.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("no command of gemini") && said.contains("codex"), "{said}");
}
