//! [`Outbox`]: sends pieces to the brokers, and receives their delivery reports.

use std::{
    mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use rdkafka::{
    ClientConfig, ClientContext,
    config::{FromClientConfigAndContext, RDKafkaLogLevel},
    error::{KafkaError, RDKafkaErrorCode as Code},
    producer::{BaseRecord, DeliveryResult, ProducerContext, ThreadedProducer},
};

use crate::{
    error::{Error, locked, report},
    exporter::Exporter,
    piece::Piece,
};

/// How long nothing must have been acknowledged before this is reported.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long the reason may arrive after the failure that it causes.
const REASON: Duration = Duration::from_secs(1);

/// The interval at which free space is checked.
const PAUSE: Duration = Duration::from_millis(10);

/// Identifies a piece: the number of its log in this run, and its number in that log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    pub(super) log: usize,
    pub(super) piece: u64,
}

/// Unacknowledged pieces. The outbox is bounded: while the brokers are unreachable it fills up, and senders wait.
pub(super) struct Outbox {
    producer: ThreadedProducer<Reporter>,
    reports: Arc<Mutex<Reports>>,
    topic: String,
    stop: Arc<AtomicBool>,
    /// How long nothing may be acknowledged.
    limit: Option<Duration>,
    /// The number of sent messages, and of heartbeats among them.
    sent: u64,
    heartbeats: u64,
    /// The number of bytes of sent pieces.
    bytes: u64,
    /// Since when pieces are unacknowledged.
    since: Instant,
    /// It was reported that the brokers are unreachable.
    is_away: bool,
    exporter: Option<Exporter>,
}

/// The reason why a piece was not sent.
pub(super) enum SendError {
    /// The run was told to end.
    Stopped,
    Failed(Error),
}

/// Delivery reports that were not processed yet.
struct Reports {
    acknowledged: Vec<Ticket>,
    /// The number of acknowledged messages, and of heartbeats among them.
    count: u64,
    heartbeats: u64,
    /// The time of the last acknowledgement, and of that of a piece.
    last: Option<Instant>,
    last_piece: Option<SystemTime>,
    failure: Option<Failure>,
    /// The current problem of the brokers or the connection.
    trouble: Option<String>,
}

/// The reason why nothing more can be sent.
struct Failure {
    code: Code,
    reason: String,
    /// The piece that could not be delivered, and its length.
    piece: Option<(Ticket, usize)>,
}

/// Receives delivery reports and errors.
struct Reporter(Arc<Mutex<Reports>>);

impl ClientContext for Reporter {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        tracing::debug!(target: "librdkafka", ?level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        let mut reports = locked(&self.0);
        match error.rdkafka_error_code() {
            Some(code @ Code::Fatal) => reports.fail(code, reason, None),
            // Credentials that never worked are not retried.
            Some(code @ Code::Authentication) if reports.count == 0 => {
                reports.fail(code, reason, None);
            }
            _ => reports.trouble = Some(reason.to_owned()),
        }
    }
}

impl ProducerContext for Reporter {
    /// The piece, or none for a heartbeat.
    type DeliveryOpaque = Box<Option<Ticket>>;

    fn delivery(&self, result: &DeliveryResult<'_>, ticket: Box<Option<Ticket>>) {
        let mut reports = locked(&self.0);
        match result {
            Ok(_) => {
                match *ticket {
                    Some(ticket) => {
                        reports.acknowledged.push(ticket);
                        reports.last_piece = Some(SystemTime::now());
                    }
                    None => reports.heartbeats += 1,
                }
                reports.count += 1;
                reports.last = Some(Instant::now());
                reports.trouble = None;
            }
            Err((error, message)) => {
                let code = error.rdkafka_error_code().unwrap_or(Code::Unknown);
                let piece = ticket.map(|ticket| (ticket, message.payload_len()));
                reports.fail(code, &error.to_string(), piece);
            }
        }
    }
}

impl Reports {
    /// The first failure is kept, unless it only refers to another failure.
    fn fail(&mut self, code: Code, reason: &str, piece: Option<(Ticket, usize)>) {
        let follows = |code| matches!(code, Code::Fatal | Code::PurgeQueue | Code::PurgeInflight);
        match &self.failure {
            Some(known) if !follows(known.code) || follows(code) => {}
            _ => self.failure = Some(Failure { code, reason: reason.to_owned(), piece }),
        }
    }
}

