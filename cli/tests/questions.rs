//! What people ask first, in the words that they type.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    time::{Duration, SystemTime},
};

use crate::{
    first_hour::Home,
    logs::{foldline, run, signal},
};
use serde_json::Value;

/// What the program says on standard error, and its exit code.
fn refused(arguments: &[&str]) -> (String, i32) {
    let output = run(arguments);
    (String::from_utf8(output.stderr).unwrap(), output.status.code().unwrap())
}

#[test]
fn a_time_is_a_month_a_year_or_a_week() {
    let home = Home::new();
    let count = |since: &str, until: &str| {
        let period = ["sessions", "--project", "shop", "--since", since, "--until", until];
        home.json(&period).as_array().unwrap().len()
    };
    assert_eq!(count("2026-01", "2026-01"), 1);
    assert_eq!(count("2026", "2026"), 1);
    assert_eq!(count("2026-02", "2026-12"), 0);
    assert_eq!(count("2025", "2025-12"), 0);
    for period in ["this week", "last week", "this month", "last month"] {
        home.ask(&["usage", "--since", period, "--until", period]);
    }
    let (error, code) = refused(&["usage", "--since", "next week"]);
    assert_eq!(code, 2);
    let (echoed, _) = refused(&["sessions", "--since", "a\u{202e}\u{1b}[2Jb"]);
    assert!(echoed.contains("a\\u{202e}b") && !echoed.contains('\u{1b}'), "{echoed}");
    let forms = [
        "yesterday",
        "this week",
        "last month",
        "2026-01-31",
        "2026-01,",
        "2026,",
        "12h",
        "RFC 3339",
    ];
    for form in forms {
        assert!(error.contains(form), "{form}: {error}");
    }
}

#[test]
fn usage_names_sessions_and_says_what_input_is() {
    let home = Home::new();
    let usage = |more: &[&str]| home.ask(&[&["usage", "--by", "session,model"], more].concat());
    let rows: Value = serde_json::from_str(&usage(&["-f", "json"])).unwrap();
    let row = rows.as_array().unwrap().iter().find(|row| row["session"] == home.claude()).unwrap();
    assert_eq!(row["title"], "Mend the cart");
    assert_eq!(row.as_object().unwrap().keys().next_back().unwrap(), "title");
    assert!(usage(&["-f", "csv"]).lines().next().unwrap().ends_with(",cost_basis,title"));
    assert!(!home.ask(&["usage", "-f", "csv"]).contains("title"));
    for width in ["40", "80", "100", "200"] {
        let table = usage(&["--width", width]);
        let heads: Vec<_> = table.lines().next().unwrap().split_whitespace().collect();
        let second = if width == "40" { "model" } else { "title" };
        assert_eq!(heads[..2], ["session", second], "{table}");
        assert!(heads.contains(&"cost"), "{table}");
        assert!(
            table.lines().take(2).all(|line| line.chars().count() <= width.parse().unwrap()),
            "{table}"
        );
        let lines = table.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(lines.ends_with(" input includes cache read and cache write"), "{table}");
    }
    let chart = home.ask(&["usage", "--chart", "--agent", "claude-code"]);
    let bar = chart.lines().find(|line| line.contains('█')).unwrap();
    assert!(bar.starts_with("2026-01-31") && bar.contains(" ≈$"), "{chart}");
}

#[test]
fn a_title_is_the_first_line_that_says_something() {
    for (prompt, title) in [
        ("Please do the following:\\n\\n- Mend the till", "Mend the till"),
        ("# Task\\n\\nMend the till", "Mend the till"),
        ("<context>\\nA shop\\n</context>\\nMend the till", "Mend the till"),
        ("Hi Claude!\\n\\nMend the till", "Mend the till"),
        ("Hello there", "Hello there"),
    ] {
        let home = Home::new();
        home.change(|log| log.replace("Mend the cart\\nplease", prompt));
        for database in [
            &["sessions", "--project", "shop"][..],
            &["usage", "--by", "session", "--project", "shop"],
        ] {
            assert_eq!(home.json(database)[0]["title"], title, "{prompt}");
        }
        let document = home.ask(&["export", "aaaa", "--format", "md"]);
        assert!(document.starts_with(&format!("# {title}\n")), "{document}");
        assert!(home.ask(&["export", "aaaa"]).contains(&format!("<title>{title}")), "{title}");
    }
}

