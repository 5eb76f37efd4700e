//! [`Lane`]: one partition of a worker, from the lines of logs to a commit.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ops::RangeInclusive,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use foldline::{
    conversation::Json,
    executors::Registry,
    ledger::{CommitError, Ledger, Mark, SourceName},
    transduce::Fault,
};
use rdkafka::{
    Message, Offset,
    consumer::{BaseConsumer, Consumer},
};

use super::{
    counts::{Counts, Progress},
    group::Group,
    outgoing::Target,
    source::{Source, Taken},
};
use crate::{
    deleted::{DELETED, Deleted, Range},
    error::Error,
    ledger::{Cluster, INPUT, KafkaLedger, KafkaLedgerError, Place},
    piece::Piece,
    record::Unfolded,
    say::say,
    topics::Topics,
};

/// Bytes of logs that all lanes of a worker together fold before they commit: this bounds its memory.
const BYTES: usize = 16 << 20;

/// The minimum and maximum share of one lane.
const BYTES_SHARE: RangeInclusive<usize> = 512 << 10..=4 << 20;

/// Bytes of output messages per byte of log after which a commit is due.
const GROWTH: usize = 4;

/// The maximum time between commits.
const LONGEST: Duration = Duration::from_secs(2);

/// The time after which a commit is due if no more messages wait: then it delays nothing.
const IDLE: Duration = Duration::from_millis(100);

/// The number of sources that all lanes of a worker keep in memory between commits; the others are restored from
/// their stored states.
const OPEN: usize = 1024;

/// Timeout of a request to the brokers.
const REQUEST: Duration = Duration::from_secs(10);

/// The minimum and maximum share of one lane.
const OPEN_SHARE: RangeInclusive<usize> = 32..=512;

/// Data shared by the lanes of a worker.
pub(super) struct Shared {
    pub(super) registry: Registry,
    pub(super) cluster: Cluster,
    pub(super) consumer: Arc<BaseConsumer<Group>>,
    pub(super) topics: Topics,
    /// Whether patches are produced.
    pub(super) patches: bool,
    /// Prefix of the transactional ids.
    pub(super) group: String,
    /// The number of lanes.
    pub(super) lanes: AtomicUsize,
}

impl Shared {
    /// The number of bytes of logs after which a lane commits.
    fn bytes(&self) -> usize {
        self.share(BYTES, &BYTES_SHARE)
    }

    /// The number of sources that a lane keeps in memory.
    fn open(&self) -> usize {
        self.share(OPEN, &OPEN_SHARE)
    }

    fn share(&self, all: usize, within: &RangeInclusive<usize>) -> usize {
        let lanes = self.lanes.load(Ordering::Relaxed).max(1);
        (all / lanes).clamp(*within.start(), *within.end())
    }
}

