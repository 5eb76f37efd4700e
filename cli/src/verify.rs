//! `foldline verify`: checks an audit trail, and whether the logs are unchanged since it was made.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader, Write},
    path::{Path, PathBuf},
};

use clap::Args;

use super::{error::Error, exit};
use foldline::{
    conversation::Digest,
    emitters::{
        audit::{Head, Verified, verify},
        terminal::neutralise,
    },
    processor::{Line, LineFramer},
    source::LogFile,
};

const VERIFY_EXIT_CODES: &str = "\
Exit codes:
  0  the trail is whole, and everything that was given fits it
  1  it is not, or something could not be read
  2  wrong use

A chain alone cannot show that its end was cut off, or that it was made anew as a whole. Keep the
head that is printed somewhere else, and give it with --head the next time.";

/// The options of `foldline verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXIT_CODES)]
pub(super) struct VerifyArgs {
    /// The audit trail
    pub(super) audit: PathBuf,

    /// A log that the trail was made from: its lines are compared with the trail. May be given again
    #[arg(long, value_name = "LOG")]
    pub(super) source: Vec<PathBuf>,

    /// The head that an earlier run printed: the trail must still contain it
    #[arg(long, value_name = "HASH")]
    pub(super) head: Option<Digest>,
}

pub(super) fn run(args: &VerifyArgs) -> Result<u8, Error> {
    let (code, report) = examine(args)?;
    let path = args.audit.display();
    // A trail that was tampered with may contain anything.
    let written = match code {
        exit::FINE => io::stdout().write_all(neutralise(&report).as_bytes()),
        _ => writeln!(io::stderr(), "foldline: {}", neutralise(&format!("{path}: {report}"))),
    };
    written.map_err(Error::Output)?;
    Ok(code)
}

/// The exit code and the report.
fn examine(args: &VerifyArgs) -> Result<(u8, String), Error> {
    let sources =
        args.source.iter().map(|path| SourceLines::read(path)).collect::<Result<Vec<_>, _>>()?;
    let mut check = Check::new(&sources, args.head);
    let input = |error| Error::Input { path: args.audit.clone(), error };
    let trail = BufReader::new(File::open(&args.audit).map_err(input)?);
    match verify(trail, |record| check.record(&record)).map_err(input)? {
        Ok(head) => Ok(check.conclude(head)),
        Err(fault) => {
            let also = check.problem.map(|problem| format!("; before it, {problem}"));
            Ok((exit::FAILED, format!("{fault}{}", also.unwrap_or_default())))
        }
    }
}

/// The digests of a log's lines.
struct SourceLines {
    path: PathBuf,
    /// The digests of the lines that are not blank, by number; a record that spans several lines has one.
    lines: BTreeMap<u64, Digest>,
    /// How many lines there are.
    count: u64,
}

impl SourceLines {
    fn read(path: &Path) -> Result<Self, Error> {
        let mut log = LogFile::open(path)?;
        let mut framer = LineFramer::default();
        let (mut lines, mut count) = (BTreeMap::new(), 0);
        let mut keep = |line: Line<'_>| {
            count += line.lines;
            lines.insert(line.position.line, line.digest());
        };
        loop {
            let bytes = log.read()?;
            if bytes.is_empty() {
                framer.finish(&mut keep);
                return Ok(Self { path: path.to_owned(), lines, count });
            }
            framer.push(bytes, &mut keep);
        }
    }

    fn line(&self, number: u64) -> Option<&Digest> {
        self.lines.get(&number)
    }
}

/// The sources with which the good records are compared.
struct Check<'s> {
    sources: &'s [SourceLines],
    /// The number of records compared with each source.
    compared: Vec<u64>,
    /// The number of records of logs that were not given, by log.
    elsewhere: BTreeMap<Option<String>, u64>,
    without_digest: u64,
    head: Option<Digest>,
    /// The record whose hash is the head that was given.
    head_at: Option<u64>,
    problem: Option<String>,
}

