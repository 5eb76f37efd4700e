//! The laws of the crate, checked as anyone who writes an executor or an emitter can check them.
//!
//! A format of the registry needs nothing here but its folder `tests/fixtures/<format>/`; generators
//! of its own (`testkit::<agent>`) add a `laws_of!` at the end.
#![allow(clippy::unwrap_used, clippy::panic, reason = "that is how a test fails")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use foldline::{
    conversation::DomainEvent,
    emitters::patch::PatchEmitter,
    executors::{DynExecutor, Registry, wire::Record},
    testkit::{generate, law, run},
    transduce::{Batch, emit_fn},
};
use proptest::{collection::vec, prelude::*};

/// The logs of a format: its fixtures, and real captures where they lie beside the crate.
fn logs(format: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let captures = std::env::var_os("FOLDLINE_CAPTURES")
        .map_or_else(|| root.join("../shared/captures"), PathBuf::from);
    let mut logs = Vec::new();
    for folder in [root.join("tests/fixtures"), captures] {
        let Ok(files) = fs::read_dir(folder.join(format)) else { continue };
        let files = files.map(|file| file.unwrap().path());
        logs.extend(files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")));
    }
    logs.sort();
    logs
}

#[test]
fn every_law_holds_on_every_log_of_every_format() {
    let mut failures = Vec::new();
    for executor in Registry::builtin().iter() {
        let format = executor.format().name;
        let logs = logs(format);
        assert!(!logs.is_empty(), "there is no log in tests/fixtures/{format}");
        for path in logs {
            let log = fs::read(&path).unwrap();
            if let Err(violation) = law::every(executor, &log) {
                failures.push(format!("{}: {violation}", path.display()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// A reducer meets logs of other formats too: where it stops, and how their bytes come, changes nothing
/// there either.
#[test]
fn every_executor_may_stop_at_every_line_of_every_log() {
    let registry = Registry::builtin();
    let logs: Vec<_> = registry.iter().flat_map(|executor| logs(executor.format().name)).collect();
    let mut count = 0;
    for path in &logs {
        let log = fs::read(path).unwrap();
        let text = String::from_utf8_lossy(&log);
        let records = run::records(&text);
        let line_ends: Vec<_> = text.match_indices('\n').map(|(at, _)| at).collect();
        let beside = line_ends.iter().flat_map(|at| [*at, at + 1]).collect::<Vec<_>>();
        for executor in Registry::builtin().iter() {
            let format = executor.format().name;
            let stops = law::split_invariance(executor, &records);
            let pieces = law::chunk_invariance(executor, &log, &beside);
            let odd: Vec<_> = (0..log.len()).step_by(13).collect();
            let odd = law::chunk_invariance(executor, &log, &odd);
            if let Err(violation) = stops.and(pieces).and(odd) {
                panic!("{}, read as {format}: {violation}", path.display());
            }
            count += 1;
        }
    }
    assert!(count >= registry.iter().count().pow(2));
    eprintln!("{count} readings of {} logs", logs.len());
}

/// A log that was cut off is a log too, and every byte may be the last one.
#[test]
fn every_beginning_of_a_log_is_in_balance() {
    for executor in Registry::builtin().iter() {
        let format = executor.format().name;
        for path in logs(format) {
            let log = fs::read(&path).unwrap();
            let ends = (0..log.len()).step_by(log.len() / 40 + 1);
            for end in ends {
                let events = run::sourced_events(executor, [&log[..end]]);
                let events: Vec<_> = events.into_iter().map(|event| event.item).collect();
                if let Err(violation) = law::balance(&events) {
                    panic!("{}, cut at byte {end}: {violation}", path.display());
                }
            }
        }
    }
}

#[test]
fn json_that_nests_without_end_is_accounted_for() {
    for executor in Registry::builtin().iter() {
        let format = executor.format().name;
        let deep = "[".repeat(100_000);
        for line in [
            format!(r#"{{"type":"tool_call","parameters":{deep}{}}}"#, "]".repeat(100_000)),
            format!(r#"{{"type":"tool_call","parameters":{deep}"#),
            "{\"a\":".repeat(100_000),
            deep,
        ] {
            law::every(executor, line.as_bytes())
                .unwrap_or_else(|violation| panic!("{format}: {violation}"));
        }
    }
}

fn executor(format: &str) -> DynExecutor {
    Registry::builtin().named(format).cloned().unwrap()
}

fn events_of(format: &str, log: &[u8]) -> Vec<DomainEvent> {
    let events = run::sourced_events(&executor(format), [log]);
    events.into_iter().map(|event| event.item).collect()
}

/// Enough for each law to see every oddity of a format in seconds; `PROPTEST_CASES` asks for more.
fn fewer_cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.div_ceil(3), ..default }
}

/// The nine laws for the generators `testkit::$agent`, each a property.
macro_rules! laws_of {
    ($name:ident: $($agent:ident)::+, $format:expr, is_result: $is_result:expr) => {
        laws_of!($name: $($agent)::+, $format, is_result: $is_result, moved: anywhere);
    };
    (
        $name:ident: $($agent:ident)::+, $format:expr,
        is_result: $is_result:expr, moved: $moved:expr
    ) => {
        mod $name {
            use foldline::testkit::$($agent)::+::{conversation, log};

            use super::*;

            proptest! {
                #![proptest_config(fewer_cases())]

                #[test]
                fn law_1_determinism(log in log()) {
                    let text = String::from_utf8_lossy(&log);
                    law::determinism(&executor($format), &run::records(&text))?;
                }

                #[test]
                fn law_2_split_invariance(log in log(), stops in vec(0usize..40, 0..4)) {
                    let text = String::from_utf8_lossy(&log);
                    let records = run::records(&text);
                    law::split_invariance(&executor($format), &records)?;
                    law::split_invariance_at(&executor($format), &records, &stops)?;
                }

                #[test]
                fn law_3_chunk_invariance(log in log(), cuts in vec(0usize..6_000, 0..12)) {
                    law::chunk_invariance(&executor($format), &log, &cuts)?;
                }

                #[test]
                fn law_4_balance(log in log()) {
                    law::balance(&events_of($format, &log))?;
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
                    law::order_of_results(&executor($format), &records, is_result, &order)?;
                }

                #[test]
                fn law_6_totality(log in log(), bytes in vec(any::<u8>(), 0..200)) {
                    let executor = executor($format);
                    law::totality(&executor, &log, |record| law::knows(&executor, record))?;
                    law::totality(&executor, &bytes, |record| law::knows(&executor, record))?;
                }

                #[test]
                fn law_7_commuting_diagram(log in log()) {
                    law::commuting_diagram(PatchEmitter::default(), &events_of($format, &log))?;
                }

                #[test]
                fn law_8_independence(log in log()) {
                    let events = events_of($format, &log);
                    let names = || emit_fn(|event: &DomainEvent| Batch::one(event.name()));
                    law::independence(PatchEmitter::default, names, &events)?;
                    law::independence(PatchEmitter::default, PatchEmitter::default, &events)?;
                }

                #[test]
                fn law_9_dense_indices(log in log()) {
                    law::dense_indices(PatchEmitter::default(), &events_of($format, &log))?;
                }
            }
        }
    };
}

laws_of!(droid: droid, "droid", is_result: |record| has_type(record, "tool_result"));
laws_of!(droid_session: droid::session, "droid-session", is_result: answers);
laws_of!(claude_stream: claude::stream, "claude-stream", is_result: answers);
laws_of!(claude_session: claude::session, "claude-session", is_result: answers);
laws_of!(
    codex_exec: codex::exec, "codex-exec",
    is_result: ends_an_item, moved: behind_everything_else
);
laws_of!(codex_rollout: codex::rollout, "codex-rollout", is_result: is_only_output);

/// A result may stand anywhere.
fn anywhere(number: usize, _others: usize) -> usize {
    number
}

/// A line that tells all of a call is its result only after the line that began it: before that, it
/// is the call.
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

/// Whether a record ends an item that another line began: all but messages, thoughts, changes of
/// files and errors.
fn ends_an_item(record: &Record<'_>) -> bool {
    let Record::Object(object) = record else { return false };
    let item = object.get("item").map_or("", |item| item.get());
    let complete = ["agent_message", "reasoning", "file_change", "error", "novel"];
    let is_complete = |kind: &&str| item.contains(&format!(r#""type":"{kind}""#));
    has_type(record, "item.completed") && !complete.iter().any(is_complete)
}

/// Whether a record is the output of a call whose end no event tells.
fn is_only_output(record: &Record<'_>) -> bool {
    let Record::Object(object) = record else { return false };
    let payload = object.get("payload").map_or("", |payload| payload.get());
    payload.contains(r#"_call_output""#) && payload.contains(r#""call_id":"call_"#)
}

/// Whether a record is a message of results; the generators put nothing beside them.
fn answers(record: &Record<'_>) -> bool {
    let Record::Object(object) = record else { return false };
    let message = object.get("message").map_or("", |message| message.get());
    message.contains(r#""type":"tool_result""#)
}

/// What an executor of this crate may give, and more: several entries that grow at once.
mod emitters {
    use super::*;

    proptest! {
        #[test]
        fn the_events_are_in_balance(events in generate::events()) {
            law::balance(&events)?;
        }

        #[test]
        fn law_7_commuting_diagram(events in generate::events()) {
            law::commuting_diagram(PatchEmitter::default(), &events)?;
        }

        #[test]
        fn law_9_dense_indices(events in generate::events()) {
            law::dense_indices(PatchEmitter::default(), &events)?;
        }
    }

    #[cfg(feature = "transcript")]
    proptest! {
        #[test]
        fn law_8_independence(events in generate::events()) {
            use foldline::emitters::transcript::{Transcript, TranscriptStyle};

            let transcript = || Transcript::new(TranscriptStyle { color: true, width: 80 });
            law::independence(transcript, PatchEmitter::default, &events)?;
        }
    }
}
