//! [`Collector`]: a thread that sends lines to a collector; [`OtlpWriter`]: the writer of those lines.

use std::{
    io::{self, Write},
    sync::Arc,
    thread,
    time::Duration,
};

use foldline_render::human;

use super::{
    endpoint::{Endpoints, SignalKind},
    post::{Answer, Poster, encoded, joined, kind_of},
    queue::{Portion, Queue},
};
use crate::say::say;

/// The first delay before another attempt, and the longest one. Each is twice the one before.
const SOON: Duration = Duration::from_millis(500);
const LATE: Duration = Duration::from_secs(30);

/// Lines that are sent to a collector, on a thread of their own.
pub(crate) struct Collector {
    queue: Arc<Queue>,
    name: String,
    patience: Duration,
    is_finished: bool,
}

impl Collector {
    /// Starts to send what is written to the writer. A patient one waits for a collector that takes what it gets.
    pub(crate) fn start(endpoints: Endpoints, is_patient: bool) -> (Self, OtlpWriter) {
        let queue = Arc::new(Queue::new(is_patient));
        let (name, patience) = (endpoints.to_string(), endpoints.patience());
        let kinds = SignalKind::ALL.map(|kind| endpoints.get(kind).is_on);
        let sender = Sender { queue: Arc::clone(&queue), endpoints, client: Poster::new() };
        thread::spawn(move || sender.run());
        let writer = OtlpWriter { queue: Arc::clone(&queue), kinds, line: Vec::new() };
        (Self { queue, name, patience, is_finished: false }, writer)
    }

    /// Waits until everything was sent, for the time of a request at most.
    ///
    /// # Errors
    /// Something was not delivered. The message counts it.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.deliver()
    }

    fn deliver(&mut self) -> io::Result<()> {
        self.is_finished = true;
        let undelivered = self.queue.finish(self.patience);
        let counted = SignalKind::ALL.into_iter().zip(undelivered.counts);
        let counts: Vec<_> = counted
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| human::number_of(count, kind.things()))
            .collect();
        if counts.is_empty() {
            return Ok(());
        }
        let reason = undelivered.reason.unwrap_or_else(|| "there was no answer in time".to_owned());
        let message = format!("{} not delivered to {}: {reason}", counts.join(", "), self.name);
        Err(io::Error::other(message))
    }
}

/// A run that another output has ended sends what there is, too.
impl Drop for Collector {
    fn drop(&mut self) {
        if !self.is_finished
            && let Err(error) = self.deliver()
        {
            say(&error.to_string());
        }
    }
}

/// Takes lines, and never fails: the collector is another program, which may be away.
pub(crate) struct OtlpWriter {
    queue: Arc<Queue>,
    /// Whether each kind of signal is sent.
    kinds: [bool; 3],
    /// The beginning of a line whose end has not been written yet.
    line: Vec<u8>,
}

impl Write for OtlpWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.pop_if(|last| *last == b'\n').is_none() {
                continue;
            }
            let line =
                String::from_utf8(std::mem::take(&mut self.line)).map_err(io::Error::other)?;
            let kind = kind_of(&line).ok_or_else(|| io::Error::other("this is not OTLP/JSON"))?;
            if self.kinds[kind as usize] {
                self.queue.push(kind, line);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The state of the thread.
struct Sender {
    queue: Arc<Queue>,
    endpoints: Endpoints,
    client: Poster,
}

impl Sender {
    fn run(self) {
        while let Some(portion) = self.queue.take() {
            self.send(&portion);
        }
        self.queue.end();
    }

    /// Sends lines until the collector takes or refuses them, or there is no time.
    fn send(&self, Portion { kind, lines }: &Portion) {
        let endpoint = self.endpoints.get(*kind);
        let body = joined(*kind, lines.iter().map(String::as_str));
        let body = match encoded(*kind, body, endpoint) {
            Ok(body) => body,
            Err(error) => return self.queue.note(error.to_string()),
        };
        let mut delay = SOON;
        loop {
            let most = self.queue.remaining().unwrap_or(endpoint.timeout);
            match self.client.post(endpoint, &body, most) {
                Answer::Taken { rejected, message } => {
                    self.queue.delivered(*kind, (lines.len() as u64).saturating_sub(rejected));
                    if rejected > 0 {
                        self.queue.note(format!("the collector rejected them: {message}"));
                    }
                    return;
                }
                Answer::Refused(reason) | Answer::Invalid(reason) => {
                    return self.queue.note(reason);
                }
                Answer::Later { after, reason } => {
                    self.queue.note(reason);
                    if !self.queue.wait(after.unwrap_or(delay), after.is_some()) {
                        return;
                    }
                    delay = (delay * 2).min(LATE);
                }
            }
        }
    }
}
