//! [`Writer`]: writes to the database, on one thread.

use indicatif::ProgressBar;

use super::{
    audit,
    maintenance::MaintenanceThread,
    plan::{Plan, Start},
    read::{End, Piece, Stretch},
    summary::{Skipped, Summary},
};
use crate::{error::Error, side_file::SideFile};
use foldline::{
    emitters::{
        audit::AuditFile,
        sqlite::{Database, Rows},
    },
    ledger::{Commit, Ledger},
};

/// The bytes of logs per transaction, unless one commit has more.
pub(super) const TRANSACTION: u64 = 4 << 20;

/// The most commits per transaction.
const COMMITS: usize = 256;

/// Writes the commits of the readers, in the order of the files.
pub(super) struct Writer {
    database: Database,
    maintenance: MaintenanceThread,
    progress: ProgressBar,
    summary: Summary,
    audit: Option<AuditFile>,
    /// The files of the sinks.
    side_files: Vec<(&'static str, SideFile)>,
    pending: Vec<Commit<Rows>>,
    pending_bytes: u64,
}

impl Writer {
    pub(super) fn new(
        database: Database,
        maintenance: MaintenanceThread,
        audit: Option<AuditFile>,
        side_files: Vec<(&'static str, SideFile)>,
        progress: ProgressBar,
        summary: Summary,
    ) -> Self {
        let (pending, pending_bytes) = (Vec::new(), 0);
        Self { database, maintenance, progress, summary, audit, side_files, pending, pending_bytes }
    }

    /// Writes the next piece. All events of all files pass here once and in order, whatever the number of
    /// threads, so the side outputs are written here.
    pub(super) fn take(&mut self, plan: &Plan, piece: Piece) -> Result<(), Error> {
        match piece {
            Piece::Forget => {
                self.flush()?;
                self.database.forget(&plan.name)?;
            }
            Piece::Stretch(stretch) => {
                let Stretch { commit, records, gathered, bytes } = *stretch;
                if let (Some(audit), Some(records)) = (&mut self.audit, records) {
                    audit::append(audit, records)?;
                }
                for (name, bytes) in gathered {
                    if let Some((_, file)) =
                        self.side_files.iter_mut().find(|(known, _)| *known == name)
                    {
                        file.append(&bytes)?;
                    }
                }
                self.pending.push(commit);
                self.pending_bytes += bytes;
                if self.pending_bytes >= TRANSACTION || self.pending.len() >= COMMITS {
                    self.flush()?;
                }
            }
            Piece::End(End { mid_line, has_news, failures }) => {
                self.summary.mid_line += u64::from(mid_line);
                match plan.start {
                    _ if !has_news => self.summary.unchanged += 1,
                    Start::New => self.summary.new += 1,
                    Start::Resume(_) => self.summary.grown += 1,
                    Start::Again(_) => self.summary.again += 1,
                }
                for failure in failures {
                    self.summary.fail(&plan.path, failure);
                }
            }
            Piece::Failed(error) => match error {
                Error::Unrecognised { .. } => self.summary.skip(&plan.path, Skipped::Unrecognised),
                Error::Unsupported { format, .. } => {
                    self.summary.skip(&plan.path, Skipped::Unsupported(format));
                }
                error => self.summary.fail(&plan.path, error.reason()),
            },
        }
        Ok(())
    }

    /// Writes the rest.
    pub(super) fn finish(mut self) -> Result<(Database, Summary), Error> {
        self.flush()?;
        self.progress.finish_and_clear();
        Ok((self.database, self.summary))
    }

    fn flush(&mut self) -> Result<(), Error> {
        let commits = std::mem::take(&mut self.pending);
        if !commits.is_empty() {
            // The trail is synced to disk before the database records it.
            let mut marks = Vec::from_iter(self.audit.as_mut().map(audit::state).transpose()?);
            for (_, file) in &mut self.side_files {
                marks.push(file.mark()?);
            }
            let receipt = self.database.commit(&commits, &marks)?;
            self.summary.receipt.add(receipt);
            self.maintenance.clear_up(commits);
        }
        self.progress.inc(std::mem::take(&mut self.pending_bytes));
        Ok(())
    }
}
