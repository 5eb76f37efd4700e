//! The pictures of every agent: each entry that mentions a picture carries it, and pages show it.

use std::fs;

use foldline::transduce::{Batch, Emitter, emit_fn};
use foldline_agents::{DynExecutor, Reducing, Registry, claude::ClaudeSession};
use foldline_domain::{DomainEvent, Image, NormalizedEntry, NormalizedEntryType, Text};
use foldline_render::{html::Page, redact::Redact};
use foldline_testkit::run;

use crate::captures;

const GIF: &str = "R0lGODlhAQABAAAAACwAAAAAAQABAAA=";

/// A fixture whose pictures, a few bytes each, are replaced by a real one.
fn with_pictures(log: &str) -> String {
    let made_up = [
        "AAEC",
        "AAECAw==",
        "AAECAwQ=",
        "aGVsbG8=",
        "aGVsbG8h",
        "aGVsbG8hIQ==",
        "aW1n",
        "iVBORw0=",
    ];
    made_up.into_iter().fold(log.to_owned(), |log, data| {
        let log = log.replace(&format!("\"{data}\""), &format!("\"{GIF}\""));
        log.replace(&format!(";base64,{data}\""), &format!(";base64,{GIF}\""))
    })
}

fn events(log: &str, executor: &DynExecutor) -> Vec<DomainEvent> {
    run::sourced_events(executor, [log.as_bytes()]).into_iter().map(|event| event.item).collect()
}

fn entry_of(event: &DomainEvent) -> Option<&NormalizedEntry> {
    match event {
        DomainEvent::NewEntry { entry }
        | DomainEvent::CloseEntry { entry: Some(entry), .. }
        | DomainEvent::NewToolCall { entry, .. }
        | DomainEvent::UpdateToolCall { entry, .. } => Some(entry),
        _ => None,
    }
}

#[test]
fn an_entry_carries_the_pictures_that_it_mentions() {
    let mut formats = Vec::new();
    for executor in Registry::builtin().iter() {
        let format = executor.format().name;
        for path in captures::fixtures(format) {
            let log = with_pictures(&String::from_utf8_lossy(&fs::read(&path).unwrap()));
            for entry in events(&log, executor).iter().filter_map(entry_of) {
                let result = entry.tool().and_then(|tool| tool.action_type.result_text());
                let texts = [Some(entry.content.clone()), result];
                let mentioned = texts.iter().flatten().map(|text| {
                    let text = text.decode();
                    let rows = text.lines().filter(|row| row.starts_with("[image: "));
                    rows.filter(|row| row.ends_with(" 23 bytes]")).count()
                });
                let mentioned: usize = mentioned.sum();
                let images = entry.metadata.as_ref().map_or(&[][..], |metadata| &metadata.images);
                // A result before its call is held without its pictures.
                let early = ["early\n", "second of two\n"];
                let is_early = |text: &Text| early.iter().any(|early| text.begins_with(early));
                let is_early = texts.iter().flatten().any(is_early);
                if !is_early {
                    assert_eq!(images.len(), mentioned, "{}: {entry:?}", path.display());
                }
                assert!(images.iter().all(|image| Image::from_base64(GIF).as_ref() == Some(image)));
                formats.extend((mentioned > 0).then_some(format));
            }
        }
    }
    formats.dedup();
    assert!(formats.len() > 9, "{formats:?}");
}

/// A prompt with a picture after its text, and a file that is a picture.
fn page(data: &str, is_served: bool) -> String {
    let image = format!(
        r#"{{"type":"image","source":{{"type":"base64","media_type":"image/gif","data":"{data}"}}}}"#
    );
    let line = |kind: &str, content: String| {
        format!(
            r#"{{"type":"{kind}","sessionId":"s","uuid":"{kind}","timestamp":"2026-03-01T10:00:00Z","message":{{"role":"{kind}","content":[{content}]}}}}"#
        ) + "\n"
    };
    let log = [
        line("user", format!(r#"{{"type":"text","text":"What is this?"}},{image}"#)),
        line(
            "assistant",
            r#"{"type":"tool_use","id":"c","name":"Read","input":{"file_path":"/a.gif"}}"#
                .to_owned(),
        ),
        line("user", format!(r#"{{"type":"tool_result","tool_use_id":"c","content":[{image}]}}"#)),
    ]
    .concat();
    let mut page = if is_served { Page::default().served() } else { Page::default() };
    for event in run::sourced_events(&Reducing::new(ClaudeSession), [log.as_bytes()]) {
        page.apply(&event.item);
    }
    page.end();
    page.render()
}

#[test]
fn a_page_shows_pictures_with_their_prompt() {
    let html = page(GIF, false);
    assert_eq!(html.matches("data-turn=").count(), 1);
    assert_eq!(html.matches(&format!("<img src=\"data:image/gif;base64,{GIF}\"")).count(), 2);
    assert!(html.contains("img-src data:"));
    assert!(html.contains("alt=\"Picture 1 of 1, image/gif, 23 B\""));
    assert!(!html.contains("[image"), "the placeholders are replaced");
}

#[test]
fn a_page_of_a_server_links_pictures() {
    let html = page(GIF, true);
    assert!(!html.contains("base64,"));
    let entries = html.matches("<img src=\"?picture=").count();
    assert_eq!(entries, 2);
    assert!(html.contains("<img src=\"?picture=0.0\""));
}

#[test]
fn only_pixels_are_pictures() {
    // SVG can contain scripts, and a name does not make a picture.
    for data in
        ["PHN2Zz48c2NyaXB0PmFsZXJ0KDEpPC9zY3JpcHQ+PC9zdmc+", "R0lGODlh\\\"onerror=alert(1)x"]
    {
        let html = page(data, false);
        assert!(!html.contains("<img"), "{data}");
    }
    let large = page(&format!("R0lGODlh{}", "AAAA".repeat(1 << 20)), false);
    assert!(!large.contains("<img") && large.contains("too large for this file"));
}

#[test]
fn redaction_leaves_pictures_out() {
    let mut entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, "see");
    entry.metadata_mut().images = vec![Image::from_base64(GIF).unwrap()];
    let mut redact = Redact::new(emit_fn(|event: &DomainEvent| {
        Batch::one(entry_of(event).is_some_and(|entry| {
            entry.metadata.as_ref().is_none_or(|metadata| metadata.images.is_empty())
        }))
    }));
    assert_eq!(redact.emit(&DomainEvent::entry(entry)).as_slice(), [true]);
    assert_eq!(redact.replaced().collect::<Vec<_>>(), [("picture", 1)]);
}
