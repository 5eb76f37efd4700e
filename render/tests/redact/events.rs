//! Redaction of whole events.

use foldline::transduce::*;
use foldline_domain::*;
use foldline_render::redact::*;

/// Records the events that it receives.
#[derive(Default)]
struct Seen(Conversation);

impl Emitter<DomainEvent, ()> for Seen {
    fn emit(&mut self, event: &DomainEvent) -> Batch<()> {
        self.0.apply(event);
        Batch::EMPTY
    }
}

const SECRET: &str = "ada.lovelace@example.org";

fn seen(events: &[DomainEvent]) -> String {
    let mut redact = Redact::new(Seen::default());
    events.iter().for_each(|event| drop(redact.emit(event)));
    let _ = redact.finish();
    serde_json::to_string(&redact.into_inner().0).unwrap()
}

fn call() -> NormalizedEntry {
    let json = format!(r#"{{"{SECRET}": [1e400, 123456789012345678901234567890, "{SECRET}"]}}"#);
    let arguments: Json = serde_json::from_str(&json).unwrap();
    let action =
        ActionType::Tool { tool_name: SECRET.into(), arguments: Some(arguments), result: None };
    let mut entry =
        NormalizedEntry::new(NormalizedEntryType::ToolUse(ToolUse::new(SECRET, action)), SECRET);
    entry.metadata_mut().corr_id = Some(SECRET.into());
    entry.metadata_mut().extra.insert(SECRET, Json::of(SECRET).unwrap());
    entry
}

#[test]
fn secrets_are_replaced_in_every_field() {
    let mut ended = call();
    ended.tool_mut().unwrap().complete(foldline_domain::ToolStatus::Success, SECRET);
    let seen = seen(&[
        DomainEvent::NewToolCall { corr_id: SECRET.into(), entry: call().into() },
        DomainEvent::UpdateToolCall { corr_id: SECRET.into(), entry: ended.into() },
    ]);
    assert!(!seen.contains("lovelace"), "{seen}");
    assert!(seen.contains("1e400") && seen.contains("123456789012345678901234567890"), "{seen}");
    // The result was matched to its call.
    assert!(seen.contains("\"success\"") && !seen.contains("unknown_correlation"), "{seen}");
}

#[test]
fn a_secret_that_comes_in_parts_is_found() {
    let entry = NormalizedEntry::new(NormalizedEntryType::AssistantMessage, "ada.love");
    let open = DomainEvent::OpenEntry { corr_id: "m".into(), entry: entry.into() };
    let grow = |text: &str| DomainEvent::GrowEntry { corr_id: "m".into(), text: text.into() };
    let close = DomainEvent::CloseEntry { corr_id: "m".into(), entry: None };
    for closed in [true, false] {
        let mut events = vec![open.clone(), grow("lace@exam"), grow("ple.org!")];
        events.extend(closed.then(|| close.clone()));
        let seen = seen(&events);
        assert!(seen.contains("[email 1]!") && !seen.contains("love"), "{seen}");
    }
}

#[test]
fn a_replacement_has_its_entry_and_its_surroundings() {
    let said = |text: &str| {
        DomainEvent::entry(NormalizedEntry::new(NormalizedEntryType::UserMessage, text))
    };
    let mut redact = Redact::new(Seen::default()).keeping(4);
    let mut ended = call();
    ended.tool_mut().unwrap().complete(foldline_domain::ToolStatus::Success, "done");
    let events = [
        said("nothing"),
        DomainEvent::NewToolCall { corr_id: "c".into(), entry: call().into() },
        said("to ada@example.org and eve@example.org: /home/ada/x"),
        DomainEvent::UpdateToolCall { corr_id: "c".into(), entry: ended.into() },
    ];
    events.iter().for_each(|event| drop(redact.emit(event)));
    let _ = redact.finish();
    // What the result repeats counts once.
    let of_call = redact.replaced().map(|(_, count)| count).sum::<u64>() - 3;
    let mut alone = Redact::new(Seen::default());
    drop(alone.emit(&events[1]));
    assert_eq!(of_call, alone.replaced().map(|(_, count)| count).sum::<u64>());
    let entries: Vec<_> = redact.replacements().map(|replaced| replaced.entry).collect();
    assert!(entries.len() == 4 && entries.iter().all(|entry| *entry == Some(1)), "{entries:?}");
    let mut redact = Redact::new(Seen::default()).keeping(4);
    drop(redact.emit(&events[2]));
    let shown: Vec<_> = redact.replacements().collect();
    let [ada, eve, home] = &shown[..] else { panic!("{shown:?}") };
    assert_eq!((ada.kind, &*ada.before, &*ada.hint), ("email", "to ", "ada…"));
    assert_eq!(ada.after, " and ***************: /home/***/x");
    assert_eq!((eve.kind, &*eve.hint), ("email", "eve…"));
    assert_eq!((home.kind, &*home.hint, &*home.after), ("home-folder", "/home/…", "/x"));
    assert_eq!(in_words(home.kind), "home directory");
}

#[test]
fn what_has_no_secret_is_as_it_was() {
    let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, "two\n\"lines\" \u{1f600}");
    let events = [DomainEvent::entry(entry)];
    let plain = serde_json::to_string(&events.iter().collect::<Conversation>()).unwrap();
    assert_eq!(seen(&events), plain);
}
