//! `foldline export`: exports a session as a document.

mod args;
#[cfg(feature = "parquet")]
mod dataset;
mod document;
mod report;
mod rows;
mod single;
mod site;
mod temporary;

use std::{
    collections::BTreeMap,
    convert::Infallible,
    fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use foldline::{
    files::replace_file,
    transduce::{Emitter, KeyedEmitter},
};
use foldline_domain::{ByItem, DomainEvent, Located, SessionKey, by_item};
use foldline_render::{redact::Redact, terminal::neutralise_line};
use foldline_tables::Table;

pub use self::rows::Rows;
#[cfg(feature = "serve")]
pub(crate) use self::single::document;
pub(crate) use self::{
    args::{ExportArgs, Format},
    single::page,
};
use self::{
    document::Document,
    report::{MOST, Replaced, note},
};
use crate::{
    answer::find, distinct::DistinctFiles, error::Error, exit, log::Log, malformed::Malformed,
    only::Only, pipeline, place::DatabasePlace, program::Program, say::say,
};

pub(crate) fn run(program: &Program, args: &ExportArgs) -> Result<u8, Error> {
    let is_dataset = args.format == Format::Parquet && !args.preview;
    if args.all {
        if !is_dataset && args.format != Format::Jsonl {
            return site::run(program, args);
        }
        check_files(args)?;
        return rows::run(program, args);
    }
    if args.out.is_none() && !args.preview && io::stdout().is_terminal() {
        let message = "a document is not for a terminal: give --out FILE or a pipe";
        return Err(Error::WrongUse(message.to_owned()));
    }
    check_files(args)?;
    if is_dataset {
        return rows::run(program, args);
    }
    // A log may have a hundred thousand sessions, each with a document.
    let prices = Arc::new(args.prices.load()?.into_owned());
    let zone = args.filters.zone();
    let document = || Document::new(args.format, &prices, &zone).with_only(Only::new(&args.only));
    if !args.redact {
        let (documents, code) = read(program, args, document)?;
        let mut out = Out::new(args, documents.len())?;
        for document in documents {
            out.write(document, &BTreeMap::new())?;
        }
        out.flush()?;
        return Ok(code);
    }
    let (redacted, code) = read(program, args, || Redact::new(document()).keeping(MOST))?;
    let mut all = BTreeMap::<_, u64>::new();
    let mut out = if args.preview { None } else { Some(Out::new(args, redacted.len())?) };
    let mut table = Vec::new();
    for redact in redacted {
        let session = redact.get_ref().session();
        let replaced = Replaced::new(session, redact.replaced(), redact.replacements());
        let Some(out) = &mut out else {
            preview(&replaced).map_err(Error::Output)?;
            continue;
        };
        replaced.counts.iter().for_each(|(kind, count)| *all.entry(*kind).or_default() += count);
        table.extend(replaced.table());
        out.write(redact.into_inner(), &replaced.counts)?;
    }
    let Some(mut out) = out else { return Ok(code) };
    out.flush()?;
    let note = note(&all).unwrap_or_else(|| "nothing to replace was found".to_owned());
    let more = table.len().saturating_sub(MOST_LINES);
    table.truncate(MOST_LINES);
    table.insert(0, note);
    table.extend((more > 0).then(|| format!("  and {more} more lines; --preview lists all")));
    say(&table.join("\n"));
    Ok(code)
}

/// The largest number of lines about what was replaced.
const MOST_LINES: usize = 30;

fn unwritten(error: foldline_json::Error) -> Error {
    Error::Output(error.into())
}

/// Writes what would be replaced in a session.
fn preview(replaced: &Replaced) -> io::Result<()> {
    let mut out = io::stdout().lock();
    replaced.preview().iter().try_for_each(|line| writeln!(out, "{}", neutralise_line(line)))?;
    out.flush()
}

/// Reads the log or the stored session, with a separate emitter for each session. Returns the emitters, and the
/// exit code.
fn read<M>(
    program: &Program,
    args: &ExportArgs,
    mut make: impl FnMut() -> M,
) -> Result<(Vec<M>, u8), Error>
where
    M: Emitter<DomainEvent, Infallible>,
{
    if !is_log(args) {
        let mut emitter = make();
        let database = args.database.open(program)?;
        let session = find::session(&*database, &args.session.to_string_lossy(), &args.filters)?;
        database.nested_events(session, |event| drop(emitter.emit(&event)))?;
        drop(emitter.finish());
        return Ok((vec![emitter], database.exit_code()));
    }
    args.filters.refuse("they select sessions of the database, and a log is exported whole")?;
    let mut log = Log::open(&program.openers(), &args.session)?;
    let executor = log.executor(&program.registry, &args.executor, args.max_line)?;
    let sessions = KeyedEmitter::new(
        |event: &Located<DomainEvent>| event.session,
        |_: &SessionKey| by_item(make()),
    );
    let emitters = (Malformed::default(), sessions);
    let (_, (Malformed(malformed), sessions)) =
        pipeline::read_whole(&mut log, executor, emitters, args.max_line, |_| {})?;
    let mut emitters: Vec<_> =
        sessions.into_inner().into_values().map(ByItem::into_inner).collect();
    if emitters.is_empty() {
        emitters.push(make());
    }
    let code = if args.strict && malformed > 0 { exit::MALFORMED } else { exit::SUCCESS };
    Ok((emitters, code))
}

/// Whether the name is that of a log, not of a session.
fn is_log(args: &ExportArgs) -> bool {
    args.session == Path::new("-") || args.session.to_str().is_none_or(find::is_path)
}

/// Checks that the output is not the log.
fn check_files(args: &ExportArgs) -> Result<(), Error> {
    let mut files = DistinctFiles::default();
    match is_log(args) {
        true => files.input("the log", &args.session)?,
        false => {
            if let DatabasePlace::File(path) = args.database.place()? {
                files.database(&path)?;
            }
        }
    }
    match &args.out {
        Some(out) if args.format == Format::Parquet => {
            let mut tables =
                Table::ALL.into_iter().map(|table| format!("{}.parquet", table.name()));
            tables.try_for_each(|name| files.replaced("--out", &out.join(name)))?;
        }
        Some(out) => files.replaced("--out", out)?,
        None => files.stdout()?,
    }
    files.stderr()
}

/// Writes a document for each session of the log: to standard output one after another, to files with numbers. Only one
/// is in memory.
struct Out<'a> {
    path: Option<&'a Path>,
    written: usize,
}

