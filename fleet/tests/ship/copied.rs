//! Logs that are copied and truncated, while shippers are killed.

use std::collections::HashMap;

use super::*;
use crate::random::Random;

/// Copies a log to `log.1`, after earlier copies have moved on, and truncates it, like logrotate with `copytruncate`.
pub(crate) fn copy_and_truncate(log: &Path) {
    make_room(log);
    fs::copy(log, rotated(log, 1)).unwrap();
    OpenOptions::new().write(true).truncate(true).open(log).unwrap();
}

/// Renames a log to `log.1`, after earlier ones have moved on, like logrotate.
pub(crate) fn rotate(log: &Path) {
    make_room(log);
    fs::rename(log, rotated(log, 1)).unwrap();
}

/// The name of a rotated file.
pub(crate) fn rotated(log: &Path, number: usize) -> PathBuf {
    PathBuf::from(format!("{}.{number}", log.display()))
}

fn make_room(log: &Path) {
    let count = (1..).take_while(|number| rotated(log, *number).exists()).count();
    for number in (1..=count).rev() {
        fs::rename(rotated(log, number), rotated(log, number + 1)).unwrap();
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// The logs of which the checkpoint says that bytes may be missing.
fn logs_with_holes(fleet: &Fleet) -> Vec<PathBuf> {
    let stored: serde_json::Value =
        serde_json::from_slice(&fs::read(fleet.checkpoint()).unwrap()).unwrap();
    let logs = stored["logs"].as_object().unwrap().values();
    let named = logs.filter(|log| log.get("holes").is_some());
    named.map(|log| PathBuf::from(log["path"].as_str().unwrap())).collect()
}

/// `FOLDLINE_FLEET` rounds, with the `FOLDLINE_FLEET_SEED` printed by a failed run.
#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn killed_after_logs_were_copied_and_truncated_it_sends_each_line() {
    const LOGS: usize = 24;
    let rounds = crate::random::number("FOLDLINE_FLEET").unwrap_or(3);
    let seed = crate::random::number("FOLDLINE_FLEET_SEED").unwrap_or(1);
    let mut random = Random(seed);
    let fleet = Fleet::start(&[]);
    let path = |log: usize| fleet.log(&format!("{log}.jsonl"));
    let mut written = vec![Vec::new(); LOGS];
    let mut parts = 0..;
    let mut grow = |log: usize, turns: usize| {
        let part = parts.next().unwrap();
        let more = droid(&format!("s{log}"), turns as u64, part).into_bytes();
        append(&path(log), &more);
        written[log].extend(more);
    };
    for _ in 0..2 * rounds {
        let mut shipping = fleet.follow(&[]);
        (0..LOGS).for_each(|log| grow(log, random.below(8)));
        thread::sleep(Duration::from_millis(random.below(1500) as u64));
        for log in 0..LOGS {
            // Also twice between two looks of the shipper, and with less than a kilobyte.
            for _ in 0..random.below(3) {
                grow(log, random.below(4));
                copy_and_truncate(&path(log));
                if random.below(2) == 0 {
                    grow(log, random.below(8));
                }
            }
        }
        thread::sleep(Duration::from_millis(random.below(1500) as u64));
        shipping.kill();
    }
    fleet.run(&["--once"]);
    // A copy that is made while a shipper starts may not be recognised: that is reported.
    let named = logs_with_holes(&fleet);
    assert!(named.len() < LOGS / 2, "seed {seed}: {named:?}");
    let joined = fleet.joined();
    let mut places = HashMap::<_, Vec<_>>::new();
    for (source, files) in &joined {
        for (number, file) in files.iter().enumerate() {
            lines(file).for_each(|line| places.entry(line).or_default().push((source, number)));
        }
    }
    let whole = written.iter().enumerate().filter(|(log, _)| !named.contains(&path(*log)));
    for (log, written) in whole {
        for line in lines(written) {
            let found = places.get(line).map_or(&[][..], Vec::as_slice);
            let line = String::from_utf8_lossy(line);
            // A copy that is renamed while it is examined may also be sent as a separate log.
            assert!(!found.is_empty(), "seed {seed}: log {log} is not sent: {line}");
        }
    }
}

/// A log that is rotated further is not a new log, nor is a copy of it.
#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn files_that_were_rotated_before_they_were_shipped_stay_separate_logs() {
    let fleet = Fleet::start(&[]);
    let log = fleet.log("log.jsonl");
    let parts: Vec<_> = (0..5).map(|part| droid("s", 3, part).into_bytes()).collect();
    append(&log, &parts[0]);
    rotate(&log);
    append(&log, &parts[1]);
    let mut shipping = fleet.follow(&[]);
    fleet.await_files(&[&parts[0], &parts[1]]);
    rotate(&log);
    append(&log, &parts[2]);
    fleet.await_files(&[&parts[2]]);
    shipping.kill();
    copy_and_truncate(&log);
    append(&log, &parts[3]);
    fleet.once(&[]);
    rotate(&log);
    append(&log, &parts[4]);
    fleet.once(&[]);
    let mut files: Vec<_> = fleet.joined().into_values().collect();
    files.sort_by_key(Vec::len);
    assert!(files == [&parts[..1], &parts[1..]]);
}

/// A log that was truncated without a copy may have lost bytes.
#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn bytes_that_were_destroyed_before_they_were_read_are_named() {
    let fleet = Fleet::start(&[]);
    let [first, unread, last] = [1, 2, 3].map(|part| droid("s", 3, part).into_bytes());
    append(&fleet.log("log.jsonl"), &first);
    fleet.once(&[]);
    append(&fleet.log("log.jsonl"), &unread);
    copy_and_truncate(&fleet.log("log.jsonl"));
    fs::remove_file(rotated(&fleet.log("log.jsonl"), 1)).unwrap();
    append(&fleet.log("log.jsonl"), &last);
    let output = fleet.run(&["--once"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("log.jsonl was truncated or rewritten"), "{said}");
    let stored: serde_json::Value =
        serde_json::from_slice(&fs::read(fleet.checkpoint()).unwrap()).unwrap();
    let log = stored["logs"].as_object().unwrap().values().next().unwrap();
    assert_eq!(log["holes"][0]["offset"], first.len(), "{stored}");
    assert_eq!(fleet.joined().into_values().collect::<Vec<_>>(), [[first, last]]);
    // The run that finds it reports it; the checkpoint keeps it.
    fleet.once(&[]);
}
