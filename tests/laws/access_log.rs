//! An access log: lines become sessions of clients. Each invariant is a line.

use std::collections::{BTreeMap, BTreeSet};

use foldline::{
    laws::{Laws, OfLines, Violation, inputs},
    transduce::{Batch, Reducer},
};
use proptest::prelude::*;

/// A line is `CLIENT SECOND BYTES`.
pub(super) struct AccessLog(pub(super) Fault);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event {
    Ended { client: String, lines: u64, bytes: u64 },
    Rejected(String),
}

/// Requests of a client, until it is silent for a minute.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Session {
    lines: u64,
    bytes: u64,
    last: u32,
}

/// What is wrong with the reducer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fault {
    None,
    LosesOpenSessions,
    LosesTheLineThatEnds,
    SwallowsRejected,
    CutsBytes,
    GoesBackInTime,
    LooksAtOthers,
    IgnoresCase,
    SlicesText,
}

impl<'a> Reducer<&'a str, BTreeMap<String, Session>, Event> for AccessLog {
    fn init(&self) -> BTreeMap<String, Session> {
        BTreeMap::new()
    }

    fn reduce(
        &self,
        mut open: BTreeMap<String, Session>,
        line: &'a str,
    ) -> (BTreeMap<String, Session>, Batch<Event>) {
        let Some((client, second, mut bytes)) = self.parse(line) else {
            let is_swallowed = self.0 == Fault::SwallowsRejected && line.is_empty();
            return (open, Batch::from((!is_swallowed).then(|| Event::Rejected(line.to_owned()))));
        };
        if self.0 == Fault::CutsBytes {
            bytes = u64::from(bytes as u16);
        }
        let newest = open.values().map(|session| session.last).max().unwrap_or_default();
        let session = open.entry(client.clone()).or_default();
        let last = if self.0 == Fault::LooksAtOthers { newest } else { session.last };
        let mut events = Batch::EMPTY;
        if session.lines > 0 && second > last.saturating_add(60) {
            let Session { lines, bytes, .. } = std::mem::take(session);
            let lines = lines - u64::from(self.0 == Fault::LosesTheLineThatEnds);
            events.push(Event::Ended { client, lines, bytes });
        }
        session.lines += 1;
        session.bytes += bytes;
        let is_newest = self.0 == Fault::GoesBackInTime;
        session.last = if is_newest { second } else { session.last.max(second) };
        (open, events)
    }

    fn finish(&self, open: BTreeMap<String, Session>) -> (BTreeMap<String, Session>, Batch<Event>) {
        if self.0 == Fault::LosesOpenSessions {
            return (open, Batch::EMPTY);
        }
        let ended = open.into_iter().map(|(client, Session { lines, bytes, .. })| Event::Ended {
            client,
            lines,
            bytes,
        });
        (BTreeMap::new(), ended.collect())
    }
}

impl AccessLog {
    fn parse(&self, line: &str) -> Option<(String, u32, u64)> {
        if self.0 == Fault::SlicesText && line.len() > 8 {
            drop(line[..8].to_owned());
        }
        let mut parts = line.splitn(3, ' ');
        let (client, second, bytes) = (parts.next()?, parts.next()?, parts.next()?);
        let client = match self.0 {
            Fault::IgnoresCase => client.to_lowercase(),
            _ => client.to_owned(),
        };
        Some((client, second.parse().ok()?, bytes.parse::<u32>().ok()?.into()))
    }
}

fn lines() -> impl Strategy<Value = String> {
    let (client, second) = (prop_oneof!["a", "A", "b"], 0_u32..300);
    let request = (client, second, 0_u64..200_000)
        .prop_map(|(client, second, bytes)| format!("{client} {second} {bytes}"));
    prop_oneof![8 => request, 1 => ".{0,12}"]
}

fn client(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}

fn bytes(line: &str) -> Option<u64> {
    line.splitn(3, ' ').nth(2)?.parse().ok()
}

fn count(of: impl Fn(&Event) -> u64, events: &[Event]) -> u64 {
    events.iter().map(of).sum()
}

fn laws(fault: Fault) -> Laws<'static, String, BTreeMap<String, Session>, Event> {
    let lines_of = |event: &Event| if let Event::Ended { lines, .. } = event { *lines } else { 1 };
    let bytes_of = |event: &Event| if let Event::Ended { bytes, .. } = event { *bytes } else { 0 };
    let last = |open: &BTreeMap<String, Session>| open.get("a").map_or(0, |session| session.last);
    Laws::of(move || OfLines(AccessLog(fault)), inputs(lines()))
        .conserves("lines = lines of sessions + rejected lines", move |lines, events| {
            (lines.len() as u64, count(lines_of, events))
        })
        .conserves("bytes", move |lines, events| {
            (lines.iter().filter_map(|line| bytes(line)).sum(), count(bytes_of, events))
        })
        .conserves("clients", |lines, events| {
            let parsed = lines.iter().filter(|line| bytes(line).is_some());
            let named = events.iter().filter_map(|event| match event {
                Event::Ended { client, .. } => Some(client.clone()),
                Event::Rejected(_) => None,
            });
            (parsed.map(|line| client(line).to_owned()).collect::<BTreeSet<_>>(), named.collect())
        })
        .commutes(|one, two| client(one) != client(two))
        .monotone("the last second of the first client", move |open, events| {
            (events.len(), last(open))
        })
}

#[test]
fn an_access_log_keeps_the_laws() {
    laws(Fault::None).check();
}

pub(super) fn violation(fault: Fault) -> Violation {
    laws(fault).verdict().expect_err(&format!("{fault:?} passes"))
}
