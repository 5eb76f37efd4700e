//! `foldline push`: sends logs to a server on another machine, which started with `foldline serve --receive`.
//!
//! The sender asks what the server has of a log, and sends what follows it: nothing is remembered here. A log whose
//! beginning is another than the server's was rewritten, and is sent as a whole. Of a database, a copy is sent, and of a
//! session in several files its lines.

use std::{
    collections::{BTreeSet, HashMap},
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Component, Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use clap::Args;
use foldline::{ledger::Extent, processor::DEFAULT_MAX_LINE};
use foldline_agents::sqlite;
use foldline_render::human::number_of;
use indicatif::HumanBytes;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tempfile::TempDir;
use ureq::{Agent, Body, http::Response};

use crate::{
    client, error::Error, exit, finder::find, homes::existing, log::Log, origin, program::Program,
    received::ReceivedAt, say::say, signal::stop_flag,
};

/// The most bytes of one request.
const CHUNK: u64 = 4 << 20;

/// The time for one request.
const PATIENCE: Duration = Duration::from_secs(60);

/// The interval of looks at followed logs.
const OFTEN: Duration = Duration::from_secs(1);

/// The interval of looks at followed databases, which are copied each time.
const SELDOM: Duration = Duration::from_secs(15);

/// How often a log that changes meanwhile is compared again.
const ATTEMPTS: usize = 3;

/// The options of `foldline push`.
#[derive(Debug, Args)]
pub(crate) struct PushArgs {
    /// Address of the server, such as https://team.example
    #[arg(value_name = "URL")]
    url: String,

    /// Logs, or folders of logs [default: the folders of the agents]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// File with the token of this machine, which the server knows
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,

    /// Wait for more, and send it when it is written, until the program is stopped
    #[arg(long)]
    follow: bool,
}

pub(crate) fn run(program: &Program, args: &PushArgs) -> Result<u8, Error> {
    let server = Server::new(&args.url, &args.token_file)?;
    for path in &args.paths {
        path.metadata().map_err(|error| Error::Input { path: path.clone(), error })?;
    }
    let stop = stop_flag()?;
    let (mut seen, mut said) = (HashMap::new(), Said::default());
    loop {
        let mut summary = Summary::default();
        let pushed = push(program, args, &server, &stop, &mut seen, &mut summary);
        let failures = summary.failures.iter().cloned();
        said.only(failures.chain(match &pushed {
            Err(Refusal::Away(why)) if args.follow => Some(format!("{why}; trying again")),
            _ => None,
        }));
        if !args.follow {
            summary.print();
            pushed?;
            return Ok(if summary.failures.is_empty() { exit::SUCCESS } else { exit::FAILED });
        }
        if summary.bytes > 0 {
            summary.print();
        }
        // A server that is away may come back; a token that is refused will be again.
        if let Err(error @ Refusal::Final(_)) = pushed {
            return Err(error.into());
        }
        let begun = Instant::now();
        while begun.elapsed() < OFTEN {
            if stop.load(Ordering::Relaxed) {
                return Ok(exit::SUCCESS);
            }
            thread::sleep(OFTEN / 10);
        }
    }
}

/// What was sent.
#[derive(Debug, Default)]
struct Summary {
    sent: u64,
    unchanged: u64,
    skipped: u64,
    failures: Vec<String>,
    bytes: u64,
}

impl Summary {
    fn print(&self) {
        let Self { sent, unchanged, skipped, failures, bytes } = self;
        let (logs, size, failed) = (number_of(*sent, "log"), HumanBytes(*bytes), failures.len());
        say(&format!(
            "{logs} sent ({size}), {unchanged} unchanged, {skipped} skipped, {failed} failed"
        ));
    }

    fn fail(&mut self, path: &Path, why: &str) {
        self.failures.push(format!("failed: {}: {why}", path.display()));
    }
}

/// What was said in the last round, which is not repeated.
#[derive(Default)]
struct Said(BTreeSet<String>);

impl Said {
    fn only(&mut self, messages: impl Iterator<Item = String>) {
        let messages: BTreeSet<_> = messages.collect();
        messages.difference(&self.0).for_each(|message| say(message));
        self.0 = messages;
    }
}

/// When a log was sent.
#[derive(Debug)]
enum Seen {
    /// What the system said of the file then, which shows every change.
    File(Option<FileStatus>),
    /// Other files are part of it.
    At(Instant),
}

/// The length of a file, and when it was modified.
type FileStatus = (u64, Option<SystemTime>);

impl Seen {
    fn is_still(&self, now: Option<&FileStatus>) -> bool {
        match self {
            Self::File(before) => before.is_some() && before.as_ref() == now,
            Self::At(at) => at.elapsed() < SELDOM,
        }
    }
}

/// Sends all logs that changed since they were seen.
fn push(
    program: &Program,
    args: &PushArgs,
    server: &Server,
    stop: &AtomicBool,
    seen: &mut HashMap<PathBuf, Seen>,
    summary: &mut Summary,
) -> Result<(), Refusal> {
    let paths = match &*args.paths {
        [] => existing(&program.registry).into_iter().map(|home| home.folder).collect(),
        paths => paths.to_vec(),
    };
    let found = find(&program.registry, &paths, false);
    found.failed.iter().for_each(|(path, why)| summary.fail(path, why));
    summary.skipped += (found.broken.len() + found.no_files.len()) as u64;
    for path in found.files {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let now = fs::metadata(&path).map(|status| (status.len(), status.modified().ok())).ok();
        if seen.get(&path).is_some_and(|seen| seen.is_still(now.as_ref())) {
            summary.unchanged += 1;
            continue;
        }
        match push_log(program, server, &path) {
            Ok(Pushed::Bytes(length, kind)) => {
                match length {
                    0 => summary.unchanged += 1,
                    _ => summary.sent += 1,
                }
                summary.bytes += length;
                let is_file = matches!(kind, Stored::File);
                let now = if is_file { Seen::File(now) } else { Seen::At(Instant::now()) };
                seen.insert(path, now);
            }
            Ok(Pushed::NoLog) => {
                summary.skipped += 1;
                seen.insert(path, Seen::File(now));
            }
            Err(Failure::Log(why)) => summary.fail(&path, &why),
            Err(Failure::Server(refusal)) => return Err(refusal),
        }
    }
    Ok(())
}

enum Pushed {
    /// The number of bytes that were sent, and of what.
    Bytes(u64, Stored),
    /// The file is no log, and stays here.
    NoLog,
}

enum Failure {
    /// The log cannot be read or sent; others can.
    Log(String),
    Server(Refusal),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Log(error.to_string())
    }
}

