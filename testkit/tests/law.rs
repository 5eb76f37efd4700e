//! A test of the laws: each law has an executor or emitter that violates it.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use foldline::{
    processor::{Collect, HeapSize},
    transduce::{Batch, Emitter, Reducer, Resume, emit_fn, reduce_fn},
};
use foldline_agents::{
    ExecutorReducer, SessionKeyOf,
    droid::Droid,
    wire::{Irregular, Record},
};
use foldline_domain::{
    ActionType, CorrId, DomainEvent, EntryIdx, NormalizedEntry, NormalizedEntryType, ToolResult,
    ToolStatus, ToolUse, WarningKind,
    patch::{ConversationPatch, PatchEmitter},
};
use foldline_testkit::{Law, Place, Violation, law::*};
use serde::{Deserialize, Serialize};

fn law_of(result: Result<(), Violation>) -> (usize, Place) {
    let violation = result.unwrap_err();
    (violation.law.number(), violation.place)
}

fn entry(content: &str) -> NormalizedEntry {
    NormalizedEntry::new(NormalizedEntryType::UserMessage, content)
}

fn call(status: ToolStatus, result: Option<&str>) -> Arc<NormalizedEntry> {
    let result = result.map(|text| ToolResult::Text(text.into()));
    let action = ActionType::Tool { tool_name: "T".into(), arguments: None, result };
    let mut tool = ToolUse::new("T", action);
    tool.status = status;
    NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), "T").into()
}

fn new_call(id: &str) -> DomainEvent {
    DomainEvent::NewToolCall { corr_id: id.into(), entry: call(ToolStatus::Created, None) }
}

fn update(id: &str, status: ToolStatus) -> DomainEvent {
    DomainEvent::UpdateToolCall { corr_id: id.into(), entry: call(status, None) }
}

