//! `foldline export`: exports a session as a document.

mod args;
mod document;
mod site;

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use foldline::{
    conversation::{ByItem, DomainEvent, Located, SessionKey, by_item},
    emitters::redact::Redact,
    files::replace_file,
    transduce::{Emitter, KeyedEmitter},
};

pub(crate) use self::args::ExportArgs;
use self::{
    args::Format,
    document::{Document, note},
};
use crate::{
    answer::find, distinct::DistinctFiles, error::Error, exit, log::Log, malformed::Malformed,
    pipeline, place::DatabasePlace, program::Program, say::say,
};

pub(crate) fn run(program: &Program, args: &ExportArgs) -> Result<u8, Error> {
    if args.all {
        return site::run(program, args);
    }
    if args.out.is_none() && io::stdout().is_terminal() {
        let message = "a document is not for a terminal: give --out FILE or a pipe";
        return Err(Error::WrongUse(message.to_owned()));
    }
    check_files(args)?;
    // A log may have a hundred thousand sessions, each with a document.
    let prices = Arc::new(args.prices.load()?.into_owned());
    let zone = args.filters.zone();
    let document = || Document::new(args.format, &prices, &zone);
    let (documents, code) = match args.redact {
        true => {
            let (redacted, code) = read(program, args, || Redact::new(document()))?;
            let documents = redacted.into_iter().map(|redact| {
                let replaced: BTreeMap<_, _> = redact.replaced().collect();
                (redact.into_inner(), replaced)
            });
            (documents.collect::<Vec<_>>(), code)
        }
        false => {
            let (documents, code) = read(program, args, document)?;
            (documents.into_iter().map(|document| (document, BTreeMap::new())).collect(), code)
        }
    };
    let mut replaced = BTreeMap::<_, u64>::new();
    let mut texts = Vec::new();
    for (document, counts) in documents {
        counts.iter().for_each(|(kind, count)| *replaced.entry(*kind).or_default() += count);
        texts.push(document.render(&counts).map_err(|error| Error::Output(error.into()))?);
    }
    write(args, &texts)?;
    if args.redact {
        let note = note(&replaced).unwrap_or_else(|| "nothing to replace was found".to_owned());
        say(&note);
    }
    Ok(code)
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
        database.events(session, |event| drop(emitter.emit(&event)))?;
        drop(emitter.finish());
        return Ok((vec![emitter], database.exit_code()));
    }
    args.filters.refuse("they select sessions of the database, and a log is exported whole")?;
    let mut log = Log::open(&args.session)?;
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
    let code = if args.strict && malformed > 0 { exit::MALFORMED } else { exit::FINE };
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
        Some(out) => files.replaced("--out", out)?,
        None => files.stdout()?,
    }
    files.stderr()
}

/// Writes a document for each session of the log: to standard output one after another, to files with numbers.
fn write(args: &ExportArgs, documents: &[String]) -> Result<(), Error> {
    let Some(path) = &args.out else {
        if args.format == Format::Html && documents.len() > 1 {
            let sessions = documents.len();
            return Err(Error::WrongUse(format!(
                "the log has {sessions} sessions, and a page shows one; --out FILE writes a page for each"
            )));
        }
        let mut out = io::stdout().lock();
        return documents
            .iter()
            .try_for_each(|text| out.write_all(text.as_bytes()))
            .and_then(|()| out.flush())
            .map_err(Error::Output);
    };
    for (number, text) in (1..).zip(documents) {
        let path = numbered(path, number);
        replace_file(&path, text.as_bytes()).map_err(|error| Error::output(&path, &error))?;
    }
    Ok(())
}

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
