//! `foldline task`: assigns sessions to tasks.

use std::{
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use clap::{Args, Subcommand};
use foldline::{
    conversation::TaskId,
    emitters::{sqlite::Database, terminal::neutralise_line},
};

use crate::{error::Error, exit, options::EXIT_CODES, query::find};

/// The options of `foldline task`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct TaskArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Assigns a session to a task
    Set {
        /// The session: its number, its id, or the beginning of its id
        session: String,

        /// The task; without one, the session's task is its own id
        task: Option<String>,

        /// The database
        #[arg(long, value_name = "FILE", default_value = "foldline.db")]
        db: PathBuf,

        /// How many seconds to wait while another program writes to the database
        #[arg(long, value_name = "SECONDS", default_value_t = 10)]
        wait: u32,
    },
}

pub(super) fn run(args: &TaskArgs) -> Result<u8, Error> {
    let Action::Set { session, task, db, wait } = &args.action;
    let wait = Duration::from_secs((*wait).into());
    // Opening for writing would create a missing database.
    drop(Database::open_read_only(db, wait)?);
    let mut database = Database::open(db, wait)?;
    let row = find::session(&database, session)?;
    let task = task.as_deref().map(TaskId::from);
    database.set_task(row, task.as_ref())?;
    let task = task.as_ref().map_or("the task of its own id", TaskId::as_str);
    writeln!(io::stdout(), "session {row} belongs to {}", neutralise_line(task))
        .map_err(Error::Output)?;
    Ok(exit::FINE)
}
