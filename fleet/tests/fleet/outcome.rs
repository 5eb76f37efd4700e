//! The outcome of a run with faults: what one machine stores, or named holes.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{
    Cluster, Log, Topics, faults::Fleet, growing::Growing, ingest, postgres::stored,
    sinks::entries, trail,
};
use crate::{
    logs,
    random::{Random, number},
};

/// `FOLDLINE_FLEET` faults, with the `FOLDLINE_FLEET_SEED` printed by a failed run.
#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn whatever_goes_wrong_everything_is_stored_once_or_named() {
    let (faults, brokers) = (number("FOLDLINE_FLEET").unwrap_or(12), 3);
    let seed = number("FOLDLINE_FLEET_SEED").unwrap_or(1);
    let mut random = Random(seed);
    let cluster = Cluster::start(brokers);
    let folder = tempfile::tempdir().unwrap();
    let logs = sample(folder.path());
    let topics = Topics::make(&cluster.addresses, "faults", 8, 3);
    let [grown, whole] = ["logs", "whole"].map(|name| folder.path().join(name));
    let mut growing = Growing::new(&grown, &logs);
    let mut fleet = Fleet::start((&cluster, brokers), &topics, folder.path(), 3);
    for fault in 0..faults {
        growing.grow(&mut random, 0.9 / faults as f64);
        let caused = fleet.fault(&mut random, &mut growing, (fault, faults));
        println!("seed {seed}, fault {fault}: {caused}");
    }
    growing.complete();
    growing.write_whole(&grown, &whole);
    let code = fleet.conclude();
    let status = fleet.status();
    let named = Named::of(&status);
    // A source is named, and the sink or a worker has said so; sources of other clients are named, too.
    let is_poison = |source: &String| source.starts_with("poison");
    let is_whole = named.held.iter().all(is_poison) && named.deleted.is_empty();
    assert!(fleet.has_deleted || is_whole, "seed {seed}: {status}");
    assert!(matches!(code, Some(0 | 1)), "seed {seed}: {code:?}");
    let single = Single::ingest(folder.path(), &whole);
    compare(&fleet, &single, (&grown, &growing.rotated()), (&named, seed), logs.len());
}

/// The logs with the fewest known lines: one of each format, and some more.
fn sample(folder: &Path) -> Vec<Log> {
    let mut logs = ingest(&folder.join("all.db"), &folder.join("all.trail"));
    logs.sort_by_key(|log| (log.format.clone(), std::cmp::Reverse(log.content.len())));
    let mut formats = BTreeSet::new();
    logs.retain(|log| formats.insert(log.format.clone()));
    for number in 0..5 {
        let content = logs::droid(&format!("session-{number}"), 200, number).into_bytes();
        let path = format!("log-{number}.jsonl");
        logs.push(Log { path, format: "droid".to_owned(), content });
    }
    logs
}

/// What `status` names.
#[derive(Debug)]
struct Named {
    /// Sources that are not folded, or not stored.
    held: BTreeSet<String>,
    /// The partitions of which messages were deleted.
    deleted: BTreeSet<i64>,
}

impl Named {
    fn of(status: &serde_json::Value) -> Self {
        let all = |of: &serde_json::Value, what: &str| of[what].as_array().unwrap().clone();
        let gaps = [all(status, "gaps"), all(&status["sink"], "gaps")].concat();
        let deleted = [all(status, "deleted"), all(&status["sink"], "deleted")].concat();
        let name = |gap: serde_json::Value| gap["source"].as_str().unwrap().to_owned();
        let partition = |range: serde_json::Value| range["partition"].as_i64().unwrap();
        let deleted = deleted.into_iter().map(partition).collect();
        Self { held: gaps.into_iter().map(name).collect(), deleted }
    }
}

/// The database of a single machine.
struct Single {
    db: PathBuf,
    folder: PathBuf,
}

impl Single {
    fn ingest(folder: &Path, logs: &Path) -> Self {
        let db = folder.join("one.db");
        let (name, path) = (db.to_str().unwrap(), logs.to_str().unwrap());
        logs::stdout(&["ingest", "--final", "--db", name, path]);
        Self { db, folder: logs.to_owned() }
    }
}

/// Compares the database of a fleet with that of a single machine.
fn compare(
    fleet: &Fleet<'_>,
    single: &Single,
    (grown, rotated): (&Path, &BTreeSet<PathBuf>),
    (named, seed): (&Named, u64),
    count: usize,
) {
    let paths = paths(&fleet.db);
    let distinct: BTreeSet<_> = paths.values().collect();
    assert_eq!(distinct.len(), paths.len(), "seed {seed}: a log is stored twice: {paths:?}");
    assert!(!named.deleted.is_empty() || paths.len() == count, "seed {seed}: {paths:?}");
    assert!(paths.len() <= count, "seed {seed}: {paths:?}");
    let server = fleet.server.as_ref().map(|(address, _)| address.as_str());
    let server = server.map(|address| (address, Named::of(&fleet.status_of(address))));
    let partitions = fleet.topics.partitions_of_sources();
    // The last messages of a log are named by their partition, as nothing of the log follows them.
    let is_lost = |named: &Named, source: &String| {
        named.held.contains(source)
            || partitions.get(source).is_some_and(|partition| named.deleted.contains(partition))
    };
    let records = trail::records(&fleet.trail, &fleet.db);
    // Numbers of events have gaps where events were deleted.
    let events = (!fleet.has_deleted).then(|| fleet.topics.events("events"));
    for (source, path) in &paths {
        let path = Path::new(path);
        let whole = single.folder.join(path.strip_prefix(grown).unwrap());
        let expected = entries(&single.db, whole.to_str().unwrap());
        let found = entries(&fleet.db, source);
        let lengths = |found: usize| format!("seed {seed}: {found} of {}", expected.len());
        if let Some((address, named)) = &server {
            let stored = stored(address, source);
            let is_whole = stored == expected || is_lost(named, source);
            assert!(is_whole, "{} in the server: {}", lengths(stored.len()), path.display());
        }
        if is_lost(named, source) && found != expected {
            // Nothing is stored after the hole, and nothing else before it.
            assert!(found.len() <= expected.len(), "seed {seed}: {}", path.display());
            continue;
        }
        assert!(found == expected, "{}: {}", lengths(found.len()), path.display());
        // Positions restart in the next file of a log. Events that were stored may be deleted.
        let Some(events) = events.as_ref().filter(|_| !rotated.contains(path)) else { continue };
        let replayed = logs::run(&["replay", "--format", "events", whole.to_str().unwrap()]).stdout;
        assert!(events[source] == replayed, "seed {seed}: the events of {}", path.display());
        let lines = replayed.iter().filter(|byte| **byte == b'\n').count();
        let shown = path.to_str().unwrap();
        assert_eq!(records[shown].len(), lines, "seed {seed}: the trail of {shown}");
    }
    logs::run(&["check", "--db", fleet.db.to_str().unwrap()]);
}

/// The path of each source's file.
fn paths(db: &Path) -> BTreeMap<String, String> {
    let connection = rusqlite::Connection::open(db).unwrap();
    let mut sources = connection.prepare("SELECT name, path FROM sources").unwrap();
    let source = |row: &rusqlite::Row<'_>| {
        let (name, path): (String, String) = (row.get(0)?, row.get(1)?);
        Ok((name, path.split_once(':').unwrap().1.to_owned()))
    };
    sources.query_map([], source).unwrap().map(Result::unwrap).collect()
}
