//! Invalid and malicious logs: damaged, enormous, or in other encodings. None causes a panic, every line is
//! accounted for, and memory stays bounded.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use foldline::{
    processor::{LineFramer, Processor},
    transduce::{Batch, Transducer, emit_fn},
};
use foldline_agents::{Records, Registry};
use foldline_domain::{DomainEvent, Located, NormalizedEntryType, WarningKind, locating};

/// Every event of a log, read by the executor of `format`.
pub(crate) fn events_of(format: &str, log: &[u8], max_line: usize) -> Vec<Located<DomainEvent>> {
    let executor = Registry::builtin().named(format).cloned().unwrap();
    let keep = emit_fn(|event: &Located<DomainEvent>| Batch::one(event.clone()));
    let transducer = Transducer::new(locating(executor), keep);
    let mut processor = Processor::with_framer(Records, transducer, LineFramer::new(max_line));
    let mut events = Vec::new();
    processor.push(log, |event| events.push(event));
    processor.finish(|event| events.push(event));
    events
}

fn droid(log: impl AsRef<[u8]>) -> Vec<Located<DomainEvent>> {
    events_of("droid", log.as_ref(), 1 << 20)
}

/// The warnings of a log, each with its line and byte.
fn warnings(events: &[Located<DomainEvent>]) -> Vec<(WarningKind, u64, u64)> {
    let warning = |event: &Located<DomainEvent>| match &event.item {
        DomainEvent::Warning(warning) => {
            Some((warning.kind, event.position.line, event.position.offset))
        }
        _ => None,
    };
    events.iter().filter_map(warning).collect()
}

/// The messages of users and agents.
fn messages(events: &[Located<DomainEvent>]) -> Vec<String> {
    let message = |event: &Located<DomainEvent>| match &event.item {
        DomainEvent::NewEntry { entry }
            if matches!(
                entry.entry_type,
                NormalizedEntryType::UserMessage | NormalizedEntryType::AssistantMessage
            ) =>
        {
            Some(entry.content.decode().into_owned())
        }
        _ => None,
    };
    events.iter().filter_map(message).collect()
}

