//! `foldline export`: a session as a document that can be sent.

mod args;
mod document;

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
};

use foldline::{
    conversation::by_item, emitters::redact::Redact, files::replace_file, processor::Finished,
    source::Step, transduce::Emitter,
};

pub(super) use self::args::ExportArgs;
use self::document::{Document, note};
use crate::{
    answer::{filters::Filters, find},
    distinct::DistinctFiles,
    error::Error,
    exit,
    log::Log,
    malformed::Malformed,
    pipeline,
    program::Program,
};

pub(super) fn run(program: &Program, args: &ExportArgs) -> Result<u8, Error> {
    check_files(args)?;
    let document = Document::new(args.format, args.prices.load()?.into_owned());
    let (document, redacted, malformed) = match args.redact {
        true => {
            let (redact, malformed) = read(program, args, Redact::new(document))?;
            let redacted: BTreeMap<_, _> = redact.replaced().collect();
            (redact.into_inner(), redacted, malformed)
        }
        false => {
            let (document, malformed) = read(program, args, document)?;
            (document, BTreeMap::new(), malformed)
        }
    };
    let text = document.render(&redacted).map_err(|error| Error::Output(error.into()))?;
    write(args, &text)?;
    if args.redact {
        let note = note(&redacted).unwrap_or_else(|| "nothing to replace was found".to_owned());
        let _ = writeln!(io::stderr(), "foldline: {note}");
    }
    Ok(if args.strict && malformed > 0 { exit::MALFORMED } else { exit::FINE })
}

/// Reads the log or the stored session for an emitter. Returns it, and the number of malformed records.
fn read<M>(program: &Program, args: &ExportArgs, emitter: M) -> Result<(M, u64), Error>
where
    M: Emitter<foldline::conversation::DomainEvent, std::convert::Infallible>,
{
    let mut emitter = emitter;
    if !is_log(args) {
        let database = args.database.open(program)?;
        let session =
            find::session(&database, &args.session.to_string_lossy(), &Filters::default())?;
        database.events(session, |event| drop(emitter.emit(&event)))?;
        drop(emitter.finish());
        return Ok((emitter, 0));
    }
    let mut log = Log::open(&args.session)?;
    let executor = log.executor(&program.registry, &args.executor, args.max_line)?;
    let emitters = (Malformed::default(), by_item(emitter));
    let mut processor = pipeline::begin(executor, emitters, args.max_line, log.span());
    while !processor.is_done()
        && let Step::Bytes(bytes) = log.step()?
    {
        let span = pipeline::span(&processor);
        span.in_scope(|| processor.push(bytes, |_| {}));
    }
    let Finished { emitter, .. } = processor.finish(|_| {});
    let (Malformed(malformed), document) = emitter.into_inner().into_inner();
    Ok((document.into_inner(), malformed))
}

/// Whether it is a log that is named, and not a session.
fn is_log(args: &ExportArgs) -> bool {
    args.session == Path::new("-") || args.session.exists()
}

/// Checks that the output is not the log.
fn check_files(args: &ExportArgs) -> Result<(), Error> {
    let mut files = DistinctFiles::default();
    match is_log(args) {
        true => files.input("the log", &args.session)?,
        false => files.database(&args.database.path()?)?,
    }
    match &args.out {
        Some(out) => files.replaced("--out", out)?,
        None => files.stdout()?,
    }
    files.stderr()
}

fn write(args: &ExportArgs, text: &str) -> Result<(), Error> {
    match &args.out {
        Some(path) => {
            replace_file(path, text.as_bytes()).map_err(|error| Error::output(path, &error))?;
        }
        None => {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output)?;
        }
    }
    Ok(())
}
