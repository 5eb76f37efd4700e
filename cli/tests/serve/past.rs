//! A session at any moment.

use std::{
    fs,
    thread::{scope, sleep},
    time::Instant,
};

use serde_json::{Value, json};

use super::{
    client::{Server, answered, append, folder, until},
    logs::droid,
};

/// A moment of the session `session`, as the server answers the question.
fn past(server: &Server, question: &str) -> Value {
    serde_json::from_str(&server.body(&format!("/sessions/session/past?{question}"))).unwrap()
}

fn number(past: &Value, name: &str) -> u64 {
    past[name].as_u64().unwrap()
}

fn parts(past: &Value) -> String {
    let parts = past["shown"]["parts"].as_array().unwrap();
    parts.iter().map(|part| part.as_str().unwrap()).collect()
}

#[test]
fn a_moment_shows_what_had_happened_and_nothing_else() {
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), answered(30, 1)).unwrap();
    let server = Server::start(&logs, &[]);
    let now = past(&server, "");
    let (last, length) = (number(&now, "last"), number(&now, "length"));
    assert_eq!((number(&now, "moment"), number(&now, "offset")), (last, length));
    assert!(parts(&now).contains("No entry is later"));
    // The first prompt comes a second after the beginning, and nothing of it can be seen before.
    let first = past(&server, "offset=999");
    assert!(parts(&first).contains("id=\"e0\"") && !parts(&first).contains("id=\"e1\""));
    let words = |past: &Value, clock: &str| {
        // A day that is not today is stated, and a year that is not this one.
        let words = past["words"].as_str().unwrap().to_owned();
        assert!(words.starts_with("at 9 Oct") && words.ends_with(clock), "{words}");
        words
    };
    words(&first, "08:54:21");
    let second = past(&server, "offset=1000");
    assert!(parts(&second).contains("Please look at problem 0"));
    let shown = format!("as it was {}", words(&second, "08:54:22"));
    assert!(second["shown"]["about"].as_str().unwrap().contains(&shown));
    assert!(second["shown"]["about"].as_str().unwrap().contains("2 entries, 1 turn"));
    let middle = past(&server, &format!("offset={}", length / 2));
    let later = number(&middle, "last") - number(&middle, "moment");
    assert!(later > 10);
    // Entries that the reader has are not sent again.
    let moment = number(&middle, "moment");
    let same = past(&server, &format!("offset={}&has={moment}", length / 2));
    assert_eq!((number(&same, "moment"), &same["shown"]), (moment, &Value::Null));
    let brief = past(&server, &format!("moment={moment}&is_brief=true"));
    assert_eq!((parts(&brief), &brief["shown"]["side"]), (parts(&middle), &Value::Null));
    // A link shows the same, also without script.
    let page = server.body(&format!("/sessions/session?moment={moment}"));
    assert!(page.contains("data-time=\"past\"") && page.contains("Show it as it is now"));
    for part in middle["shown"]["parts"].as_array().unwrap() {
        assert!(page.contains(part.as_str().unwrap()));
    }
    assert!(page.contains(middle["shown"]["side"].as_str().unwrap()));
    let present = server.body(&format!("/sessions/session?moment={last}"));
    assert!(present.contains("data-time=\"live\"") && !present.contains("past-end"));
}

#[test]
fn steps_go_from_change_to_change_and_to_failures() {
    let (_folder, logs) = folder();
    let log = answered(30, 1);
    fs::write(logs.join("log.jsonl"), &log).unwrap();
    let server = Server::start(&logs, &[]);
    let step = |moment: u64, step: &str| past(&server, &format!("moment={moment}&step={step}"));
    let last = number(&past(&server, ""), "last");
    // From the end to the beginning, and from there to the end, the way is the same.
    let all = |from: u64, name: &str| -> Vec<u64> {
        let next = |at: &u64| Some(number(&step(*at, name), "moment")).filter(|next| next != at);
        std::iter::successors(Some(from), next).collect()
    };
    let mut back = all(last, "before");
    let on = all(*back.last().unwrap(), "next");
    back.reverse();
    assert_eq!(back, on);
    let failures = all(last, "failure_before");
    let count = log.matches("\"isError\":true").count();
    assert!(count > 3 && failures.len() == count + 1, "{failures:?}");
    for moment in &failures[1..] {
        let there = past(&server, &format!("moment={moment}"));
        let before = past(&server, &format!("moment={}", moment - 1));
        let failed = |past: &Value| past["shown"]["about"].as_str().unwrap().contains(" failed<");
        assert!(failed(&there));
        assert_ne!(there["shown"]["about"], before["shown"]["about"]);
    }
}