/// Why the server takes nothing.
enum Refusal {
    /// It may take it later.
    Away(String),
    /// It will not take it from this machine, or at this address.
    Final(String),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Away(why) => Self::Unreached(format!(
                "{why}; what was sent stays, the rest follows in the next run"
            )),
            Refusal::Final(why) => Self::WrongUse(why),
        }
    }
}

fn push_log(program: &Program, server: &Server, path: &Path) -> Result<Pushed, Failure> {
    let kind = match recognise(program, path) {
        Ok(kind) => kind,
        Err(Error::NotALog { .. } | Error::Unrecognised { .. } | Error::Unsupported { .. }) => {
            return Ok(Pushed::NoLog);
        }
        Err(error) => return Err(Failure::Log(error.reason())),
    };
    let mut url = server.url_of(path).map_err(Failure::Log)?;
    let (_copy, mut file) = match kind {
        Stored::File => (None, File::open(path)?),
        Stored::Database => {
            let (folder, copy) = copied(path).map_err(|error| Failure::Log(error.to_string()))?;
            (Some(folder), copy)
        }
        Stored::Files => {
            url += ".jsonl";
            (None, lines(program, path).map_err(|error| Failure::Log(error.reason()))?)
        }
    };
    let modified =
        path.metadata()?.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let modified = modified.and_then(|age| u64::try_from(age.as_millis()).ok());
    for _ in 0..ATTEMPTS {
        if let Some(length) = send(server, &url, &mut file, modified)? {
            return Ok(Pushed::Bytes(length, kind));
        }
    }
    Err(Failure::Log("it changes while it is sent, or another program sends it".to_owned()))
}

/// How a log is stored.
enum Stored {
    File,
    Database,
    /// One session in several files.
    Files,
}

/// Only what an executor recognises leaves this machine.
fn recognise(program: &Program, path: &Path) -> Result<Stored, Error> {
    let file = program.openers().open_regular(path)?;
    let is_more = file.is_rewritten() && !file.is_document();
    let mut log = Log::Once(Box::new(file));
    log.executor(&program.registry, "auto", DEFAULT_MAX_LINE)?;
    Ok(match is_more {
        false => Stored::File,
        true if is_database(path)? => Stored::Database,
        true => Stored::Files,
    })
}

fn is_database(path: &Path) -> Result<bool, Error> {
    let mut begin = Vec::new();
    let read = File::open(path).and_then(|file| file.take(16).read_to_end(&mut begin));
    read.map_err(|error| Error::Input { path: path.to_owned(), error })?;
    Ok(begin == sqlite::MAGIC)
}

/// The lines of a log in several files, of which the server would not find all.
fn lines(program: &Program, path: &Path) -> Result<File, Error> {
    let mut log = program.openers().open_regular(path)?;
    let fail = |error| Error::Input { path: path.to_owned(), error };
    let mut lines = tempfile::tempfile().map_err(fail)?;
    loop {
        match log.read()? {
            [] => return Ok(lines),
            bytes => lines.write_all(bytes).map_err(fail)?,
        }
    }
}

/// A copy of a database at one moment, which its agent may write to.
fn copied(path: &Path) -> Result<(TempDir, File), Box<dyn std::error::Error>> {
    let folder = TempDir::new()?;
    let copy = folder.path().join("copy");
    let database = sqlite::connect(path)?;
    // The file is open for reading only; the copy is written.
    database.pragma_update(None, "query_only", false)?;
    database.execute("VACUUM INTO ?1", [copy.to_string_lossy()])?;
    Ok((folder, File::open(copy)?))
}

