//! [`Writer`]: the one thread that writes to the database.

use indicatif::ProgressBar;

use super::{
    audit,
    plan::{Plan, Start},
    read::{End, Piece, Stretch},
    summary::{Skipped, Summary},
    tidy::Tidier,
};
use crate::{beside::BesideFile, error::Error};
use foldline::{
    emitters::{
        audit::AuditFile,
        sqlite::{Database, Rows},
    },
    ledger::{Commit, Ledger},
};

/// How many bytes of logs make a transaction, unless one commit has more.
pub(super) const TRANSACTION: u64 = 4 << 20;

/// How many commits make a transaction at the most.
const COMMITS: usize = 256;

/// Writes what the readers read, in the order of the files.
pub(super) struct Writer {
    database: Database,
    tidier: Tidier,
    progress: ProgressBar,
    summary: Summary,
    audit: Option<AuditFile>,
    /// The files of the sinks.
    beside: Vec<(&'static str, BesideFile)>,
    pending: Vec<Commit<Rows>>,
    pending_bytes: u64,
}

impl Writer {
    pub(super) fn new(
        database: Database,
        tidier: Tidier,
        audit: Option<AuditFile>,
        beside: Vec<(&'static str, BesideFile)>,
        progress: ProgressBar,
        summary: Summary,
    ) -> Self {
        let (pending, pending_bytes) = (Vec::new(), 0);
        Self { database, tidier, progress, summary, audit, beside, pending, pending_bytes }
    }

    /// Takes the next piece. Every event of every file passes here once, in order, whatever the
    /// number of threads: what is written beside the database is fed from here.
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
                        self.beside.iter_mut().find(|(known, _)| *known == name)
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
            // The trail is on the disk before the database says that it is.
            let mut marks = Vec::from_iter(self.audit.as_mut().map(audit::state).transpose()?);
            for (_, file) in &mut self.beside {
                marks.push(file.mark()?);
            }
            let receipt = self.database.commit(&commits, &marks)?;
            self.summary.receipt.add(receipt);
            self.tidier.clear_up(commits);
        }
        self.progress.inc(std::mem::take(&mut self.pending_bytes));
        Ok(())
    }
}