#[test]
fn a_reducer_that_remembers_outside_of_its_state_is_not_deterministic() {
    let outside = Cell::new(0);
    let reducer = reduce_fn(
        || (),
        |(), n: u32| {
            outside.set(outside.get() + u32::from(n == 3));
            ((), Batch::one(outside.get()))
        },
    );
    assert_eq!(law_of(determinism(&reducer, &[1, 2, 3, 4])), (1, Place::Input(2)));
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Forgetful {
    sum: u32,
    #[serde(skip)]
    last: u32,
}

fn from_json<S: serde::de::DeserializeOwned>(json: &str) -> serde_json::Result<S> {
    serde_json::from_str(json)
}

#[test]
fn a_state_that_is_not_stored_whole_cannot_be_split() {
    let reducer = reduce_fn(Forgetful::default, |state: Forgetful, n: u32| {
        (Forgetful { sum: state.sum + n, last: n }, Batch::one(state.last))
    });
    assert_eq!(law_of(split_invariance(&reducer, from_json, &[0, 5, 6])), (2, Place::Input(1)));
    assert_eq!(
        law_of(split_invariance_at(&reducer, from_json, &[0, 5, 6], |n| n == 2)),
        (2, Place::Input(1))
    );
    assert_eq!(split_invariance_at(&reducer, from_json, &[0, 5, 6], |n| n < 2), Ok(()));
    determinism(&reducer, &[0, 5, 6]).unwrap();
}

#[test]
fn events_out_of_balance() {
    let end = |id| update(id, ToolStatus::Success);
    let grow = |id: &str| DomainEvent::GrowEntry { corr_id: id.into(), text: "x".into() };
    let open = |id: &str| DomainEvent::OpenEntry { corr_id: id.into(), entry: entry("x").into() };
    let close = |id: &str| DomainEvent::CloseEntry { corr_id: id.into(), entry: None };
    balance(&[new_call("a"), open("b"), update("a", ToolStatus::InProgress), grow("b")])
        .unwrap_err();
    balance(&[new_call("a"), open("b"), end("a"), grow("b"), close("b")]).unwrap();
    let at = |index| (4, Place::Event(index));
    assert_eq!(law_of(balance(&[end("a"), new_call("a")])), at(0));
    assert_eq!(law_of(balance(&[new_call("a"), end("a"), end("a")])), at(2));
    assert_eq!(law_of(balance(&[new_call("a"), end("a"), new_call("a")])), at(2));
    assert_eq!(law_of(balance(&[new_call("a"), new_call("b"), end("b")])), (4, Place::Completion));
    assert_eq!(law_of(balance(&[open("a"), close("a"), grow("a")])), at(2));
    assert_eq!(law_of(balance(&[new_call("a"), grow("a")])), at(1));
    assert_eq!(law_of(balance(&[open("a"), new_call("a")])), at(1));
    let born_ended =
        DomainEvent::NewToolCall { corr_id: "a".into(), entry: call(ToolStatus::Success, None) };
    assert_eq!(law_of(balance(&[born_ended])), at(0));
}

/// Incorrectly pairs results with calls by their order.
#[test]
fn pairing_by_order_depends_on_the_order() {
    let reducer = reduce_fn(Vec::new, |mut open: Vec<CorrId>, line: &str| {
        if let Some(id) = line.strip_prefix("call ") {
            open.push(id.into());
            return (open, Batch::one(new_call(id)));
        }
        if open.is_empty() {
            return (open, Batch::EMPTY);
        }
        let corr_id = open.remove(0);
        let entry = call(ToolStatus::Success, Some(line));
        (open, Batch::one(DomainEvent::UpdateToolCall { corr_id, entry }))
    });
    let inputs = ["call a", "call b", "result a", "result b"];
    assert_eq!(only_end_a_call(&reducer, &inputs), [false, false, true, true]);
    let is_result = |_: usize, line: &&str| line.starts_with("result");
    order_of_results(&reducer, &inputs, is_result, &[2, 5]).unwrap();
    let swapped = order_of_results(&reducer, &inputs, is_result, &[5, 2]);
    assert_eq!(law_of(swapped), (5, Place::Completion));
}

/// An executor that does not report unknown types, and panics at one of them.
struct Careless;

impl<'a> Reducer<Record<'a>, (), DomainEvent> for Careless {
    fn init(&self) {}

    fn reduce(&self, (): (), record: Record<'a>) -> ((), Batch<DomainEvent>) {
        let mut events = Batch::EMPTY;
        match record {
            Record::Object(object) => match object.get_str("type").as_deref() {
                Some("say") => events.push(DomainEvent::entry(entry("said"))),
                Some("die") => panic!("a careless reducer"),
                _ => {}
            },
            Record::Irregular(Irregular::Text(_)) => {}
            Record::Irregular(irregular) => {
                events.push(DomainEvent::entry(entry(&irregular.to_string())));
            }
        }
        ((), events)
    }
}

#[test]
fn what_is_dropped_or_panics_is_not_accounted_for() {
    let read = |record: &Record<'_>| match record {
        Record::Object(_) => (Reading::Meant, "an object".to_owned()),
        Record::Irregular(_) => (Reading::Unknown, String::new()),
    };
    let check = |log: &str| totality(&Careless, log.as_bytes(), read).map(|_counts| ());
    assert_eq!(check("{\"type\":\"say\"}\n\n \r\n"), Ok(()));
    assert_eq!(check("\u{b}\n\u{a0}\u{3000}\n{\"type\":\"say\"}"), Ok(()));
    assert_eq!(law_of(check("{\"type\":\"say\"}\n{}")), (6, Place::Line(2)));
    assert_eq!(law_of(check("{\"type\":\"say\"}\nplain\n")), (6, Place::Line(2)));
    let died = check("{\"type\":\"say\"}\n\n{\"type\":\"die\"}").unwrap_err();
    assert_eq!((died.law, died.place), (Law::Totality, Place::Line(3)));
    assert!(died.to_string().contains("it panics: a careless reducer"), "{died}");
}

#[test]
fn an_emitter_that_leaves_something_out_does_not_commute() {
    let mut patches = PatchEmitter::default();
    let no_usage = emit_fn(move |event: &DomainEvent| match event {
        DomainEvent::Warning(_) => Batch::EMPTY,
        _ => patches.emit(event),
    });
    let events = [
        DomainEvent::entry(entry("a")),
        DomainEvent::warning(WarningKind::PlainText, "text"),
        DomainEvent::entry(entry("b")),
    ];
    commuting_diagram(PatchEmitter::default(), &events).unwrap();
    assert_eq!(law_of(commuting_diagram(no_usage, &events)), (7, Place::Event(1)));
    let nowhere = |event: &DomainEvent| match event {
        DomainEvent::NewEntry { entry } => {
            Batch::one(ConversationPatch::replace_entry(EntryIdx::new(7), entry.clone()))
        }
        _ => Batch::EMPTY,
    };
    assert_eq!(law_of(commuting_diagram(emit_fn(nowhere), &events)), (7, Place::Event(0)));
    assert_eq!(law_of(dense_indices(emit_fn(nowhere), &events)), (9, Place::Event(0)));
}

