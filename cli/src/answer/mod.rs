//! Answers from a database, human-readable or for programs.
//!
//! The verbs `usage`, `blocks`, `sessions`, `show`, `files`, `search`, `tools`, `errors`, `prompts`,
//! `commands`, `allowed`, `compare`, `diff`, `task` and `query` share this: which
//! database and which sessions they are about, and how their answer is printed.
//!
//! With `--format json` every answer is an array of objects with the columns named below, in this
//! order and with `null` where a log says nothing. Columns may be added at the end; none is renamed
//! or removed. Moments are RFC 3339 in UTC, `_ms` are milliseconds, rates are parts of one.
//!
//! - `sessions`: `number`, `session`, `task`, `agent`, `model`, `project` (the root of the
//!   repository), `cwd`, `outcome`, `began`, `ended`, `duration_ms`, `turns`, `entries`, `calls`, `failures`,
//!   `input_tokens`, `output_tokens`, `cost_usd`, `title`, `parent`, `source`, `cost_basis`,
//!   `time_basis` (`stated` in the log, or the time of its `file`), `warnings` (their number), `active_ms` (without pauses of over
//!   five minutes), `host` (the machine of its log), `user` (whose log it is there)
//! - `files`: `path` (in the project), `project` (`null` for a file outside), `changes`, `calls`, `sessions`, `at`; with
//!   a path: `at`, `session` (a number), `title`, `path`, `project`, `changes`, `calls`
//! - `search`: `at`, `task`, `session` (a number), `index`, `type`, `tool`, `snippet`, `matches` (what
//!   matched, separated by line feeds), `title`
//! - `tools`: `tool`, `calls`, `open`, `failures`, `failure_rate`, `p50_ms`, `p95_ms`
//! - `errors`: `at`, `task`, `session` (a number), `index`, `tool` (`null` for messages),
//!   `status`, `exit_code`, `what`, `message`, `title`
//! - `task list`: `task`, `sessions`, `agents`, `began`, `ended`, `duration_ms`, `entries`, `calls`,
//!   `failures`, `input_tokens`, `output_tokens`, `cost_usd`, `cost_basis`
//! - `usage`: one column for each key of `--by` (`day`, `week`, `month`, `model`, `agent`, `project`, `session` (the
//!   agent's id of the session that the person began), `task`, `branch`; `null` where the log does not state it);
//!   then `sessions`, `input_tokens` (cached ones included), `output_tokens` (reasoning included),
//!   `cache_read_tokens`, `cache_write_tokens`, `reasoning_tokens`, `cost_usd`, `cost_basis`; with the key
//!   `session` also its `title`
//! - `blocks`: `state` (`active` or `past`), `began`, `ended` (of the window), `models`, `input_tokens`,
//!   `output_tokens`, `cache_read_tokens`, `cache_write_tokens`, `cost_usd`, `tokens_per_minute`, `cost_usd_per_hour`,
//!   `projected_tokens`, `projected_cost_usd` (at the end of the active window, at its current rate),
//!   `token_limit`, `limit_share`, `cost_basis`, `cost_limit_usd`, `cost_limit_share`
//! - `prompts`: `at`, `session` (a number), `session_id`, `project`, `index`, `text`
//! - `commands`: `program` (`null` where the command line has none), `count`, `failures`, `at` (of the latest); with `--list`:
//!   `at`, `session` (a number), `session_id`, `project`, `index`, `program`, `command`, `status`, `exit_code`,
//!   `duration_ms`, `sudo` (0 or 1), `destructive` (the kind, or `null`), `unsandboxed` (0 or 1)
//! - `allowed`: `allowed` (`everything`, `policy`, `sandbox`, `edits`, `asking`, `reading`; `null`: only the agent's words are
//!   known), `modes` (those words), `sessions`, `since`, `until`, and of the last session `session` (a number),
//!   `session_id`, `title`, `project`; with a level: `session`, `session_id`, `title`, `project`, `agent`, `modes`, `since`, `until`
//! - `compare`: `fact`, `of` (the tool or the file), `a`, `b`
//! - `diff`: `path`, `old_path`, `changes`, `added`, `removed`, `diff` (the text; not with `--stat`)
//! - `query sql`: the columns of the query
//!
//! Two answers are objects of such arrays: `task show`, with `task` (as in `task list`), `sessions`, `usage`
//! (`model`, `input_tokens`, `output_tokens`, `cache_read_tokens`, `cache_write_tokens`,
//! `reasoning_tokens`, `cost_usd`, `cost_basis`), `tools`, `failures` (as `errors`), `files` (`path`, `project`,
//! `changes`, `calls`), `warnings` (`kind`, `subject`, `count`, `message`) and `timeline` (`at`, `session`,
//! `index`, `type`, `tool`, `status`, `duration_ms`, `content`); and `show`, with `session` (as in
//! `sessions`) and `entries`, each with its `index`, its `source` (`line`, `offset`) and the whole
//! `entry` as in the output of `foldline replay --format conversation`. As CSV, a task is its
//! timeline, and a session its entries.
//!
//! `cost_basis` says where a cost is from: `logged` (the log states it), `estimated` (the tokens times the prices of
//! `--prices` or the built-in ones), `mixed` (a sum of both), `null` (the cost is unknown). Where a log states what a
//! session cost as a whole, nothing of it is estimated. What has no price is left out of a sum, and reported.
//!
//! Calls count as failures when they failed, were denied or cancelled, or were left unfinished.
//! `--since` and `--until` choose sessions that were active in that time, and for `tools`, `errors`
//! and `search` the entries of that time, for `usage` the messages.

