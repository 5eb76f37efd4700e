//! The pictures of every agent: each entry with a picture carries it and states what stands for it; pages show it.

use std::fs;

use foldline::transduce::{Batch, Emitter, emit_fn};
use foldline_agents::{DynExecutor, ExecutorReducer, Registry, claude::ClaudeSession};
use foldline_domain::{DomainEvent, Image, NormalizedEntry, NormalizedEntryType};
use foldline_render::{html::Page, redact::Redact};
use foldline_testkit::run;

use crate::captures;

pub(crate) const GIF: &str = "R0lGODlhAQABAAAAACwAAAAAAQABAAA=";

/// A fixture whose pictures, a few bytes each, are replaced by a real one.
pub(crate) fn with_pictures(log: &str) -> String {
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

/// The text in which the pictures of an entry are.
fn text_of(entry: &NormalizedEntry) -> String {
    let text = match entry.tool() {
        Some(tool) => tool.action_type.result_text().unwrap_or_default(),
        None => entry.content.clone(),
    };
    text.decode().into_owned()
}

#[test]
fn an_entry_carries_its_pictures_and_says_where_they_are() {
    let mut formats = Vec::new();
    for executor in Registry::builtin().iter() {
        let format = executor.format().name;
        for path in captures::fixtures(format) {
            let log = with_pictures(&String::from_utf8_lossy(&fs::read(&path).unwrap()));
            for entry in events(&log, executor).iter().filter_map(entry_of) {
                // The raw text of what is not understood has no pictures.
                if matches!(entry.entry_type, NormalizedEntryType::Diagnostic { .. }) {
                    continue;
                }
                let text = text_of(entry);
                // The log repeats the prompt with the placeholder of the picture that it had: this is prose.
                if text.contains("[image: image/png, 3 bytes]\nnotes") {
                    continue;
                }
                let rows = text.lines().filter(|row| row.starts_with("[image"));
                let mentioned = rows.filter(|row| row.ends_with(']')).count();
                let images = entry.metadata.as_ref().map_or(&[][..], |metadata| &metadata.images);
                assert_eq!(images.len(), mentioned, "{}: {entry:?}", path.display());
                for image in images {
                    let row = text.get(image.placeholder.clone().unwrap()).unwrap();
                    assert!(row.starts_with("[image") && row.ends_with(']'), "{row}");
                    let is_kept = row.ends_with(" 23 bytes]");
                    let kept = Image { placeholder: None, ..image.clone() };
                    assert_eq!(is_kept, Image::from_base64(GIF) == Some(kept), "{image:?}");
                }
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
    for event in
        run::sourced_events(&ExecutorReducer::new(ClaudeSession::default()), [log.as_bytes()])
    {
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
fn words_stand_for_a_picture_whose_content_is_not_kept() {
    let html = page("AAEC", false);
    let chip = "</span><span>[image: image/gif, 3 bytes]</span></span>";
    assert_eq!(html.matches(chip).count(), 2, "{html}");
    assert_eq!(html.matches("[image").count(), 2, "the rows are left out");
}

/// A text that looks like a placeholder stays, and the picture is where it is.
#[test]
fn only_the_place_of_a_picture_is_left_out() {
    let said = "[image: image/gif, 23 bytes]";
    let line = format!(
        r#"{{"type":"user","sessionId":"s","uuid":"u","message":{{"role":"user","content":[{{"type":"text","text":"{said}\n{said} is how it is written"}},{{"type":"image","source":{{"type":"base64","media_type":"image/gif","data":"{GIF}"}}}}]}}}}"#
    );
    let mut page = Page::default();
    for event in
        run::sourced_events(&ExecutorReducer::new(ClaudeSession::default()), [line.as_bytes()])
    {
        page.apply(&event.item);
    }
    page.end();
    let html = page.render();
    assert_eq!(html.matches("<img").count(), 1);
    assert!(html.contains(&format!("{said}\n{said} is how it is written</p>")), "{html}");
    assert!(!html.contains(&format!("written\n{said}")));
}

#[test]
fn a_picture_moves_with_the_part_of_a_result_that_is_left() {
    let image = format!(
        r#"{{"type":"image","source":{{"type":"base64","media_type":"image/gif","data":"{GIF}"}}}}"#
    );
    let call = r#"{"type":"assistant","sessionId":"s","uuid":"a","message":{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"ls"}}]}}"#;
    // The first line of a failed command is its exit code. The result comes before its call.
    let result = format!(
        r#"{{"type":"user","sessionId":"s","uuid":"u","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c","is_error":true,"content":[{{"type":"text","text":"Exit code 2\nlook:"}},{image}]}}]}}}}"#
    );
    for log in [format!("{call}\n{result}\n"), format!("{result}\n{call}\n")] {
        let events =
            run::sourced_events(&ExecutorReducer::new(ClaudeSession::default()), [log.as_bytes()]);
        let entry = events.iter().rev().find_map(|event| entry_of(&event.item)).unwrap();
        let text = text_of(entry);
        assert_eq!(text, "look:\n[image: image/gif, 23 bytes]");
        let [image] = &*entry.metadata.as_ref().unwrap().images else { panic!("{entry:?}") };
        assert_eq!(image.bytes(), Some(23));
        let place = image.placeholder.clone().unwrap();
        assert_eq!(&text[place], "[image: image/gif, 23 bytes]");
    }
}

#[test]
fn redaction_leaves_pictures_out() {
    let mut entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, "see");
    let kept = Image::from_base64(GIF).unwrap();
    entry.metadata_mut().images = vec![kept, Image::without_content("image/png")];
    let mut redact = Redact::new(emit_fn(|event: &DomainEvent| {
        Batch::one(entry_of(event).is_some_and(|entry| {
            entry.metadata.as_ref().is_none_or(|metadata| metadata.images.is_empty())
        }))
    }));
    assert_eq!(redact.emit(&DomainEvent::entry(entry)).as_slice(), [true]);
    assert_eq!(redact.replaced().collect::<Vec<_>>(), [("picture", 1)]);
}
