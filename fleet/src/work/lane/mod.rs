//! [`Lane`]: one partition of a worker, from the lines of logs to a commit.

mod committing;
mod rebuilding;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use foldline::{
    ledger::{Ledger, SourceName},
    transduce::Fault,
};
use foldline_domain::Json;
use rdkafka::{Message, Offset, consumer::Consumer};

use super::{
    expiry::Expiry,
    figures::{Counts, Progress},
    group::Shared,
    outgoing::Target,
    source::{PieceResult, Source},
    unsaved::{Sent, Unsaved},
};
use crate::{
    error::{Error, report},
    ledger::{self, INPUT, KafkaLedger, KafkaLedgerError},
    marks::{DELETED, Deleted, Range, Unfolded},
    piece::{Piece, Place},
    settings::Topics,
};

/// The mark with the offset from which the next owner reads the logs: sources are folded again from their stored states.
const AGAIN: &str = "again";

/// Timeout of a request to the brokers.
const REQUEST: Duration = Duration::from_secs(10);

/// The processing of one partition.
pub(super) struct Lane {
    partition: i32,
    ledger: KafkaLedger,
    target: Arc<Target>,
    sources: HashMap<SourceName, Open>,
    /// Sources that this worker does not fold.
    refused: HashSet<SourceName>,
    /// Sources whose stored state is behind their events.
    unsaved: Unsaved,
    /// Sources of which more was sent than their stored state covers, when the partition was taken over.
    sent: Sent,
    expiry: Expiry,
    /// Sources that were changed since the last commit, in the order of their first change.
    touched: Vec<SourceName>,
    /// The marks that change with the next commit: the reason why a source is not folded, or `None` if it is folded
    /// again.
    notes: BTreeMap<SourceName, Option<Unfolded>>,
    /// The offset of the next message.
    next: Option<i64>,
    /// The offset up to which all messages were folded, by this owner or an earlier one.
    folded: i64,
    /// The same, when the partition was taken over, until all messages before it are folded again.
    begun: i64,
    /// When the last message was sent.
    sent_at: Option<i64>,
    /// The committed offset from which the next owner reads.
    committed: i64,
    /// When the last message arrived, and when the last commit ended.
    heard: Instant,
    ended: Instant,
    /// Messages that were deleted before they were folded.
    deleted: Deleted,
    /// Folded data that is not committed.
    batch: Batch,
    commits: u64,
    counts: Counts,
}

struct Open {
    source: Source,
    /// The number of the commit before which the source was last used.
    used: u64,
    /// The gap was reported.
    is_reported: bool,
    /// A mark states that the source is not folded.
    is_noted: bool,
    is_touched: bool,
}

#[derive(Default)]
struct Batch {
    bytes: usize,
    size: usize,
    since: Option<Instant>,
}

impl Lane {
    /// Takes over a partition: fences its previous owner, and reads its states.
    pub(super) fn take_over(shared: &Shared, partition: i32) -> Result<Self, Error> {
        let begun = Instant::now();
        let Topics { events, patches, state, checkpoints, .. } = &shared.topics;
        let place = ledger::Place { topic: state.clone(), partition };
        let id = format!("{}.{partition}", shared.group);
        let mut ledger = KafkaLedger::open(&shared.cluster, place, &id)?;
        let place = ledger::Place { topic: checkpoints.clone(), partition };
        let patches = shared.patches.then(|| patches.as_str().into());
        let [events, checkpoints] = [events, checkpoints].map(|name| name.as_str().into());
        let target = Arc::new(Target { events, patches, checkpoints, partition });
        if shared.rebuild {
            rebuilding::rebuild(shared, &mut ledger, &target)?;
        }
        let sent = Sent::read(&shared.cluster, &place, &ledger)?;
        let counts = Counts {
            restoring: begun.elapsed(),
            sources: ledger.sources().count(),
            ..Counts::default()
        };
        Ok(Self {
            partition,
            ledger,
            target,
            sources: HashMap::new(),
            refused: HashSet::new(),
            unsaved: Unsaved::default(),
            sent,
            expiry: Expiry::default(),
            touched: Vec::new(),
            notes: BTreeMap::new(),
            next: None,
            folded: 0,
            begun: 0,
            sent_at: None,
            committed: 0,
            heard: Instant::now(),
            ended: Instant::now(),
            deleted: Deleted::default(),
            batch: Batch::default(),
            commits: 0,
            counts,
        })
    }

