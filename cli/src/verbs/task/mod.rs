//! `foldline task`: sessions that belong together.

mod show;

use std::{
    io::{self, Write},
    time::Duration,
};

use clap::{Args, Subcommand};
use foldline_database::sqlite::Database;
use foldline_domain::TaskId;
use foldline_render::terminal::neutralise_line;

use crate::{
    answer::{AskArgs, Filters, answer, find},
    distinct::DistinctFiles,
    error::Error,
    exit,
    program::Program,
};

/// The options of `foldline task`.
#[derive(Debug, Args)]
pub(crate) struct TaskArgs {
    #[command(subcommand)]
    action: Action,

    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List tasks with their totals
    List,
    /// Show the sessions, tokens, tools, failures, files and entries of a task
    Show {
        /// Id of the task, or its first characters
        id: String,
    },
    /// Assign a session to a task
    Set {
        /// Session number, id, or first characters of the id
        session: String,

        /// Task id [default: the id of the session]
        // A name of its own, as --task is known to every action.
        #[arg(value_name = "TASK")]
        to: Option<String>,

        /// Seconds to wait while another program writes to the database
        #[arg(long, value_name = "SECONDS", default_value_t = 10)]
        wait: u32,
    },
}

pub(crate) fn run(program: &Program, args: &TaskArgs) -> Result<u8, Error> {
    match &args.action {
        Action::List => answer(program, &args.ask, |asked| {
            Ok(show::tasks(&asked.database.tasks(&asked.filter)?))
        }),
        Action::Show { id } => answer(program, &args.ask, |asked| show::answer(asked, id)),
        Action::Set { session, to, wait } => {
            args.ask.refuse_for_one("task set is about one session")?;
            let wait = Duration::from_secs((*wait).into());
            let path = args.ask.database.path()?;
            DistinctFiles::of_database(&path)?;
            // Opening for writing would create a missing database.
            drop(Database::open_read_only(&path, wait)?);
            let mut database = Database::open_sound(&path, wait)?;
            let row = find::session(&*database, session, &Filters::default())?;
            let task = to.as_deref().map(TaskId::from);
            database.set_task(row, task.as_ref())?;
            database.close()?;
            let task = task.as_ref().map_or("the task with its own id", TaskId::as_str);
            writeln!(io::stdout(), "session {row} belongs to {}", neutralise_line(task))
                .map_err(Error::Output)?;
            Ok(exit::SUCCESS)
        }
    }
}
