//! Growing sessions: fragments of the page and patches of the document, without a gap whatever happens to the
//! connection.

use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{
    client::{Event, Server, answered, append, folder},
    logs::{Random, droid, foldline, stdout},
};

/// The state that a client builds from a stream.
trait Document: Default {
    const PATH: &str;
    fn apply(&mut self, event: &Event);
}

/// The conversation, by its patches.
#[derive(Default)]
struct Conversation(Value);

impl Document for Conversation {
    const PATH: &str = "/api/sessions/session/patches";

    fn apply(&mut self, event: &Event) {
        let data: Value = serde_json::from_str(&event.data).unwrap();
        match &*event.name {
            "snapshot" => self.0 = data,
            "patch" => {
                let patch: json_patch::Patch = serde_json::from_value(data).unwrap();
                json_patch::patch(&mut self.0, &patch).unwrap();
            }
            name => panic!("unknown event {name}"),
        }
    }
}

/// The entries of the page, as HTML, by its fragments.
#[derive(Default)]
struct Entries(BTreeMap<u64, String>);

impl Document for Entries {
    const PATH: &str = "/sessions/session/fragments";

    fn apply(&mut self, event: &Event) {
        let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
        match &*event.name {
            "snapshot" => self.0 = entries(data.as_str().unwrap()),
            "fragment" => {
                let index = data["index"].as_u64().unwrap();
                let html = without_link(data["html"].as_str().unwrap());
                let is_there = self.0.insert(index, html).is_some();
                match data["place"].as_str().unwrap() {
                    "append" => assert!(!is_there && index == self.0.len() as u64 - 1),
                    "replace" => assert!(is_there),
                    place => panic!("unknown place {place}"),
                }
            }
            "facts" | "status" => {}
            name => panic!("unknown event {name}"),
        }
    }
}

/// The entries of a page that has no gaps, without the links that a file has not.
fn entries(html: &str) -> BTreeMap<u64, String> {
    let articles = html.split_inclusive("</article>").filter(|part| part.contains("<article"));
    let numbered = articles.map(|article| {
        let article = article.get(article.find("<article").unwrap()..).unwrap();
        let (_, rest) = article.split_once("id=\"e").unwrap();
        let number = rest.split('"').next().unwrap().parse().unwrap();
        (number, without_link(article))
    });
    numbered.collect()
}

fn without_link(article: &str) -> String {
    match article.split_once("<a class=\"why\"") {
        Some((start, link)) => [start, link.split_once("</a>").unwrap().1].concat(),
        None => article.to_owned(),
    }
}

/// A client that is cut off again and again.
struct Client<D> {
    document: D,
    last: Option<String>,
    snapshots: usize,
}

impl<D: Document> Client<D> {
    fn new() -> Self {
        Self { document: D::default(), last: None, snapshots: 0 }
    }

    /// Connects, and reads up to this many events.
    fn read(&mut self, server: &Server, most: u64) {
        let mut events = server.events(D::PATH, self.last.as_deref());
        for _ in 0..most {
            let Some(event) = events.next_within(Duration::from_millis(20)) else { return };
            self.take(&event);
        }
    }

    fn take(&mut self, event: &Event) {
        self.document.apply(event);
        self.snapshots += usize::from(event.name == "snapshot");
        if !event.id.is_empty() {
            self.last = Some(event.id.clone());
        }
    }

    /// Reads until the document is whole.
    fn read_until(&mut self, server: &Server, is_whole: impl Fn(&D) -> bool) {
        let begun = Instant::now();
        let mut events = server.events(D::PATH, self.last.as_deref());
        while !is_whole(&self.document) {
            assert!(begun.elapsed() < Duration::from_secs(60), "the document is not whole");
            if let Some(event) = events.next_within(Duration::from_millis(100)) {
                self.take(&event);
            }
        }
    }
}

