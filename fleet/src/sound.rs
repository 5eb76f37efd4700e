//! [`await_sound`]: checks the topics before a verb begins, so that nothing is lost.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rdkafka::ClientConfig;

use crate::{
    connection::Connection,
    error::Error,
    say::say,
    settings::{Found, Role, judge},
    topics::Topics,
};

/// The pause between two requests to brokers that do not answer.
const PAUSE: Duration = Duration::from_secs(1);

/// Checks the topics of a fleet; the topics in `needed` must exist.
///
/// Other topics and settings that cannot be read are not an error: a worker does not need the right to read settings,
/// nor a sink the right to see topics that it does not read.
fn ensure_sound(client: &ClientConfig, topics: &Topics, needed: &[Role]) -> Result<(), Error> {
    let connection = Connection::open(client, &topics.group())?;
    let cluster = connection.look(topics)?;
    let mut verdict = judge(&cluster.found, cluster.brokers, None, None);
    verdict.wrong.extend(missing(topics, &cluster.found, needed));
    for note in &verdict.notes {
        tracing::warn!("{note}");
    }
    match verdict.wrong.is_empty() {
        true => Ok(()),
        false => Err(Error::Unsound(verdict.wrong)),
    }
}

/// The same, as soon as the brokers answer: a program that is started while they are unreachable need not be
/// restarted. `false` if the program receives a signal to end in the meantime. After `limit` it is an error.
pub(super) fn await_sound(
    client: &ClientConfig,
    topics: &Topics,
    needed: &[Role],
    stop: &AtomicBool,
    limit: Option<Duration>,
) -> Result<bool, Error> {
    let (mut is_said, begun) = (false, Instant::now());
    while !stop.load(Ordering::Relaxed) {
        match ensure_sound(client, topics, needed) {
            Err(error @ (Error::Unreachable { .. } | Error::Cluster { .. }))
                if limit.is_none_or(|limit| begun.elapsed() < limit) =>
            {
                if !std::mem::replace(&mut is_said, true) {
                    say(&format!(
                        "the brokers do not answer ({error}); nothing is lost, this program begins when they answer"
                    ));
                }
                thread::sleep(PAUSE);
            }
            ended => {
                if is_said && ended.is_ok() {
                    say("the brokers are back");
                }
                return ended.map(|()| true);
            }
        }
    }
    Ok(false)
}

/// A message that names the missing topics among the needed ones.
pub(super) fn missing(topics: &Topics, found: &[Found], needed: &[Role]) -> Option<String> {
    let is_found = |role: Role| found.iter().any(|topic| topic.role == role);
    let missing = needed.iter().filter(|role| !is_found(**role));
    let names: Vec<_> = missing.map(|role| role.topic(topics)).collect();
    match names.is_empty() {
        true => None,
        false => Some(format!(
            "there is no topic {}, or this client may not see it; run `foldline-fleet init`",
            names.join(", ")
        )),
    }
}