    /// The offset from which the logs are read.
    pub(super) fn start(&mut self, shared: &Shared) -> Result<Offset, Error> {
        let offset = |mark: Option<Json>| mark.and_then(|mark| mark.get().parse::<i64>().ok());
        let folded = offset(self.ledger.mark(INPUT)?);
        let again = offset(self.ledger.mark(AGAIN)?);
        self.folded = folded.unwrap_or(0);
        self.begun = self.folded;
        self.expiry = Expiry::read(&mut self.ledger)?;
        self.next = folded.map(|folded| again.map_or(folded, |again| again.min(folded)));
        self.deleted = Deleted::stored(self.ledger.mark(DELETED)?);
        self.find_deleted(shared)?;
        self.committed = self.next.unwrap_or(0);
        Ok(self.next.map_or(Offset::Beginning, Offset::Offset))
    }

    /// Records the messages that were deleted before they were folded, if there are any.
    fn find_deleted(&mut self, shared: &Shared) -> Result<(), Error> {
        let (logs, partition) = (&shared.topics.logs, self.partition);
        let first = first_offset(shared, partition)?;
        if let Some(range) = Range::before(first, self.next) {
            report(&format!(
                "partition {partition} of {logs}: {range} were deleted before they were folded"
            ));
            self.deleted.add(range);
            self.counts.deleted += range.length();
            self.next = Some(first);
            self.batch.since.get_or_insert_with(Instant::now);
        }
        Ok(())
    }

    /// Folds a message.
    pub(super) fn take(&mut self, shared: &Shared, message: &impl Message) -> Result<(), Error> {
        let offset = message.offset();
        if offset > self.next.unwrap_or(0) {
            self.find_deleted(shared)?;
        }
        self.next = Some(offset + 1);
        self.sent_at = message.timestamp().to_millis();
        if self.begun > 0 && offset + 1 >= self.begun {
            self.unsaved.caught_up(std::mem::take(&mut self.begun));
        }
        self.heard = Instant::now();
        self.batch.since.get_or_insert(self.heard);
        let Some(piece) = Piece::read(message) else {
            self.counts.foreign += 1;
            if self.counts.foreign == 1 {
                let Self { partition, .. } = self;
                report(&format!(
                    "partition {partition}, offset {offset}: not a piece of a log; skipped"
                ));
            }
            return Ok(());
        };
        self.counts.pieces += 1;
        self.counts.bytes += piece.bytes.len() as u64;
        self.batch.bytes += piece.bytes.len();
        if self.refused.contains(&piece.source) {
            self.counts.gaps += 1;
            return Ok(());
        }
        // Executors of other crates may panic. After a panic, only the committed state of the source is kept.
        match catch_unwind(AssertUnwindSafe(|| self.fold(shared, &piece, offset))) {
            Ok(folded) => folded,
            Err(panic) => {
                let place = &piece.place;
                let fault = Fault::of(&*panic);
                self.refuse(&piece, format!("at {place}: {fault}; the rest of it is not folded"));
                Ok(())
            }
        }
    }