pub(crate) fn said(text: &str) -> String {
    format!(r#"{{"type":"message","role":"user","id":"m","text":"{text}","timestamp":1}}"#)
}

/// Texts that are valid JSON, may be, or are not, after the kinds of case that test suites for JSON
/// parsers have.
const JSON_CASES: &[&str] = &[
    "",
    " ",
    "null",
    "true",
    "0",
    "-0",
    "1e1",
    "1E+2",
    "-1.5e-3",
    "1e999",
    "-1e999",
    "1e-999",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "123456789012345678901234567890123456789012345678901234567890",
    "0.1000000000000000055511151231",
    "01",
    "+1",
    "1.",
    ".5",
    "1e",
    "0x1F",
    "1_000",
    "--1",
    "NaN",
    "Infinity",
    "-Infinity",
    "\"\"",
    "\"a",
    "'a'",
    "\"\\x41\"",
    "\"\\u12\"",
    "\"\\uD800\"",
    "\"\\uDC00\\uD800\"",
    "\"\\uD83D\\uDE00\"",
    "\"\\u0000\"",
    "\"\u{0}\"",
    "\"\u{7f}\"",
    "\"\t\"",
    "\"\u{2028}\"",
    "\"\\\"",
    "\"\\a\"",
    "\u{feff}{}",
    "{}\u{feff}",
    "[]",
    "[1,]",
    "[,1]",
    "[1 2]",
    "[1",
    "]",
    "[[]",
    "[1]]",
    "[1][2]",
    "{}",
    "{",
    "}",
    "{}}",
    "{{}}",
    "{,}",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{\"a\" 1}",
    "{a:1}",
    "{'a':1}",
    "{1:1}",
    "{\"a\":1 \"b\":2}",
    "{\"a\":1,\"a\":2}",
    "{\"type\":\"message\",\"type\":\"completion\"}",
    "{\"type\":[]}",
    "{\"type\":null}",
    "{\"type\":\"\"}",
    "{\"type\":\"\\ud800\"}",
    "{\"\\ud800\":\"\\udc00\"}",
    "{\"a\":\"\\ud800\"}",
    "{\"type\":\"message\"}",
    "{\"type\":\"tool_call\"}",
    "{\"type\":\"tool_result\"}",
    "{\"type\":\"message\",\"role\":7,\"text\":{\"\\udfff\":[1e999]}}",
    "{\"type\":\"assistant\",\"message\":[]}",
    "{\"type\":\"assistant\",\"message\":{\"content\":[[[[]]]]}}",
    "{\"type\":\"user\",\"message\":{\"content\":[null,1,\"\\ud800\",{}]}}",
    "/* comment */ {}",
    "{} // comment",
    "# comment",
    "---",
    "<html>",
    "\u{1b}[2J",
    "\u{0}\u{0}{}",
    "{}{}",
    "{} {}",
    "{},{}",
    "{}\u{0}{}",
    "{\"a\":1}{\"b\":2",
    "{\"a\":\"x{\"b\":2}",
];

/// Strings that have broken programs: as content, as names, as ids.
const NAUGHTY: &[&str] = &[
    "",
    "undefined",
    "null",
    "true",
    "-1",
    "1/0",
    "NaN",
    "0x0",
    "1e1000",
    "%s%n%p",
    "$(id)",
    "`id`",
    "'; DROP TABLE entries; --",
    "../../../../etc/passwd",
    "C:\\\\nul",
    "\\u0000",
    "\\u0007\\u001b[31m",
    "\\u202etxt.exe",
    "\\u200b\\u200d\\ufeff",
    "Z\\u0351\\u036b\\u0343",
    "\\ud83d\\ude00\\ud83c\\udffb",
    "\\ud800",
    "\\udfff\\ud800",
    "ﷺ",
    "Ω≈ç√",
    "田中さん",
    "\u{5d0}\u{5b8}",
    "ß İ ı ſ",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "{\\\"type\\\":\\\"message\\\"}",
    "\\r\\n\\r\\n",
    "\\\\",
    "\\\"",
    "~0~1",
    "/entries/0",
    "__proto__",
];

#[test]
fn every_case_is_accounted_for_by_every_executor() {
    let types = ["message", "assistant", "user", "system", "result", "tool_call", "event_msg"];
    let mut lines: Vec<String> = JSON_CASES.iter().map(|case| (*case).to_owned()).collect();
    for naughty in NAUGHTY {
        for kind in types {
            lines.push(format!(
                r#"{{"type":"{kind}","id":"{naughty}","text":"{naughty}","{naughty}":"{naughty}","payload":{{"type":"{naughty}"}},"message":{{"role":"{naughty}","content":"{naughty}"}}}}"#
            ));
        }
        lines.push(format!(r#"{{"type":"{naughty}"}}"#));
    }
    for executor in Registry::builtin().iter() {
        let format = executor.format().name;
        for line in &lines {
            let log = format!("{line}\n");
            let events = events_of(format, log.as_bytes(), 1 << 20);
            let is_blank = line.trim().is_empty();
            let expects_event = !is_blank && !line.contains("\"type\"");
            assert!(!expects_event || !events.is_empty(), "{format}: {line}: no event");
            for event in &events {
                let json = serde_json::to_string(event).unwrap();
                serde_json::from_str::<serde_json::Value>(&json)
                    .unwrap_or_else(|error| panic!("{format}: {line}: {error}: {json}"));
            }
        }
        // All lines in one log, read in pieces: each line is still a separate record.
        let log = lines.join("\n");
        let seen: BTreeSet<u64> = events_of(format, log.as_bytes(), 1 << 20)
            .iter()
            .filter(|event| matches!(event.item, DomainEvent::Warning(_)))
            .map(|event| event.position.line)
            .collect();
        assert!(seen.len() > JSON_CASES.len() / 2, "{format}: {} lines with warnings", seen.len());
    }
}

#[test]
fn state_with_any_string_can_be_stored() {
    use foldline::transduce::Reducer;

    for executor in Registry::builtin().iter() {
        let format = executor.format().name;
        let reducer = locating(executor);
        let transducer = Transducer::restore(reducer, reducer.init(), ());
        let mut processor = Processor::new(Records, transducer);
        for case in JSON_CASES.iter().chain(NAUGHTY) {
            for line in [
                (*case).to_owned(),
                format!(
                    r#"{{"type":"tool_call","id":"{case}","toolName":"{case}","parameters":{case}}}"#
                ),
                format!(
                    r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"{case}","name":"{case}","input":{case}}}]}}}}"#
                ),
            ] {
                processor
                    .push(format!("{line}\n").as_bytes(), |never: std::convert::Infallible| {
                        match never {}
                    });
                let stored = serde_json::to_string(&processor.snapshot()).unwrap();
                let state = serde_json::from_str(&stored);
                let state: foldline::processor::Snapshot<
                    foldline_domain::LocatingState<foldline_domain::Json>,
                > = state.unwrap_or_else(|error| panic!("{format}: {line}: {error}"));
                assert_eq!(serde_json::to_string(&state).unwrap(), stored, "{format}: {line}");
            }
        }
    }
}