#[test]
fn tools_are_sorted_and_totals_are_those_of_the_whole_session() {
    let home = Home::new();
    let name = |sort: &str| home.json(&["tools", "--sort", sort])[0]["tool"].clone();
    assert_eq!(name("failed"), "Read");
    let tools = |sort: &str| {
        let mut tools = home.json(&["tools", "--sort", sort]).as_array().unwrap().clone();
        tools.sort_by_key(|tool| tool["tool"].to_string());
        tools
    };
    for sort in ["calls", "failed", "slow", "name"] {
        assert_eq!(tools(sort), tools("calls"));
    }
    let errors = home.json(&["errors", "--project", "shop"]);
    assert_eq!(errors.as_array().unwrap().len(), 1);

    let home = Home::new();
    // Another call, which succeeds, and one without an end.
    home.change(|log| {
        let lines: Vec<_> = log.lines().collect();
        let another = |line: &str, id: &str| {
            line.replace("c1", id)
                .replace("u2", &format!("{id}u2"))
                .replace("u3", &format!("{id}u3"))
        };
        let well = another(lines[2], "c2").replace("true", "false");
        let more = [another(lines[1], "c2"), well, another(lines[1], "c3")];
        format!("{}\n{}\n", lines[..3].join("\n"), more.join("\n"))
    });
    let log = home.log();
    for session in ["aaaa", log.to_str().unwrap()] {
        let end = |more: &[&str]| {
            let shown = home.ask(&[&["show", session], more].concat());
            shown[shown.find("─── end").unwrap()..].to_owned()
        };
        let whole = end(&[]);
        assert!(whole.contains("1 ok · 1 failed · 1 unfinished"), "{whole}");
        for only in ["errors", "prompts", "tools"] {
            assert_eq!(end(&["--only", only]), whole, "{only}");
        }
    }
}

