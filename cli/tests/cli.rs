//! The program as people and other programs run it.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

fn foldline(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foldline"));
    command.args(arguments).env_remove("NO_COLOR").env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    foldline(arguments).output().unwrap()
}

/// Runs the program with `input` as its standard input.
fn run_with(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = foldline(arguments);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    // The program may have seen enough before it has read all.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/fixtures/droid");
    fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect()
}

fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/droid/{name}.jsonl", concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn lines_of_json(output: &Output) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn document(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Guarantees for other programs: numbers without gaps, positions that never go back, and patches
/// that add up to the conversation.
#[test]
fn patches_add_up_to_the_conversation() {
    for path in fixtures() {
        let path = path.to_str().unwrap();
        let patches = run(&["replay", "-e", "droid", "--format", "patches", path]);
        let mut patched = json!({ "entries": [] });
        let mut last = (1, 0);
        for (index, record) in lines_of_json(&patches).into_iter().enumerate() {
            let keys: Vec<_> = record.as_object().unwrap().keys().collect();
            assert_eq!(keys, ["patch", "position", "seq", "session"], "{path}");
            assert_eq!(record["seq"], index + 1, "{path}");
            let at = |name: &str| record["position"][name].as_u64().unwrap();
            let position = (at("line"), at("offset"));
            assert!(position >= last, "{path}: {position:?} comes after {last:?}");
            last = position;
            let patch: json_patch::Patch = serde_json::from_value(record["patch"].clone()).unwrap();
            json_patch::patch(&mut patched, &patch).unwrap();
        }
        let folded = document(&run(&["replay", "-e", "droid", "--format", "conversation", path]));
        assert_eq!(patched, folded, "{path}");
    }
}

#[test]
fn a_position_is_where_the_record_stands() {
    let path = fixture("glued_records");
    let log = fs::read(&path).unwrap();
    let events = lines_of_json(&run(&["replay", "--format", "events", &path]));
    let said: Vec<_> = events.iter().filter(|event| event["event"] == "new_entry").collect();
    assert!(said.len() > 5);
    for event in said {
        let offset = usize::try_from(event["position"]["offset"].as_u64().unwrap()).unwrap();
        assert!(log[offset..].starts_with(b"{\"type\":"), "{event}");
    }
}

#[test]
fn events_are_one_json_object_a_line() {
    let path = fixture("empty_tool_id");
    let events = lines_of_json(&run(&["replay", "--format", "events", &path]));
    let names: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names.iter().filter(|name| **name == "new_tool_call").count(), 2);
    assert_eq!(names.iter().filter(|name| **name == "update_tool_call").count(), 2);
    let call = events.iter().find(|event| event["event"] == "new_tool_call").unwrap();
    assert_eq!(call["data"]["corr_id"], "call_1");
    assert_eq!(call["position"]["line"], 3);
}

#[test]
fn the_transcript_is_what_is_printed_unless_told_otherwise() {
    let path = fixture("task");
    let output = run(&["replay", &path]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("Count the files"));
    let named = run(&["replay", "--format", "transcript", &path]);
    assert_eq!(output.stdout, named.stdout);
}

#[test]
fn standard_input_is_read_with_a_dash_and_without_a_name() {
    let path = fixture("edits");
    let log = fs::read(&path).unwrap();
    let expected = run(&["replay", "--format", "patches", &path]).stdout;
    for arguments in [&["replay", "--format", "patches", "-"][..], &["replay", "-f", "patches"]] {
        let output = run_with(arguments, &log);
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(output.stdout, expected);
    }
}

