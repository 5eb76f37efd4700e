//! The program as a value: executors and consumers of another crate.

#[allow(dead_code, reason = "an example has a `main`")]
#[path = "../examples/own_agent.rs"]
mod own_agent;
#[allow(dead_code, reason = "an example has a `main`")]
#[path = "../examples/own_database.rs"]
mod own_database;

use std::{
    convert::Infallible,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use foldline::transduce::{Batch, Emitter, Resume, memoryless};
use foldline_agents::{Context, Evidence, Executor, Extra, Format, Header, Parsed, wire::Object};
use foldline_cli::Program;
use foldline_domain::{DomainEvent, Located, NormalizedEntryType, tool_calls::ToolOutcome};
use rusqlite::Connection;
use serde_json::Value;

const LOG: &str = include_str!("../examples/parrot.jsonl");

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("log.jsonl"), LOG).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs a verb; `@name` is a file of this place.
    fn run(&self, program: &Program, arguments: &[&str]) -> String {
        let folder = format!("{}/", self.folder.path().display());
        let arguments = arguments.iter().map(|argument| argument.replace('@', &folder));
        let code = program.run_with(std::iter::once("foldline".to_owned()).chain(arguments));
        format!("{code:?}")
    }
}

fn code(code: u8) -> String {
    format!("{:?}", ExitCode::from(code))
}

/// Its database is found in its home, opened, followed and ingested like a log of lines.
#[test]
fn an_agent_of_another_crate_may_keep_its_sessions_in_a_database() {
    let (place, program) = (Place::new(), own_database::program());
    let connection = Connection::open(place.path("sessions.db")).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    let table = "CREATE TABLE messages (session TEXT, at INTEGER, role TEXT, text TEXT)";
    connection.execute(table, []).unwrap();
    let add = |session: &str, text: &str| {
        let sql = "INSERT INTO messages VALUES (?1, 1760000000000, 'user', ?2)";
        connection.execute(sql, [session, text]).unwrap();
    };
    add("nest-1", "What shines?");
    add("nest-2", "And there?");
    let replay = ["replay", "@sessions.db", "--format", "conversation", "--out", "@out"];
    assert_eq!(place.run(&program, &replay), code(0));
    let out = place.read("out");
    assert!(out.contains("What shines?") && out.contains("And there?"), "{out}");
    // The message is only in the write-ahead log.
    for text in ["", "Later"] {
        if !text.is_empty() {
            add("nest-1", text);
        }
        assert_eq!(place.run(&program, &["ingest", "@sessions.db", "--db", "@db"]), code(0));
    }
    let database = Connection::open(place.path("db")).unwrap();
    let count = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM sessions"), 2);
    assert_eq!(count("SELECT count(*) FROM entries WHERE content = 'Later'"), 1);
    // A program without the agent does not read it.
    assert_ne!(place.run(&Program::builtin(), &replay), code(0));
}

#[test]
fn an_agent_of_another_crate_has_the_whole_program() {
    let (place, program) = (Place::new(), own_agent::program());
    let replay = ["replay", "@log.jsonl", "--format", "events", "--out", "@out"];
    let replay = [&replay[..], &["--sink", "slow-calls=@slow"]].concat();
    assert_eq!(place.run(&program, &replay), code(0));
    let events = place.read("out");
    let names: Vec<_> = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].to_string())
        .collect();
    assert_eq!(names.iter().filter(|name| *name == "\"new_tool_call\"").count(), 1);
    assert_eq!(place.read("slow"), "call 1 took 3000 ms\n");

    // In two goes, from a checkpoint, the consumer's memory with it.
    let half = LOG.match_indices('\n').nth(1).unwrap().0 + 1;
    fs::write(place.path("log.jsonl"), &LOG[..half]).unwrap();
    let replay = ["replay", "@log.jsonl", "--format", "events", "--out", "@two"];
    let replay = [&replay[..], &["--checkpoint", "@journal", "--sink", "slow-calls=@slower"]];
    assert_eq!(place.run(&program, &replay.concat()), code(0));
    fs::write(place.path("log.jsonl"), LOG).unwrap();
    assert_eq!(place.run(&program, &replay.concat()), code(0));
    assert_eq!(place.read("two"), events);
    assert_eq!(place.read("slower"), place.read("slow"));

    let ingest = ["ingest", "@log.jsonl", "--db", "@db", "--sink", "slow-calls=@ingested"];
    assert_eq!(place.run(&program, &ingest), code(0));
    assert_eq!(place.run(&program, &ingest), code(0));
    assert_eq!(place.read("ingested"), place.read("slow"));
    let query = ["sessions", "--db", "@db", "--format", "json"];
    assert_eq!(place.run(&program, &query), code(0));
    let doctor = ["doctor", "@log.jsonl", "--strict"];
    assert_eq!(
        place.run(&program, &doctor),
        code(3),
        "it has a record that the executor does not know"
    );

    // The program without it does not know the log.
    assert_eq!(place.run(&Program::builtin(), &doctor), code(2));
    assert_eq!(place.run(&Program::builtin(), &["replay", "@log.jsonl"]), code(2));
}