#[test]
fn what_is_added_to_a_log_arrives() {
    let (_folder, logs) = folder();
    let whole = droid("session", 3, 1);
    let (begun, rest) = whole.split_at(whole.match_indices('\n').nth(3).unwrap().0 + 1);
    let log = logs.join("log.jsonl");
    fs::write(&log, begun).unwrap();
    let server = Server::start(&logs, &[]);
    let page = server.body("/sessions/session");
    let (_, at) = page.split_once("data-at=\"").unwrap();
    let at = at.split('"').next().unwrap();
    // Parts that the page has are not sent again.
    let mut events = server.events("/sessions/session/fragments", Some(at));
    append(&log, rest);
    let event = events.next_named("fragment");
    let number = |id: &str| id.split(':').nth(1).unwrap().parse::<u64>().unwrap();
    assert_eq!(number(&event.id), number(at) + 1);
    let facts = std::iter::repeat_with(|| events.next_named("facts"))
        .find(|facts| facts.data.contains("3 turns"));
    assert!(facts.is_some());
}

#[test]
fn a_place_that_is_not_known_is_answered_with_a_snapshot() {
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), droid("session", 3, 1)).unwrap();
    let server = Server::start(&logs, &[]);
    let path = "/api/sessions/session/patches";
    let first = server.events(path, None).next();
    assert_eq!(first.name, "snapshot");
    let (epoch, number) = first.id.split_once(':').unwrap();
    let number: u64 = number.parse().unwrap();
    let other = format!("0{}:{number}", &epoch[1..].replace(&epoch[1..2], "x"));
    for last in [&*other, "", "x", ":", &format!("{epoch}:0"), &format!("{epoch}:{}", number + 1)] {
        assert_eq!(server.events(path, Some(last)).next().name, "snapshot", "{last}");
    }
    // The server restarts, and earlier event ids are invalid.
    drop(server);
    let server = Server::start(&logs, &[]);
    let restarted = server.events(path, Some(&first.id)).next();
    assert_eq!((&*restarted.name, &restarted.data), ("snapshot", &first.data));
    assert_ne!(restarted.id.split(':').next(), Some(epoch));
}

/// Calls that were open when the server was killed are resolved by results after its restart.
#[test]
fn a_call_that_was_open_is_answered_after_a_restart() {
    let (_folder, logs) = folder();
    let log = logs.join("log.jsonl");
    let whole = answered(5, 7);
    let is_answer = |line: &&str| line.contains("\"type\":\"tool_result\"");
    let answer = whole.lines().rfind(is_answer).unwrap();
    let (begun, rest) = whole.split_at(whole.find(answer).unwrap());
    append(&log, begun);
    let mut server = Server::start(&logs, &[]);
    let mut client = Client::<Conversation>::new();
    client.take(&server.events(Conversation::PATH, None).next());
    drop(server);
    server = Server::start(&logs, &[]);
    let mut events = server.events(Conversation::PATH, client.last.as_deref());
    client.take(&events.next());
    assert_eq!(client.snapshots, 2);
    let calls = |document: &Value| {
        let entries = document["entries"].as_array().unwrap().iter();
        let statuses = entries.map(|entry| entry["content"]["entry_type"]["status"].clone());
        statuses.collect::<Vec<_>>()
    };
    let before = calls(&client.document.0);
    append(&log, rest);
    let replayed = stdout(&["replay", log.to_str().unwrap(), "--format", "conversation"]);
    let replayed: Value = serde_json::from_str(&replayed).unwrap();
    while client.document.0 != replayed {
        client.take(&events.next());
    }
    // The call is where it was, and has another status.
    assert_ne!(calls(&replayed)[..before.len()], before);
    assert_eq!(client.snapshots, 2);
}

