//! `foldline ingest`: reads files and folders of logs into a database.
//!
//! Every file is read from its checkpoint, and its output is committed together with the new checkpoint.
//! Several threads parse the files, and one thread writes them in the order of their paths, so the database
//! does not depend on the number of threads.
//!
//! A log may grow: a call without a result stays `created`, and the reducer is not finished. Only `--final`
//! states that the logs are complete; then such calls end as `unfinished`, and delayed events are released. If
//! a file grows after that, it is read again from its beginning, and the new rows replace the old ones in one
//! transaction. A last line without a line end is left for the next run, unless it is a complete record.
//!
//! The audit trail and the files of `--sink` belong to the database: see [`outputs`](crate::outputs). A collector gets
//! what is committed, which waits in the database until the collector has taken it. The last turn of a log that was not
//! written for a while ends: a log that was written just now is read again by the next run, also if it has not grown.

mod args;
mod fan;
mod files;
mod maintenance;
mod parallel;
mod plan;
mod read;
mod run_log;
mod summary;
mod write;

use std::{
    collections::BTreeSet,
    fs, io,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use foldline::{files::replace_file, ledger::Receipt};
use foldline_database::{
    Store,
    query::{SessionFilter, Totals},
    sqlite::Database,
    usage::{PricedMessage, priced},
};
use foldline_domain::{
    Text,
    metrics::Metrics,
    pricing::{Cost, CostBasis, Prices},
};
use foldline_render::{human::number_of, transcript::TranscriptStyle};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub(crate) use self::{
    args::IngestArgs,
    fan::{Collected, Fan},
    read::Segment,
    run_log::RunLog,
};
use self::{
    maintenance::MaintenanceThread,
    plan::{Plan, Planned, Planner},
    read::Reading,
    summary::Summary,
    write::Writer,
};
use crate::{
    error::Error,
    exit,
    homes::{Home, existing, or_homes, tilde},
    kept::KeptLogs,
    options::{sentence_width, width},
    outputs::{Outputs, whole_trails},
    program::Program,
    project,
    say::say,
    signal::stop_flag,
    sink::{ChosenSink, SinkOptions, SinkOutput},
};

pub(crate) fn run(program: &Program, args: &IngestArgs) -> Result<u8, Error> {
    let paths = or_homes(&args.paths, &program.registry)?;
    let db = args.database.path()?;
    let (summary, totals) = ingest(program, args, &paths, &db)?;
    summary.print(&mut io::stdout().lock(), totals, sentence_width()).map_err(Error::Output)?;
    if summary.found_nothing() {
        let hidden = if args.hidden { "" } else { "; hidden folders are searched with --hidden" };
        say(&format!("the given paths have no files{hidden}"));
    }
    if args.follow {
        return follow(program, args, &paths, &db);
    }
    Ok(if summary.has_failures() { exit::FAILED } else { exit::SUCCESS })
}

/// Reads what is new, until the program is stopped. A message is printed once.
fn follow(program: &Program, args: &IngestArgs, paths: &[PathBuf], db: &Path) -> Result<u8, Error> {
    let stop = stop_flag()?;
    let mut said = BTreeSet::new();
    loop {
        let begun = Instant::now();
        while begun.elapsed() < OFTEN {
            if stop.load(Ordering::Relaxed) {
                return Ok(exit::SUCCESS);
            }
            thread::sleep(SOON);
        }
        match ingest(program, args, paths, db) {
            Err(error) if error.is_in_use() => {}
            Err(error) => return Err(error),
            Ok((summary, _)) => {
                let news = summary.messages().filter(|message| said.insert(message.clone()));
                news.for_each(|message| say(&message));
            }
        }
    }
}

/// Updates a database from these logs and folders of logs. Returns whether all of them were read.
#[cfg(feature = "serve")]
pub(crate) fn update(program: &Program, paths: &[PathBuf], db: &Path) -> Result<bool, Error> {
    let args = IngestArgs::of_an_answer();
    let (summary, _) = ingest(program, &args, paths, db)?;
    Ok(!summary.has_failures())
}

/// Updates a database from the logs of the agents. Returns the exit code of an answer from it: some of them could not
/// be read, which is reported on standard error. A database in use by another program stays unchanged.
pub(crate) fn refresh(program: &Program, db: &Path) -> Result<u8, Error> {
    let paths = match or_homes(&[], &program.registry) {
        // Its logs were named, were deleted, or are on another machine.
        Err(Error::NoHomes { .. }) if db.exists() => return Ok(exit::SUCCESS),
        paths => paths?,
    };
    if !db.exists() {
        say(&format!("reading the logs into {}, for the first time", tilde(db)));
    }
    match read_into(program, &paths, db) {
        Err(error) if error.is_in_use() && db.exists() => {
            say(
                "the database is in use by another program: new logs are not read, and the answer may be out of date",
            );
            Ok(exit::SUCCESS)
        }
        summary => Ok(summary?.report_failures()),
    }
}

/// Reads named logs into a database. Returns the exit code of an answer from it: some of them could not be read. That,
/// and which files are no logs, is reported on standard error.
pub(crate) fn fill(program: &Program, paths: &[PathBuf], db: &Path) -> Result<u8, Error> {
    let summary = read_into(program, paths, db)?;
    summary.report_others();
    Ok(summary.report_failures())
}

fn read_into(program: &Program, paths: &[PathBuf], db: &Path) -> Result<Summary, Error> {
    let args = IngestArgs::of_an_answer();
    Ok(ingest(program, &args, paths, db)?.0)
}

/// Reads the logs into the database. If another program reads the same logs at the same time, the rest is
/// planned again, for up to `--wait` seconds.
fn ingest(
    program: &Program,
    args: &IngestArgs,
    paths: &[PathBuf],
    db: &Path,
) -> Result<(Summary, Totals), Error> {
    let begun = Instant::now();
    loop {
        match ingest_once(program, args, paths, db) {
            Err(error) if error.is_overtaken() && begun.elapsed().as_secs() < args.wait.into() => {
                thread::sleep(SOON);
            }
            ingested => return ingested,
        }
    }
}

/// The interval of looks at followed logs.
const OFTEN: Duration = Duration::from_secs(1);

/// The delay before logs that another program reads are planned again.
const SOON: Duration = Duration::from_millis(20);

fn ingest_once(
    program: &Program,
    args: &IngestArgs,
    paths: &[PathBuf],
    db: &Path,
) -> Result<(Summary, Totals), Error> {
    let style = TranscriptStyle::new(width(None));
    let options =
        SinkOptions { is_stored: true, ..SinkOptions::new(style, String::new(), args.content) };
    let sinks: Vec<_> = args
        .sinks
        .iter()
        .map(|sink| resumable(sink.choose(&program.sinks, &options)?, &options))
        .collect::<Result<_, Error>>()?;
    args.content.check(sinks.iter().map(|sink| sink.kind))?;
    let mut summary = Summary::default();
    let files = files::find(program, args, paths, db, &mut summary)?;
    let wait = Duration::from_secs(args.wait.into());
    let mut database = Database::open_sound(db, wait)?;
    let whole = whole_trails(&database)?;
    let outputs = open_outputs(args, &sinks, wait, &mut database, &mut summary)?;
    let sinks = sinks.into_iter().map(|sink| sink.kind).collect();
    let (jobs, audited, sends) = (jobs(args), args.audit.is_some(), args.sends());
    let segment_size = parallel::segment_size(jobs);
    let reading = Reading { program, sinks, options, audited, sends, segment_size };
    let Planned { plans, copies } =
        Planner::new(&database, args, program, &mut summary).plan(&files)?;
    let progress = progress(plans.iter().map(Plan::bytes).sum());
    let maintenance = MaintenanceThread::start(db, wait)?;
    let writer = Writer::new(database, maintenance, outputs, progress, summary);
    let (mut database, mut summary) =
        read_all(args, &reading, &plans, jobs, writer).map_err(Error::resumable)?;
    database.remember_copies(&copies)?;
    complete(&mut database, &summary)?;
    check_homes(program, &database, paths, &mut summary)?;
    let kept = KeptLogs::of(db);
    // What was read is in the database nevertheless.
    if let Err(error) = kept.update(program, &mut database) {
        summary.fail(kept.folder(), format!("logs are not kept: {}", error.reason()));
    }
    let still_whole = whole_trails(&database)?;
    for (_, path) in whole.iter().filter(|(trail, _)| !still_whole.contains_key(*trail)) {
        summary.note(format!(
            "the audit trail has no record of what was added, without --audit {path}"
        ));
    }
    let totals = database.totals()?;
    database.close()?;
    Ok((summary, totals))
}

/// Commits segments of a log that another part of the program folds.
fn write(args: &IngestArgs, db: &Path, segments: Vec<Segment>) -> Result<(), Error> {
    let wait = Duration::from_secs(args.wait.into());
    let mut database = Database::open_sound(db, wait)?;
    let mut summary = Summary::default();
    let outputs = open_outputs(args, &[], wait, &mut database, &mut summary)?;
    let maintenance = MaintenanceThread::start(db, wait)?;
    let mut writer = Writer::new(database, maintenance, outputs, ProgressBar::hidden(), summary);
    segments.into_iter().try_for_each(|segment| writer.segment(segment))?;
    let (mut database, summary) = writer.finish()?;
    complete(&mut database, &summary)?;
    database.close().map_err(Error::from)
}

/// Adds what logs do not state of what was read of them: the projects of folders, and prices.
fn complete(database: &mut Database, summary: &Summary) -> Result<(), Error> {
    if summary.receipt == Receipt::default() {
        return Ok(());
    }
    project::learn(database)?;
    Ok(database.add_prices(Prices::builtin())?)
}

/// A folder of an agent, with files of which none has a session, is a failure: the agent may write a form that is not
/// understood.
fn check_homes(
    program: &Program,
    database: &Database,
    paths: &[PathBuf],
    summary: &mut Summary,
) -> Result<(), Error> {
    for Home { folder, format } in existing(&program.registry) {
        // The database of an agent need not have sessions.
        if !folder.is_dir() || !paths.contains(&folder) {
            continue;
        }
        let Ok(full) = dunce::canonicalize(&folder) else { continue };
        let count = summary.unread_in(&full, format);
        if count > 0 && !database.has_sessions_at(&full.to_string_lossy())? {
            let files = number_of(count, "file");
            summary.fail(
                &folder,
                format!(
                    "{files}, and no session of {} that is understood; foldline doctor says more",
                    format.title
                ),
            );
        }
    }
    Ok(())
}

/// Opens the requested outputs.
fn open_outputs(
    args: &IngestArgs,
    sinks: &[ChosenSink<'_>],
    wait: Duration,
    database: &mut Database,
    summary: &mut Summary,
) -> Result<Outputs, Error> {
    let mut files = Vec::new();
    for ChosenSink { kind, output } in sinks {
        if let SinkOutput::File(path) = output {
            files.push((kind.name, *path));
        }
    }
    let (audit, sign) = (args.audit.as_deref(), args.sign.as_deref());
    #[cfg_attr(not(feature = "otlp"), expect(unused_mut, reason = "nothing is sent"))]
    let (mut outputs, notes) = Outputs::open(audit, sign, &files, wait, database)?;
    notes.into_iter().for_each(|note| summary.note(note));
    #[cfg(feature = "otlp")]
    for ChosenSink { kind, output } in sinks {
        if let SinkOutput::Collector(endpoints) = output {
            let note = outputs.send_to(kind.name, endpoints.clone(), database)?;
            note.into_iter().for_each(|note| summary.note(note));
        }
    }
    Ok(outputs)
}

/// The same consumer, if it can be resumed and has a destination, which ingest requires.
fn resumable<'p>(sink: ChosenSink<'p>, options: &SinkOptions) -> Result<ChosenSink<'p>, Error> {
    let kind = sink.kind;
    let name = kind.name;
    // Trails of several logs would be mixed in one file.
    if kind.hashes_lines {
        return Err(Error::WrongUse(format!(
            "an ingest writes one trail for all logs, with --{name} FILE"
        )));
    }
    if !kind.is_resumable(options.content) {
        let redacted = if options.content.redact { " with --redact" } else { "" };
        return Err(Error::WrongUse(format!(
            "the output {name} cannot be resumed{redacted}, which ingest requires"
        )));
    }
    match sink.output {
        SinkOutput::Standard => Err(Error::WrongUse(format!("give --sink {name} a file"))),
        _ => Ok(sink),
    }
}