#[test]
fn only_a_window_of_a_long_session_is_sent() {
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), droid("session", 400, 1)).unwrap();
    let server = Server::start(&logs, &[]);
    let last = number(&past(&server, ""), "last");
    let middle = past(&server, &format!("moment={}", last / 2));
    let html = parts(&middle);
    assert_eq!(html.matches("<article class=\"entry\"").count(), 80);
    let (_, rest) = html.split_once("data-last=\"").unwrap();
    let until = rest.split('"').next().unwrap();
    // The entries of the gap are of the same moment.
    let asked = format!(
        "/sessions/session/entries?first=0&last={until}&at=last&moment={}",
        number(&middle, "moment")
    );
    let gap: Value = serde_json::from_str(&server.body(&asked)).unwrap();
    assert!(gap["html"].as_str().unwrap().contains(&format!("id=\"e{until}\"")));
    let beyond = asked.replace("last=", "last=9").replace("first=0", "first=1");
    let beyond: Value = serde_json::from_str(&server.body(&beyond)).unwrap();
    assert!(!beyond["html"].as_str().unwrap().contains("Done with 399"));
}

#[test]
fn the_past_of_a_session_that_grows_stays_as_it_was() {
    let (_folder, logs) = folder();
    let log = answered(20, 1);
    let lines: Vec<_> = log.split_inclusive('\n').collect();
    let (first, second) = lines.split_at(30);
    append(&logs.join("log.jsonl"), &first.concat());
    let server = Server::start(&logs, &[]);
    let before = past(&server, "moment=10");
    let mut events = server.events("/sessions/session/fragments", None);
    let facts: Value = serde_json::from_str(&events.next_named("facts").data).unwrap();
    assert!(facts["map"].as_str().unwrap().contains("class=\"bars\""));
    append(&logs.join("log.jsonl"), &second.concat());
    let mut grown = events.next_named("facts").data;
    while number(&serde_json::from_str(&grown).unwrap(), "length") <= number(&facts, "length") {
        grown = events.next_named("facts").data;
    }
    let after = past(&server, "moment=10");
    assert!(number(&after, "last") > number(&before, "last"));
    assert_eq!((&before["offset"], &before["words"]), (&after["offset"], &after["words"]));
    assert_eq!(before["shown"]["about"], after["shown"]["about"]);
    let entries =
        |past: &Value| parts(past).split("<article class=\"past-end").next().unwrap().to_owned();
    assert_eq!(entries(&before), entries(&after));
}

/// While a long session is rendered as a whole, its log is read and other questions are answered.
#[test]
fn a_session_is_free_while_it_is_rendered() {
    const PROMPTS: u64 = 6_000;
    let (_folder, logs) = folder();
    let prompt = |number: u64| {
        json!({ "type": "message", "role": "user", "id": number.to_string(),
                "text": format!("prompt {number}"), "session_id": "session",
                "timestamp": 1_770_000_000_000_u64 + number })
    };
    let log: String = (0..PROMPTS).map(|number| format!("{}\n", prompt(number))).collect();
    fs::write(logs.join("log.jsonl"), log).unwrap();
    let server = Server::start(&logs, &[]);
    let page = || server.body("/sessions/session");
    until("the log is read", || page().contains(&format!("prompt {}", PROMPTS - 1)));
    let export = || server.body("/sessions/session/export");
    // On a busy machine an answer may be late, but not each of them. How long an export takes depends on how busy it is.
    let is_free = (0..20).any(|_| {
        let begun = Instant::now();
        export();
        let while_rendered = begun.elapsed() / 4;
        scope(|scope| {
            let rendered = scope.spawn(|| {
                export();
                Instant::now()
            });
            sleep(while_rendered);
            past(&server, "has=5&moment=5");
            let answered = Instant::now();
            answered + while_rendered < rendered.join().unwrap()
        })
    });
    assert!(is_free);
}
