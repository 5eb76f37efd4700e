//! [`Watched`]: what others see of a run while it lasts: its rows in the database, and its pages in the browser.

#[cfg(feature = "serve")]
use crate::serve::Beside;

use super::{args::RunArgs, files::Files, rows::Rows};
use crate::{error::Error, exit, program::Program, verbs::ingest::RunLog};

/// What others see of a run while it lasts.
#[derive(Default)]
pub(super) struct Watched {
    rows: Option<Rows<Box<dyn FnMut() + Send>>>,
    #[cfg(feature = "serve")]
    server: Option<Beside>,
}

impl Watched {
    /// Makes the database ready, and the server, as far as they are wanted.
    pub(super) fn start(program: &Program, args: &RunArgs, files: &Files) -> Result<Self, Error> {
        let (Some(log), Some(db)) = (&files.log, &files.db) else { return Ok(Self::default()) };
        let (program, log, db) = (program.clone(), log.clone(), db.clone());
        let (task, audit) = (args.task.clone(), args.audit.clone());
        let log = RunLog { program, log, db, task, audit };
        log.prepare()?;
        #[cfg(feature = "serve")]
        if let Some(address) = args.served.address {
            let access = &args.served.access;
            let (server, updated) = Beside::start(&log.program, log.db.clone(), address, access)?;
            return Ok(Self {
                rows: Some(Rows::start(log, Box::new(updated))),
                server: Some(server),
            });
        }
        Ok(Self { rows: Some(Rows::start(log, Box::new(|| {}))), ..Self::default() })
    }

    /// The log has grown, which is of this format.
    pub(super) fn grew(&self, format: &'static str) {
        if let Some(rows) = &self.rows {
            rows.grew(format);
        }
    }

    /// The log is complete. Returns the exit code.
    pub(super) fn finish(self, format: &str) -> Result<u8, Error> {
        let stored = self.rows.map_or(Ok(exit::FINE), |rows| rows.finish(format));
        #[cfg(feature = "serve")]
        if let Some(server) = self.server {
            server.end()?;
        }
        stored
    }
}
