//! A fold is the same for any chunks, and its outputs are those of the reducers.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::{fs, path::PathBuf};

use foldline_domain::{Conversation, pricing::Prices};
use foldline_render::html::Page;
use foldline_wasm::{Error, Fold, Options, Shown};
use serde_json::Value;

const LOG: &str = concat!(
    r#"{"type":"message","role":"user","id":"m1","text":"<b>hi</b>","timestamp":1}"#,
    "\nnot json\n",
    r#"{"type":"message","role":"assistant","id":"m2","text":"Größe","timestamp":2}"#,
);

const ALL: Shown = Shown { patches: true, conversations: true, pages: true };

fn fixtures() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let formats = fs::read_dir(folder).unwrap().map(|format| format.unwrap().path());
    let files = formats.filter(|format| format.is_dir()).flat_map(|format| {
        fs::read_dir(format).unwrap().map(|file| file.unwrap().path()).collect::<Vec<_>>()
    });
    files.filter(|file| file.extension().is_some_and(|it| it == "jsonl" || it == "json")).collect()
}

/// The patches and the documents of a log in chunks of this length, or the error.
fn folded(options: Options, log: &[u8], chunk: usize) -> Result<(String, String), Error> {
    let mut fold = Fold::new(options)?;
    let mut patches = Vec::new();
    for bytes in log.chunks(chunk) {
        patches.extend(fold.push(bytes)?);
    }
    patches.extend(fold.finish()?);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ok((text(patches), text(fold.conversations())))
}

fn of_path(path: PathBuf) -> Options {
    Options { path, outputs: ALL, ..Options::default() }
}

#[test]
fn chunks_of_any_length_give_the_same() {
    let mut read = 0;
    for path in fixtures() {
        let log = fs::read(&path).unwrap();
        let whole = folded(of_path(path.clone()), &log, usize::MAX);
        read += usize::from(whole.is_ok());
        for chunk in [7, 4096] {
            let parts = folded(of_path(path.clone()), &log, chunk);
            assert!(parts == whole, "{} in chunks of {chunk}", path.display());
        }
    }
    assert!(read > 150, "{read} fixtures were read");
}

#[test]
fn the_patches_make_the_documents() {
    for path in fixtures() {
        let Ok((patches, documents)) =
            folded(of_path(path.clone()), &fs::read(&path).unwrap(), 512)
        else {
            continue;
        };
        let documents: Vec<Value> = serde_json::from_str(&documents).unwrap();
        let empty = serde_json::to_value(Conversation::default()).unwrap();
        let mut made = vec![empty; documents.len()];
        for line in patches.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let session = usize::try_from(record["session"].as_u64().unwrap()).unwrap();
            let patch: json_patch::Patch = serde_json::from_value(record["patch"].clone()).unwrap();
            json_patch::patch(&mut made[session], &patch).unwrap();
        }
        assert_eq!(made, documents, "{}", path.display());
    }
}

#[test]
fn a_page_is_that_of_the_renderer() {
    let mut fold = Fold::new(of_path("log.jsonl".into())).unwrap();
    fold.push(LOG.as_bytes()).unwrap();
    assert!(!fold.page(0).unwrap().contains("Größe"), "the last line is not complete");
    fold.finish().unwrap();
    assert_eq!((fold.sessions(), fold.page(1)), (1, None));
    let page = fold.page(0).unwrap();
    assert!(page.contains("&lt;b&gt;hi&lt;/b&gt;") && page.contains("Größe"));
    let style = |page: &str| page.split_once("<style>").unwrap().0.len();
    let empty = Page::with_prices(Prices::builtin().clone()).render();
    assert_eq!(
        style(&page[page.find("<style>").unwrap()..]),
        style(&empty[empty.find("<style>").unwrap()..])
    );
}

#[test]
fn the_times_of_a_page_are_in_its_zone() {
    let log =
        br#"{"type":"message","role":"user","id":"m1","text":"hi","timestamp":1790928000000}"#;
    let page = |zone: Option<&str>| {
        let zone = zone.map(str::to_owned);
        let mut fold = Fold::new(Options { zone, ..of_path("log.jsonl".into()) }).unwrap();
        fold.push(log).unwrap();
        fold.finish().unwrap();
        fold.page(0).unwrap()
    };
    assert!(page(None).contains("08:00:00"));
    assert!(page(Some("Asia/Kolkata")).contains("13:30:00"));
}

#[test]
fn only_the_outputs_that_are_asked_for_are_made() {
    let (patches, documents) = folded(Options::default(), LOG.as_bytes(), 9).unwrap();
    assert!(patches.contains("Größe"));
    assert_eq!(documents, "[]");
    let outputs = Shown { patches: false, conversations: true, pages: false };
    let (patches, documents) =
        folded(Options { outputs, ..Options::default() }, LOG.as_bytes(), 9).unwrap();
    assert_eq!(patches, "");
    assert!(documents.contains("Größe"));
}

#[test]
fn a_file_near_the_log_states_facts() {
    let log = concat!(
        r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00Z","#,
        r#""message":{"role":"user","content":"hi"}}"#,
        "\n"
    );
    let title = (PathBuf::from("s/custom-title.json"), r#"{"customTitle":"Plums"}"#.to_owned());
    let options = Options { siblings: [title].into(), ..of_path("s.jsonl".into()) };
    assert!(folded(options, log.as_bytes(), 50).unwrap().1.contains(r#""title":"Plums""#));
    assert!(!folded(of_path("s.jsonl".into()), log.as_bytes(), 50).unwrap().1.contains("Plums"));
}

#[test]
fn what_cannot_be_folded_is_an_error() {
    let named = |name: &str| Options { format: Some(name.to_owned()), ..Options::default() };
    assert_eq!(Fold::new(named("toaster")).unwrap_err(), Error::UnknownFormat("toaster".into()));
    let zone = Options { zone: Some("Mars/Olympus".into()), ..Options::default() };
    assert_eq!(Fold::new(zone).unwrap_err(), Error::UnknownZone("Mars/Olympus".into()));
    let error = |log: &[u8]| folded(Options::default(), log, 5).unwrap_err();
    assert_eq!(error(b""), Error::Empty);
    assert_eq!(error(b"SQLite format 3\0 and more"), Error::Foreign("a database"));
    assert_eq!(error(b"\x28\xB5\x2F\xFD and more"), Error::Foreign("compressed with Zstandard"));
    assert!(matches!(error(b"{\"a\":1}\n"), Error::Unrecognised(_)));
    // A named format reads anything.
    assert_ne!(folded(named("droid"), b"{\"a\":1}\n", 5).unwrap().0, "");
    let mut fold = Fold::new(named("droid")).unwrap();
    fold.finish().unwrap();
    assert_eq!(fold.push(b"x"), Err(Error::Ended));
    assert_eq!(fold.finish(), Err(Error::Ended));
}
