//! `foldline prune`: removes the entries of old sessions.

use std::{
    io::{self, Write},
    time::Duration,
};

use clap::Args;
use foldline_database::Pruned;
use foldline_domain::Timestamp;
use foldline_render::human::number_of;
use jiff::tz::TimeZone;

use crate::{
    answer::when, error::Error, exit, homes::DatabaseOption, options::sentence_width,
    removable::Removable, wrap::wrap,
};

/// The options of `foldline prune`.
#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    #[command(flatten)]
    database: DatabaseOption,

    /// Delete the entries of sessions without activity since a time: an age (30d), a day (2026-01-31), or an RFC 3339
    /// time
    #[arg(long, value_name = "WHEN", value_parser = when::check)]
    older_than: String,

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
    let before = Timestamp::from_millis(when::parse(&args.older_than, &TimeZone::system())?.start);
    let is_damaged = database.is_damaged;
    let Pruned { sessions, entries, calls, bytes } = database.prune(before)?;
    database.finish(args.compact)?;
    let verb = if args.dry_run { "would remove" } else { "removed" };
    let report = format!(
        "{verb} {} ({}, {} of text) of {}; the sessions, their tokens and warnings are kept",
        number_of(entries, "entry"),
        number_of(calls, "tool call"),
        number_of(bytes, "byte"),
        number_of(sessions, "session")
    );
    writeln!(io::stdout(), "{}", wrap(&report, sentence_width(), 0)).map_err(Error::Output)?;
    Ok(if is_damaged { exit::FAILED } else { exit::SUCCESS })
}
