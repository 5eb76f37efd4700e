use std::{cell::Cell, sync::Arc};

use foldline::transduce::*;
use foldline_domain::{patch::*, *};

/// A fake provider that counts in tens.
#[derive(Default)]
struct Tens(Cell<usize>);

impl EntryIndexProvider for Tens {
    fn next_index(&self) -> EntryIdx {
        self.0.set(self.0.get() + 10);
        EntryIdx::new(self.0.get())
    }
}

/// A fake store with one call.
struct Knows(&'static str, usize);

impl CorrIdResolver for Knows {
    fn resolve_corr_id(&self, corr_id: &CorrId) -> Option<EntryIdx> {
        (corr_id.as_str() == self.0).then_some(EntryIdx::new(self.1))
    }
}

fn call(id: &str, status: ToolStatus) -> (CorrId, NormalizedEntry) {
    let action = ActionType::CommandRun { command: "ls".into(), result: None };
    let mut tool = ToolUse::new("Execute", action);
    tool.status = status;
    (id.into(), NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), "ls"))
}

fn new_call(id: &str) -> DomainEvent {
    let (corr_id, entry) = call(id, ToolStatus::Created);
    DomainEvent::NewToolCall { corr_id, entry: entry.into() }
}

fn end_call(id: &str) -> DomainEvent {
    let (corr_id, entry) = call(id, ToolStatus::Success);
    DomainEvent::UpdateToolCall { corr_id, entry: entry.into() }
}

fn said(text: &str) -> DomainEvent {
    DomainEvent::entry(NormalizedEntry::new(NormalizedEntryType::AssistantMessage, text))
}

fn paths(patches: &[ConversationPatch]) -> Vec<String> {
    let operation = |patch: &ConversationPatch| {
        let json = serde_json::to_value(patch).unwrap();
        format!("{} {}", json[0]["op"].as_str().unwrap(), json[0]["path"].as_str().unwrap())
    };
    patches.iter().map(operation).collect()
}

#[test]
fn indices_come_from_the_provider_and_results_replace() {
    let mut emitter = PatchEmitter::new(Tens::default());
    let events = [new_call("a"), said("hi"), end_call("a")];
    let patches: Vec<_> = events.iter().filter_map(|event| emitter.patch(event)).collect();
    assert_eq!(paths(&patches), ["add /entries/10", "add /entries/20", "replace /entries/10"]);
    let json = serde_json::to_value(&patches[0]).unwrap();
    assert_eq!(json[0]["value"]["content"]["metadata"]["corrId"], "a");
}

#[test]
fn an_unknown_call_is_resolved_from_the_store_else_it_is_a_warning() {
    let mut emitter = PatchEmitter::new(EntryIndices::starting_at(9)).with_resolver(Knows("a", 4));
    let events = [end_call("a"), end_call("b"), said("next")];
    let patches: Vec<_> = events.iter().filter_map(|event| emitter.patch(event)).collect();
    assert_eq!(paths(&patches), ["replace /entries/4", "add /warnings", "add /entries/9"]);

    // A store that is shared, too.
    let mut emitter = PatchEmitter::default().with_resolver(Arc::new(Knows("a", 4)));
    let patches: Vec<_> = events.iter().filter_map(|event| emitter.patch(event)).collect();
    assert_eq!(paths(&patches)[0], "replace /entries/4");
    let store = Knows("a", 4);
    let mut emitter = PatchEmitter::default().with_resolver(&store);
    assert_eq!(
        paths(&emitter.patch(&events[0]).into_iter().collect::<Vec<_>>()),
        ["replace /entries/4"]
    );
}