    /// Folds a piece.
    fn fold(&mut self, shared: &Shared, piece: &Piece<'_>, offset: i64) -> Result<(), Error> {
        let Self { ledger, sources, touched, notes, target, commits, committed, .. } = self;
        let bytes = self.counts.bytes;
        let Piece { source: name, path, place, .. } = piece;
        if !sources.contains_key(name) {
            // A released source has a mark without a note.
            let noted = ledger.mark(&Unfolded::mark(name))?;
            let is_unknown = !ledger.has(name) && !self.sent.has(name) && noted.is_none();
            if is_unknown && piece.created.is_some_and(|at| self.expiry.may_have_expired(at)) {
                let note = "its file is older than sources that have expired, so it may be one of them and its \
                            events known; release it to fold it";
                self.refuse(piece, note.to_owned());
                return Ok(());
            }
            let sent = match self.sent.extent(name) {
                Ok(sent) => sent,
                Err(reason) => {
                    let note = format!(
                        "its checkpoint cannot be read: {reason}; nothing more of it is folded"
                    );
                    self.refuse(piece, note);
                    return Ok(());
                }
            };
            let stored = ledger.load(name).map_err(Error::from);
            let opened =
                stored.and_then(|it| Source::open(&shared.registry, target, piece, it, sent));
            let source = match opened {
                Ok(Some(source)) => source,
                Ok(None) => {
                    let format = piece.format;
                    let note = format!(
                        "this worker does not support the format {format:?}; start newer workers, and release it"
                    );
                    self.refuse(piece, note);
                    return Ok(());
                }
                // Only this source is affected.
                Err(
                    error @ (Error::State { .. }
                    | Error::KafkaLedger(KafkaLedgerError::Damaged { .. })),
                ) => {
                    self.refuse(piece, format!("{error}; nothing more of it is folded"));
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            let is_noted = noted.is_some_and(|note| note.get() != "null");
            let used = *commits;
            let open = Open { source, used, is_reported: false, is_noted, is_touched: false };
            sources.insert(name.clone(), open);
        }
        let Some(open) = sources.get_mut(name) else { return Ok(()) };
        open.used = *commits;
        let before = open.source.pending_size();
        let taken = match open.source.take(piece, offset) {
            Err(error @ Error::State { .. }) => {
                self.refuse(piece, format!("{error}; nothing more of it is folded"));
                return Ok(());
            }
            taken => taken?,
        };
        let note = match taken {
            PieceResult::Gap(Place { file: 0, offset: 0 }) => Some(format!(
                "its bytes before {place} are missing: they were never shipped, or the log was complete and has expired; \
                 later bytes are not folded until the log is shipped again"
            )),
            PieceResult::Gap(expected) => Some(format!(
                "bytes from {expected} to {place} are missing; later bytes are not folded until the missing ones \
                 are shipped again"
            )),
            PieceResult::Late => Some(
                "it was declared complete, but continues; the new data is not folded".to_owned(),
            ),
            PieceResult::Folded | PieceResult::Known => None,
        };
        match taken {
            PieceResult::Folded => {
                open.is_reported = false;
                self.unsaved.add(name, offset, bytes);
                if std::mem::take(&mut open.is_noted) {
                    notes.insert(name.clone(), None);
                }
                if !std::mem::replace(&mut open.is_touched, true) {
                    touched.push(name.clone());
                }
                self.batch.size += open.source.pending_size().saturating_sub(before);
            }
            PieceResult::Known => self.counts.known += 1,
            PieceResult::Gap(_) | PieceResult::Late => {
                self.counts.gaps += 1;
            }
        }
        if let Some(note) = note
            && !std::mem::replace(&mut open.is_reported, true)
        {
            report(&format!("{name} ({path}): {note}"));
            open.is_noted = true;
            let unfolded = unfolded(ledger, name, note, *committed);
            notes.insert(name.clone(), Some(unfolded));
        }
        Ok(())
    }

    /// Stops folding a source, and reports why. What is not committed of it is dropped.
    fn refuse(&mut self, piece: &Piece<'_>, note: String) {
        let Piece { source, path, .. } = piece;
        self.sources.remove(source);
        self.unsaved.remove(source);
        report(&format!("{source} ({path}): {note}"));
        let unfolded = unfolded(&mut self.ledger, source, note, self.committed);
        self.notes.insert(source.clone(), Some(unfolded));
        self.refused.insert(source.clone());
        self.counts.gaps += 1;
    }

    /// The progress of the lane.
    pub(super) fn progress(&self) -> Progress {
        Progress {
            counts: self.counts,
            open: self.sources.len(),
            next: self.next,
            sent_at: self.sent_at,
        }
    }
}

/// The offset of the first retained message of a partition of the logs.
fn first_offset(shared: &Shared, partition: i32) -> Result<i64, Error> {
    let ends = shared.consumer.fetch_watermarks(&shared.topics.logs, partition, REQUEST);
    let doing = "read the first offset of a partition";
    let fail = |error| Error::KafkaLedger(KafkaLedgerError::Cluster { doing, error });
    ends.map(|(first, _)| first).map_err(fail)
}

/// The mark of a source that is not folded from now on, or already was not.
fn unfolded(ledger: &mut KafkaLedger, source: &SourceName, note: String, from: i64) -> Unfolded {
    let earlier = ledger.mark(&Unfolded::mark(source)).ok().flatten();
    let earlier = earlier.as_ref().and_then(Unfolded::read);
    Unfolded { note, from: earlier.map_or(from, |earlier| earlier.from.min(from)) }
}
