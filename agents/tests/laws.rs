//! The laws of the crate, checked in the way that any author of an executor or an emitter can.
//!
//! An executor of the registry needs only its folder `tests/fixtures/<format>/` and its accounts in `laws/accounts`. A generator (`generate::<agent>`) needs a `generated!` at the end.

mod accounts;

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::captures;
use foldline::position::SessionKey;
use foldline_agents::{
    DynExecutor, ExecutorReducer, Registry, SessionKeyOf,
    claude::{ClaudeSession, ClaudeStream},
    codex::{CodexExec, CodexRollout},
    droid::{Droid, DroidSession},
    wire::Record,
};
use foldline_testkit::{
    Law, generate,
    law::{self, Every, Outcome},
    run,
};
use proptest::{collection::vec, prelude::*, sample::select, test_runner::TestRunner};

/// The laws that do not apply to a format: ids are reused, a response belongs to the previous request, or a permission
/// is requested before the result. Settings have no calls.
fn exceptions(format: &str) -> &'static [Law] {
    match format {
        "acp" => &[Law::OrderOfResults, Law::Pairing],
        "droid-jsonrpc" | "kimi" => &[Law::OrderOfResults],
        "droid-settings" => &[Law::OrderOfResults, Law::Balance, Law::Pairing],
        // A record states a call as a whole, or there are no results.
        "amp-thread" | "atif" | "codex-exec" | "copilot-chat" | "cursor-transcript"
        | "gemini-session" | "opencode" | "opencode-session" | "zed" => &[Law::Pairing],
        // Of a call with two outcomes, the first one counts.
        "cursor" => &[Law::EscapedText],

        _ => &[],
    }
}

/// Runs a check for every executor.
fn for_every_executor(mut check: impl FnMut(&DynExecutor, &str)) {
    for executor in Registry::builtin().iter() {
        check(executor, executor.format().name);
    }
}

