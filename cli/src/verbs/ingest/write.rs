//! [`Writer`]: writes to the database, on one thread.

use foldline::ledger::{Commit, Ledger as _, Receipt};
use foldline_database::{
    Rows,
    query::SessionFilter,
    sqlite::{Database, Replacement},
};
use foldline_domain::Timestamp;
use indicatif::ProgressBar;

use super::{
    maintenance::MaintenanceThread,
    plan::{Plan, Start},
    read::{End, Piece, Segment},
    summary::{Skipped, Summary},
};
use crate::{
    answer::status,
    error::Error,
    outputs::{Outputs, OutputsState},
    sink::{SinkOptions, totals_points},
};

/// The bytes of logs per write, unless one commit has more.
const BATCH: u64 = 4 << 20;

/// The approximate memory limit of their rows, in bytes, unless one commit needs more.
const SIZE: usize = 6 << 20;

/// The largest number of commits per write.
const COMMITS: usize = 256;

/// The bytes of side outputs per transaction, unless one commit has more.
const STAGED: usize = 4 << 20;

/// The approximate bytes of logs per transaction: longer transactions rewrite fewer pages.
const TRANSACTION: u64 = 16 << 20;

/// Writes the commits of the readers, in the order of the files.
pub(super) struct Writer {
    database: Database,
    maintenance: MaintenanceThread,
    progress: ProgressBar,
    summary: Summary,
    outputs: Outputs,
    pending: Vec<Commit<Rows>>,
    pending_bytes: u64,
    pending_size: usize,
    /// The bytes of logs that are written but not committed yet, if any.
    ahead: Option<u64>,
    /// The replacement of the stored rows of the current file.
    replacing: Option<Replacing>,
}

/// A replacement, and the earlier state of the outputs and the receipt.
struct Replacing {
    replacement: Replacement,
    outputs: OutputsState,
    receipt: Receipt,
}

impl Writer {
    pub(super) fn new(
        database: Database,
        maintenance: MaintenanceThread,
        outputs: Outputs,
        progress: ProgressBar,
        summary: Summary,
    ) -> Self {
        Self {
            database,
            maintenance,
            progress,
            summary,
            outputs,
            pending: Vec::new(),
            pending_bytes: 0,
            pending_size: 0,
            ahead: None,
            replacing: None,
        }
    }

    /// Writes the next piece. All events of all files pass here once and in order, whatever the number of
    /// threads, so the side outputs are written here.
    pub(super) fn take(&mut self, plan: &Plan, piece: Piece) -> Result<(), Error> {
        match piece {
            Piece::Replace => self.begin_replacing(plan)?,
            Piece::Segment(segment) => self.segment(*segment)?,
            Piece::LongLine => self.flush()?,
            Piece::End(End { mid_line, has_news, failures }) => {
                self.end_replacing()?;
                self.summary.mid_line += u64::from(mid_line);
                match plan.start {
                    _ if !has_news => self.summary.unchanged += 1,
                    Start::New => self.summary.new += 1,
                    Start::Resume(_) => self.summary.grown += 1,
                    Start::Update(_) => self.summary.moved += 1,
                    Start::Again(_) => self.summary.again += 1,
                }
                for (name, reason) in failures {
                    self.summary.fail(&plan.path, format!("the output {name} failed: {reason}"));
                    self.outputs.fail(name, reason);
                }
            }
            Piece::Failed(error) => {
                self.undo_replacing()?;
                match error {
                    Error::Unrecognised { .. } | Error::NotALog { .. } => {
                        self.summary.skip(&plan.path, Skipped::Unrecognised);
                    }
                    Error::Unsupported { format, .. } => {
                        self.summary.skip(&plan.path, Skipped::Unsupported(format));
                    }
                    error => self.summary.fail(&plan.path, error.reason()),
                }
            }
        }
        Ok(())
    }