/// Fails at the second event.
struct Fails(u32);

impl Emitter<Located<DomainEvent>, Result<String, String>> for Fails {
    fn emit(&mut self, _: &Located<DomainEvent>) -> Batch<Result<String, String>> {
        self.0 += 1;
        Batch::one(match self.0 {
            1 => Ok("fine".to_owned()),
            _ => Err("the disk of the consumer is full".to_owned()),
        })
    }
}

/// It counts only to fail once.
impl Resume for Fails {
    type State = ();

    fn state(&self) {}

    fn resume(&mut self, (): ()) {}
}

/// The program with a sink that fails at the second event.
pub(crate) fn with_failing_sink() -> Program {
    own_agent::program().sink("fails", || Fails(0))
}

fn with_bad_consumers() -> Program {
    let panics = || {
        memoryless(|event: &Located<DomainEvent>| -> Batch<Result<String, Infallible>> {
            assert!(!matches!(event.item, DomainEvent::NewToolCall { .. }), "no calls, please");
            Batch::one(Ok(event.item.name().to_owned()))
        })
    };
    with_failing_sink().sink("panics", panics)
}

fn is_same(left: &Path, right: &Path) -> bool {
    fs::read(left).unwrap() == fs::read(right).unwrap()
}

#[test]
fn a_consumer_that_fails_or_panics_ends_neither_the_others_nor_the_run() {
    let (place, program) = (Place::new(), with_bad_consumers());
    let alone = ["replay", "@log.jsonl", "--format", "patches", "--out", "@alone"];
    assert_eq!(place.run(&program, &alone), code(0));
    let bad = ["--sink", "fails=@fails", "--sink", "panics=@panics", "--sink", "slow-calls=@slow"];
    let beside = ["replay", "@log.jsonl", "--format", "patches", "--out", "@beside"];
    assert_eq!(place.run(&program, &[&beside[..], &bad].concat()), code(1), "it is reported");
    assert!(is_same(&place.path("alone"), &place.path("beside")));
    assert_eq!(place.read("slow"), "call 1 took 3000 ms\n");

    let ingest = ["ingest", "@log.jsonl", "--db", "@db"];
    let bad = bad.map(|argument| argument.replace("=@", "=@ingested-"));
    let bad: Vec<_> = bad.iter().map(String::as_str).collect();
    assert_eq!(place.run(&program, &[&ingest[..], &bad].concat()), code(1), "it is reported");
    assert_eq!(place.read("ingested-slow"), "call 1 took 3000 ms\n");
    // All of the log is in the database.
    let database = foldline_database::sqlite::Database::open_read_only(
        &place.path("db"),
        std::time::Duration::ZERO,
    )
    .unwrap();
    assert_eq!(database.totals().unwrap().entries, 4);

    // A main output that fails ends the run.
    let main = ["replay", "@log.jsonl", "--format", "fails", "--out", "@main"];
    assert_eq!(place.run(&program, &main), code(1));
}

/// Panics when its memory is asked for.
struct Forgets;

impl Emitter<Located<DomainEvent>, Result<String, Infallible>> for Forgets {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Result<String, Infallible>> {
        Batch::one(Ok(format!("\u{1b}[31m{}", event.item.name())))
    }
}

impl Resume for Forgets {
    type State = ();

    fn state(&self) {
        panic!("no memory");
    }

    fn resume(&mut self, (): ()) {}
}

