//! States are stored less often than events are sent.

use rdkafka::Offset;

use super::{
    sinks::{Stored, entries, ingested},
    *,
};

/// A worker that takes over soon after the previous one was killed.
const SOON: [&str; 5] =
    ["work", "-X", "session.timeout.ms=2000", "-X", "heartbeat.interval.ms=400"];

/// The keys of the stored states.
fn states(stored: &Stored) -> Vec<Vec<u8>> {
    let states = stored.topics.read("state").into_iter().filter(|state| state.key[0] != 0);
    states.map(|state| state.key).collect()
}

/// The value of the last message of a topic with this key; empty if it was removed.
fn last(stored: &Stored, what: &str, key: &str) -> Vec<u8> {
    let mut all = stored.topics.read(what).into_iter();
    all.rfind(|read| read.key == key.as_bytes()).unwrap().value
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn events_without_a_stored_state_are_not_sent_again() {
    let stored = Stored::start("ahead");
    let content = logs::droid("a-session", 200, 1).into_bytes();
    let [first, second] = ["first", "second"].map(|source| stored.sender(source));
    let ends = ends(&content);
    let mut at = 0;
    for (round, part) in (1..=3).zip(ends.chunks(ends.len() / 3)) {
        let end = if round == 3 { content.len() } else { part[part.len() - 1] };
        let worker = Running::start(&stored.cluster, &stored.topics, &SOON);
        // The worker is killed while lines keep coming: no state is stored in the meantime.
        for end in [at + (end - at) / 2, end] {
            for sender in [&first, &second] {
                sender.send(&content, 0, at, end, 1 << 16);
                sender.flush();
            }
            at = end;
        }
        let line = content[..at].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        ["first", "second"].iter().for_each(|source| stored.await_events(source, line));
        if round == 1 {
            assert!(states(&stored).is_empty());
        }
        worker.kill();
    }
    let worker = Running::start(&stored.cluster, &stored.topics, &SOON);
    [&first, &second].iter().for_each(|sender| sender.end(0, content.len()));
    [&first, &second].iter().for_each(|sender| sender.flush());
    stored.topics.await_complete(2);
    worker.stop();
    let (events, expected) = (stored.topics.events("events"), replayed_bytes(&content));
    assert!(events["first"] == expected && events["second"] == expected);
    // A worker that ends in order leaves nothing to be folded again; of a complete log, little is stored.
    assert!(last(&stored, "state", "first").len() < 600);
    let marks = ["\0again", "\0input"].map(|mark| last(&stored, "state", mark));
    assert_eq!(marks[0], marks[1]);
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_complete_source_expires_and_its_late_lines_are_named() {
    let stored = Stored::start("expired");
    let content = logs::droid("a-session", 20, 1).into_bytes();
    let [complete, growing] = ["complete", "growing"].map(|source| stored.sender(source));
    for sender in [&complete, &growing] {
        sender.send(&content, 0, 0, content.len(), 1 << 16);
    }
    complete.end(0, content.len());
    complete.flush();
    let worker = stored.work();
    stored.topics.await_complete(1);
    stored.topics.await_state("growing");
    worker.stop();
    assert!(!last(&stored, "state", "complete").is_empty());
    let worker = Running::start(&stored.cluster, &stored.topics, &["work", "--expire", "0.00001"]);
    let begun = Instant::now();
    while ["state", "checkpoints"].iter().any(|topic| !last(&stored, topic, "complete").is_empty())
    {
        assert!(begun.elapsed() < WAIT, "the source does not expire");
        thread::sleep(Duration::from_millis(100));
    }
    assert!(!last(&stored, "state", "growing").is_empty());
    complete.message(b"{}\n", &format!("0:{}", content.len()), None, false);
    complete.flush();
    let held = await_unfolded(&stored.cluster, &stored.topics, 1);
    assert!(held[0].0 == "complete" && held[0].1.contains("has expired"), "{held:?}");
    // So is a log that is shipped again as a whole, until it is released: its file is known to be old.
    let again = stored.sender("again");
    again.created(&content[..ends(&content)[0]], 1);
    again.flush();
    let held = await_unfolded(&stored.cluster, &stored.topics, 2);
    assert!(held[0].0 == "again" && held[0].1.contains("may be one of them"), "{held:?}");
    stored.run(&["release", "again"]);
    again.send(&content, 0, 0, content.len(), 1 << 16);
    again.end(0, content.len());
    again.flush();
    stored.topics.await_complete(2);
    worker.stop();
    let (events, expected) = (stored.topics.events("events"), replayed_bytes(&content));
    assert!(events["complete"] == expected && events["again"] == expected);
}

/// Growing sources are folded again, also one whose beginning has to be shipped again, and one whose state has lost a part.
/// Complete ones have no such state. The database continues.
#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn states_of_another_version_are_rebuilt_without_loss_and_without_doubles() {
    let stored = Stored::start("rebuilt");
    let content = logs::droid("a-session", 60, 1).into_bytes();
    let ends = ends(&content);
    let half = ends[ends.len() / 2];
    let names = ["deleted", "growing", "torn", "complete", "sound"];
    let [deleted, growing, torn, complete, sound] = names.map(|source| stored.sender(source));
    let fold = |senders: &[&Sender<'_>]| {
        let worker = stored.work();
        for sender in senders {
            sender.send(&content, 0, 0, half, 1 << 16);
            sender.flush();
            stored.await_events(&sender.source, half);
        }
        worker.stop();
    };
    fold(&[&deleted]);
    stored.topics.delete_before("logs", 0, Offset::End);
    fold(&[&complete, &growing, &torn, &sound]);
    let worker = stored.work();
    complete.send(&content, 0, half, content.len(), 1 << 16);
    complete.end(0, content.len());
    complete.flush();
    stored.topics.await_complete(1);
    worker.stop();
    assert!(stored.store().0.status.success());
    for source in ["deleted", "growing"] {
        let mut other: serde_json::Value =
            serde_json::from_slice(&stored.topics.state(source)).unwrap();
        other["state"]["snapshot"]["version"] = 0.into();
        stored.topics.send_state(source, other.to_string().as_bytes());
    }
    stored.topics.tear_state("torn");
    // Without the option, they are held back, and their states stay.
    for sender in [&deleted, &growing, &torn, &sound] {
        sender.send(&content, 0, half, content.len(), 1 << 16);
        sender.end(0, content.len());
        sender.flush();
    }
    let worker = stored.work();
    stored.topics.await_complete(2);
    await_unfolded(&stored.cluster, &stored.topics, 3);
    worker.stop();
    // The worker is killed while it folds them again.
    let rebuild = [&SOON[..], &["--rebuild"]].concat();
    let worker = Running::start(&stored.cluster, &stored.topics, &rebuild);
    stored.topics.await_complete(4);
    worker.kill();
    let worker = stored.work();
    let held = await_unfolded(&stored.cluster, &stored.topics, 1);
    assert!(held[0].0 == "deleted" && held[0].1.contains("shipped again"), "{held:?}");
    deleted.send(&content, 0, 0, content.len(), 1 << 16);
    deleted.end(0, content.len());
    deleted.flush();
    stored.topics.await_complete(5);
    await_unfolded(&stored.cluster, &stored.topics, 0);
    worker.stop();
    let (events, expected) = (stored.topics.events("events"), replayed_bytes(&content));
    assert!(stored.store().0.status.success());
    for source in names {
        assert!(events[source] == expected, "{source}");
        assert!(entries(&stored.db(), source) == ingested(&content), "{source}");
    }
}

/// The ends of the lines.
fn ends(content: &[u8]) -> Vec<usize> {
    content.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect()
}
