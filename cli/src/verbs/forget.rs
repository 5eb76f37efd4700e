//! `foldline forget`: removes sessions for good.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    time::Duration,
};

use clap::{ArgGroup, Args};
use foldline_database::{
    query::{SessionFilter, SessionOrder},
    sqlite::{Database, Forgotten, SqliteError},
};
use foldline_render::{human::number_of, terminal::neutralise_line};
use jiff::tz::TimeZone;

use crate::{
    answer::{Filters, find, is_damaged, when},
    distinct::DistinctFiles,
    error::Error,
    exit,
    homes::DatabaseOption,
    kept::KeptLogs,
    options::sentence_width,
    outputs::OutputPaths,
    program::Program,
    project,
    verbs::ingest,
    wrap::wrap_lines,
};

const NOTE: &str = "\
A log is forgotten with everything that is added to it later, under any name. Of a log or a database of an agent that \
also has sessions that were not chosen, only the chosen sessions are. The logs of the agents are not deleted.";

/// The options of `foldline forget`.
#[derive(Debug, Args)]
#[command(after_help = NOTE, group = ArgGroup::new("which").required(true).multiple(true))]
pub(crate) struct ForgetArgs {
    /// Sessions: latest, a number, an id or its beginning, the path of a log, or a part of a title
    #[arg(value_name = "SESSION", group = "which", conflicts_with_all = ["before", "project"])]
    sessions: Vec<String>,

    /// Forget sessions without activity since a time: an age (30d), a day (2026-01-31), or an RFC 3339 time
    #[arg(long, value_name = "WHEN", value_parser = when::check, group = "which")]
    before: Option<String>,

    /// Forget sessions of a project: its name, a path in it, or . for the project of this folder
    #[arg(long, value_name = "NAME|PATH", group = "which")]
    project: Option<String>,

    #[command(flatten)]
    database: DatabaseOption,

    /// Only report what would be forgotten
    #[arg(long)]
    dry_run: bool,

    /// Rewrite the database to return the space to the file system
    #[arg(long, conflicts_with = "dry_run")]
    compact: bool,

    /// Seconds to wait while another program writes to the database
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    wait: u32,
}

pub(crate) fn run(program: &Program, args: &ForgetArgs) -> Result<u8, Error> {
    let db = args.database.path()?;
    DistinctFiles::of_database(&db)?;
    // As for `show`, the latest session is the one in the logs.
    let refreshed = match args.database.is_default() {
        true => ingest::refresh(program, &db)?,
        false => exit::SUCCESS,
    };
    // Opening for writing would create a missing database.
    if !db.exists() {
        return Err(SqliteError::Missing(db).into());
    }
    let wait = Duration::from_secs(args.wait.into());
    let mut database = match args.dry_run {
        true => Database::open_read_only(&db, wait)?,
        false => Database::open_sound(&db, wait)?,
    };
    let is_damaged = args.dry_run && is_damaged(&database)?;
    let chosen = args.chosen(&database)?;
    let forgotten = database.forget_sessions(&chosen, args.dry_run)?;
    let outputs = OutputPaths::of(&database)?;
    database.confirm()?;
    if args.compact {
        database.compact()?;
    }
    if !args.dry_run {
        database.close()?;
        let kept = KeptLogs::of(&db);
        forgotten.kept.iter().try_for_each(|file| kept.remove(file))?;
    }
    let report = report(&forgotten, &outputs, args.dry_run);
    let report = wrap_lines(&report, sentence_width());
    io::stdout().write_all(report.as_bytes()).map_err(Error::Output)?;
    Ok(if is_damaged { exit::FAILED } else { refreshed })
}

impl ForgetArgs {
    /// The rows of the chosen sessions.
    fn chosen(&self, database: &Database) -> Result<Vec<i64>, Error> {
        if !self.sessions.is_empty() {
            let filters = Filters::default();
            let names = self.sessions.iter();
            return names.map(|name| find::session(&**database, name, &filters)).collect();
        }
        let project = self.project.as_deref().map(project::named);
        let filter = SessionFilter { project, ..SessionFilter::default() };
        let sessions = database.sessions(&filter, SessionOrder::Number)?;
        let mut chosen: Vec<_> = sessions.into_iter().map(|session| session.number).collect();
        if let Some(before) = &self.before {
            let before = when::parse(before, &TimeZone::system())?.start;
            let inactive: BTreeSet<_> = database.inactive_since(before)?.into_iter().collect();
            chosen.retain(|session| inactive.contains(session));
        }
        Ok(chosen)
    }
}

fn report(forgotten: &Forgotten, outputs: &OutputPaths, dry_run: bool) -> String {
    let Forgotten { sessions, entries, calls, bytes, logs, kept } = forgotten;
    let verb = if dry_run { "would forget" } else { "forgot" };
    let mut report = format!(
        "{verb} {} ({}, {}, {} of text), their tokens and warnings\n",
        number_of(*sessions, "session"),
        number_of(*entries, "entry"),
        number_of(*calls, "tool call"),
        number_of(*bytes, "byte"),
    );
    if *sessions == 0 {
        return report;
    }
    if !kept.is_empty() {
        report += &format!("{verb} {} in the folder of kept logs\n", number_of(kept.len(), "file"));
    }
    let there = logs.iter().filter(|log| std::path::Path::new(log).exists()).count();
    if there > 0 {
        let subject = if there == 1 { "which is" } else { "which are" };
        report += &format!(
            "not deleted: {} of an agent, {subject} not read again\n",
            number_of(there, "log")
        );
    }
    for trail in &outputs.trails {
        report += &format!(
            "not changed: the audit trail {}, whose records of them are chained to the others\n",
            neutralise_line(trail)
        );
    }
    for path in &outputs.others {
        report += &format!("not changed: the output {}\n", neutralise_line(path));
    }
    report
}