/// A session whose log is on another machine, while a program there fills the database: each call of `ingest` is a
/// separate process, and ends calls that an earlier process has opened.
#[test]
fn a_stored_session_is_continued_by_what_is_added_to_the_database() {
    let (_folder, logs) = folder();
    let (log, away) = (logs.join("log.jsonl"), logs.join("away"));
    let db = logs.with_extension("db");
    let db = db.to_str().unwrap();
    let add = |text: &str| {
        let _ = fs::rename(&away, &log);
        append(&log, text);
        stdout(&["ingest", "--db", db, log.to_str().unwrap()]);
        fs::rename(&log, &away).unwrap();
    };
    let whole = answered(5, 7);
    let is_answer = |line: &&str| line.contains("\"type\":\"tool_result\"");
    let answer = whole.find(whole.lines().rfind(is_answer).unwrap()).unwrap();
    let end = answer + whole[answer..].find('\n').unwrap() + 1;
    add(&whole[..answer]);
    let serve = || {
        let mut command = foldline();
        command.args(["serve", "--db", db, "--listen", "127.0.0.1:0"]);
        Server::of(command)
    };
    let server = serve();
    let (mut client, mut page) = (Client::<Conversation>::new(), Client::<Entries>::new());
    let mut patches = server.events(Conversation::PATH, None);
    let mut fragments = server.events(Entries::PATH, None);
    client.take(&patches.next());
    page.take(&fragments.next());
    let entries = |document: &Value| document["entries"].as_array().unwrap().len();
    let before = entries(&client.document.0);
    for part in [&whole[answer..end], &whole[end..]] {
        add(part);
        let stored: Value = serde_json::from_str(&serve().body("/api/sessions/session")).unwrap();
        while client.document.0 != stored {
            client.take(&patches.next());
        }
        page.take(&fragments.next_named("fragment"));
    }
    assert!(entries(&client.document.0) > before);
    assert_eq!((client.snapshots, page.snapshots), (1, 1));
}

/// Both streams, interrupted at 200 places while the log grows, result in the final state.
#[test]
fn nothing_is_lost_and_nothing_comes_twice() {
    let (_folder, logs) = folder();
    let log = logs.join("log.jsonl");
    let whole = answered(40, 7);
    let mut rest = whole.as_bytes();
    let mut random = Random(11);
    let start = whole.find('\n').unwrap() + 1;
    append(&log, &whole[..start]);
    rest = &rest[start..];
    let server = Server::start(&logs, &[]);
    let mut conversation = Client::<Conversation>::new();
    let mut page = Client::<Entries>::new();
    for cut in 0..100 {
        let share = rest.len() as u64 / (100 - cut);
        let length = if cut == 99 { rest.len() } else { random.below(2 * share + 1) as usize };
        let length =
            (length..=rest.len()).find(|end| std::str::from_utf8(&rest[..*end]).is_ok()).unwrap();
        append(&log, std::str::from_utf8(&rest[..length]).unwrap());
        rest = &rest[length..];
        conversation.read(&server, random.below(12));
        page.read(&server, random.below(12));
    }
    assert!(rest.is_empty());
    let replayed = stdout(&["replay", log.to_str().unwrap(), "--format", "conversation"]);
    let replayed: Value = serde_json::from_str(&replayed).unwrap();
    conversation.read_until(&server, |document| document.0 == replayed);
    let exported = stdout(&["export", log.to_str().unwrap()]);
    let (_, feed) = exported.split_once("role=\"feed\"").unwrap();
    let expected = entries(feed);
    assert_eq!(expected.len(), replayed["entries"].as_array().unwrap().len());
    page.read_until(&server, |document| document.0 == expected);
    // One snapshot at the beginning: all other connections were continued.
    assert_eq!((conversation.snapshots, page.snapshots), (1, 1));
}

#[test]
fn a_client_that_is_too_slow_gets_a_snapshot_and_no_gap() {
    let (_folder, logs) = folder();
    let log = logs.join("log.jsonl");
    let whole = answered(700, 3);
    let long = "long ".repeat(4_000);
    let whole = whole.replace("Thinking", &long);
    let start = whole.find('\n').unwrap() + 1;
    append(&log, &whole[..start]);
    let server = Server::start(&logs, &[]);
    let mut client = Client::<Conversation>::new();
    let mut events = server.events(Conversation::PATH, None);
    client.take(&events.next());
    append(&log, &whole[start..]);
    let replayed = stdout(&["replay", log.to_str().unwrap(), "--format", "conversation"]);
    let replayed: Value = serde_json::from_str(&replayed).unwrap();
    let count = |document: &Value| document["entries"].as_array().map_or(0, Vec::len);
    // The log is read to its end before the client continues.
    while serde_json::from_str::<Value>(&server.body("/api/sessions/session")).unwrap() != replayed
    {
    }
    while client.document.0 != replayed {
        client.take(&events.next());
    }
    assert_eq!(count(&client.document.0), count(&replayed));
    assert_eq!(client.snapshots, 2);
}
