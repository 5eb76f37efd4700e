//! `foldline doctor`: reports the parts of logs that were not understood.

mod summary;

use std::{
    cmp::Reverse,
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use foldline::{
    processor::{Counts, Finished},
    source::SourceError,
};
use foldline_agents::{Format, Ignored};
use foldline_domain::drift::SchemaDrift;
use foldline_render::{
    human,
    terminal::{neutralise, neutralise_line},
};
use unicode_width::UnicodeWidthStr;

use self::summary::{DoctorSummary, label};
use crate::{
    answer::find,
    distinct::DistinctFiles,
    error::Error,
    exit, finder,
    homes::existing,
    log::Log,
    options::{parse_size, sentence_width},
    pipeline,
    program::Program,
    say::say,
    wrap::{JOINT, wrap},
};

/// The number of types of ignored records that are named.
const MOST_TYPES: usize = 6;

/// The options of `foldline doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Logs, or folders of logs [default: the folders of the agents]
    paths: Vec<PathBuf>,

    /// Length limit of lines; of a longer line, the beginning, the length and the SHA-256 hash are kept
    #[arg(long, default_value = "16MiB", value_name = "SIZE", value_parser = parse_size)]
    max_line: usize,

    /// Counts by format and version of the agent, instead of each log: to be pasted into a report
    #[arg(long)]
    summary: bool,

    /// Exit with 3 if a log has malformed or unknown parts
    #[arg(long)]
    strict: bool,
}

pub(crate) fn run(program: &Program, args: &DoctorArgs) -> Result<u8, Error> {
    let mut out = io::stdout().lock();
    let (mut understood, mut code) = (true, exit::SUCCESS);
    let paths = find::logs(program, &args.paths)?;
    let (logs, failed) = logs(program, &paths)?;
    if logs.is_empty() && failed.is_empty() {
        return Err(Error::NoLogs { paths });
    }
    for (path, why) in failed {
        say(&neutralise_line(&format!("{}: {why}", path.display())));
        code = exit::FAILED;
    }
    let mut summary = DoctorSummary::default();
    for found in logs {
        let mut text = String::new();
        match examine(program, &found, args.max_line, &mut text, &mut summary) {
            Ok(is_understood) => understood &= is_understood,
            // The others are examined nevertheless.
            Err(error) if found.is_named => {
                error.report();
                code = code.max(error.exit_code());
                continue;
            }
            Err(error) => return Err(error),
        }
        if args.summary {
            continue;
        }
        // Names of fields and files may contain control characters.
        out.write_all(neutralise(&text).as_bytes()).map_err(Error::Output)?;
    }
    if args.summary {
        summary.print(&mut out, program.terminal.is_coloured()).map_err(Error::Output)?;
    }
    out.flush().map_err(Error::Output)?;
    let is_strict = args.strict && !understood && code == exit::SUCCESS;
    Ok(if is_strict { exit::MALFORMED } else { code })
}

/// A file to be examined.
struct Found {
    path: PathBuf,
    /// Whether the file itself was named, so that it must be a log, and may be a pipe or `-`.
    is_named: bool,
}

