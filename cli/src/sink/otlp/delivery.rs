//! [`Delivery`]: sends lines that are stored until the collector has taken them.

use serde::{Deserialize, Serialize};

use super::{
    endpoint::{Endpoints, SignalKind},
    post::{Answer, Poster, encoded, joined, kind_of},
    queue::{BYTES, LINES},
};

/// The ends of what the collector got, one for each kind of signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sent([u64; 3]);

/// Lines on their way to a collector. Unlike the [`Collector`](super::Collector) of a run, it waits for each answer, and
/// keeps nothing: what was not taken is delivered again by a later call.
pub(crate) struct Delivery {
    endpoints: Endpoints,
    client: Poster,
    sent: Sent,
    /// Why the collector takes nothing now.
    away: Option<String>,
    /// The lines that the collector will not take, and why.
    refused: Option<(u64, String)>,
}

/// Some lines of one kind, and the position of their end.
struct Batch<'l> {
    lines: Vec<&'l str>,
    end: u64,
}

impl Delivery {
    pub(crate) fn new(endpoints: Endpoints, sent: Sent) -> Self {
        Self { endpoints, client: Poster::new(), sent, away: None, refused: None }
    }

    /// What the collector got.
    pub(crate) fn sent(&self) -> Sent {
        self.sent
    }

    /// Why the collector takes nothing now, if it does not.
    pub(crate) fn away(&self) -> Option<&str> {
        self.away.as_deref()
    }

    /// Takes the number of lines that the collector will not take, and why.
    pub(crate) fn take_refused(&mut self) -> Option<(u64, String)> {
        self.refused.take()
    }

    /// Lets the next lines be sent to a collector that was away.
    pub(crate) fn try_again(&mut self) {
        self.away = None;
    }

    /// Sends whole lines, the first one of which begins at this position. Returns whether the collector has all of them.
    pub(crate) fn deliver(&mut self, begin: u64, lines: &str) -> bool {
        for kind in SignalKind::ALL {
            for Batch { lines, end } in self.batches(kind, begin, lines) {
                if !self.send(kind, &lines) {
                    return false;
                }
                self.sent.0[kind as usize] = end;
            }
        }
        self.sent = Sent([begin + lines.len() as u64; 3]);
        true
    }

    /// What the collector has not got of one kind, in portions for a request.
    fn batches<'l>(&self, kind: SignalKind, begin: u64, lines: &'l str) -> Vec<Batch<'l>> {
        let (mut batches, mut end, mut bytes) = (Vec::<Batch<'l>>::new(), begin, 0);
        for line in lines.split_inclusive('\n') {
            let at = end;
            end += line.len() as u64;
            let line = line.trim_end_matches('\n');
            let is_sent = at < self.sent.0[kind as usize];
            if is_sent || !self.endpoints.get(kind).is_on || kind_of(line) != Some(kind) {
                continue;
            }
            match batches.last_mut().filter(|batch| batch.lines.len() < LINES && bytes < BYTES) {
                Some(batch) => {
                    batch.lines.push(line);
                    batch.end = end;
                }
                None => {
                    batches.push(Batch { lines: vec![line], end });
                    bytes = 0;
                }
            }
            bytes += line.len();
        }
        batches
    }

    /// Sends lines of one kind. Returns whether they are done with: taken, or refused for good.
    fn send(&mut self, kind: SignalKind, lines: &[&str]) -> bool {
        let endpoint = self.endpoints.get(kind);
        let body = match encoded(kind, joined(kind, lines.iter().copied()), endpoint) {
            Ok(body) => body,
            Err(error) => return self.refuse(lines.len() as u64, error.to_string()),
        };
        match self.client.post(endpoint, &body, endpoint.timeout) {
            Answer::Taken { rejected: 0, .. } => true,
            Answer::Taken { rejected, message } => {
                self.refuse(rejected, format!("the collector rejected them: {message}"))
            }
            Answer::Invalid(reason) => self.refuse(lines.len() as u64, reason),
            // Another key or address may help.
            Answer::Refused(reason) | Answer::Later { reason, .. } => {
                self.away = Some(reason);
                false
            }
        }
    }

    fn refuse(&mut self, count: u64, reason: String) -> bool {
        let refused = self.refused.get_or_insert((0, reason));
        refused.0 += count;
        true
    }
}