#[test]
fn growing_text_is_sent_linearly_and_completely() {
    let mut emitter = PatchEmitter::default();
    let mut document = serde_json::json!({"entries": []});
    let (mut bytes, mut patches) = (0, 0);
    let mut apply = |patch: ConversationPatch| {
        patches += 1;
        bytes += serde_json::to_string(&patch).unwrap().len();
        json_patch::patch(&mut document, &json_patch::Patch::from(patch)).unwrap();
    };
    let corr_id = CorrId::from("m/0");
    let entry = NormalizedEntry::new(NormalizedEntryType::AssistantMessage, "").into();
    let mut events = vec![DomainEvent::OpenEntry { corr_id: corr_id.clone(), entry }];
    for _ in 0..10_000 {
        let text = "word ".into();
        events.push(DomainEvent::GrowEntry { corr_id: corr_id.clone(), text });
    }
    events.push(DomainEvent::CloseEntry { corr_id, entry: None });
    for event in &events {
        emitter.patch(event).into_iter().for_each(&mut apply);
    }
    assert!(bytes < 50_000 * 8, "{bytes} bytes were sent for 50000");
    assert!(patches > 10, "{patches} patches while it grew");
    let folded: Conversation = events.iter().collect();
    assert_eq!(document, serde_json::to_value(folded).unwrap());
}

#[test]
fn what_grew_and_was_never_closed_is_sent_at_the_end() {
    let mut emitter = PatchEmitter::default();
    let corr_id = CorrId::from("m/0");
    let entry = NormalizedEntry::new(NormalizedEntryType::Thinking, "a long beginning").into();
    emitter.patch(&DomainEvent::OpenEntry { corr_id: corr_id.clone(), entry });
    let text = "!".into();
    assert!(emitter.patch(&DomainEvent::GrowEntry { corr_id, text }).is_none());
    let rest: Vec<_> = Emitter::finish(&mut emitter).into_iter().collect();
    assert_eq!(rest[0].entry().unwrap().1.content, "a long beginning!");
}

#[test]
fn the_patches_at_the_end_have_the_next_numbers() {
    let mut stream = PatchStream::new(PatchEmitter::default(), 4);
    let at = |event| Located::new(Position::default(), event);
    for id in ["a", "b"] {
        let corr_id = CorrId::from(id);
        let entry = NormalizedEntry::new(NormalizedEntryType::Thinking, "a long beginning").into();
        stream.record(&at(DomainEvent::OpenEntry { corr_id: corr_id.clone(), entry }));
        stream.record(&at(DomainEvent::GrowEntry { corr_id, text: "!".into() }));
    }
    let numbers: Vec<_> = stream.remaining().map(|record| record.seq).collect();
    assert_eq!((numbers, stream.seq()), (vec![7, 8], 8));
}

#[test]
fn the_state_can_be_stored_and_taken_up_again() {
    let indices = EntryIndices::default();
    let mut emitter = PatchEmitter::new(indices.clone());
    emitter.patch(&new_call("a"));
    emitter.patch(&Warning::new(WarningKind::Malformed, "x").into());
    let stored = serde_json::to_string(emitter.state()).unwrap();

    let state = serde_json::from_str(&stored).unwrap();
    let indices = EntryIndices::starting_at(indices.given());
    let mut emitter = PatchEmitter::new(indices).with_state(state);
    let events = [end_call("a"), said("next"), Warning::new(WarningKind::Malformed, "y").into()];
    let patches: Vec<_> = events.iter().filter_map(|event| emitter.patch(event)).collect();
    assert_eq!(paths(&patches), ["replace /entries/0", "add /entries/1", "add /warnings"]);
    let warnings = serde_json::to_value(&patches[2]).unwrap();
    assert_eq!(warnings[0]["value"]["malformed"], 2);
}

#[test]
fn a_stream_of_patches_that_was_stored_goes_on_as_if_it_had_not() {
    let events = [new_call("a"), new_call("b"), end_call("a"), new_call("c"), end_call("b")];
    let located = (1..).zip(events).map(|(line, item)| Located {
        position: Position { line, offset: 10 * line },
        session: SessionKey::default(),
        line_sha256: None,
        item,
    });
    let (mut whole, mut stream) = (PatchStream::default(), PatchStream::default());
    for event in located {
        assert_eq!(stream.record(&event), whole.record(&event));
        let stored = serde_json::to_string(&stream.state()).unwrap();
        stream = PatchStream::restore(serde_json::from_str(&stored).unwrap());
        assert_eq!(stream.seq(), whole.seq());
    }
    assert_eq!(whole.seq(), 5);
    assert_eq!(stream.remaining().collect::<Vec<_>>(), whole.remaining().collect::<Vec<_>>());
}