impl<'s> Check<'s> {
    fn new(sources: &'s [SourceLines], head: Option<Digest>) -> Self {
        let head_at = head.filter(|head| *head == Digest::default()).map(|_| 0);
        Self {
            sources,
            compared: vec![0; sources.len()],
            elsewhere: BTreeMap::new(),
            without_digest: 0,
            head,
            head_at,
            problem: None,
        }
    }

    fn record(&mut self, record: &Verified) {
        if Some(record.hash) == self.head {
            self.head_at = Some(record.seq);
        }
        if self.sources.is_empty() || self.problem.is_some() {
            return;
        }
        let candidates = self.candidates(record.log.as_deref());
        let Some(digest) = record.line_sha256 else {
            self.without_digest += 1;
            return;
        };
        if candidates.is_empty() {
            *self.elsewhere.entry(record.log.clone()).or_default() += 1;
            return;
        }
        let fits = |index: &&usize| self.sources[**index].line(record.line) == Some(&digest);
        match (candidates.iter().find(fits), candidates.first()) {
            (Some(&index), _) => self.compared[index] += 1,
            (None, Some(&index)) => self.problem = Some(differs(record, &self.sources[index])),
            (None, None) => {}
        }
    }

    /// The sources that may be this log: those with its path, else those with its file name; all of
    /// them if the trail does not name it.
    fn candidates(&self, log: Option<&str>) -> Vec<usize> {
        let all = || 0..self.sources.len();
        let Some(log) = log.map(Path::new) else { return all().collect() };
        let same = all().filter(|index| self.sources[*index].path == log).collect::<Vec<_>>();
        if !same.is_empty() {
            return same;
        }
        all().filter(|index| self.sources[*index].path.file_name() == log.file_name()).collect()
    }

    fn conclude(self, head: Head) -> (u8, String) {
        let unused = self.compared.iter().position(|compared| *compared == 0);
        if let Some(problem) = self.problem {
            return (exit::FAILED, problem);
        }
        if let Some(hash) = self.head.filter(|_| self.head_at.is_none()) {
            let what = format!(
                "no record has the hash {hash}: the end of the trail was cut off, or its records were made anew (it ends with record {})",
                head.count
            );
            return (exit::FAILED, what);
        }
        if let Some(source) = unused.and_then(|index| self.sources.get(index))
            && head.count > 0
        {
            let path = source.path.display();
            let what = match self.without_digest {
                0 => format!("no record says that it comes from {path}{}", others(&self.elsewhere)),
                count => format!(
                    "nothing to compare {path} with: {count} records have no digest of their line"
                ),
            };
            return (exit::FAILED, what);
        }
        (exit::FINE, self.good(head))
    }

    fn good(&self, head: Head) -> String {
        let mut report = format!("good: {} records\n", head.count);
        for (source, compared) in self.sources.iter().zip(&self.compared) {
            let path = source.path.display();
            report += &format!("log: {compared} records have their line unchanged in {path}\n");
        }
        let elsewhere: u64 = self.elsewhere.values().sum();
        if elsewhere > 0 {
            report += &format!("not compared: {elsewhere} records come from other logs\n");
        }
        if self.without_digest > 0 {
            let count = self.without_digest;
            report += &format!("not compared: {count} records have no digest of their line\n");
        }
        report += &match self.head_at {
            Some(at) if at == head.count => {
                "the head that was given is the last record\n".to_owned()
            }
            Some(at) => {
                let later = head.count - at;
                format!("the head that was given is record {at}; {later} came after it\n")
            }
            None => "whether the end was cut off shows only with --head\n".to_owned(),
        };
        report + &format!("head: {}\n", head.hash)
    }
}

fn differs(record: &Verified, source: &SourceLines) -> String {
    let (seq, line, path) = (record.seq, record.line, source.path.display());
    match source.line(line) {
        Some(_) => format!(
            "record {seq} was made from line {line} of {path}, which was changed since, or is another line now"
        ),
        None => format!(
            "record {seq} was made from line {line} of {path}, which has only {} lines now",
            source.count
        ),
    }
}

fn others(elsewhere: &BTreeMap<Option<String>, u64>) -> String {
    let names: Vec<_> = elsewhere.keys().flatten().map(String::as_str).collect();
    if names.is_empty() { String::new() } else { format!(": they come from {}", names.join(", ")) }
}