    /// Writes a commit, now or with those that follow it.
    pub(super) fn segment(&mut self, segment: Segment) -> Result<(), Error> {
        let Segment { commit, records, gathered, bytes } = segment;
        self.outputs.add(records.as_ref(), gathered, &self.database)?;
        self.pending_bytes += bytes;
        self.pending_size += commit.output.size();
        match self.pending.last_mut() {
            Some(last) if last.goes_on_with(&commit) => last.append(commit, Rows::append),
            _ => self.pending.push(commit),
        }
        if self.pending_bytes >= BATCH
            || self.pending_size >= SIZE
            || self.pending.len() >= COMMITS
            || self.outputs.staged_length() >= STAGED
        {
            self.flush()?;
        }
        Ok(())
    }

    /// Replaces the stored rows of the file by its following output, in one transaction.
    fn begin_replacing(&mut self, plan: &Plan) -> Result<(), Error> {
        self.flush()?;
        self.commit_ahead()?;
        let replacement = self.database.begin_replacing(&plan.name)?;
        let (outputs, receipt) = (self.outputs.state(), self.summary.receipt);
        self.replacing = Some(Replacing { replacement, outputs, receipt });
        Ok(())
    }

    fn end_replacing(&mut self) -> Result<(), Error> {
        if self.replacing.is_some() {
            self.flush()?;
        }
        if let Some(Replacing { replacement, .. }) = self.replacing.take() {
            self.database.end_replacing(replacement)?;
            self.outputs.deliver(&self.database)?;
        }
        Ok(())
    }

    /// The file could not be read to its end, so its stored rows are kept.
    fn undo_replacing(&mut self) -> Result<(), Error> {
        let Some(Replacing { replacement, outputs, receipt }) = self.replacing.take() else {
            return Ok(());
        };
        self.pending.clear();
        self.pending_size = 0;
        self.progress.inc(std::mem::take(&mut self.pending_bytes));
        self.database.undo_replacing(replacement)?;
        self.summary.receipt = receipt;
        self.outputs.restore(outputs);
        Ok(())
    }

    /// Adds the tokens and costs of the whole database to the output of a sink for OpenTelemetry, if they have changed;
    /// while logs are followed, at most once in an interval.
    pub(super) fn add_totals(
        &mut self,
        sink: &str,
        options: &SinkOptions,
        is_following: bool,
    ) -> Result<(), Error> {
        self.flush()?;
        self.commit_ahead()?;
        let interval = options.variables.export_interval()?;
        self.outputs.add_totals(sink, &mut self.database, |database, before| {
            let now = Timestamp::from_millis(status::now());
            let age = before.made_at().and_then(|made| now.millis_since(made));
            if is_following && age.is_some_and(|age| u128::from(age) < interval.as_millis()) {
                return Ok(None);
            }
            let sessions = database.usage(&SessionFilter::default())?;
            totals_points(&sessions, before, options, database.path(), now).map(Some)
        })
    }

    /// Writes the rest.
    pub(super) fn finish(mut self) -> Result<(Database, Summary), Error> {
        self.flush()?;
        self.commit_ahead()?;
        #[cfg(feature = "otlp")]
        for note in self.outputs.send_rest(&mut self.database)? {
            self.summary.note(note);
        }
        self.outputs.finish(&mut self.database)?;
        self.progress.finish_and_clear();
        Ok((self.database, self.summary))
    }

    /// Writes what is pending. It is committed at once if the transaction is long enough, or outputs wait for that;
    /// a replacement is a separate transaction.
    fn flush(&mut self) -> Result<(), Error> {
        let commits = std::mem::take(&mut self.pending);
        let bytes = std::mem::take(&mut self.pending_bytes);
        self.pending_size = 0;
        if !commits.is_empty() {
            let ahead = self.ahead.take().unwrap_or_default() + bytes;
            let goes_on =
                ahead < TRANSACTION && self.outputs.is_empty() && self.replacing.is_none();
            let receipt = if goes_on {
                self.ahead = Some(ahead);
                self.database.write_ahead(&commits)?
            } else {
                self.outputs.commit(&mut self.database, &commits, &[])?
            };
            self.summary.receipt.add(receipt);
            self.maintenance.clear_up(commits);
        }
        self.progress.inc(bytes);
        Ok(())
    }

    /// Commits the written segments.
    pub(super) fn commit_ahead(&mut self) -> Result<(), Error> {
        if self.ahead.take().is_some() {
            self.database.commit(&[], &[])?;
        }
        Ok(())
    }
}