#[test]
fn a_panic_of_a_consumer_is_its_own_wherever_it_is() {
    let (place, program) = (Place::new(), own_agent::program().sink("forgets", || Forgets));
    let cannot = || -> Fails { panic!("it cannot be made") };
    let program = program.sink("cannot", cannot);
    let replay = ["replay", "@log.jsonl", "--format", "events", "--out", "@out"];
    assert_eq!(place.run(&program, &replay), code(0));
    let sinks = ["--sink", "forgets=@forgets", "--sink", "cannot=@cannot"];
    let checkpointed = ["replay", "@log.jsonl", "--format", "events", "--out", "@two"];
    let checkpointed = [&checkpointed[..], &["--checkpoint", "@journal"], &sinks].concat();
    assert_eq!(place.run(&program, &checkpointed), code(1), "it is reported");
    assert!(is_same(&place.path("out"), &place.path("two")));
    // Log text in the message of a consumer does not control a terminal.
    assert!(!place.read("forgets").contains('\u{1b}'));

    // What was written before a failure stays.
    let failing = with_bad_consumers();
    let replay = ["replay", "@log.jsonl", "--format", "events", "--out", "@again"];
    place.run(&failing, &[&replay[..], &["--sink", "fails=@fails"]].concat());
    assert_eq!(place.read("fails"), "fine\n");
}

#[test]
fn an_ingest_does_not_forget_that_an_output_failed() {
    let (place, failing) = (Place::new(), with_bad_consumers());
    let ingest = ["ingest", "@log.jsonl", "--db", "@db", "--sink", "fails=@fails"];
    assert_eq!(place.run(&failing, &ingest), code(1));
    let before = place.read("fails");
    // Nothing is new, and events are still missing in the file.
    assert_eq!(place.run(&failing, &ingest), code(1));
    let longer = place.read("log.jsonl") + LOG;
    fs::write(place.path("log.jsonl"), longer).unwrap();
    assert_eq!(place.run(&failing, &ingest), code(1));
    assert_eq!(place.read("fails"), before, "nothing is appended after the hole");
    // The database itself is not held up.
    assert_eq!(place.run(&failing, &["ingest", "@log.jsonl", "--db", "@db"]), code(0));
}

#[test]
fn an_output_is_written_once_and_not_over_another() {
    let (place, program) = (Place::new(), own_agent::program());
    let replay = ["replay", "@log.jsonl", "--format", "events", "--out", "@out"];
    for wrong in ["events=@other", "slow-calls=@out", "slow-calls=@log.jsonl", "nobody=@x"] {
        assert_eq!(place.run(&program, &[&replay[..], &["--sink", wrong]].concat()), code(2));
    }
    assert_eq!(place.read("log.jsonl"), LOG);
}

/// Panics at a certain line.
struct Trips;

impl Executor for Trips {
    const FORMAT: Format = Format::new("trips", "Trips", "trips");
    type Line<'a> = String;
    type Result = ToolOutcome;
    type Memory = ();

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        Evidence::certain_if(object.has("trips"))
    }

    fn parse<'a>(&self, object: &mut Object<'a>, _: &mut Header<'a>) -> Parsed<String> {
        Parsed::Line(object.str("trips").unwrap_or_default().into_owned())
    }

    fn line(&self, line: String, extra: Extra, (): &mut (), cx: &mut Context<'_, ToolOutcome>) {
        assert!(line != "stone", "it fell over a stone");
        cx.entry(NormalizedEntryType::AssistantMessage, line.as_str(), extra);
    }
}

#[test]
fn a_panic_of_an_executor_ends_its_file_only() {
    let (place, program) = (Place::new(), own_agent::program().executor(Trips));
    fs::create_dir(place.path("logs")).unwrap();
    let line = |text: &str| format!("{{\"trips\":\"{text}\"}}\n");
    fs::write(place.path("logs/a.jsonl"), line("one") + &line("stone") + &line("two")).unwrap();
    fs::write(place.path("logs/b.jsonl"), LOG).unwrap();
    for (jobs, db) in [("1", "@one"), ("4", "@four")] {
        let ingest = ["ingest", "@logs", "--db", db, "--jobs", jobs];
        for _ in 0..2 {
            assert_eq!(place.run(&program, &ingest), code(1), "it is reported");
            let path = place.path(&db[1..]);
            let database = foldline_database::sqlite::Database::open_read_only(
                &path,
                std::time::Duration::ZERO,
            );
            assert_eq!(database.unwrap().totals().unwrap().entries, 4, "all of the other log");
        }
    }
}
