//! `foldline prune`: removes the entries of old sessions.

use std::{
    fmt::Write as _,
    io::{self, Write},
    time::Duration,
};

use clap::{ArgGroup, Args};
use foldline_database::{Prune, Pruned};
use foldline_domain::Timestamp;
use foldline_render::human::number_of;
use jiff::tz::TimeZone;

use crate::{
    answer::when,
    error::Error,
    exit,
    homes::DatabaseOption,
    options::{parse_size, sentence_width},
    removable::Removable,
    say::say,
    wrap::wrap,
};

const NOTE: &str = "\
The size of a database is that of its rows and indices: space that a file, or a table of PostgreSQL, has for later rows \
does not count, and neither do copies of logs. A dry run estimates what would be deleted. If the sessions without their \
entries have more than SIZE, nothing more can be deleted, and the exit code is 1.";

/// The options of `foldline prune`.
#[derive(Debug, Args)]
#[command(after_help = NOTE, group = ArgGroup::new("which").required(true))]
pub(crate) struct PruneArgs {
    #[command(flatten)]
    database: DatabaseOption,

    /// Delete the entries of sessions without activity since a time: an age (30d), a day (2026-01-31), or an RFC 3339
    /// time
    #[arg(long, value_name = "WHEN", value_parser = when::check, group = "which")]
    older_than: Option<String>,

    /// Delete the entries of the oldest sessions, until the database has at most a size, such as 500M or 10GB (1024 each)
    #[arg(long, value_name = "SIZE", value_parser = parse_size, group = "which")]
    larger_than: Option<usize>,

    /// Only report what would be deleted
    #[arg(long)]
    dry_run: bool,

    /// Rewrite the database to return the space to the file system
    #[arg(long, conflicts_with = "dry_run")]
    compact: bool,

    /// Seconds to wait while another program writes to the database
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    wait: u32,
}

pub(crate) fn run(args: &PruneArgs) -> Result<u8, Error> {
    let wait = Duration::from_secs(args.wait.into());
    let mut database = Removable::open(&args.database.place()?, wait, args.dry_run)?;
    let most = args.larger_than.map_or(u64::MAX, |size| size as u64);
    let which = match &args.older_than {
        Some(age) => {
            Prune::Before(Timestamp::from_millis(when::parse(age, &TimeZone::system())?.start))
        }
        None => Prune::LargerThan(most),
    };
    let is_damaged = database.is_damaged;
    let Pruned { sessions, entries, calls, bytes, left } = database.prune(which)?;
    database.finish(args.compact)?;
    let verb = if args.dry_run { "would remove" } else { "removed" };
    let mut report = format!(
        "{verb} {} ({}, {} of text) of {}; the sessions, their tokens and warnings are kept",
        number_of(entries, "entry"),
        number_of(calls, "tool call"),
        number_of(bytes, "byte"),
        number_of(sessions, "session")
    );
    if let Some(left) = left {
        let about = if args.dry_run { "about " } else { "" };
        let _ = write!(report, "; {about}{} are left", number_of(left, "byte"));
    }
    writeln!(io::stdout(), "{}", wrap(&report, sentence_width(), 0)).map_err(Error::Output)?;
    let is_too_large = left.is_some_and(|left| left > most);
    if is_too_large {
        say("nothing more can be removed: what is kept of the sessions is larger");
    }
    Ok(if is_damaged || is_too_large { exit::FAILED } else { exit::SUCCESS })
}