/// The named files, with those that state more about them, and the files in the named folders that have the name of a
/// log, except the files of standard output and standard error; and what could not be read.
fn logs(program: &Program, paths: &[PathBuf]) -> Result<(Vec<Found>, Vec<finder::Failure>), Error> {
    let registry = &program.registry;
    let homes: Vec<_> = existing(registry).into_iter().map(|home| home.folder).collect();
    // The database of an agent need not have sessions.
    let found = |path: &PathBuf| Found { path: path.clone(), is_named: !homes.contains(path) };
    // Of what cannot be read, the search says so.
    let is_file = |path: &&PathBuf| match fs::metadata(path) {
        Ok(file) => !file.is_dir(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    let (files, folders): (Vec<_>, Vec<_>) = paths.iter().partition(is_file);
    let folders: Vec<_> = folders.into_iter().cloned().collect();
    let mut outputs = DistinctFiles::default();
    outputs.stdout()?;
    outputs.stderr()?;
    for path in &files {
        outputs.input("the log", path)?;
    }
    let mut logs: Vec<_> = files.into_iter().map(found).collect();
    let search = finder::find(registry, &folders, false);
    let mut within = search.files;
    within.extend(search.no_files);
    let within = within.into_iter().filter(|path| finder::is_log_name(path));
    let companions = finder::companions(registry, paths);
    let here = env::current_dir().and_then(dunce::canonicalize).unwrap_or_default();
    for path in within.chain(companions) {
        if !outputs.is_output(&path, registry)? {
            let path = path.strip_prefix(&here).map(Path::to_owned).unwrap_or(path);
            logs.push(Found { path, is_named: false });
        }
    }
    Ok((logs, search.failed))
}

/// Describes one log. Returns whether all of it was understood.
fn examine(
    program: &Program,
    found: &Found,
    max_line: usize,
    text: &mut String,
    summary: &mut DoctorSummary,
) -> Result<bool, Error> {
    let name = found.path.display();
    let opened = match found.is_named {
        true => Log::open(&program.openers(), &found.path),
        false => Log::open_regular(&program.openers(), &found.path),
    };
    let mut log = match opened {
        Err(Error::Source(SourceError::NotRegular { .. })) => {
            *text += &format!("{name}\n  not a file\n\n");
            return Ok(false);
        }
        opened => opened?,
    };
    let executor = match log.executor(&program.registry, "auto", max_line) {
        Ok(executor) => executor,
        Err(
            error @ (Error::NotALog { .. }
            | Error::Unrecognised { .. }
            | Error::Unsupported { .. }
            | Error::Disputed { .. }),
        ) => {
            *text += &format!("{name}\n  {error}\n\n");
            // A named file must be a log; a file in a folder need not be.
            return if found.is_named { Err(error) } else { Ok(false) };
        }
        Err(error) => return Err(error),
    };
    let format = executor.format();
    let Finished { counts, state, emitter, .. } = pipeline::examine(
        &mut log,
        executor,
        SchemaDrift::default(),
        max_line,
        |never| match never {},
    )?;
    let (ignored, drift) = (state.ignored(), emitter.into_inner());
    summary.add(format, &drift, counts.records, ignored);
    let width = sentence_width();
    // A path is printed whole, so that it can be copied.
    *text += &format!("{name}\n{}\n", wrap(&heading(format, &drift, counts, ignored), width, 4));
    if ignored.count() > 0 {
        *text += &format!("{}\n", wrap(&types_of(ignored), width, 4));
    }
    for (kind, subject, finding) in drift.findings() {
        let times = format!("{}×", finding.count);
        let what = format!("{} {subject}", label(kind));
        let (what, mut place) = (what.trim_end(), format!("from line {}", finding.first_line));
        if let Some(shape) = &finding.shape {
            place += &format!("  {}", clip(shape, 160));
        }
        let line = format!("  {times:>7}  {what:<44}  {place}");
        let lines = match line.width() <= width {
            true => vec![line],
            false => vec![format!("  {times:>7}  {what}"), format!("{:11}{place}", "")],
        };
        lines.iter().for_each(|line| *text += &format!("{}\n", wrap(line, width, 11)));
    }
    if drift.is_empty() {
        *text += "  everything was understood\n";
    }
    let version = drift.session().version.as_ref().map(|version| version.decode().into_owned());
    if let (Some(tested), Some(version)) = (format.tested, version)
        && format.is_newer(&version)
    {
        let newer = format!("  newer than {tested}, the newest version that was tested");
        *text += &format!("{}\n", wrap(&newer, width, 4));
    }
    text.push('\n');
    Ok(drift.is_empty())
}

fn heading(format: &Format, drift: &SchemaDrift, counts: Counts, ignored: &Ignored) -> String {
    let version = drift.session().version.as_ref().map(|version| format!(" {version}"));
    let Counts { lines, records, .. } = counts;
    let ignored = match ignored.count() {
        0 => String::new(),
        count => format!(", {count}{JOINT}of{JOINT}them{JOINT}ignored"),
    };
    format!(
        "  {} ({format}){}: {}, {}{ignored}",
        format.title,
        version.unwrap_or_default(),
        human::number_of(lines, "line"),
        human::number_of(records, "record")
    )
}

/// The types of the records that were ignored on purpose, the most frequent ones first.
fn types_of(ignored: &Ignored) -> String {
    let mut types: Vec<_> = ignored.by_type().collect();
    types.sort_by_key(|(_, count)| Reverse(*count));
    let (named, others) = types.split_at(types.len().min(MOST_TYPES));
    let mut list: Vec<_> = named
        .iter()
        .map(|(name, count)| match name.is_empty() {
            true => format!("{count} without a type"),
            false => format!("{count} {}", clip(name, 40)),
        })
        .collect();
    if !others.is_empty() {
        let count: u64 = others.iter().map(|(_, count)| count).sum();
        list.push(format!("{count} of other types"));
    }
    // A count stays with its type.
    let list = list.iter().map(|each| each.replace(' ', JOINT));
    format!("  ignored on purpose: {}", list.collect::<Vec<_>>().join(", "))
}

fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
