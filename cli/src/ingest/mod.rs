//! `foldline ingest`: reads files and folders of logs into a database.
//!
//! Every file is read from its checkpoint on, and its output is committed together with the new
//! checkpoint. Files are parsed by several threads and written by one, in the order of their paths, so
//! that the database does not depend on how many there are.
//!
//! A log may grow: a call without a result stays `created`, and the reducer is not finished. Only
//! `--final` says that the logs are complete; then such calls end as `unfinished`, and what was held
//! back is released. Should a file grow after that, it is read again from its beginning. In the same
//! way a last line without a line end is left for the next run, unless it is a whole record.

mod args;
mod audit;
mod maintenance;
mod parallel;
mod plan;
mod read;
mod summary;
mod walk;
mod write;

use std::{
    fs::{self, File},
    io::{self, Write},
    num::NonZeroUsize,
    path::Path,
    thread,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub(super) use self::args::IngestArgs;
use self::{
    maintenance::MaintenanceThread,
    plan::{Plan, Planner},
    read::Reading,
    summary::Summary,
    write::Writer,
};
use super::{
    error::Error,
    exit,
    options::width,
    program::Program,
    side_file::SideFile,
    sink::{SinkKind, SinkName, SinkOptions},
};
use foldline::{
    emitters::{sqlite::Database, transcript::TranscriptStyle},
    ledger::Ledger,
};

pub(super) fn run(program: &Program, args: &IngestArgs) -> Result<u8, Error> {
    let sinks: Vec<_> = args
        .sinks
        .iter()
        .map(|sink| resumable(program.sinks.require(&sink.name)?))
        .collect::<Result<_, Error>>()?;
    let wait = Duration::from_secs(args.wait.into());
    let mut database = Database::open(&args.db, wait)?;
    let mut summary = Summary::default();
    let files = walk::walk(&args.paths, args.hidden, &mut summary);
    let audit = match &args.audit {
        Some(path) => Some(audit::open(path, &mut database)?),
        None => None,
    };
    let mut side_files = Vec::new();
    for (SinkName { file, .. }, kind) in args.sinks.iter().zip(&sinks) {
        let Some(path) = file else {
            return Err(Error::WrongUse(format!("give --sink {} a file", kind.name)));
        };
        let name = SideFile::name(kind.name, path)?;
        let mark = database.mark(&name)?;
        side_files.push((kind.name, SideFile::open(path, name, mark.as_ref(), false)?));
    }
    let style = TranscriptStyle::new(width(None));
    let options = SinkOptions { style };
    let reading = Reading { program, sinks, options, audited: args.audit.is_some() };
    let mut planner = Planner::new(&database, args);
    let mut plans = Vec::new();
    for file in &files {
        plans.extend(planner.plan(file, &mut summary)?);
    }
    let progress = progress(plans.iter().map(Plan::bytes).sum());
    let jobs = jobs(args);
    let maintenance = MaintenanceThread::start(&args.db, wait)?;
    let writer = Writer::new(database, maintenance, audit, side_files, progress, summary);
    let (database, summary) =
        read_all(args, &reading, &plans, jobs, writer).map_err(Error::resumable)?;
    summary.print(&mut io::stdout().lock(), database.totals()?).map_err(Error::Output)?;
    Ok(if summary.has_failures() { exit::FAILED } else { exit::FINE })
}

/// Checks that a consumer is resumable, as ingest requires.
fn resumable(kind: &SinkKind) -> Result<&SinkKind, Error> {
    if kind.resumable {
        return Ok(kind);
    }
    let name = kind.name;
    Err(Error::WrongUse(format!("the output {name} cannot be gone on with, as ingest does")))
}

/// Reads everything that is planned into the database and the side outputs.
fn read_all(
    args: &IngestArgs,
    reading: &Reading<'_>,
    plans: &[Plan],
    jobs: usize,
    mut writer: Writer,
) -> Result<(Database, Summary), Error> {
    parallel::read_all(reading, plans, jobs, &mut writer)?;
    let (database, summary) = writer.finish()?;
    if let Some(path) = &args.metrics {
        let rendered = read::count_all(&database.states()?).render();
        let written = write_whole(path, rendered.as_bytes());
        written.map_err(|error| Error::output(path, &error))?;
    }
    Ok((database, summary))
}

/// Replaces a file atomically, since a scraper may read it at any time.
fn write_whole(path: &Path, contents: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        // A device or a pipe must not be replaced by a file.
        return fs::write(path, contents);
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(contents).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn jobs(args: &IngestArgs) -> usize {
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok());
    jobs.map_or(1, NonZeroUsize::get)
}

fn progress(bytes: u64) -> ProgressBar {
    // stderr() draws nothing where standard error is no terminal.
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
    let style = "{bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {eta}";
    bar.with_style(
        ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
    )
}