/// Runs the plans: reads files into the database and the side outputs.
fn read_all(
    args: &IngestArgs,
    reading: &Reading<'_>,
    plans: &[Plan],
    jobs: usize,
    mut writer: Writer,
) -> Result<(Database, Summary), Error> {
    parallel::read_all(reading, plans, jobs, &mut writer)?;
    for sink in reading.sinks.iter().filter(|sink| sink.can_be_sent) {
        writer.add_totals(sink.name, &reading.options, args.follow)?;
    }
    let (database, summary) = writer.finish()?;
    if let Some(path) = &args.metrics {
        let written = write_whole(path, metrics(&*database, Prices::builtin())?.as_bytes());
        written.map_err(|error| Error::output(path, &error))?;
    }
    Ok((database, summary))
}

/// The metrics of everything in the database, in the text format of Prometheus. Costs that logs do not state are estimated.
pub(crate) fn metrics(database: &dyn Store, prices: &Prices) -> Result<String, Error> {
    let mut metrics = Metrics::default();
    database.each_state(|state| read::add_metrics(&mut metrics, &state))?;
    metrics.clear_shared();
    for row in database.outcomes()? {
        metrics.add_sessions(&row.agent.unwrap_or_default(), row.outcome.as_deref(), row.sessions);
    }
    for PricedMessage { session, message, cost, .. } in
        priced(&database.usage(&SessionFilter::default())?, prices)
    {
        let agent = session.agent.as_ref().map(Text::decode).unwrap_or_default();
        let model = message.of.model.as_deref().unwrap_or_default();
        metrics.add_usage(&agent, model, &message.usage);
        if let Some(Cost { usd, basis: CostBasis::Estimated }) = cost {
            metrics.add_estimated_cost(&agent, model, usd);
        }
    }
    Ok(metrics.render())
}

/// Replaces a file atomically, since a scraper may read it at any time.
fn write_whole(path: &Path, contents: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        // A device or a pipe must not be replaced by a file.
        return fs::write(path, contents);
    }
    replace_file(path, contents).map(drop)
}

fn jobs(args: &IngestArgs) -> usize {
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok());
    jobs.map_or(1, NonZeroUsize::get)
}

/// Fewer bytes are read before a bar could be seen.
const LONG: u64 = 4 << 20;

fn progress(bytes: u64) -> ProgressBar {
    if bytes < LONG {
        return ProgressBar::hidden();
    }
    // stderr() draws nothing if standard error is not a terminal.
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
    let style = "{bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {eta}";
    bar.with_style(
        ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
    )
}
