//! [`Watched`]: the views of a running session: its rows in the database, and its pages in the browser.

use super::{args::RunArgs, consumers::Consumers, files::Files, rows::Rows};
#[cfg(feature = "serve")]
use crate::serve::BackgroundServer;
use crate::{error::Error, program::Program, verbs::ingest::RunLog};

/// The views of a running session.
#[derive(Default)]
pub(super) struct Watched {
    pub(super) rows: Option<Rows>,
    #[cfg(feature = "serve")]
    server: Option<BackgroundServer>,
}

impl Watched {
    /// Prepares the database and the server, if they were requested, and adds their consumers.
    pub(super) fn start(
        program: &Program,
        args: &RunArgs,
        files: &Files,
        consumers: &mut Consumers,
    ) -> Result<Self, Error> {
        let (Some(log), Some(db)) = (&files.log, &files.db) else { return Ok(Self::default()) };
        let (program, log, db) = (program.clone(), log.clone(), db.clone());
        let (task, audit) = (args.task.clone(), args.audit.clone());
        let log = RunLog { program, log, db, task, audit };
        log.prepare()?;
        let mut watched = Self::default();
        #[cfg_attr(not(feature = "serve"), expect(unused_mut, reason = "only a server is told"))]
        let mut updated: Box<dyn FnMut() + Send> = Box::new(|| {});
        #[cfg(feature = "serve")]
        if let Some(address) = args.served.address {
            let (access, path) = (&args.served.access, log.path());
            let (server, running, has_updated) = BackgroundServer::start(
                &log.program,
                path.into(),
                log.db.clone(),
                address,
                access,
            )?;
            consumers.running = Some(running);
            watched.server = Some(server);
            updated = Box::new(has_updated);
        }
        let rows = Rows::start(log, updated);
        consumers.rows = Some(rows.fan());
        watched.rows = Some(rows);
        Ok(watched)
    }

    /// Handles the end of the log of this format. Returns the exit code.
    pub(super) fn finish(self, format: &str) -> Result<u8, Error> {
        let stored = self.rows.map_or(Ok(crate::exit::SUCCESS), |rows| rows.finish(format));
        #[cfg(feature = "serve")]
        if let Some(server) = self.server {
            server.end()?;
        }
        stored
    }
}