#[test]
fn records_in_odd_places_are_read() {
    let (a, b) = (said("one"), said("two"));
    let pretty: serde_json::Value = serde_json::from_str(&a).unwrap();
    let pretty = serde_json::to_string_pretty(&pretty).unwrap();
    for log in [
        format!("{a}{b}"),
        format!("{a} {b}\n"),
        format!("[{a},{b}]"),
        format!("[\n{a},\n{b}\n]\n"),
        format!("\u{feff}{a}\r\n\r\n{b}\r\n"),
        format!("{pretty}\n{b}"),
        format!("[\n{pretty},\n{b}\n]"),
        format!("{{\"type\":\"mess{a}\n{b}"),
        format!("ge\",\"text\":\"x\"}}{a}\n{b}"),
        format!("\0\0\0\0{a}\n{b}"),
        format!("{{\"type\":\"message\",\n{a}\n{b}"),
        format!("[{a},{b},{{\"type\":\"mes"),
    ] {
        assert_eq!(messages(&droid(&log)), ["one", "two"], "{log}");
    }
}

#[test]
fn a_log_in_utf16_is_read() {
    let log = format!("\u{feff}{}\r\n{}\r\n", said("caf\u{e9}"), said("\u{1f600}"));
    for bytes in [
        log.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
        log.encode_utf16().flat_map(u16::to_be_bytes).collect(),
    ] {
        let events = droid(&bytes);
        assert_eq!(messages(&events), ["caf\u{e9}", "\u{1f600}"]);
        assert_eq!(warnings(&events), []);
    }
}

#[test]
fn damage_is_kept_with_its_position() {
    let a = said("one");
    let log = format!("{a}\n{{\"type\":\"mess{a}\n\0\x07 x\n{a}\n{}\n", "y".repeat(600));
    let events = events_of("droid", log.as_bytes(), 300);
    let (length, text) = (a.len() as u64 + 1, "{\"type\":\"mess".len() as u64);
    let second = length;
    let third = second + text + length;
    let fifth = third + 5 + length;
    assert_eq!(
        warnings(&events),
        [
            (WarningKind::Malformed, 2, second),
            (WarningKind::PlainText, 3, third),
            (WarningKind::TooLong, 5, fifth),
        ]
    );
    assert_eq!(messages(&events), ["one"; 3]);
    let DomainEvent::NewEntry { entry } = &events[events.len() - 1].item else {
        panic!("no entry")
    };
    let extra = &entry.metadata.as_ref().unwrap().extra;
    assert_eq!(extra.get("bytes").unwrap().get(), "600");
    // printf 'y%.0s' $(seq 600) | sha256sum
    assert_eq!(extra.get("sha256").unwrap().get(), SIX_HUNDRED_Y);
}

