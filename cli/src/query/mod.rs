//! `foldline query`: answers from a database.
//!
//! With `--format json` every answer is an array of objects with the columns named below, in this
//! order and with `null` where a log says nothing. Columns may be added at the end; none is renamed
//! or removed. Moments are RFC 3339 in UTC, `_ms` are milliseconds, rates are parts of one.
//!
//! - `tasks`: `task`, `sessions`, `agents`, `began`, `ended`, `duration_ms`, `entries`, `calls`,
//!   `failures`, `input_tokens`, `output_tokens`, `cost_usd`
//! - `sessions`: `number`, `session`, `task`, `agent`, `model`, `outcome`, `began`, `ended`,
//!   `duration_ms`, `turns`, `entries`, `calls`, `failures`, `input_tokens`, `output_tokens`,
//!   `cost_usd`, `cwd`, `title`, `parent`, `source`
//! - `tools`: `tool`, `calls`, `open`, `failures`, `failure_rate`, `p50_ms`, `p95_ms`
//! - `errors`: `at`, `task`, `session` (a number), `index`, `tool` (`null` for messages),
//!   `status`, `exit_code`, `what`, `message`
//! - `search`: `at`, `task`, `session` (a number), `index`, `type`, `tool`, `snippet`, `matches` (what
//!   matched, separated by line feeds)
//! - `sql`: the columns of the query
//!
//! Two answers are objects of such arrays: `task`, with `task` (as in `tasks`), `sessions`, `usage`
//! (`model`, `input_tokens`, `output_tokens`, `cache_read_tokens`, `cache_write_tokens`,
//! `reasoning_tokens`, `cost_usd`), `tools`, `failures` (as `errors`), `files` (`path`, `changes`,
//! `calls`), `warnings` (`kind`, `subject`, `count`, `message`) and `timeline` (`at`, `session`,
//! `index`, `type`, `tool`, `status`, `duration_ms`, `content`); and `session`, with `session` (as in
//! `sessions`) and `entries`, each with its `index`, its `source` (`line`, `offset`) and the whole
//! `entry` as in the output of `foldline replay --format conversation`. As CSV, `task` is its
//! timeline, and `session` its entries.
//!
//! Calls count as failures when they failed, were denied or cancelled, or were left unfinished.
//! `--since` and `--until` choose sessions that were active in that time, and for `tools`, `errors`
//! and `search` the entries of that time.

mod errors;
pub(super) mod find;
mod listing;
mod search;
mod session;
mod sessions;
mod sql;
mod task;
mod tools;
pub(super) mod when;

use std::{
    io::{self, BufWriter, Write},
    path::PathBuf,
    time::Duration,
};

use clap::{Args, Subcommand};

use self::{
    listing::{Listing, OutputFormat},
    when::When,
};
use super::{
    error::Error,
    exit,
    options::{EXIT_CODES, width},
};
use foldline::emitters::sqlite::Database;

/// The options of `foldline query`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct QueryArgs {
    /// The database
    #[arg(long, value_name = "FILE", global = true, default_value = "foldline.db")]
    db: PathBuf,

    /// How to print the answer
    #[arg(long, short, value_enum, default_value_t, global = true)]
    format: OutputFormat,

    /// Only what happened since then: 2026-01-31 (UTC), an RFC 3339 time, or an age such as 7d
    #[arg(long, value_name = "WHEN", value_parser = when::parse, global = true, allow_hyphen_values = true)]
    since: Option<When>,

    /// Only what happened until then; a day counts to its end
    #[arg(long, value_name = "WHEN", value_parser = when::parse, global = true, allow_hyphen_values = true)]
    until: Option<When>,

    /// How many rows at the most; 0 for all
    #[arg(long, value_name = "N", default_value_t = 100, global = true)]
    limit: usize,

    /// The table's width in columns [default: that of the terminal, else 100]
    #[arg(long, value_parser = clap::value_parser!(u16).range(20..=10_000), global = true)]
    width: Option<u16>,

    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, Subcommand)]
