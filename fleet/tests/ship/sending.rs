//! The joined messages equal the logs: while they grow, are rotated or changed, and after programs were killed.

use super::*;

/// A log with long, short and empty lines, with CRLF, and with invalid Unicode; the last line has no end.
fn odd() -> Vec<u8> {
    let mut log = b"\xEF\xBB\xBF".to_vec();
    log.extend(droid("odd", 3, 1).replace('\n', "\r\n").bytes());
    log.extend(b"\n\r\n\xFF\xFE no text\n");
    log.extend(format!("{{\"type\":\"note\",\"text\":\"{}\"}}\n", noise(5000)).bytes());
    log.extend(noise(1024 - 1).bytes());
    log.extend(b"\n");
    log.extend(noise(1024).bytes());
    log.extend(b"\n{\"type\":\"message\"");
    log
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn pieces_joined_are_the_log_while_it_grows() {
    let fleet = Fleet::start(&[]);
    let (odd, plain) = (odd(), droid("plain", 20, 2).into_bytes());
    let ended = odd.iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    fs::write(fleet.log("nothing.txt"), "This is no log.\n").unwrap();
    let options = ["--max-message", "1K", "--task", "T-1"];
    let mut shipping = fleet.follow(&options);
    let chunks = odd.chunks(777).zip(plain.chunks(plain.len() / odd.chunks(777).len() + 1));
    for (one, other) in chunks {
        append(&fleet.log("odd.jsonl"), one);
        append(&fleet.log("plain.jsonl"), other);
        // So that some pieces are read in between.
        thread::sleep(Duration::from_millis(30));
    }
    // The last line has no end, and may continue.
    fleet.await_files(&[&odd[..ended], &plain]);
    shipping.await_said("nothing.txt");
    shipping.stop();
    fleet.await_files(&[&odd[..ended], &plain]);

    let before = fleet.messages().len();
    fleet.once(&options);
    assert_eq!(fleet.messages().len(), before, "nothing is shipped again");
    let said = fleet.once(&[&options[..], &["--final"]].concat());
    assert_eq!(said.matches("nothing.txt").count(), 1, "{said}");
    fleet.once(&[&options[..], &["--final"]].concat());

    let messages = fleet.messages();
    let joined = join(&messages);
    assert_eq!(joined.len(), 2, "{:?}", joined.keys());
    let name = |path: &Path| {
        use std::os::unix::fs::MetadataExt;
        let metadata = fs::metadata(path).unwrap();
        format!("here/{:x}-{:x}-", metadata.dev(), metadata.ino())
    };
    for (file, bytes) in [("odd.jsonl", &odd), ("plain.jsonl", &plain)] {
        let path = fs::canonicalize(fleet.log(file)).unwrap();
        let (source, files) =
            joined.iter().find(|(source, _)| source.starts_with(&name(&path))).unwrap();
        assert_eq!(source.len(), name(&path).len() + 12, "{source}");
        assert!(files == std::slice::from_ref(bytes), "{file}");
        let pieces: Vec<_> = messages.iter().filter(|piece| piece.source == *source).collect();
        for piece in &pieces {
            let is_line = piece.bytes.ends_with(b"\n");
            let is_last = piece.offset + piece.bytes.len() == bytes.len();
            assert!(is_line || is_last || piece.bytes.len() == 1024, "{piece:?}");
            let headers = &piece.headers;
            assert_eq!(headers["path"], path.to_str().unwrap());
            assert_eq!(
                [&headers["host"], &headers["task"], &headers["format"]],
                ["here", "T-1", "droid"]
            );
        }
        let (end, others) = pieces.split_last().unwrap();
        assert!(end.headers.contains_key("end") && end.bytes.is_empty());
        assert_eq!(end.offset, bytes.len());
        assert!(others.iter().all(|piece| !piece.headers.contains_key("end")), "it ends once");
    }
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn killed_at_any_moment_it_goes_on_without_a_loss() {
    let fleet = Fleet::start(&[]);
    let logs: Vec<_> = (0..40).map(|log| droid(&format!("s{log}"), 60, log).into_bytes()).collect();
    let path = |log: usize| fleet.log(&format!("{log}.jsonl"));
    const PARTS: usize = 8;
    for part in 0..PARTS {
        let mut shipping = fleet.follow(&["--max-message", "2K"]);
        for (number, log) in logs.iter().enumerate() {
            let at = |part| log.len() * part / PARTS;
            append(&path(number), &log[at(part)..at(part + 1)]);
        }
        // Determines the moment.
        thread::sleep(Duration::from_millis([0, 150, 400, 250, 700, 300, 1300, 550][part]));
        shipping.kill();
    }
    fleet.once(&["--max-message", "2K"]);
    let joined = fleet.joined();
    assert_eq!(joined.len(), logs.len());
    let mut shipped: Vec<_> = joined.into_values().flatten().collect();
    let mut logs = logs;
    shipped.sort();
    logs.sort();
    assert!(shipped == logs);
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_rotated_log_goes_on_as_the_same() {
    let fleet = Fleet::start(&[]);
    let parts: Vec<_> = (0..5).map(|part| droid("s", 5, part).into_bytes()).collect();
    let rotate = || {
        for number in (1..4).rev() {
            let name = |number: i32| fleet.log(&format!("log.jsonl.{number}"));
            let _ = fs::rename(name(number), name(number + 1));
        }
        fs::rename(fleet.log("log.jsonl"), fleet.log("log.jsonl.1")).unwrap();
    };
    let mut shipping = fleet.follow(&[]);
    append(&fleet.log("log.jsonl"), &parts[0]);
    fleet.await_files(&[&parts[0]]);
    rotate();
    append(&fleet.log("log.jsonl"), &parts[1][..100]);
    shipping.await_said("was replaced by another file");
    append(&fleet.log("log.jsonl"), &parts[1][100..]);
    fleet.await_files(&[&parts[0], &parts[1]]);
    shipping.stop();

    // No shipper is running.
    append(&fleet.log("log.jsonl"), &parts[2]);
    rotate();
    append(&fleet.log("log.jsonl"), &parts[3]);
    rotate();
    append(&fleet.log("log.jsonl"), &parts[4]);
    fleet.once(&[]);
    let joined = fleet.joined();
    assert_eq!(joined.len(), 1, "{:?}", joined.keys());
    let second = [&parts[1][..], &parts[2]].concat();
    let files = joined.into_values().next().unwrap();
    assert!(files == [parts[0].clone(), second, parts[3].clone(), parts[4].clone()]);
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_log_that_was_changed_while_nobody_looked_is_known_again_or_another() {
    let fleet = Fleet::start(&[]);
    let text = |seed| droid("s", 8, seed).into_bytes();
    for name in ["truncated", "copied", "replaced", "moved", "untouched"] {
        fs::write(fleet.log(&format!("{name}.jsonl")), droid(name, 8, 1)).unwrap();
    }
    fleet.once(&[]);
    let first = fleet.joined();
    assert_eq!(first.len(), 5);
    fs::write(fleet.log("truncated.jsonl"), text(2)).unwrap();
    let rest = text(3);
    append(&fleet.log("copied.jsonl"), &rest);
    fs::copy(fleet.log("copied.jsonl"), fleet.log("copied.jsonl.1")).unwrap();
    fs::write(fleet.log("copied.jsonl"), text(4)).unwrap();
    // Its inode is not reused while the file exists.
    fs::rename(fleet.log("replaced.jsonl"), fleet.folder.path().join("elsewhere")).unwrap();
    fs::write(fleet.log("replaced.jsonl"), text(5)).unwrap();
    fs::rename(fleet.log("moved.jsonl"), fleet.log("new-name.jsonl")).unwrap();
    append(&fleet.log("new-name.jsonl"), &text(6));

    let changed = fleet.run(&["--once"]);
    let said = String::from_utf8(changed.stderr).unwrap();
    assert_eq!(changed.status.code(), Some(1), "some bytes may be lost: {said}");
    for (name, what) in [
        ("truncated", "was truncated or rewritten"),
        ("copied", "is read to its end first"),
        ("replaced", "may be missing"),
    ] {
        let is_said = |line: &str| line.contains(&format!("{name}.jsonl")) && line.contains(what);
        assert!(said.lines().any(is_said), "{name}: {said}");
    }
    let joined = fleet.joined();
    let (mut old, new): (Joined, Joined) =
        joined.into_iter().partition(|(source, _)| first.contains_key(source));
    assert_eq!(new.into_values().collect::<Vec<_>>(), [[text(5)]], "one log is another");
    let mut expected = vec![
        vec![droid("truncated", 8, 1).into_bytes(), text(2)],
        vec![[droid("copied", 8, 1).into_bytes(), rest].concat(), text(4)],
        vec![droid("replaced", 8, 1).into_bytes()],
        vec![[droid("moved", 8, 1).into_bytes(), text(6)].concat()],
        vec![droid("untouched", 8, 1).into_bytes()],
    ];
    let mut files: Vec<_> = std::mem::take(&mut old).into_values().collect();
    files.sort();
    expected.sort();
    assert!(files == expected);
    let before = fleet.messages().len();
    fleet.once(&[]);
    assert_eq!(fleet.messages().len(), before, "nothing is shipped again");
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn more_logs_than_can_be_open_are_followed() {
    const LOGS: usize = 400;
    let fleet = Fleet::start(&[]);
    let log = |number: usize| droid(&format!("s{number}"), 4, number as u64).into_bytes();
    let mut shipping = fleet.follow(&[]);
    for part in 0..4 {
        for number in 0..LOGS {
            let log = log(number);
            let at = |part| log.len() * part / 4;
            append(&fleet.log(&format!("{number}.jsonl")), &log[at(part)..at(part + 1)]);
        }
        // Until there is data of each of them.
        let begun = Instant::now();
        while fleet.joined().len() < LOGS {
            assert!(begun.elapsed() < DEADLINE);
        }
    }
    let last = log(LOGS - 1);
    fleet.await_files(&[&last]);
    shipping.stop();
    // The same number of logs with a single unterminated line.
    let line = |number: usize| {
        let log = droid(&format!("line-{number}-{}", noise(5000)), 0, 1);
        log.lines().next().unwrap().as_bytes().to_vec()
    };
    for number in 0..LOGS {
        fs::write(fleet.log(&format!("line-{number}.jsonl")), line(number)).unwrap();
    }
    fleet.once(&["--final"]);
    let mut shipped: Vec<_> = fleet.joined().into_values().flatten().collect();
    let mut logs: Vec<_> = (0..LOGS).map(log).chain((0..LOGS).map(line)).collect();
    shipped.sort();
    logs.sort();
    assert!(shipped == logs);
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn brokers_that_are_away_are_waited_for() {
    let fleet = Fleet::start(&[]);
    let log = droid("s", 200, 1).into_bytes();
    fleet.brokers.kill(1);
    append(&fleet.log("log.jsonl"), &log[..log.len() / 4]);
    let mut shipping = fleet.follow(&[]);
    shipping.await_said("the brokers do not answer");
    append(&fleet.log("log.jsonl"), &log[log.len() / 4..log.len() / 2]);
    fleet.brokers.restart(1);
    shipping.await_said("the brokers are back");
    for part in [2, 3] {
        fleet.brokers.kill(1);
        append(&fleet.log("log.jsonl"), &log[log.len() * part / 4..log.len() * (part + 1) / 4]);
        shipping.await_said("the brokers do not answer");
        fleet.brokers.restart(1);
        shipping.await_said("the brokers are back");
    }
    fleet.await_files(&[&log]);

    // More than the outbox holds; and an end before the brokers are back.
    let line = format!("{{\"type\":\"note\",\"text\":\"{}\"}}\n", noise(10_000));
    let long = [droid("long", 1, 2), line.repeat(3000)].concat().into_bytes();
    fleet.brokers.kill(1);
    append(&fleet.log("long.jsonl"), &long);
    shipping.await_said("the brokers do not answer");
    assert_eq!(shipping.terminate(), Some(1));
    shipping.await_said("are not acknowledged");
    let mut shipping = fleet.follow(&[]);
    shipping.await_said("the brokers do not answer");
    fleet.brokers.restart(1);
    fleet.await_files(&[&log, &long]);
    shipping.stop();
    // What was acknowledged is not sent again.
    let before = fleet.messages().len();
    fleet.once(&[]);
    assert_eq!(fleet.messages().len(), before);
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn what_the_brokers_do_not_take_is_an_error_and_nothing_follows_it() {
    let fleet = Fleet::start(&[]);
    let mut log = droid("s", 2, 1);
    log.push_str(&format!("{{\"type\":\"note\",\"text\":\"{}\"}}\n", noise(2_000_000)));
    log.push_str(&droid("s", 2, 3));
    fs::write(fleet.log("log.jsonl"), &log).unwrap();
    let refused = fleet.run(&["--once", "--max-message", "4M"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("--max-message") && said.contains("log.jsonl"), "{said}");
    join(&fleet.messages());
    fleet.once(&[]);
    fleet.await_files(&[log.as_bytes()]);
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn topics_that_are_missing_or_lose_messages_get_nothing() {
    let fleet = Fleet::start(&[("cleanup.policy", "compact")]);
    fs::write(fleet.log("log.jsonl"), droid("s", 2, 1)).unwrap();
    for (prefix, reason) in [("foldline", "cleanup.policy"), ("nobody", "foldline-fleet init")] {
        // Without `--once`: it does not wait for a missing topic.
        let mut shipping = fleet.follow(&["--prefix", prefix]);
        shipping.await_said(reason);
        assert_eq!(shipping.ended(), Some(1));
    }
    assert!(fleet.messages().is_empty());
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_run_that_ends_by_itself_does_not_wait_for_ever() {
    let fleet = Fleet::start(&[]);
    fs::write(fleet.log("log.jsonl"), droid("s", 2, 1)).unwrap();
    fleet.brokers.kill(1);
    let away = fleet.run(&["--once", "--timeout", "1"]);
    let said = String::from_utf8(away.stderr).unwrap();
    assert_eq!(away.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot reach the brokers"), "{said}");
    fleet.brokers.restart(1);
    fleet.once(&[]);
    // The brokers end while it runs.
    let mut shipping = fleet.follow(&["--idle-exit", "3600", "--timeout", "2"]);
    append(&fleet.log("log.jsonl"), droid("s", 2, 2).as_bytes());
    fleet.await_files(&[&[droid("s", 2, 1), droid("s", 2, 2)].concat().into_bytes()]);
    fleet.brokers.kill(1);
    append(&fleet.log("log.jsonl"), droid("s", 2, 3).as_bytes());
    shipping.await_said("have acknowledged nothing for 2 seconds");
    assert_eq!(shipping.ended(), Some(1));
}