impl<'a> Out<'a> {
    fn new(args: &'a ExportArgs, sessions: usize) -> Result<Self, Error> {
        if args.out.is_none() && args.format == Format::Html && sessions > 1 {
            return Err(Error::WrongUse(format!(
                "the log has {sessions} sessions, and a page shows one; --out FILE writes a page for each"
            )));
        }
        Ok(Self { path: args.out.as_deref(), written: 0 })
    }

    fn write(
        &mut self,
        document: Document,
        redacted: &BTreeMap<&'static str, u64>,
    ) -> Result<(), Error> {
        self.written += 1;
        let Some(path) = self.path.map(|path| numbered(path, self.written)) else {
            let (text, _) = document.render(redacted).map_err(unwritten)?;
            return io::stdout().write_all(text.as_bytes()).map_err(Error::Output);
        };
        write_file(document, redacted, &path)
    }

    fn flush(&mut self) -> Result<(), Error> {
        if self.path.is_none() { io::stdout().flush().map_err(Error::Output) } else { Ok(()) }
    }
}

/// Writes a document, and its pictures into the folder `<name>.images` beside it.
fn write_file(
    mut document: Document,
    redacted: &BTreeMap<&'static str, u64>,
    path: &Path,
) -> Result<(), Error> {
    let failed = |error: io::Error| Error::output(path, &error);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    document.set_folder(format!("{}.images", name.trim_end_matches(".json")));
    let (text, pictures) = document.render(redacted).map_err(unwritten)?;
    for picture in pictures {
        let file = path.with_file_name(&picture.path);
        file.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
        // A text that is no base64 stays one.
        let data = picture.data.into_string();
        let content = PADDED_OR_NOT.decode(&data).unwrap_or_else(|_| data.into_bytes());
        replace_file(&file, &content).map_err(failed)?;
    }
    replace_file(path, text.as_bytes()).map(drop).map_err(failed)
}

/// Logs state base64 with padding and without.
const PADDED_OR_NOT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// `page.html`, `page-2.html`, ..
fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}