const SIX_HUNDRED_Y: &str = "\"4932b97e2b3b087c582194b496948629b83ad2fb33dfcdf53a600748748a56b7\"";

/// Logs of some length that are cheap to write and costly to read carelessly.
fn expensive(length: usize) -> Vec<(&'static str, Vec<u8>)> {
    let repeat = |text: &str| text.repeat(length / text.len());
    // Each is a record, with a warning: costly to write to a database.
    let few = |text: &str| text.repeat(length / text.len() / 4);
    let message = |content: &str| {
        format!(
            r#"{{"type":"assistant","session_id":"s","message":{{"role":"assistant","content":{content}}}}}"#
        )
    };
    let call = |parameters: &str| {
        format!(
            r#"{{"type":"tool_call","id":"c","toolName":"TodoWrite","parameters":{parameters}}}"#
        )
    };
    let comma = |text: &str| repeat(text).trim_end_matches(',').to_owned();
    let mut logs = vec![
        (
            "deep",
            format!("{{\"type\":\"x\",\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000)),
        ),
        ("deep objects", format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000))),
        ("deep and torn", "[{\"a\":".repeat(100_000)),
        ("many objects", format!("{{\"type\":\"x\",\"a\":[{}]}}", comma("{\"a\":0},"))),
        ("many blocks", message(&format!("[{}]", comma("{\"a\":0},")))),
        ("many texts", message(&format!("[{}]", comma("\"\",")))),
        ("many fields", format!("{{\"type\":\"x\",{}}}", comma("\"a\":0,"))),
        ("many parameters", call(&format!("{{{}}}", comma("\"a\":0,")))),
        ("many todos", call(&format!("{{\"todos\":\"{}\"}}", repeat("a\\n")))),
        ("many todo objects", call(&format!("{{\"todos\":[{}]}}", comma("{\"a\":0},")))),
        ("many numbers", format!("[{}]", comma("0,"))),
        ("many restarts", repeat("{\"a\":\"")),
        ("many quotes", repeat("{\"")),
        ("one string", said(&repeat("x"))),
        ("one escaped string", said(&repeat("\\n"))),
        ("one text", repeat("x")),
        ("many openings", repeat("{\n")),
        ("many records on a line", few("{}")),
        ("many records", few("{}\n")),
        ("many records in a list", format!("[{}]", few("{},").trim_end_matches(','))),
    ];
    // Calls without results, and results without calls: three times the longest line.
    let numbered = |size: usize, line: &dyn Fn(usize, &str) -> String| {
        let (padding, count) = ("x".repeat(size), 3 * length / (size + 80));
        (0..count).map(|n| line(n, &padding)).collect::<Vec<_>>().join("\n")
    };
    let open = |n: usize, padding: &str| {
        format!(
            r#"{{"type":"tool_call","id":"c{n}","toolName":"Create","parameters":{{"content":"{padding}"}}}}"#
        )
    };
    let early = |n: usize, padding: &str| {
        format!(r#"{{"type":"tool_result","id":"c{n}","isError":false,"value":"{padding}"}}"#)
    };
    logs.extend([
        ("short open calls", numbered(0, &open)),
        ("open calls", numbered(3000, &open)),
        ("long open calls", numbered(length - 1000, &open)),
        ("short early results", numbered(0, &early)),
        ("early results", numbered(3000, &early)),
        ("long early results", numbered(length - 1000, &early)),
    ]);
    for (name, log) in &mut logs {
        if *name != "many openings" {
            *log = format!("{}\n{log}\n{}\n", said("one"), said("two"));
        }
    }
    let mut logs: Vec<_> = logs.into_iter().map(|(name, log)| (name, log.into_bytes())).collect();
    logs.push((
        "no text",
        [said("one").as_bytes(), b"\n", &vec![0xFF; length], b"\n", said("two").as_bytes()]
            .concat(),
    ));
    logs
}

