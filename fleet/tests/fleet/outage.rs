//! An outage of all brokers.

use super::{
    sinks::{Stored, ended},
    *,
};

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_worker_continues_as_soon_as_all_brokers_are_back() {
    let stored = Stored::start("outage");
    let content = logs::droid("a-session", 20, 1).into_bytes();
    let half = content[..content.len() / 2].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let sender = stored.sender("source");
    let arguments = ["work", "-X", "session.timeout.ms=2000", "-X", "heartbeat.interval.ms=400"];
    let mut work = command(&stored.cluster, &stored.topics, &arguments);
    let worker = Running(work.stderr(Stdio::piped()).spawn().unwrap());
    sender.send(&content, 0, 0, half, 1 << 16);
    sender.flush();
    stored.await_events("source", half);
    // Long enough for several failed attempts to connect.
    stored.cluster.kill(1);
    thread::sleep(Duration::from_secs(8));
    stored.cluster.restart(1);
    sender.send(&content, 0, half, content.len(), 1 << 16);
    sender.end(0, content.len());
    sender.flush();
    stored.topics.await_complete(1);
    worker.signal(Signal::TERM);
    let (code, said) = ended(worker);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("the stored states"), "{said}");
    assert!(stored.topics.events("events")["source"] == replayed_bytes(&content));
}
