//! [`ensure_sound`]: no verb begins with topics that would lose something.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use rdkafka::ClientConfig;

use super::{
    connection::Connection,
    say,
    settings::{Found, Role, judge},
    topics::Topics,
};
use crate::error::Error;

/// The time between two questions to brokers that do not answer.
const PAUSE: Duration = Duration::from_secs(1);

/// Checks the topics of a fleet, which all must be there. Returns how many partitions each has.
///
/// What cannot be seen is not an error: a worker need not have the right to read settings.
pub(super) fn ensure_sound(client: &ClientConfig, topics: &Topics) -> Result<u32, Error> {
    let connection = Connection::open(client, &topics.group())?;
    let cluster = connection.look(topics)?;
    let mut verdict = judge(&cluster.found, cluster.brokers, None, None);
    verdict.wrong.extend(missing(topics, &cluster.found));
    for note in &verdict.notes {
        tracing::warn!("{note}");
    }
    if !verdict.wrong.is_empty() {
        return Err(Error::Unsound(verdict.wrong));
    }
    let partitions = cluster.found.first().map_or(0, |topic| topic.partitions);
    Ok(u32::try_from(partitions).unwrap_or(u32::MAX))
}

/// The same, as soon as the brokers answer: who is started while they are away need not be started again.
/// `false` if the program is told to end meanwhile.
pub(super) fn await_sound(
    client: &ClientConfig,
    topics: &Topics,
    stop: &AtomicBool,
) -> Result<bool, Error> {
    let mut is_said = false;
    while !stop.load(Ordering::Relaxed) {
        match ensure_sound(client, topics) {
            Err(error @ (Error::Unreachable { .. } | Error::Cluster { .. })) => {
                if !std::mem::replace(&mut is_said, true) {
                    say(&format!("{error}; waiting for the brokers"));
                }
                thread::sleep(PAUSE);
            }
            ended => return ended.map(|_| true),
        }
    }
    Ok(false)
}

/// Says which topics are not there.
pub(super) fn missing(topics: &Topics, found: &[Found]) -> Option<String> {
    let is_found = |role: Role| found.iter().any(|topic| topic.role == role);
    let missing: Vec<_> = Role::ALL.into_iter().filter(|&role| !is_found(role)).collect();
    let names: Vec<_> = missing.iter().map(|role| role.topic(topics)).collect();
    match names.is_empty() {
        true => None,
        false => Some(format!(
            "there is no topic {}, or this client may not see it; run `foldline fleet init`",
            names.join(", ")
        )),
    }
}
