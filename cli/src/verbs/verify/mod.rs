//! `foldline verify`: checks an audit trail, and whether the logs are unchanged since it was made.

mod check;
mod comparison;
mod coverage;
mod index;
mod source;

use std::{
    fs::File,
    io::{self, BufReader, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use foldline_domain::{Digest, audit::verify};
use foldline_render::terminal::neutralise;

use self::{check::Check, source::SourceLines};
use crate::{
    distinct::DistinctFiles, error::Error, exit, log::named, options::sentence_width,
    program::Program, verbs::audit_key::public_key, wrap::wrap_lines,
};

const NOTE: &str = "\
A hash chain alone cannot detect that the whole trail was rewritten or that its end was truncated. Store the \
printed head elsewhere and pass it to --head, or sign the trail with foldline ingest --sign and pass the public key \
to --key.";

/// The options of `foldline verify`.
#[derive(Debug, Args)]
#[command(after_help = NOTE)]
pub(crate) struct VerifyArgs {
    /// Audit trail
    pub(crate) audit: PathBuf,

    /// Log whose lines are compared with the trail; repeatable
    #[arg(long, value_name = "LOG")]
    pub(crate) source: Vec<PathBuf>,

    /// Format of the logs; auto detects it from the first lines
    #[arg(long, short, default_value = "auto", value_name = "NAME")]
    pub(crate) executor: String,

    /// Head from an earlier run, which the trail must still contain
    #[arg(long, value_name = "HASH", value_parser = head)]
    pub(crate) head: Option<Digest>,

    /// Public key (Ed25519, PEM) that signs the whole trail; repeatable, in the order in which several keys signed it
    #[arg(long, value_name = "PUBKEY")]
    pub(crate) key: Vec<PathBuf>,
}

/// Reads the head of a trail with records. Zeros, the head of an empty trail, would prove nothing.
fn head(text: &str) -> Result<Digest, String> {
    match text.parse::<Digest>() {
        Ok(head) if head == Digest::default() => {
            Err("it is the head of a trail without records".to_owned())
        }
        head => head.map_err(|error| error.to_string()),
    }
}

pub(crate) fn run(program: &Program, args: &VerifyArgs) -> Result<u8, Error> {
    let mut files = DistinctFiles::default();
    files.input("the trail", &args.audit)?;
    for source in &args.source {
        files.input("the log", source)?;
    }
    for key in &args.key {
        files.input("the key", key)?;
    }
    files.stdout()?;
    files.stderr()?;
    let (code, report) = examine(program, args)?;
    let path = args.audit.display();
    // A manipulated trail may contain any text.
    let written = match code {
        exit::SUCCESS => {
            let report = wrap_lines(&neutralise(&report), sentence_width());
            io::stdout().write_all(report.as_bytes())
        }
        _ => writeln!(io::stderr(), "foldline: {}", neutralise(&format!("{path}: {report}"))),
    };
    written.map_err(Error::Output)?;
    Ok(code)
}

/// The exit code and the report.
fn examine(program: &Program, args: &VerifyArgs) -> Result<(u8, String), Error> {
    let read = |path: &PathBuf| SourceLines::read(path, &args.executor, program);
    let sources = args.source.iter().map(read);
    let sources = sources.collect::<Result<Vec<_>, _>>()?;
    let keys = args.key.iter().map(|path| public_key(path)).collect::<Result<Vec<_>, _>>()?;
    let mut check = Check::new(sources, &keys, args.head);
    let open = |path: &Path| match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Error::NoFile(path.to_owned()))
        }
        opened => opened.map_err(|error| Error::Input { path: path.to_owned(), error }),
    };
    let input = |error| Error::Input { path: args.audit.clone(), error };
    named(&args.audit, |_| Ok(()))?;
    let trail = BufReader::new(open(&args.audit)?);
    match verify(trail, |record| check.record(&record)).map_err(input)? {
        Ok(head) => Ok(check.conclude(head)),
        Err(fault) => {
            let also = check.problem().map(|problem| format!("; before it, {problem}"));
            Ok((exit::FAILED, format!("{fault}{}", also.unwrap_or_default())))
        }
    }
}