impl Outbox {
    pub(super) fn new(
        client: &ClientConfig,
        topic: String,
        max_message: usize,
        limit: Option<Duration>,
        stop: Arc<AtomicBool>,
        exporter: Option<Exporter>,
    ) -> Result<Self, Error> {
        let reports = Arc::new(Mutex::new(Reports {
            acknowledged: Vec::new(),
            count: 0,
            heartbeats: 0,
            last: None,
            last_piece: None,
            failure: None,
            trouble: None,
        }));
        let producer = ThreadedProducer::from_config_and_context(
            &settings(client, max_message),
            Reporter(reports.clone()),
        );
        let producer = producer
            .map_err(|error| Error::Cluster { doing: "start shipping".to_owned(), error })?;
        let since = Instant::now();
        Ok(Self {
            producer,
            reports,
            topic,
            stop,
            limit,
            sent: 0,
            heartbeats: 0,
            bytes: 0,
            since,
            is_away: false,
            exporter,
        })
    }

    /// Sends a heartbeat, unless the last one is not acknowledged yet.
    pub(super) fn send_heartbeat(&mut self, topic: &str, name: &str, heartbeat: &[u8]) {
        if locked(&self.reports).heartbeats < self.heartbeats {
            return;
        }
        if self.on_its_way() == 0 {
            self.since = Instant::now();
        }
        let record = BaseRecord::with_opaque_to(topic, Box::new(None)).key(name).payload(heartbeat);
        // There is no room while the brokers are unreachable.
        if self.producer.send(record).is_ok() {
            self.sent += 1;
            self.heartbeats += 1;
        }
    }

    /// The pieces that were sent, and their bytes.
    pub(super) fn sent(&self) -> (u64, u64) {
        (self.sent - self.heartbeats, self.bytes)
    }

    /// When the brokers last acknowledged a piece.
    pub(super) fn last_piece(&self) -> Option<SystemTime> {
        locked(&self.reports).last_piece
    }

    /// Reports that the program is not stuck, and whether the brokers answer.
    fn report(&self) {
        if let Some(exporter) = &self.exporter {
            exporter.report(self.is_away.then_some("the brokers do not answer"));
        }
    }

    /// Sends a piece; waits while there is no room for it.
    pub(super) fn send(&mut self, piece: &Piece<'_>, ticket: Ticket) -> Result<(), SendError> {
        let mut record = BaseRecord::with_opaque_to(&self.topic, Box::new(Some(ticket)))
            .key(piece.source.as_str())
            .payload(piece.bytes)
            .headers(piece.headers());
        if self.on_its_way() == 0 {
            self.since = Instant::now();
        }
        loop {
            let (error, back) = match self.producer.send(record) {
                Ok(()) => {
                    self.sent += 1;
                    self.bytes += piece.bytes.len() as u64;
                    return Ok(());
                }
                Err(unsent) => unsent,
            };
            let code = error.rdkafka_error_code().unwrap_or(Code::Unknown);
            if code != Code::QueueFull {
                let length = piece.bytes.len();
                locked(&self.reports).fail(code, &error.to_string(), Some((ticket, length)));
            }
            report_if_away(&self.reports, self.since, &mut self.is_away);
            self.report();
            self.check(|_| Some(piece.path.to_owned())).map_err(SendError::Failed)?;
            if self.stop.load(Ordering::Relaxed) {
                return Err(SendError::Stopped);
            }
            record = back;
            thread::sleep(PAUSE);
        }
    }

    /// The number of sent messages that are not acknowledged.
    pub(super) fn on_its_way(&self) -> u64 {
        self.sent - locked(&self.reports).count
    }

    /// The pieces acknowledged since the last call.
    pub(super) fn acknowledged(&mut self) -> Vec<Ticket> {
        if self.on_its_way() > 0 {
            report_if_away(&self.reports, self.since, &mut self.is_away);
        }
        let acknowledged = mem::take(&mut locked(&self.reports).acknowledged);
        if !acknowledged.is_empty() && mem::take(&mut self.is_away) {
            report("the brokers are back");
        }
        self.report();
        acknowledged
    }