enum Question {
    /// The tasks, with their totals
    Tasks,
    /// Everything about one task
    Task {
        /// The task
        id: String,
    },
    /// The sessions, with their totals
    Sessions,
    /// One session's entries
    Session {
        /// The session's number, its id, or the beginning of its id
        id: String,

        /// Only the last entries
        #[arg(long, value_name = "N")]
        last: Option<u32>,
    },
    /// The tools: how often they were called, failed, and how long they took
    Tools,
    /// Calls that failed and errors that were reported, the latest first
    Errors,
    /// Entries with these words; "a phrase" in double quotes
    Search {
        /// The words
        #[arg(required = true)]
        text: Vec<String>,

        /// The text is a query in the language of SQLite's FTS5
        #[arg(long)]
        raw: bool,
    },
    /// The answer to a query of your own; the tables are described in the documentation
    Sql {
        /// A statement that only reads
        query: String,
    },
}

/// A question, with the database and the options.
struct Asked<'a> {
    args: &'a QueryArgs,
    database: Database,
}

/// An answer.
enum Answer {
    Listing(Listing),
    Task(Box<task::TaskAnswer>),
    Session(Box<session::SessionAnswer>),
}

pub(super) fn run(args: &QueryArgs) -> Result<u8, Error> {
    let database = Database::open_read_only(&args.db, Duration::from_secs(10))?;
    let asked = Asked { args, database };
    let answer = match &args.question {
        Question::Tasks => Answer::Listing(sessions::tasks(&asked, None)?),
        Question::Task { id } => Answer::Task(Box::new(task::answer(&asked, id)?)),
        Question::Sessions => Answer::Listing(sessions::sessions(&asked, None)?),
        Question::Session { id, last } => {
            Answer::Session(Box::new(session::answer(&asked, id, *last)?))
        }
        Question::Tools => Answer::Listing(tools::tools(&asked, None)?),
        Question::Errors => Answer::Listing(errors::errors(&asked, None)?),
        Question::Search { text, raw } => {
            Answer::Listing(search::search(&asked, &text.join(" "), *raw)?)
        }
        Question::Sql { query } => Answer::Listing(sql::sql(&asked, query)?),
    };
    let mut out = BufWriter::new(io::stdout().lock());
    asked.print(answer, &mut out).and_then(|()| out.flush()).map_err(Error::Output)?;
    Ok(exit::FINE)
}

impl Asked<'_> {
    /// The number of rows to query: one more than are shown, to know whether there are more.
    fn rows(&self) -> i64 {
        i64::try_from(self.limit()).unwrap_or(i64::MAX).saturating_add(1)
    }

    fn limit(&self) -> usize {
        if self.args.limit == 0 { usize::MAX } else { self.args.limit }
    }

    /// The first moment, and the first one after the last.
    fn span(&self) -> (i64, i64) {
        let since = self.args.since.map_or(i64::MIN, |since| since.start);
        (since, self.args.until.map_or(i64::MAX, |until| until.end))
    }

    /// A condition on timestamps in SQL; always true if no time was requested.
    fn within(&self, moment: &str) -> String {
        match (self.args.since, self.args.until) {
            (None, None) => "true".to_owned(),
            _ => {
                let (since, until) = self.span();
                format!("({moment} >= {since} AND {moment} < {until})")
            }
        }
    }

    fn failed(&self, error: &rusqlite::Error) -> Error {
        Error::Database(self.database.error(error))
    }

    fn print(&self, answer: Answer, out: &mut dyn Write) -> io::Result<()> {
        let (format, width) = (self.args.format, width(self.args.width));
        match answer {
            Answer::Listing(mut listing) => {
                let is_cut = listing.limit(self.limit());
                listing.write(out, format, width)?;
                self.mention_cut(is_cut);
                Ok(())
            }
            Answer::Task(mut task) => {
                let is_cut = task.limit(self.limit());
                task.write(out, format, width)?;
                self.mention_cut(is_cut);
                Ok(())
            }
            Answer::Session(session) => {
                session.write(out, format, width)?;
                self.mention_cut(session.is_cut());
                Ok(())
            }
        }
    }

    fn mention_cut(&self, is_cut: bool) {
        if is_cut {
            let limit = self.args.limit;
            // Whether this is read has no effect.
            let _ = writeln!(
                io::stderr(),
                "foldline: there is more than the {limit} rows shown; --limit 0 shows all"
            );
        }
    }
}
