//! Sources that cannot be continued: they are held back alone, and continue when they are released.

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