/// The processing of one partition.
pub(super) struct Lane {
    partition: i32,
    ledger: KafkaLedger,
    target: Arc<Target>,
    sources: HashMap<SourceName, Open>,
    /// Sources that this worker does not fold.
    refused: HashSet<SourceName>,
    /// Sources that were changed since the last commit, in the order of their first change.
    touched: Vec<SourceName>,
    /// The marks that change with the next commit: the reason why a source is not folded, or `None` if it is folded
    /// again.
    notes: BTreeMap<SourceName, Option<Unfolded>>,
    /// The offset of the next message.
    next: Option<i64>,
    /// When the last message was sent.
    sent_at: Option<i64>,
    /// The committed offset.
    committed: i64,
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
    is_told: bool,
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
        let Topics { events, patches, state, .. } = &shared.topics;
        let place = Place { topic: state.clone(), partition };
        let id = format!("{}.{partition}", shared.group);
        let ledger = KafkaLedger::open(&shared.cluster, place, &id)?;
        let patches = shared.patches.then(|| patches.as_str().into());
        let target = Arc::new(Target { events: events.as_str().into(), patches, partition });
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
            touched: Vec::new(),
            notes: BTreeMap::new(),
            next: None,
            sent_at: None,
            committed: 0,
            deleted: Deleted::default(),
            batch: Batch::default(),
            commits: 0,
            counts,
        })
    }

    /// The offset from which the logs are read.
    pub(super) fn start(&mut self, shared: &Shared) -> Result<Offset, Error> {
        let mark = self.ledger.mark(INPUT)?;
        self.next = mark.and_then(|mark| mark.get().parse().ok());
        self.deleted = Deleted::stored(self.ledger.mark(DELETED)?);
        self.find_deleted(shared)?;
        self.committed = self.next.unwrap_or(0);
        Ok(self.next.map_or(Offset::Beginning, Offset::Offset))
    }

    /// Records the messages that were deleted before they were folded, if there are any.
    fn find_deleted(&mut self, shared: &Shared) -> Result<(), Error> {
        let (logs, partition) = (&shared.topics.logs, self.partition);
        let first = shared.consumer.fetch_watermarks(logs, partition, REQUEST).map_err(|error| {
            let doing = "read the first offset of a partition";
            Error::KafkaLedger(KafkaLedgerError::Cluster { doing, error })
        });
        let (first, _) = first?;
        if let Some(range) = Range::before(first, self.next) {
            say(&format!(
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
        self.batch.since.get_or_insert_with(Instant::now);
        let Some(piece) = Piece::read(message) else {
            self.counts.foreign += 1;
            if self.counts.foreign == 1 {
                let Self { partition, .. } = self;
                say(&format!(
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
                self.sources.remove(&piece.source);
                self.refuse(&piece, format!("at {place}: {fault}; the rest of it is not folded"));
                Ok(())
            }
        }
    }

    /// Folds a piece.
    fn fold(&mut self, shared: &Shared, piece: &Piece<'_>, offset: i64) -> Result<(), Error> {
        let Self { ledger, sources, touched, notes, target, commits, committed, .. } = self;
        let Piece { source: name, path, place, .. } = piece;
        if !sources.contains_key(name) {
            let stored = ledger.load(name).map_err(Error::from);
            let opened = stored.and_then(|it| Source::open(&shared.registry, target, piece, it));
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
            let noted = ledger.mark(&Unfolded::mark(name))?;
            let is_noted = noted.is_some_and(|note| note.get() != "null");
            let used = *commits;
            let open = Open { source, used, is_told: false, is_noted, is_touched: false };
            sources.insert(name.clone(), open);
        }
        let Some(open) = sources.get_mut(name) else { return Ok(()) };
        open.used = *commits;
        let before = open.source.pending_size();
        let taken = open.source.take(piece, offset)?;
        let note = match taken {
            Taken::Gap(expected) => Some(format!(
                "bytes from {expected} to {place} are missing; later bytes are not folded until the missing ones \
                 are shipped again"
            )),
            Taken::Late => Some(
                "it was declared complete, but continues; the new data is not folded".to_owned(),
            ),
            Taken::Folded | Taken::Known => None,
        };
        match taken {
            Taken::Folded => {
                open.is_told = false;
                if std::mem::take(&mut open.is_noted) {
                    notes.insert(name.clone(), None);
                }
                if !std::mem::replace(&mut open.is_touched, true) {
                    touched.push(name.clone());
                }
                self.batch.size += open.source.pending_size().saturating_sub(before);
            }
            Taken::Known => self.counts.known += 1,
            Taken::Gap(_) | Taken::Late => {
                self.counts.gaps += 1;
            }
        }
        if let Some(note) = note
            && !std::mem::replace(&mut open.is_told, true)
        {
            say(&format!("{name} ({path}): {note}"));
            open.is_noted = true;
            let unfolded = unfolded(ledger, name, note, *committed);
            notes.insert(name.clone(), Some(unfolded));
        }
        Ok(())
    }

    /// Stops folding a source, and reports why.
    fn refuse(&mut self, piece: &Piece<'_>, note: String) {
        let Piece { source, path, .. } = piece;
        say(&format!("{source} ({path}): {note}"));
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

    /// Whether a commit is due; `is_idle` means that no messages wait.
    pub(super) fn is_due(&self, shared: &Shared, is_idle: bool) -> bool {
        let Batch { bytes, size, since } = self.batch;
        let share = shared.bytes();
        let longest = if is_idle { IDLE } else { LONGEST };
        bytes >= share
            || size >= GROWTH * share
            || self.touched.len() >= *OPEN_SHARE.end()
            || since.is_some_and(|since| since.elapsed() >= longest)
    }

    /// Commits folded data: messages, states and the input offset. Returns the offset if there was anything to
    /// commit.
    pub(super) fn commit(&mut self, shared: &Shared) -> Result<Option<i64>, Error> {
        let Some(next) = self.next.filter(|_| self.batch.since.is_some()) else { return Ok(None) };
        let begun = Instant::now();
        let mut commits = Vec::new();
        for name in self.touched.drain(..) {
            let Some(open) = self.sources.get_mut(&name) else { continue };
            open.is_touched = false;
            commits.extend(open.source.cut()?);
        }
        // A line that is too long for the state is read again from the first message that is not in it.
        let open = self.sources.values().filter_map(|open| open.source.begun()).min();
        let next = open.map_or(next, |open| open.min(next));
        let state = Json::of(&next).map_err(|error| Error::Output(error.into()))?;
        let mut marks = vec![Mark { name: INPUT.to_owned(), state }];
        marks.extend(self.deleted.mark(DELETED.to_owned())?);
        for (source, note) in std::mem::take(&mut self.notes) {
            let state = Json::of(&note).map_err(|error| Error::Output(error.into()))?;
            marks.push(Mark { name: Unfolded::mark(&source), state });
        }
        self.ledger.commit(&commits, &marks).map_err(|error| match error {
            // Only this ledger commits to its partition.
            CommitError::Moved { .. } => Error::KafkaLedger(KafkaLedgerError::Fenced),
            CommitError::Failed(error) => Error::KafkaLedger(error),
        })?;
        self.deleted.committed();
        self.committed = next;
        self.batch = Batch::default();
        self.commits += 1;
        self.counts.commits += 1;
        self.counts.committing += begun.elapsed();
        self.counts.sources = self.ledger.sources().count();
        self.forget_idle(shared.open());
        Ok(Some(next))
    }

    /// Drops the least recently used sources if there are more than `most`.
    fn forget_idle(&mut self, most: usize) {
        if self.sources.len() <= most {
            return;
        }
        let mut used: Vec<_> = self
            .sources
            .iter()
            .filter(|(_, open)| open.source.begun().is_none())
            .map(|(name, open)| (open.used, name.clone()))
            .collect();
        used.sort_unstable();
        for (_, name) in used.into_iter().take(self.sources.len() - most / 2) {
            self.sources.remove(&name);
        }
    }
}

/// The mark of a source that is not folded from now on, or already was not.
fn unfolded(ledger: &mut KafkaLedger, source: &SourceName, note: String, from: i64) -> Unfolded {
    let earlier = ledger.mark(&Unfolded::mark(source)).ok().flatten();
    let earlier = earlier.as_ref().and_then(Unfolded::read);
    Unfolded { note, from: earlier.map_or(from, |earlier| earlier.from.min(from)) }
}