mod database;
mod filters;
pub(crate) mod find;
pub(crate) mod folder;
mod json;
mod layout;
mod listing;
mod note;
pub(crate) mod paragraphs;
mod prices;
mod print;
mod spreadsheet;
pub(crate) mod status;
mod value;
pub(crate) mod when;

use std::sync::Arc;

use clap::Args;
use foldline_database::query::SessionFilter;
use foldline_domain::pricing::Prices;

pub(crate) use self::{
    database::{DatabaseArgs, Opened, is_damaged},
    filters::Filters,
    json::write_json,
    layout::{Layout, OutputFormat},
    listing::Listing,
    note::note,
    prices::PricesArgs,
    print::{PrintArgs, Printed},
    value::{Kind, Value, short_id, visible},
};
use crate::{error::Error, program::Program};

/// The options of every query.
#[derive(Clone, Debug, Args)]
pub(crate) struct AskArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) filters: Filters,

    #[command(flatten)]
    pub(crate) prices: PricesArgs,

    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

impl AskArgs {
    /// Rejects query options for commands that print a sentence about one session.
    pub(crate) fn refuse_for_one(&self, why: &str) -> Result<(), Error> {
        self.filters.refuse(why)?;
        match self.print.format {
            OutputFormat::Table => Ok(()),
            _ => Err(Error::WrongUse(format!("--format has nothing to print: {why}"))),
        }
    }
}

/// A query: the database, the sessions, the rows.
pub(crate) struct Asked<'a> {
    pub(crate) filters: &'a Filters,
    /// The filter of sessions and of the time.
    pub(crate) filter: SessionFilter,
    pub(crate) prices: Arc<Prices>,
    pub(crate) print: &'a PrintArgs,
    pub(crate) database: Opened,
}

/// Runs a query: opens the database, finds the answer, and prints it.
pub(crate) fn answer<A: Printed>(
    program: &Program,
    args: &AskArgs,
    find: impl FnOnce(&Asked<'_>) -> Result<A, Error>,
) -> Result<u8, Error> {
    let (mut filter, zone) = (args.filters.chosen()?, args.filters.zone());
    // One row more than is shown, to detect further rows.
    filter.limit = Some(args.print.limit().saturating_add(1));
    let database = args.database.open(program)?;
    args.filters.check_agent(program, Some(&*database))?;
    let prices = Arc::new(args.prices.load()?.into_owned());
    database.estimate_with(Arc::clone(&prices))?;
    let asked = Asked { filters: &args.filters, filter, prices, print: &args.print, database };
    let answer = find(&asked)?;
    asked.database.confirm()?;
    args.print.print(program, answer, &zone)?;
    Ok(asked.database.exit_code())
}