#[test]
fn a_call_without_its_id_does_not_commute() {
    let mut patches = PatchEmitter::default();
    let forgets = |patch: ConversationPatch| {
        let patch = serde_json::to_string(&patch).unwrap().replace("corrId", "forgotten");
        serde_json::from_str::<json_patch::Patch>(&patch).unwrap()
    };
    let no_ids = emit_fn(move |event: &DomainEvent| patches.emit(event).map(forgets));
    let events = [DomainEvent::entry(entry("a")), new_call("b")];
    commuting_diagram(PatchEmitter::default(), &events).unwrap();
    let violation = commuting_diagram(no_ids, &events).unwrap_err();
    assert_eq!(violation.message, "no entry has the `corrId` of the new call b");
}

#[test]
fn text_that_grows_may_lag_behind_but_not_differ() {
    let corr_id = CorrId::from("m");
    let grow = |text: &str| DomainEvent::GrowEntry { corr_id: corr_id.clone(), text: text.into() };
    let mut events = vec![DomainEvent::OpenEntry {
        corr_id: corr_id.clone(),
        entry: entry("a long beginning, and then little by little").into(),
    }];
    events.extend("the rest".chars().map(|c| grow(&c.to_string())));
    commuting_diagram(PatchEmitter::default(), &events).unwrap();
    let never = |event: &DomainEvent| match event {
        DomainEvent::OpenEntry { entry, .. } => {
            Batch::one(ConversationPatch::add_entry(EntryIdx::new(0), entry.clone()))
        }
        _ => Batch::EMPTY,
    };
    assert_eq!(law_of(commuting_diagram(emit_fn(never), &events)), (7, Place::Completion));
}

#[test]
fn emitters_that_share_something_are_not_independent() {
    let shared = AtomicU32::new(0);
    let counting = || emit_fn(|_: &u32| Batch::one(shared.fetch_add(1, Ordering::Relaxed)));
    assert_eq!(law_of(independence(counting, || (), &[1, 2])), (8, Place::Event(0)));
}

#[test]
fn indices_that_are_not_dense() {
    let add = |index| ConversationPatch::add_entry(EntryIdx::new(index), entry("x"));
    let replace = |index| ConversationPatch::replace_entry(EntryIdx::new(index), entry("x"));
    let check = |patches: Vec<ConversationPatch>| {
        let events = vec![DomainEvent::entry(entry("x")); patches.len()];
        let mut patches = patches.into_iter();
        let next = move |_: &DomainEvent| patches.next().map_or(Batch::EMPTY, Batch::one);
        dense_indices(emit_fn(next), &events)
    };
    check(vec![add(0), replace(0), add(1), replace(0)]).unwrap();
    assert_eq!(law_of(check(vec![add(1)])), (9, Place::Event(0)));
    assert_eq!(law_of(check(vec![add(0), add(2)])), (9, Place::Event(1)));
    assert_eq!(law_of(check(vec![add(0), add(0)])), (9, Place::Event(1)));
    assert_eq!(law_of(check(vec![add(0), replace(1)])), (9, Place::Event(1)));
}

#[test]
fn a_violation_says_what_differs_where() {
    let violation = Violation::new(Law::Determinism, Place::Input(3), "the events differ")
        .side("first run", &[1, 2])
        .side("second", &[1, 3]);
    assert_eq!(
        violation.to_string(),
        "law 1 (determinism) does not hold, at input 3: the events differ\n--- first run\n+++ second\n\
         @@ -1,4 +1,4 @@\n [\n     1,\n-    2,\n+    3,\n ]"
    );
}

/// Emits its sum, and may forget it.
#[derive(Default)]
struct Sums {
    sum: u32,
    forgets: bool,
}

impl Emitter<u32, u32> for Sums {
    fn emit(&mut self, n: &u32) -> Batch<u32> {
        self.sum += n;
        Batch::one(self.sum)
    }
}

impl Resume for Sums {
    type State = u32;

    fn state(&self) -> u32 {
        if self.forgets { 0 } else { self.sum }
    }

