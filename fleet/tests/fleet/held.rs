//! What concerns one source holds up no other: events and states that cannot be read, and lines without an end.

use rdkafka::Offset;

use super::{
    sinks::{Stored, entries, ingested},
    *,
};

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn an_event_that_cannot_be_read_holds_back_only_its_source() {
    let stored = Stored::start("poison");
    let content = logs::droid("a-session", 20, 1).into_bytes();
    let half = content[..content.len() / 2].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let _worker = stored.work();
    let [poisoned, other] = ["poisoned", "other"].map(|source| stored.sender(source));
    poisoned.send(&content, 0, 0, half, 1 << 16);
    poisoned.flush();
    stored.await_events("poisoned", half);
    stored.topics.send_event("poisoned", b"{\"position\":");
    for sender in [&poisoned, &other] {
        sender.send(&content, 0, 0, content.len(), 1 << 16);
        sender.end(0, content.len());
        sender.flush();
    }
    stored.topics.await_complete(2);
    let (output, said) = stored.store();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("poisoned: the event at offset"), "{said}");
    let complete = "SELECT group_concat(name) = 'other' FROM sources WHERE complete";
    assert_eq!(ask(&stored.db(), complete), Some(1));
    // It stays so, and `status` names it.
    let (output, said) = stored.store();
    assert!(output.status.success(), "{said}");
    let db = stored.db();
    let db = db.to_str().unwrap();
    let status = stored.status(&["--db", db]);
    assert_eq!(status["sink"]["gaps"][0]["source"], "poisoned", "{status}");
    assert_eq!(status["sink"]["gaps"].as_array().unwrap().len(), 1, "{status}");
    // Without removing the cause, it is held back again.
    stored.run(&["release", "poisoned", "--db", db]);
    let (output, said) = stored.store();
    assert!(output.status.code() == Some(1) && said.contains("poisoned: the event at"), "{said}");
    stored.run(&["release", "poisoned", "--db", db, "--skip"]);
    for _ in 0..2 {
        let (output, said) = stored.store();
        assert!(output.status.success(), "{said}");
        let status = stored.status(&["--db", db]);
        assert_eq!(status["sink"]["gaps"], serde_json::json!([]), "{status}");
    }
    let expected = ingested(&content);
    assert!(entries(&stored.db(), "poisoned") == expected);
    assert!(entries(&stored.db(), "other") == expected);
    logs::run(&["check", "--db", db]);
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_state_that_cannot_be_read_holds_back_only_its_source() {
    let stored = Stored::start("damaged");
    let content = logs::droid("a-session", 20, 1).into_bytes();
    let half = content[..content.len() / 2].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let names = ["damaged", "older", "sound"];
    let senders = names.map(|source| stored.sender(source));
    for sender in &senders {
        sender.send(&content, 0, 0, half, 1 << 16);
        sender.flush();
    }
    let worker = stored.work();
    names.iter().for_each(|source| stored.await_events(source, half));
    worker.stop();
    let states = ["damaged", "older"].map(|source| stored.topics.state(source));
    stored.topics.send_state("damaged", b"{");
    let text = String::from_utf8(states[1].clone()).unwrap();
    let mut older: serde_json::Value = serde_json::from_str(&text).unwrap();
    older["state"]["snapshot"]["version"] = 0.into();
    stored.topics.send_state("older", older.to_string().as_bytes());
    let worker = stored.work();
    for sender in &senders {
        sender.send(&content, 0, half, content.len(), 1 << 16);
        sender.end(0, content.len());
        sender.flush();
    }
    stored.topics.await_complete(1);
    let held = await_unfolded(&stored.cluster, &stored.topics, 2);
    assert!(held[0].0 == "damaged" && held[0].1.contains("is damaged"), "{held:?}");
    assert!(held[1].0 == "older" && held[1].1.contains("it has version 0"), "{held:?}");
    // Their states are repaired, and they are released while the worker runs.
    let [damaged, older] = states;
    stored.topics.send_state("damaged", &damaged);
    stored.topics.send_state("older", &older);
    stored.run(&["release", "damaged"]);
    stored.run(&["release", "older"]);
    stored.topics.await_complete(3);
    await_unfolded(&stored.cluster, &stored.topics, 0);
    worker.stop();
    let events = stored.topics.events("events");
    let expected = replayed_bytes(&content);
    assert!(names.iter().all(|source| events[*source] == expected));
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_line_without_an_end_holds_up_no_other_source() {
    let stored = Stored::start("half");
    let content = logs::droid("a-session", 20, 1).into_bytes();
    // In the middle of the second line, and of a long first line.
    let [half, long, other] = ["half", "long", "other"].map(|source| stored.sender(source));
    let line = content.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    half.send(&content, 0, 0, line + 50, 20);
    let whole = droid_with(2 << 20);
    long.send(&whole, 0, 0, 3000, 1000);
    other.send(&content, 0, 0, content.len(), 1 << 16);
    other.end(0, content.len());
    [&half, &long, &other].into_iter().for_each(Sender::flush);
    let worker = Running::start(&stored.cluster, &stored.topics, &SOON);
    stored.topics.await_complete(1);
    let begun = Instant::now();
    while stored.status(&[])["lag"] != 0 {
        assert!(begun.elapsed() < WAIT, "{}", stored.status(&[]));
        thread::sleep(Duration::from_millis(100));
    }
    // Once their states are stored, nothing of the lines is read again.
    ["half", "long"].iter().for_each(|source| stored.topics.await_state(source));
    worker.kill();
    stored.topics.delete_before("logs", 0, Offset::End);
    let worker = Running::start(&stored.cluster, &stored.topics, &SOON);
    for (sender, content, from) in [(&half, &content, line + 50), (&long, &whole, 3000)] {
        sender.send(content, 0, from, content.len(), 700_000);
        sender.end(0, content.len());
        sender.flush();
    }
    stored.topics.await_complete(3);
    assert_eq!(stored.status(&[])["deleted"], serde_json::json!([]));
    worker.stop();
    let events = stored.topics.events("events");
    let expected = replayed_bytes(&content);
    assert!(events["half"] == expected && events["other"] == expected);
    assert!(events["long"] == replayed_bytes(&whole));
}

/// A worker that takes over soon after the previous one was killed.
const SOON: [&str; 5] =
    ["work", "-X", "session.timeout.ms=2000", "-X", "heartbeat.interval.ms=400"];

/// A log whose first line has at least this length.
fn droid_with(length: usize) -> Vec<u8> {
    let line = format!("{{\"type\":\"note\",\"text\":\"{}\"}}\n", "é".repeat(length / 2));
    [line.into_bytes(), logs::droid("long", 3, 1).into_bytes()].concat()
}
