//! Real consumers in parallel: with and without positions, resumed, and one for each session.

use std::sync::Arc;

use foldline::{
    processor::{Collect, DEFAULT_MAX_LINE, Processor, Snapshot},
    transduce::{Batch, Emitter, KeyedEmitter, Reducer, Transducer},
};
use foldline_agents::{ExecutorReducer, Records, Sessions, droid::Droid, wire::Record};
use foldline_database::{RowChanges, RowEmitter};
use foldline_domain::{
    ByItem, DomainEvent, Located, SessionKey, by_item, locating,
    metrics::Metrics,
    patch::{ConversationPatch, PatchEmitter, PatchRecord, PatchStream},
};

const LOG: &str = include_str!("../../examples/session.jsonl");

fn events() -> Vec<Located<DomainEvent>> {
    let mut all = Vec::new();
    let keep = foldline::transduce::emit_fn(|event: &Located<DomainEvent>| -> Batch<()> {
        all.push(event.clone());
        Batch::EMPTY
    });
    let mut processor =
        Processor::new(Records, Transducer::new(locating(ExecutorReducer::new(Droid)), keep));
    processor.push(LOG.as_bytes(), |()| {});
    processor.finish(|()| {});
    all
}

#[test]
fn a_patch_stream_beside_others_gives_what_it_gives_alone() {
    let events = events();
    let mut alone = PatchStream::default();
    let mut expected: Vec<PatchRecord> =
        events.iter().filter_map(|event| alone.record(event)).collect();
    expected.extend(alone.remaining());

    let mut fan = (PatchStream::default(), by_item(PatchEmitter::default()));
    let (mut records, mut patches) = (Vec::new(), Vec::new());
    let mut all = Batch::EMPTY;
    events.iter().for_each(|event| all.append(fan.emit(event)));
    all.append(fan.finish());
    for (record, patch) in all {
        records.extend(record);
        patches.extend(patch);
    }
    assert!(expected.len() > 10);
    assert_eq!(records, expected);
    assert!(records.into_iter().map(|record| record.patch).eq(patches));
}

/// The state between two chunks of a log is one value, regardless of the consumers.
#[test]
fn a_whole_fan_out_is_stored_and_resumed() {
    type Fan = (PatchStream, Metrics, Option<ByItem<PatchEmitter>>);
    let fan = || -> Fan { (PatchStream::default(), Metrics::default(), Some(ByItem::default())) };
    let reducer = || locating(ExecutorReducer::new(Droid));
    let run = |step: usize| {
        let mut out = Vec::new();
        let mut processor = Processor::new(Records, Transducer::new(reducer(), fan()));
        for end in (step..LOG.len()).step_by(step).chain([LOG.len()]) {
            let stored = serde_json::to_string(&processor.snapshot()).unwrap();
            // The beginning of an incomplete line is read again.
            let read = usize::try_from(processor.position().offset).unwrap();
            let snapshot: Snapshot<_, _> = serde_json::from_str(&stored).unwrap();
            processor = Processor::resume(Records, reducer(), snapshot, fan(), DEFAULT_MAX_LINE);
            processor.push(&LOG.as_bytes()[read..end], |event| out.push(event));
        }
        let finished = processor.finish(|event| out.push(event));
        (out, finished.emitter.1)
    };
    let whole = run(LOG.len());
    assert!(whole.0.len() > 10);
    assert_eq!(run(1000), whole);
    assert_eq!(run(77), whole);
}

#[test]
fn rows_say_how_much_they_hold() {
    let (mut emitter, mut rows) = (RowEmitter, RowChanges::default());
    assert_eq!(rows.size(), 0);
    let mut least = 0;
    for event in events() {
        let before = rows.size();
        emitter.emit(&event).drain_with(|change| rows.add(change));
        assert!(rows.size() > before);
        if let DomainEvent::NewEntry { entry } = &event.item {
            least += entry.size();
        }
    }
    assert!(rows.size() > least && least > 0);
}

fn session(id: &str) -> String {
    r#"{"type":"system","subtype":"init","cwd":"/ID","session_id":"ID","tools":[],"model":"m"}
{"type":"tool_call","id":"call_0","toolName":"Read","parameters":{"file_path":"/ID/x"},"timestamp":2,"session_id":"ID"}
{"type":"message","role":"user","id":"m","text":"hi ID","timestamp":1,"session_id":"ID"}
{"type":"tool_result","id":"call_0","isError":false,"value":"of ID","timestamp":3,"session_id":"ID"}"#
        .replace("ID", id)
}

/// Both sessions have a call with the same id: with a single emitter, both results would replace the same entry.
#[test]
fn an_emitter_for_each_session_keeps_their_indices_apart() {
    let sinks = KeyedEmitter::new(
        |event: &Located<DomainEvent>| event.session,
        |_: &SessionKey| by_item(PatchEmitter::default()),
    );
    let reducer = Sessions::new(ExecutorReducer::new(Droid));
    let mut processor = Processor::new(Records, Transducer::new(reducer, sinks));
    let mut out: Vec<(SessionKey, ConversationPatch)> = Vec::new();
    for lines in session("a").lines().zip(session("b").lines()) {
        for line in [lines.0, lines.1] {
            processor.push(format!("{line}\n").as_bytes(), |patch| out.push(patch));
        }
    }
    processor.finish(|patch| out.push(patch));

    for (key, id) in [(SessionKey(0), "a"), (SessionKey(1), "b")] {
        let mixed: Vec<_> = out.iter().filter(|it| it.0 == key).map(|it| it.1.clone()).collect();
        let mut alone = Vec::new();
        let mut shell = Transducer::new(ExecutorReducer::new(Droid), PatchEmitter::default());
        for line in session(id).lines() {
            Record::read(line, |_, record| alone.extend(shell.step(record)));
        }
        alone.extend(shell.finish::<Record<'_>, _, _>().2);
        let entries = |patches: &[ConversationPatch]| -> Vec<usize> {
            patches.iter().filter_map(|patch| Some(patch.entry()?.0.get())).collect()
        };
        assert_eq!(entries(&alone), [0, 1, 2, 1]);
        assert_eq!(mixed, alone);
    }
}

/// A shared reducer costs a counter, not a copy.
#[test]
fn a_shared_reducer_is_a_reducer() {
    let shared = Arc::new(ExecutorReducer::new(Droid));
    let run = |reducer: Arc<ExecutorReducer<Droid>>| {
        let mut all = Vec::new();
        let mut state = reducer.init();
        for line in LOG.lines() {
            Record::read(line, |_, record| {
                let (next, events) = reducer.reduce(std::mem::take(&mut state), record);
                state = next;
                all.extend(events);
            });
        }
        all.extend(reducer.finish(state).1);
        all
    };
    let other = Arc::clone(&shared);
    let beside = std::thread::spawn(move || run(other)).join().unwrap();
    assert_eq!(beside, events().into_iter().map(|event| event.item).collect::<Vec<_>>());
    drop(shared);
}