/// The most memory that the program used, in bytes, as the system counted it.
pub(crate) fn peak_of(arguments: &[&str], log: &Path) -> u64 {
    // The system's own measure for children that have ended; the program is the only one.
    let script = "import resource,subprocess,sys\ncode=subprocess.call(sys.argv[1:],stdout=subprocess.DEVNULL)\nprint(code,resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
    let output = Command::new("python3")
        // Freed memory is returned at once: how much of it the allocator retains depends on the load of the machine,
        // not on the program.
        .env("MIMALLOC_PURGE_DELAY", "0")
        .args(["-c", script, env!("CARGO_BIN_EXE_foldline")])
        .args(arguments)
        .arg(log)
        .stderr(Stdio::inherit())
        .output()
        .expect("python3 runs");
    let output = String::from_utf8(output.stdout).unwrap();
    let (code, kilobytes) = output.trim().split_once(' ').unwrap_or_else(|| panic!("{output:?}"));
    assert_eq!(code, "0", "{arguments:?} {}", log.display());
    kilobytes.parse::<u64>().unwrap() * 1024
}

/// `FOLDLINE_HOSTILE=16` makes the logs 16 MiB long, up to the limit for a line. The limits are above what the program
/// uses for a log of two messages: its own pages depend on how it was built.
#[test]
#[cfg_attr(not(has_python3), ignore = "needs python3")]
fn memory_is_bounded() {
    let mebibytes = std::env::var("FOLDLINE_HOSTILE").ok().and_then(|size| size.parse().ok());
    let length = mebibytes.unwrap_or(1) * ((1 << 20) - 512);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (out, stored) = (path("out"), path("stored"));
    let (db, trail) = (path("db"), path("trail"));
    let patches = ["replay", "--format", "patches", "--out", &out, "--checkpoint", &stored];
    let ingest = ["ingest", "--db", &db, "--audit", &trail, "--jobs"];
    let (one, four) = ([&ingest[..], &["1"]].concat(), [&ingest[..], &["4"]].concat());
    // A command's name, how many mebibytes it may use besides those for the longest line, and whether it is run at full
    // scale only.
    let commands = [
        ("events", 36, &["replay", "--format", "events"][..], false),
        ("patches", 36, &patches, false),
        ("transcript", 76, &["replay", "--format", "transcript"], true),
        ("ingest", 76, &one, true),
        ("ingest with four jobs", 76, &four, false),
    ];
    // The buffers of a long line are copied as they grow, and each job has its own.
    let for_longest_line = 4 * mebibytes.unwrap_or(1) as u64;
    let mut failures = Vec::new();
    let log_path = folder.path().join("log");
    fs::write(&log_path, format!("{}\n{}\n", said("one"), said("two"))).unwrap();
    let own = peak_of(&["replay", "--format", "events", "--executor", "droid"], &log_path) >> 20;
    eprintln!("{own:>4} MiB  two messages");
    for (name, log) in expensive(length) {
        fs::write(&log_path, log).unwrap();
        for format in ["droid", "claude-stream"] {
            for (command, limit, arguments, is_extra) in commands {
                let is_small = ["many records", "short open calls", "one string"].contains(&name);
                if mebibytes.is_none() && (is_extra || (limit == 76 && !is_small)) {
                    continue;
                }
                for made in ["stored", "out", "db", "db-wal", "db-shm", "trail"] {
                    let _ = fs::remove_file(path(made));
                }
                let arguments = [arguments, &["--executor", format]].concat();
                let peak = peak_of(&arguments, &log_path) >> 20;
                eprintln!("{peak:>4} MiB  {name}, {format}, {command}");
                if peak >= own + limit + for_longest_line {
                    failures.push(format!("{name}, {format}, {command}: {peak} MiB"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