    /// Fails if nothing was acknowledged for too long.
    fn check_progress(&self) -> Result<(), Error> {
        let silent = progress(&locked(&self.reports), self.since).elapsed();
        match self.limit {
            Some(limit) if silent >= limit && self.on_its_way() > 0 => {
                Err(Error::Shipping(format!(
                    "the brokers have acknowledged nothing for {} seconds: {} messages are not acknowledged; the next run \
                 resumes after the acknowledged ones",
                    limit.as_secs(),
                    self.on_its_way()
                )))
            }
            _ => Ok(()),
        }
    }

    /// Fails if a sent piece cannot be delivered. `path` returns the path of a log.
    pub(super) fn check(&self, path: impl FnOnce(usize) -> Option<String>) -> Result<(), Error> {
        let failed = || locked(&self.reports).failure.as_ref().map(|failure| failure.code);
        let Some(mut code) = failed() else { return self.check_progress() };
        // Waits for the report of the piece that made the client give up.
        let begun = Instant::now();
        while code == Code::Fatal && begun.elapsed() < REASON {
            thread::sleep(PAUSE);
            code = failed().unwrap_or(code);
        }
        let failure = locked(&self.reports).failure.take();
        let Some(Failure { reason, piece, .. }) = failure else { return Ok(()) };
        let what = piece.and_then(|(ticket, _)| path(ticket.log));
        let what = what.unwrap_or_else(|| "the logs".to_owned());
        let topic = &self.topic;
        let advice = match (code, piece) {
            (Code::MessageSizeTooLarge, Some((_, length))) => format!(
                "; a message of {length} bytes exceeds their limit: lower --max-message, or raise \
                 max.message.bytes of the topic {topic}"
            ),
            (Code::UnknownTopic | Code::UnknownTopicOrPartition, _) => format!(
                "; the topic {topic} does not exist, or this user may not see it; run `foldline-fleet init`"
            ),
            (Code::TopicAuthorizationFailed | Code::ClusterAuthorizationFailed, _) => {
                format!("; this user may not write to the topic {topic}")
            }
            _ => String::new(),
        };
        Err(Error::Shipping(format!("the brokers reject {what}: {reason}{advice}")))
    }
}

/// The time of the last acknowledgement, or else since when pieces are unacknowledged.
fn progress(reports: &Reports, since: Instant) -> Instant {
    reports.last.map_or(since, |last| last.max(since))
}

/// Reports once that the brokers are unreachable, if pieces were unacknowledged for a while without progress.
fn report_if_away(reports: &Mutex<Reports>, since: Instant, is_away: &mut bool) {
    let reports = locked(reports);
    if *is_away || progress(&reports, since).elapsed() < PATIENCE {
        return;
    }
    *is_away = true;
    let why = reports.trouble.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    report(&format!(
        "the brokers do not answer{why}; nothing is lost, shipping resumes when they answer"
    ));
}

/// The settings of the producer: ordered, with unlimited retries.
fn settings(client: &ClientConfig, max_message: usize) -> ClientConfig {
    let mut config = client.clone();
    config
        .set("enable.idempotence", "true")
        .set("acks", "all")
        // Nothing is sent after an undeliverable piece.
        .set("enable.gapless.guarantee", "true")
        .set("message.timeout.ms", "0")
        // The default of other clients.
        .set("partitioner", "murmur2_random");
    // Leaves room for key and headers.
    let largest = (max_message + (64 << 10)).clamp(1_000_000, 1_000_000_000).to_string();
    let batch = max_message.min(1_000_000_000).to_string();
    let defaults = [
        // A batch of several messages is no larger than a single message may be.
        ("batch.size", batch.as_str()),
        ("compression.type", "zstd"),
        ("linger.ms", "20"),
        ("message.max.bytes", largest.as_str()),
        ("queue.buffering.max.kbytes", "16384"),
        ("queue.buffering.max.messages", "20000"),
        ("reconnect.backoff.max.ms", "2000"),
    ];
    for (name, value) in defaults {
        if client.get(name).is_none() {
            config.set(name, value);
        }
    }
    config
}