/// The reader of a pipe sees each line when it is written, not at the end of the run.
#[test]
fn what_was_read_is_shown_before_more_comes() {
    let mut command = foldline(&["replay", "-e", "droid", "-f", "patches"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for text in ["one", "two"] {
        let message = json!({ "type": "message", "role": "user", "id": text, "text": text });
        writeln!(input, "{message}").unwrap();
        let mut line = String::new();
        while !line.contains(&format!(r#""content":"{text}""#)) {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "the output ended early");
        }
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_pipe_that_is_closed_ends_the_program_quietly() {
    let message = r#"{"type":"message","role":"assistant","id":"m","text":"a long story"}"#;
    let log = tempfile::NamedTempFile::new().unwrap();
    fs::write(log.path(), format!("{message}\n").repeat(20_000)).unwrap();
    for format in ["events", "patches", "transcript", "conversation"] {
        let path = log.path().to_str().unwrap();
        let mut command = foldline(&["replay", "-e", "droid", "-f", format, path]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(!first.is_empty(), "{format}");
        // The reader is dropped by now: further output has no destination.
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{format}");
        assert_eq!(text(&output.stderr), "", "{format}");
    }
}

/// Opening a pipe without a writer would block for ever.
#[cfg(unix)]
#[test]
fn a_pipe_among_the_logs_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(fixture("task"), folder.path().join("z.jsonl")).unwrap();
    let pipe = folder.path().join("a.jsonl");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let path = folder.path().to_str().unwrap();
    let output = run(&["doctor", path]);
    assert_eq!(output.status.code(), Some(0));
    let said = text(&output.stdout);
    assert!(said.contains("a.jsonl\n  not a file\n"), "{said}");
    assert!(said.contains("everything was understood"), "{said}");
    assert_eq!(run(&["doctor", path, "--strict"]).status.code(), Some(3));
    // One that is named is read.
    let writer = std::thread::spawn({
        let (log, pipe) = (fs::read(fixture("task")).unwrap(), pipe.clone());
        move || fs::write(pipe, log).unwrap()
    });
    let output = run(&["doctor", pipe.to_str().unwrap()]);
    writer.join().unwrap();
    assert!(text(&output.stdout).contains("everything was understood"));
}

#[test]
fn what_cannot_be_read_is_named() {
    let missing = run(&["replay", "no/such/log.jsonl"]);
    assert_eq!(missing.status.code(), Some(4));
    assert_eq!(text(&missing.stdout), "");
    let said = text(&missing.stderr);
    assert!(said == "foldline: there is no file no/such/log.jsonl\n", "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let folder = run(&["replay", concat!(env!("CARGO_MANIFEST_DIR"), "/..")]);
    assert_eq!(folder.status.code(), Some(2));
    assert!(text(&folder.stderr).contains("is a folder, not a log"), "{}", text(&folder.stderr));
}

#[test]
fn a_format_that_is_not_recognised_is_wrong_use() {
    for log in [&b"hello\nworld\n"[..], b"{\"a\":1}\n"] {
        let output = run_with(&["replay"], log);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(text(&output.stdout), "");
        let said = text(&output.stderr);
        assert!(said.starts_with("foldline: cannot tell which agent wrote"), "{said}");
        assert!(said.contains("--executor"), "it says what to do: {said}");
    }
    let named = run_with(&["replay", "--executor", "droid"], b"hello\n");
    assert_eq!(named.status.code(), Some(0));
    assert!(text(&named.stdout).contains("hello"));
}

#[test]
fn the_formats_that_are_named_are_those_that_executor_accepts() {
    let output = run_with(&["replay"], b"hello\n");
    let said = text(&output.stderr);
    let (_, known) = said.split_once("(known: ").expect("it names the known formats");
    let (known, _) = known.split_once(')').expect("the list ends");
    assert!(known.contains("droid"), "{said}");
    for name in known.split(", ") {
        let output = run_with(&["replay", "--executor", name], b"hello\n");
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output.stderr));
    }
}

#[test]
fn a_format_that_nothing_proves_is_taken_at_the_end() {
    let log = br#"{"type":"result","subtype":"success","is_error":false,"duration_ms":9,"num_turns":1,"result":"done","session_id":"s"}"#;
    let output = run_with(&["replay"], log);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("done"));
}

#[test]
fn only_strict_minds_malformed_lines() {
    // An object without a type is not a record either.
    for (name, malformed) in
        [("plain_text", true), ("cut_stream", true), ("unknown_things", true), ("mcp_tool", false)]
    {
        let path = fixture(name);
        let lenient = run(&["replay", "-e", "droid", "-f", "conversation", &path]);
        assert_eq!(lenient.status.code(), Some(0), "{name}");
        assert_eq!(text(&lenient.stderr), "", "{name}");
        let strict = run(&["replay", "-e", "droid", "-f", "conversation", "--strict", &path]);
        assert_eq!(strict.status.code(), Some(if malformed { 3 } else { 0 }), "{name}");
        assert_eq!(strict.stdout, lenient.stdout, "{name}: all is printed in any case");
        assert_eq!(text(&strict.stderr).contains("malformed"), malformed, "{name}");
    }
}

#[test]
fn wrong_use_exits_with_2_and_says_what_is_right() {
    for (arguments, hint) in [
        (&["replay", "--speed", "fast"][..], "1x or 10x, or max"),
        (&["replay", "--speed", "0"], "1x or 10x, or max"),
        (&["replay", "--speed=-1x"], "1x or 10x, or max"),
        (&["replay", "--speed", "NaN"], "1x or 10x, or max"),
        (&["replay", "--speed", "inf"], "1x or 10x, or max"),
        (&["replay", "--format", "xml"], "conversation"),
        (&["replay", "--executor", "nobody"], "droid"),
        (&["replay", "--width", "3"], "20..=1000"),
        (&["rewind"], "rewind"),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
        let said = text(&output.stderr);
        assert!(said.contains(hint), "{arguments:?}: {said}");
    }
}

#[test]
fn help_and_version_are_no_errors() {
    let help = run(&["replay", "--help"]);
    assert_eq!(help.status.code(), Some(0));
    for word in ["--executor", "--format", "--speed", "--strict", "Exit codes", "NO_COLOR"] {
        assert!(text(&help.stdout).contains(word), "{word}");
    }
    let version = run(&["--version"]);
    assert_eq!(version.status.code(), Some(0));
    let said = text(&version.stdout);
    assert!(said.starts_with(concat!("foldline ", env!("CARGO_PKG_VERSION"), " (")), "{said}");
}

#[test]
fn the_speed_keeps_the_pauses_of_the_log() {
    let line = |at: u32| json!({ "type": "message", "role": "user", "id": at.to_string(), "text": "x", "timestamp": at });
    let log = format!("{}\n{}\n", line(0), line(1_000));
    let took = |speed: &str| {
        let begun = Instant::now();
        let output = run_with(&["replay", "-e", "droid", "--speed", speed], log.as_bytes());
        assert_eq!(output.status.code(), Some(0));
        begun.elapsed()
    };
    assert!(took("2x") >= Duration::from_millis(500));
    assert!(took("4") >= Duration::from_millis(250));
    assert!(took("max") < Duration::from_millis(500));
}

mod color {
    use super::*;

    const ESCAPE: u8 = 0x1B;

    fn has_ansi(output: &Output) -> bool {
        assert_eq!(output.status.code(), Some(0));
        output.stdout.contains(&ESCAPE)
    }

    #[test]
    fn a_pipe_gets_no_colour() {
        for path in fixtures() {
            let path = path.to_str().unwrap();
            assert!(!has_ansi(&run(&["replay", "-e", "droid", path])), "{path}");
        }
    }

    #[test]
    fn always_is_always() {
        let path = fixture("execute");
        assert!(has_ansi(&run(&["replay", "--color", "always", &path])));
        let mut command = foldline(&["replay", "--color", "always", &path]);
        assert!(has_ansi(&command.env("NO_COLOR", "1").output().unwrap()), "also with NO_COLOR");
        assert!(!has_ansi(&run(&["replay", "--color", "never", &path])));
    }

    #[test]
    fn json_is_never_coloured() {
        let path = fixture("execute");
        for format in ["patches", "events", "conversation"] {
            assert!(!has_ansi(&run(&["replay", "--color", "always", "-f", format, &path])));
        }
    }

    /// Nothing from a log may move the cursor, ring the bell or rename the window.
    #[test]
    fn control_sequences_of_a_log_do_not_reach_the_terminal() {
        let nasty = "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m";
        let log = json!({ "type": "message", "role": "assistant", "id": "m", "text": nasty });
        let log = format!("{log}\n{nasty}\n");
        for color in ["always", "never"] {
            let arguments = ["replay", "-e", "droid", "--color", color];
            let output = run_with(&arguments, log.as_bytes());
            assert_eq!(output.status.code(), Some(0));
            let shown = text(&output.stdout);
            for forbidden in ["\u{1b}[2J", "\u{1b}]0", "\u{7}", "\u{9b}"] {
                assert!(!shown.contains(forbidden), "{color}: {forbidden:?} in {shown:?}");
            }
        }
    }
}

/// `NO_COLOR` is about terminals, so it takes one to see it. util-linux's `script` makes one.
#[cfg(target_os = "linux")]
mod on_a_terminal {
    use super::*;

    /// The output of the program on a terminal.
    fn shown(environment: &[(&str, &str)]) -> String {
        let command =
            format!("'{}' replay '{}'", env!("CARGO_BIN_EXE_foldline"), fixture("execute"));
        let mut script = Command::new("script");
        script.args(["-q", "-e", "-c", &command, "/dev/null"]).stdin(Stdio::null());
        script.env_remove("NO_COLOR").envs(environment.iter().copied());
        let output = script.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[test]
    #[cfg_attr(not(has_script), ignore = "needs script")]
    fn no_color_switches_colours_off() {
        let coloured = shown(&[]);
        assert!(coloured.contains("\u{1b}["), "{coloured:?}");
        let plain = shown(&[("NO_COLOR", "1")]);
        assert!(plain.contains("echo bare") && !plain.contains('\u{1b}'), "{plain:?}");
        let empty = shown(&[("NO_COLOR", "")]);
        assert!(empty.contains("\u{1b}["), "an empty NO_COLOR counts as absent: {empty:?}");
    }
}