/// Every law holds on every fixture, and is not vacuous in at least one of them. Only declared fields are dropped.
#[test]
fn every_law_holds_on_every_log_of_every_format() {
    let mut failures = Vec::new();
    for_every_executor(|executor, format| {
        let accounts = accounts::declared(format);
        let mut checked = Vec::new();
        let mut check =
            |every: Every<'_>, path: &PathBuf| match every.check(&fs::read(path).unwrap()) {
                Ok(report) => checked.extend(report.checked()),
                Err(violation) => failures.push(format!("{}: {violation}", path.display())),
            };
        let every = || Every::of(executor.clone());
        let without = [exceptions(format), &[Law::BoundedState]].concat();
        for path in &captures::fixtures(format) {
            check(every().accounting(&accounts).without(&without), path);
        }
        let without = [exceptions(format), &[Law::Account, Law::BoundedState]].concat();
        for path in &captures::of(format) {
            check(every().without(&without), path);
        }
        let names_sessions = captures::fixtures(format).iter().any(|path| {
            let log = fs::read(path).unwrap();
            let text = String::from_utf8_lossy(&log);
            // If only the first record names the session, as in Gemini's stream, runs cannot be interleaved.
            let records = run::records(&text);
            let named = records.iter().filter(|record| executor.session_of(record).is_some());
            2 * named.count() > records.len()
        });
        assert!(
            !names_sessions || checked.contains(&Law::Sessions),
            "no fixture of {format} has one session that every record names"
        );
        for &law in Law::OF_EXECUTORS {
            // The records of a session file do not name the session.
            let elsewhere = [Law::OrderOfResults, Law::Ledger, Law::Sessions, Law::BoundedState];
            let elsewhere = elsewhere.contains(&law) || exceptions(format).contains(&law);
            if !elsewhere && !checked.contains(&law) {
                failures.push(format!("no fixture of {format} exercises {law}"));
            }
        }
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Every repetition of a log is accounted for, also in the middle of thousands of records.
#[test]
fn no_long_log_is_read_otherwise_than_a_short_one() {
    let mut failures = Vec::new();
    for_every_executor(|executor, format| {
        let logs = captures::fixtures(format).into_iter().map(|path| fs::read(path).unwrap());
        let mut logs: Vec<_> = logs.filter(|log| run::records(&text_of(log)).len() > 4).collect();
        logs.sort_by_key(Vec::len);
        let mut outcomes = logs.iter().map(|log| law::length(executor, log));
        match outcomes.find(|outcome| !matches!(outcome, Ok(Outcome::Vacuous(_)))) {
            Some(Ok(_)) => {}
            Some(Err(violation)) => failures.push(format!("{format}: {violation}")),
            // The settings of a session are one record.
            None if format == "droid-settings" => {}
            None => failures.push(format!("no fixture of {format} has a text")),
        }
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The texts that executors add to those of a log, alone or before one.
const PHRASES: [&str; 22] = [
    "[REDACTED]",
    "[redacted]",
    "/mcp list all",
    "cancelled",
    "close_agent",
    "context truncated",
    "conversation compacted",
    "conversation rewound",
    "files read into the prompt",
    "goal met",
    "line",
    "mission features",
    "mission progress",
    "model: ",
    "plan",
    "plan mode begins",
    "plan mode ends",
    "session",
    "session ended",
    "sleep",
    "todo list",
    "trajectory",
];

/// What an entry says is in the log.
#[test]
fn no_entry_is_invented() {
    let mut failures = Vec::new();
    for_every_executor(|executor, format| {
        for path in captures::fixtures(format) {
            let log = fs::read(&path).unwrap();
            if let Err(violation) = law::invention(executor, &log, &PHRASES) {
                failures.push(format!("{}: {violation}", path.display()));
            }
        }
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The time zone, the locale and the home of the machine that reads a log are not those of the one that wrote it.
#[test]
fn no_log_is_read_otherwise_in_another_environment() {
    let mut logs = Vec::new();
    for_every_executor(|executor, format| {
        let fixtures = captures::fixtures(format).into_iter();
        logs.extend(fixtures.map(|path| (executor.clone(), path.clone(), fs::read(path).unwrap())));
    });
    let names: Vec<_> = logs.iter().map(|(_, path, _)| path).collect();
    let read = |path: &&PathBuf| {
        let log = logs.iter().find(|(_, own, _)| own == *path);
        let fold = log.map(|(executor, _, log)| foldline_testkit::Fold::of(executor, log));
        format!("{fold:#?}")
    };
    let outcome = law::environment(&names, read);
    assert_eq!(outcome.unwrap_or_else(|violation| panic!("{violation}")), Outcome::Checked);
}

/// A log is repeated some thousand times, so that one log of each format has to do: the shortest with some records that
/// ends with nothing open.
#[test]
fn no_state_grows_while_nothing_is_open() {
    let mut failures = Vec::new();
    for_every_executor(|executor, format| {
        let logs = captures::fixtures(format).into_iter().map(|path| fs::read(path).unwrap());
        let mut logs: Vec<_> = logs.filter(|log| run::records(&text_of(log)).len() > 4).collect();
        logs.sort_by_key(Vec::len);
        let mut outcomes = logs.iter().map(|log| law::bounded_state(executor, log));
        match outcomes.find(|outcome| !matches!(outcome, Ok(Outcome::Vacuous(_)))) {
            Some(Ok(_)) => {}
            Some(Err(violation)) => failures.push(format!("{format}: {violation}")),
            None => failures.push(format!("no fixture of {format} ends with nothing open")),
        }
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn text_of(log: &[u8]) -> String {
    String::from_utf8_lossy(log).into_owned()
}

/// A truncated log is also a log, and every byte may be the last one.
#[test]
fn every_beginning_of_a_log_is_in_balance() {
    for_every_executor(|executor, format| {
        for path in captures::fixtures(format).iter().chain(&captures::of(format)) {
            let log = fs::read(path).unwrap();
            for end in (0..log.len()).step_by(log.len() / 40 + 1) {
                let events = run::sourced_events(executor, [&log[..end]]);
                let events: Vec<_> = events.into_iter().map(|event| event.item).collect();
                if let Err(violation) = law::balance(&events) {
                    panic!("{}, cut at byte {end}: {violation}", path.display());
                }
            }
        }
    });
}

/// A reducer may also read logs of other formats: stops and chunk boundaries change nothing there either.
#[test]
fn every_executor_may_stop_at_every_line_of_every_log() {
    let registry = Registry::builtin();
    let formats = registry.iter().map(|executor| executor.format().name);
    let logs: Vec<_> = formats.flat_map(captures::fixtures).collect();
    assert!(logs.len() > registry.iter().count());
    for_every_executor(|executor, format| {
        for path in &logs {
            let log = fs::read(path).unwrap();
            let text = String::from_utf8_lossy(&log);
            let line_ends = text.match_indices('\n').flat_map(|(at, _)| [at, at + 1]);
            let odd = (0..log.len()).step_by(13);
            let stops = law::split_invariance(
                executor,
                |json| executor.restore(json),
                &run::records(&text),
            );
            let pieces = law::chunk_invariance(executor, &log, &line_ends.collect::<Vec<_>>());
            let odd = law::chunk_invariance(executor, &log, &odd.collect::<Vec<_>>());
            if let Err(violation) = stops.and(pieces).and(odd) {
                panic!("{}, read as {format}: {violation}", path.display());
            }
        }
    });
}

#[test]
fn json_that_nests_without_end_is_accounted_for() {
    for_every_executor(|executor, format| {
        let deep = "[".repeat(30_000);
        for line in [
            format!(r#"{{"type":"tool_call","parameters":{deep}{}}}"#, "]".repeat(30_000)),
            format!(r#"{{"type":"tool_call","parameters":{deep}"#),
            "{\"a\":".repeat(30_000),
            deep,
        ] {
            let every = Every::of(executor.clone()).without(&Law::OF_REGULAR_LOGS);
            every
                .check(line.as_bytes())
                .unwrap_or_else(|violation| panic!("{format}: {violation}"));
        }
    });
}

/// Unknown variants of the fixtures.
#[test]
fn every_law_holds_on_mutated_logs() {
    for_every_executor(|executor, format| {
        let logs = captures::fixtures(format).into_iter().map(|path| fs::read(path).unwrap());
        let mutated = select(logs.collect::<Vec<_>>()).prop_flat_map(|log| generate::mutated(&log));
        let every = Every::of(executor.clone()).without(&Law::OF_REGULAR_LOGS);
        let config = ProptestConfig { failure_persistence: None, ..fewer_cases(3) };
        let result =
            TestRunner::new(config).run(&mutated, |log| Ok(every.check(&log).map(drop)?));
        result.unwrap_or_else(|failure| panic!("{format}: {failure}"));
    });
}

/// Enough cases for every law and every special case of a format in seconds; `PROPTEST_CASES` sets a larger number.
fn fewer_cases(times: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.div_ceil(times), ..default }
}

/// The laws for an executor on logs from the generators in `generate::$agent`.
macro_rules! generated {
    ($name:ident: $($agent:ident)::+, $executor:expr, is_result: $is_result:expr) => {
        generated!($name: $($agent)::+, $executor, is_result: $is_result, moved: anywhere);
    };
    (
        $name:ident: $($agent:ident)::+, $executor:expr,
        is_result: $is_result:expr, moved: $moved:expr
    ) => {
        mod $name {
            use crate::generate::$($agent)::+::{conversation, log};

            use super::*;

            proptest! {
                #![proptest_config(fewer_cases(3))]

                #[test]
                fn every_law_holds(log in log(), bytes in vec(any::<u8>(), 0..200)) {
                    // Record ids repeat here; law 5 is checked on conversations.
                    let every = Every::of($executor).without(&Law::OF_REGULAR_LOGS);
                    every.check(&log)?;
                    every.check(&bytes)?;
                }

                #[test]
                fn law_2_split_invariance(log in log(), stops in vec(0usize..40, 0..4)) {
                    let text = String::from_utf8_lossy(&log);
                    let restore = |json: &str| serde_json::from_str(json);
                    law::split_invariance_at(
                        &ExecutorReducer::new($executor), restore, &run::records(&text),
                        |inputs_read| stops.contains(&inputs_read),
                    )?;
                }

                #[test]
                fn law_3_chunk_invariance(log in log(), cuts in vec(0usize..6_000, 0..12)) {
                    law::chunk_invariance(&ExecutorReducer::new($executor), &log, &cuts)?;
                }

                #[test]
                fn law_5_order_of_results(
                    lines in conversation(),
                    order in vec(any::<usize>(), 1..30),
                ) {
                    let text = lines.join("\n");
                    let records = run::records(&text);
                    let is_result: fn(&Record<'_>) -> bool = $is_result;
                    let others = records.iter().filter(|record| !is_result(record)).count();
                    let order: Vec<_> = order.into_iter().map(|n| $moved(n, others)).collect();
                    let is_result = |_, record: &Record<'_>| is_result(record);
                    law::order_of_results(&ExecutorReducer::new($executor), &records, is_result, &order)?;
                }
            }
        }
    };
}

generated!(droid: droid, Droid, is_result: |record| has_type(record, "tool_result"));
generated!(droid_session: droid::session, DroidSession, is_result: answers);
generated!(claude_stream: claude::stream, ClaudeStream, is_result: answers);
generated!(claude_session: claude::session, ClaudeSession::default(), is_result: answers);
generated!(
    codex_exec: codex::exec, CodexExec,
    is_result: ends_an_item, moved: behind_everything_else
);
generated!(codex_rollout: codex::rollout, CodexRollout, is_result: is_only_output);

/// A result may be anywhere.
fn anywhere(number: usize, _others: usize) -> usize {
    number
}

/// A line with all data of a call is its result only after the line that began the call; before it, the line is the
/// call.
fn behind_everything_else(number: usize, others: usize) -> usize {
    let places = others + 1;
    (number % 1_000) * places + others
}

fn has_type(record: &Record<'_>, name: &str) -> bool {
    match record {
        Record::Object(object) => object.get_str("type").as_deref() == Some(name),
        Record::Irregular(_) => false,
    }
}

/// Whether a record ends an item that another line began: all items except messages, thoughts, file changes and errors.
fn ends_an_item(record: &Record<'_>) -> bool {
    let Record::Object(object) = record else { return false };
    let item = object.get("item").map_or("", |item| item.get());
    let complete = ["agent_message", "reasoning", "file_change", "error", "novel"];
    let is_complete = |kind: &&str| item.contains(&format!(r#""type":"{kind}""#));
    has_type(record, "item.completed") && !complete.iter().any(is_complete)
}

/// Whether a record is the output of a call whose end no event reports.
fn is_only_output(record: &Record<'_>) -> bool {
    let Record::Object(object) = record else { return false };
    let payload = object.get("payload").map_or("", |payload| payload.get());
    payload.contains(r#"_call_output""#) && payload.contains(r#""call_id":"call_"#)
}

/// Whether a record is a message of results; generated messages of results contain nothing else.
fn answers(record: &Record<'_>) -> bool {
    let Record::Object(object) = record else { return false };
    let message = object.get("message").map_or("", |message| message.get());
    message.contains(r#""type":"tool_result""#)
}

/// The executor of Droid reads any texts, of any length, and two sessions in any order.
#[test]
fn generated_texts_and_sessions_obey_the_laws() {
    let log =
        fs::read(captures::fixtures("droid").into_iter().find(|path| is_parallel(path)).unwrap())
            .unwrap();
    let config = ProptestConfig { failure_persistence: None, ..fewer_cases(8) };
    let without = [Law::OrderOfResults, Law::BoundedState, Law::Account];
    let every = Every::of(Droid).without(&without);
    TestRunner::new(config.clone())
        .run(&generate::marked(&log), |log| Ok(every.check(&log).map(drop)?))
        .unwrap_or_else(|failure| panic!("{failure}"));
    let text = String::from_utf8_lossy(&log);
    let session = "s-1";
    assert!(text.contains(session));
    TestRunner::new(config)
        .run(&generate::sessions(&log, session), |both| {
            let fold = foldline_testkit::Fold::of(&Droid.into(), &both);
            let alone = foldline_testkit::Fold::of(&Droid.into(), &log);
            let entries = |fold: &foldline_testkit::Fold, key| {
                fold.sessions[&SessionKey(key)].entries().to_vec()
            };
            prop_assert_eq!(entries(&fold, 0), entries(&alone, 0));
            prop_assert_eq!(entries(&fold, 1), entries(&alone, 0));
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}

fn is_parallel(path: &Path) -> bool {
    path.ends_with("parallel_calls.jsonl")
}