    fn resume(&mut self, sum: u32) {
        self.sum = sum;
    }
}

/// Collects at most so many numbers, and is of this size without one.
#[derive(Default)]
struct Numbers<const MOST: usize, const EMPTY: usize>(Vec<u32>);

impl<const MOST: usize, const EMPTY: usize> Collect for Numbers<MOST, EMPTY> {
    type Item = u32;

    fn add(&mut self, n: u32) {
        if self.0.len() < MOST {
            self.0.push(n);
        }
    }

    fn size(&self) -> usize {
        EMPTY + self.0.len()
    }
}

#[test]
fn an_emitter_that_forgets_and_a_segment_that_loses_something_are_found() {
    fn join<const MOST: usize, const EMPTY: usize>(
        segments: Vec<Numbers<MOST, EMPTY>>,
    ) -> Vec<u32> {
        segments.into_iter().flat_map(|segment| segment.0).collect()
    }
    let (events, forgetful) = ([1, 2, 3, 4], || Sums { forgets: true, ..Sums::default() });
    resume(Sums::default, &events).unwrap();
    segments(Sums::default, &events, join::<9, 0>).unwrap();
    assert_eq!(law_of(resume(forgetful, &events)), (2, Place::Event(1)));
    assert_eq!(law_of(segments(forgetful, &events, join::<9, 0>)), (3, Place::Completion));
    assert_eq!(law_of(segments(Sums::default, &events, join::<3, 0>)), (3, Place::Completion));
    assert_eq!(law_of(segments(Sums::default, &events, join::<9, 1>)), (3, Place::Unknown));
}

#[test]
fn the_laws_of_emitters_are_reported() {
    let of = |result: Result<foldline::laws::Report, Violation>| law_of(result.map(|_report| ()));
    let shared = AtomicU32::new(0);
    let counting = || emit_fn(|_: &u32| Batch::one(shared.fetch_add(1, Ordering::Relaxed)));
    assert_eq!(of(emitter(counting, &[1, 2])), (1, Place::Event(0)));
    let dying = || emit_fn(|n: &u32| Batch::one(9 / n));
    assert_eq!(of(emitter(dying, &[1, 0])), (6, Place::Unknown));
    let laws = [Law::Determinism, Law::ChunkInvariance, Law::Totality, Law::Independence];
    let report = emitter(Sums::default, &[1, 2]).unwrap();
    assert_eq!(report.checked().collect::<Vec<_>>(), laws);
    let nothing = emitter(Sums::default, &[]).unwrap();
    assert_eq!(nothing.checked().count(), 0);
    assert!(nothing.to_string().starts_with("law 1 (determinism): vacuous, no event\n"));
}

/// Counts records outside of its state, like a static.
struct Leaks(AtomicU32);

impl SessionKeyOf<Record<'_>> for Leaks {
    fn session_of<'r>(&self, record: &'r Record<'_>) -> Option<std::borrow::Cow<'r, str>> {
        ExecutorReducer::new(Droid).session_of(record)
    }
}

/// The number of records of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Count(u32);

impl HeapSize for Count {
    fn heap_size(&self) -> usize {
        0
    }
}

impl<'a> Reducer<Record<'a>, Count, DomainEvent> for Leaks {
    fn init(&self) -> Count {
        Count(0)
    }

    fn reduce(&self, Count(count): Count, _: Record<'a>) -> (Count, Batch<DomainEvent>) {
        let all = self.0.fetch_add(1, Ordering::Relaxed);
        (Count(count + 1), Batch::one(DomainEvent::entry(entry(&all.to_string()))))
    }
}

#[test]
fn what_reaches_another_session_violates_law_11() {
    let log = |session: &str| format!(r#"{{"type":"message","session_id":"{session}"}}"#);
    let violation = sessions(&Leaks(0.into()), [&log("a"), &log("b")], [true]).unwrap_err();
    assert_eq!(violation.law, Law::Sessions);
    assert!(violation.to_string().contains("the events of session"), "{violation}");
}

/// Reading in chunks changes nothing for a reducer, unless it has memory outside of its state.
#[test]
fn what_differs_between_two_readings_violates_law_3() {
    let log = b"{\"type\":\"message\"}\n";
    let (law, place) = law_of(chunk_invariance(&Leaks(0.into()), log, &[3]));
    assert_eq!((law, place), (Law::ChunkInvariance.number(), Place::Event(0)));
}