#[test]
fn a_session_states_its_date_and_cost_and_nothing_that_is_not_in_the_log() {
    let home = Home::new();
    let ask = |question: &[&str]| home.ask(question);
    let zone = ["--timezone", "Europe/Paris"];
    let shown = ask(&[&["show", "aaaa"][..], &zone].concat());
    assert!(shown.ends_with("    cost      ≈$0.0009\n    date      2026-01-31 11:00\n"), "{shown}");
    let document = ask(&["export", "aaaa", "-f", "md"]);
    assert!(document.contains("\n- Date: 2026-01-31 10:00 UTC\n"), "{document}");
    assert!(document.contains("\n- Cost: ≈$0.0009\n"), "{document}");
    let silent = home.path().join("silent.jsonl");
    fs::write(&silent, "{\"type\":\"message\",\"role\":\"user\",\"id\":\"m\",\"text\":\"Hi\"}\n")
        .unwrap();
    let silent = silent.to_str().unwrap();
    for text in [ask(&["show", silent]), ask(&["export", silent, "-f", "md"])] {
        let text = text.to_lowercase();
        assert!(!text.contains("date") && !text.contains("cost"), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn the_latest_session_is_followed() {
    let home = Home::new();
    let mut child = foldline()
        .env("HOME", home.path())
        .args(["show", "latest", "--project", "shop", "--follow"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("確認")));
    let log = fs::read_to_string(home.log()).unwrap();
    let more = log
        .lines()
        .next()
        .unwrap()
        .replace("Mend the cart\\nplease", "And the till")
        .replace("u1", "u9");
    let mut file = fs::OpenOptions::new().append(true).open(home.log()).unwrap();
    writeln!(file, "{more}").unwrap();
    assert!(lines.any(|line| line.contains("And the till")));
    signal("INT", child.id());
    let rest: Vec<_> = lines.collect();
    assert!(rest.iter().any(|line| line.contains("date")), "{rest:?}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn an_agent_ends_with_its_own_code_even_if_nobody_reads_on() {
    let script = r#"for i in $(seq 5000); do echo '{"type":"message","role":"user","id":"u'$i'","text":"hello"}'; done
        exit 7"#;
    for (executor, format) in [("droid", "transcript"), ("auto", "events")] {
        let arguments = ["run", "--executor", executor, "-f", format, "sh", "-c", script];
        let command =
            foldline().args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut command = command.unwrap();
        let mut first = String::new();
        BufReader::new(command.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let output = command.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{first}");
        assert_eq!(output.status.code(), Some(7));
    }
    let (error, code) = refused(&["run", "nosuchprogram"]);
    assert_eq!(
        (&*error, code),
        ("foldline: cannot start nosuchprogram: there is no such program\n", 127)
    );
    let home = Home::empty();
    let (error, code) = refused(&["run", home.path().to_str().unwrap()]);
    assert!(error.ends_with(": it cannot be executed\n") && code == 126, "{error}");
}

#[test]
fn one_is_no_plural() {
    let home = Home::new();
    let db = home.path().join("db");
    let log = home.log();
    let said = home.ask(&["ingest", log.to_str().unwrap(), "--db", db.to_str().unwrap()]);
    assert!(said.contains("added: 1 session, 4 entries, 1 tool call, 0 warnings\n"), "{said}");
    assert!(said.contains("now:   1 file, 1 session, 4 entries\n"), "{said}");
    fs::write(
        home.path().join("one.jsonl"),
        "{\"type\":\"message\",\"role\":\"user\",\"text\":\"a\"}\n",
    )
    .unwrap();
    let said = home.ask(&["doctor", home.path().join("one.jsonl").to_str().unwrap()]);
    assert!(said.contains(": 1 line, 1 record\n"), "{said}");
    let limited = home.run(&["sessions", "-n", "1"]);
    let said = String::from_utf8(limited.stderr).unwrap();
    assert!(said.contains("more than the 1 row shown"), "{said}");
}

#[test]
fn what_is_named_is_opened_or_refused_in_the_same_words_by_every_verb() {
    let home = Home::new();
    let place = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(place("folder")).unwrap();
    fs::write(place("empty.jsonl"), "").unwrap();
    fs::write(place("binary"), b"\x7fELF\0\0").unwrap();
    let foreign = rusqlite::Connection::open(place("foreign.db")).unwrap();
    foreign.execute_batch("CREATE TABLE a (b)").unwrap();
    home.ask(&["ingest", home.log().to_str().unwrap(), "--db", &place("own.db")]);
    let refused = |arguments: &[&str]| {
        let output = home.run(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        (said, output.status.code().unwrap())
    };
    for (name, why, is) in [
        ("missing.jsonl", "", 4),
        ("folder", " is a folder, not a log; name a log in it", 2),
        ("empty.jsonl", ": the file is empty", 2),
        ("binary", " is a binary file, not a log", 2),
        ("foreign.db", " is a database of another program, not a log", 2),
        ("own.db", " is a database, not a log; foldline sessions --db FILE lists its sessions", 2),
    ] {
        let path = place(name);
        let missing = format!("foldline: there is no file {path}\n");
        let message = if why.is_empty() { missing } else { format!("foldline: {path}{why}\n") };
        for verb in ["show", "export", "replay", "doctor", "usage"] {
            // These search folders for logs.
            if name == "folder" && ["doctor", "usage"].contains(&verb) {
                continue;
            }
            assert_eq!(refused(&[verb, &path]), (message.clone(), is), "{verb} {name}");
        }
    }
    let said = format!("foldline: there is no file {}\n", place("missing.jsonl"));
    assert_eq!(refused(&["verify", &place("missing.jsonl")]), (said, 4));
    let said = format!("foldline: {} is a folder, not a log; name a log in it\n", place("folder"));
    assert_eq!(refused(&["verify", &place("folder")]), (said, 2));

    // A log, the same compressed, and the session by its names.
    let packed = fs::File::create(place("packed.jsonl.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
    packed.write_all(&fs::read(home.log()).unwrap()).unwrap();
    packed.finish().unwrap();
    let log = home.log();
    for verb in [&["replay"][..], &["show"], &["export", "-f", "md"], &["usage", "-f", "json"]] {
        let ask = |name: &str| home.ask(&[verb, &[name]].concat());
        let whole = ask(log.to_str().unwrap());
        for name in [&*place("packed.jsonl.gz"), "aaaa", "Mend the cart"] {
            let is_stored = verb == ["show"] && !name.ends_with("gz");
            // A stored session knows its model from the beginning.
            let end = |text: &str| text[text.find("─── end").unwrap()..].to_owned();
            match is_stored {
                true => assert_eq!(end(&ask(name)), end(&whole), "{name}"),
                false => assert_eq!(ask(name), whole, "{verb:?} {name}"),
            }
        }
    }
    assert!(home.ask(&["doctor", "the cart"]).contains("everything was understood"));
    for (verb, option) in
        [("usage", "--agent"), ("sessions", "--agent"), ("replay", "--executor"), ("replay", "-f")]
    {
        let (said, code) = refused(&[verb, option, "nonesuch"]);
        let known = if option == "-f" { "transcript" } else { "droid" };
        assert!(said.contains(known) && code == 2, "{verb}: {said}");
    }
}

#[test]
fn helps_have_examples_the_environment_and_one_meaning_of_f() {
    let home = Home::empty();
    let verbs = [
        "sessions",
        "usage",
        "blocks",
        "statusline",
        "show",
        "search",
        "files",
        "tools",
        "errors",
        "task",
        "query",
        "run",
        "replay",
        "export",
        "ingest",
        "prune",
        "forget",
        "keep",
        "serve",
        "schema",
        "doctor",
        "verify",
        "check",
        "audit-key",
        "completions",
        "man",
    ];
    let helps = verbs.map(|verb| (verb, home.ask(&[verb, "--help"])));
    for (verb, help) in &helps {
        let (_, end) = help.split_once("\nExamples:\n").expect(verb);
        assert!(end.lines().take(2).all(|line| line.starts_with("  foldline ")), "{help}");
        for variable in
            ["FOLDLINE_DB", "FOLDLINE_CONFIG", "FOLDLINE_PAGER", "COLUMNS", "NO_COLOR", "RUST_LOG"]
        {
            assert!(end.contains(variable), "{verb}: {variable}");
        }
        assert!(help.ends_with("\nExit codes: foldline help exit-codes\n"), "{help}");
        assert_eq!(help.matches("-f, --").count(), help.matches("-f, --format").count(), "{help}");
    }
    let first = |verb: &str| home.ask(&[verb, "--help"]).lines().next().unwrap().to_owned();
    assert!(first("show").contains("in the terminal") && first("export").contains("HTML"));
    assert!(first("replay").contains("from its beginning"));
    assert!(home.ask(&["sessions", "--help"]).contains("\nFilters:\n"));
    let codes = home.ask(&["help", "exit-codes"]);
    for code in ["0", "1", "2", "3", "4", "126", "127"] {
        assert!(
            codes.lines().any(|line| line.trim_start().starts_with(&format!("{code} "))),
            "{codes}"
        );
    }
}

#[test]
#[cfg_attr(not(has_python3), ignore = "needs python3")]
fn a_document_is_not_written_to_a_terminal() {
    let home = Home::new();
    let terminal =
        "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let mut python = Command::new("python3");
    python.args(["-c", terminal, env!("CARGO_BIN_EXE_foldline"), "export", "aaaa"]);
    let output = python.env("HOME", home.path()).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("give --out FILE or a pipe") && !said.contains("<html"), "{said}");
    assert_eq!(output.status.code(), Some(2), "{said}");
}

#[test]
fn running_and_failed_sessions_are_chosen() {
    let home = Home::new();
    let old = SystemTime::now() - Duration::from_secs(120);
    fs::File::options().append(true).open(home.log()).unwrap().set_modified(old).unwrap();
    let ids = |options: &[&str]| -> Vec<String> {
        let sessions = home.json(&[&["sessions"], options].concat());
        sessions.as_array().unwrap().iter().map(|row| row["session"].to_string()).collect()
    };
    // The other logs were written just now, and none states an end.
    let quiet = format!("{:?}", home.claude());
    let others: Vec<_> = ids(&[]).into_iter().filter(|id| *id != quiet).collect();
    assert!(!others.is_empty());
    assert_eq!(ids(&["--running"]), others);
    assert_eq!(ids(&["--failed"]), Vec::<String>::new());
}

#[test]
fn a_reference_to_an_entry_is_no_session() {
    let home = Home::new();
    home.ask(&["show", "aaaa:1"]);
    for verb in ["export", "replay", "doctor"] {
        let output = home.run(&[verb, "aaaa:1"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(said.contains("`foldline show aaaa:1` shows it; the session is aaaa"), "{said}");
    }
}
