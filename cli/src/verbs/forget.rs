//! `foldline forget`: removes sessions for good.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    time::Duration,
};

use clap::{ArgGroup, Args};
use foldline_database::{
    Forgotten, Store,
    query::{SessionFilter, SessionOrder},
};
use foldline_render::{human::number_of, terminal::neutralise_line};
use jiff::tz::TimeZone;

use crate::{
    answer::{Filters, find, when},
    distinct::DistinctFiles,
    error::Error,
    exit,
    homes::DatabaseOption,
    kept::KeptLogs,
    options::sentence_width,
    outputs::OutputPaths,
    place::DatabasePlace,
    program::Program,
    project,
    removable::Removable,
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
    let place = args.database.place()?;
    // As for `show`, the latest session is the one in the logs.
    let refreshed = match &place {
        DatabasePlace::File(path) if args.database.is_default() => {
            DistinctFiles::of_database(path)?;
            ingest::refresh(program, path)?
        }
        _ => exit::SUCCESS,
    };
    let wait = Duration::from_secs(args.wait.into());
    let mut database = Removable::open(&place, wait, args.dry_run)?;
    let is_damaged = database.is_damaged;
    let chosen = args.chosen(&*database)?;
    let forgotten = database.forget(&chosen)?;
    let outputs = database.outputs()?;
    database.finish(args.compact)?;
    if let DatabasePlace::File(path) = &place
        && !args.dry_run
    {
        let kept = KeptLogs::of(path);
        forgotten.kept.iter().try_for_each(|file| kept.remove(file))?;
    }
    let report = report(&forgotten, &outputs, args.dry_run);
    let report = wrap_lines(&report, sentence_width());
    io::stdout().write_all(report.as_bytes()).map_err(Error::Output)?;
    Ok(if is_damaged { exit::FAILED } else { refreshed })
}

impl ForgetArgs {
    /// The rows of the chosen sessions.
    fn chosen(&self, database: &dyn Store) -> Result<Vec<i64>, Error> {
        if !self.sessions.is_empty() {
            let filters = Filters::default();
            let names = self.sessions.iter();
            return names.map(|name| find::session(database, name, &filters)).collect();
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