/// Sends what the server does not have of a file; returns the number of bytes. `None` if they do not continue what there is
/// by now.
fn send(
    server: &Server,
    url: &str,
    file: &mut File,
    modified: Option<u64>,
) -> Result<Option<u64>, Failure> {
    let has = server.part(url)?;
    let length = file.metadata()?.len();
    let is_continued = Extent::read(file, has.length)? == Some(has);
    let (begin, of) = if is_continued { (has.length, None) } else { (0, Some(length)) };
    let mut at = begin;
    while at < length {
        file.seek(SeekFrom::Start(at))?;
        let mut part = Vec::new();
        file.take(CHUNK.min(length - at)).read_to_end(&mut part)?;
        if part.is_empty() || !server.add(url, ReceivedAt { offset: at, of, modified }, &part)? {
            return Ok(None);
        }
        at += part.len() as u64;
    }
    Ok(Some(at - begin))
}

/// The server that receives.
struct Server {
    agent: Agent,
    url: String,
    token: String,
}

impl Server {
    fn new(url: &str, token: &Path) -> Result<Self, Error> {
        let is_web = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
        if !is_web {
            return Err(Error::WrongUse(format!(
                "{url} is no address of a server: give one such as https://team.example"
            )));
        }
        let text = fs::read_to_string(token);
        let text = text.map_err(|error| Error::Input { path: token.to_owned(), error })?;
        let url = url.trim_end_matches('/').to_owned();
        Ok(Self { agent: client::new(), url, token: format!("Bearer {}", text.trim()) })
    }

    /// The address of a log: its user, and its path.
    fn url_of(&self, path: &Path) -> Result<String, String> {
        let full = dunce::canonicalize(path).map_err(|error| error.to_string())?;
        let user = origin::user(&full).unwrap_or_else(|| "unknown".to_owned());
        let mut url = format!("{}/push/{}", self.url, encoded(&user));
        for part in full.components() {
            let part = match part {
                Component::Normal(part) => part.to_str().ok_or("its path is not text")?,
                // The letter of a drive.
                Component::Prefix(prefix) => {
                    let letter = prefix.as_os_str().to_str().ok_or("its path is not text")?;
                    letter.trim_end_matches(':')
                }
                _ => continue,
            };
            url += "/";
            url += &encoded(part);
        }
        Ok(url)
    }

    /// What the server has of a log.
    fn part(&self, url: &str) -> Result<Extent, Failure> {
        let asked = self.agent.get(url).header("Authorization", &self.token);
        let answer = asked.config().timeout_global(Some(PATIENCE)).build().call();
        let mut answer = self.answered(answer)?;
        match answer.status().as_u16() {
            200 => {
                let read = answer.body_mut().read_to_vec().ok();
                let part = read.and_then(|body| serde_json::from_slice(&body).ok());
                let strange = || self.no_receiver();
                part.ok_or_else(strange).map_err(Failure::Server)
            }
            _ => Err(self.refused(answer)),
        }
    }

    /// Sends bytes; `false` if they do not continue what there is.
    fn add(&self, url: &str, at: ReceivedAt, bytes: &[u8]) -> Result<bool, Failure> {
        let stated = [("of", at.of), ("modified", at.modified)];
        let stated =
            stated.into_iter().filter_map(|(name, value)| Some((name, value?.to_string())));
        let sent = self.agent.put(url).query("offset", at.offset.to_string()).query_pairs(stated);
        let sent = sent.header("Authorization", &self.token);
        let answer = sent.config().timeout_global(Some(PATIENCE)).build().send(bytes);
        let answer = self.answered(answer)?;
        match answer.status().as_u16() {
            200 => Ok(true),
            409 => Ok(false),
            _ => Err(self.refused(answer)),
        }
    }

    fn answered(
        &self,
        answer: Result<Response<Body>, ureq::Error>,
    ) -> Result<Response<Body>, Failure> {
        answer.map_err(|error| {
            let why = format!("cannot reach {}: {error}", self.url);
            Failure::Server(match error {
                ureq::Error::Http(_) | ureq::Error::BadUri(_) => Refusal::Final(why),
                _ => Refusal::Away(why),
            })
        })
    }

    fn refused(&self, mut answer: Response<Body>) -> Failure {
        let (status, url) = (answer.status(), &self.url);
        let said = answer.body_mut().with_config().limit(1 << 10).read_to_string();
        let said = said.unwrap_or_default();
        Failure::Server(match status.as_u16() {
            400 | 414 => return Failure::Log(format!("{url} refuses its path")),
            422 => return Failure::Log(format!("{url} answers: {}", said.trim())),
            401 | 403 => Refusal::Final(format!("{url} refuses the token of this machine")),
            404 | 405 => self.no_receiver(),
            _ => Refusal::Away(format!("{url} answers {status}: {}", said.trim())),
        })
    }

    fn no_receiver(&self) -> Refusal {
        Refusal::Final(format!(
            "{} receives no logs: it is no foldline serve with --receive",
            self.url
        ))
    }
}

fn encoded(part: &str) -> String {
    utf8_percent_encode(part, NON_ALPHANUMERIC).to_string()
}
