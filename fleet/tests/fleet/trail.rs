//! The audit trail of a sink.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use crate::logs;

/// Fields that depend only on the position in the chain, or that a single machine knows of a line and a fleet does
/// not.
const ELSEWHERE: [&str; 4] = ["prev", "seq", "line_sha256", "event_sha256"];

/// The records of each log, after verifying the chain and comparing it with the database.
pub(crate) fn records(trail: &Path, db: &Path) -> BTreeMap<String, Vec<Value>> {
    let (trail, db) = (trail.to_str().unwrap(), db.to_str().unwrap());
    logs::run(&["verify", trail]);
    logs::run(&["check", "--db", db, "--audit", trail]);
    let mut records = BTreeMap::<_, Vec<_>>::new();
    for line in fs::read_to_string(trail).unwrap().lines() {
        let mut record = serde_json::from_str::<Value>(line).unwrap()["record"].take();
        let Some(log) = record["log"].as_str() else { continue };
        // A sink also states the machine.
        let log = log.split_once(':').map_or(log, |(_, path)| path).to_owned();
        let fields = record.as_object_mut().unwrap();
        ELSEWHERE.iter().for_each(|name| drop(fields.remove(*name)));
        fields.insert("log".to_owned(), log.as_str().into());
        records.entry(log).or_default().push(record);
    }
    records
}
