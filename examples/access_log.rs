//! The access log of a web server: the whole shell, without an agent and without JSON.
//!
//! The author supplies a reducer and an emitter. Lines, positions, snapshots, following and exactly-once commits come
//! from the library: the run below is killed between two commits, resumed, and follows the log while it grows.

use std::{collections::BTreeMap, error::Error, fs, io::Write, path::Path, time::Duration};

use foldline::{
    ledger::{FileLedger, Ledger, SourceFacts, SourceName},
    position::{Located, LocatingState, locating},
    processor::{DEFAULT_MAX_LINE, LineFramer, Processor, Segments, Snapshot, TextLines},
    source::{Follow, Step, Until},
    transduce::{Batch, Emitter, Reducer, Resume, Transducer},
};

/// The number of seconds after which a silent client counts as gone.
const IDLE: u32 = 900;

enum Event {
    Served { client: String, status: u16, bytes: u64 },
    ClientGone { client: String },
    NotUnderstood,
}

/// The last request of each client, in seconds of the day.
type Clients = BTreeMap<String, u32>;

struct AccessLog;

impl<'a> Reducer<&'a str, Clients, Event> for AccessLog {
    fn init(&self) -> Clients {
        Clients::new()
    }

    fn reduce(&self, mut clients: Clients, line: &'a str) -> (Clients, Batch<Event>) {
        let Some((now, client, status, bytes)) = parse(line) else {
            return (clients, Batch::one(Event::NotUnderstood));
        };
        let client = client.to_owned();
        clients.insert(client.clone(), now);
        let (here, gone): (Clients, Clients) =
            clients.into_iter().partition(|(_, seen)| seen + IDLE >= now);
        let gone = gone.into_keys().map(|client| Event::ClientGone { client });
        (here, gone.chain([Event::Served { client, status, bytes }]).collect())
    }
}

fn parse(line: &str) -> Option<(u32, &str, u16, u64)> {
    let (client, rest) = line.split_once(' ')?;
    let (_, time) = rest.split_once('[')?.1.split_once(':')?;
    let (time, answer) = (time.get(..8)?, rest.rsplit_once("\" ")?.1);
    let now =
        time.split(':').try_fold(0, |sum, part| Some(sum * 60 + part.parse::<u32>().ok()?))?;
    let (status, bytes) = answer.split_once(' ')?;
    Some((now, client, status.parse().ok()?, bytes.parse().ok()?))
}

/// Reports each event as a line with the number of bytes served so far, which is its memory.
#[derive(Default)]
struct Report(u64);

impl Emitter<Located<Event>, Vec<u8>> for Report {
    fn emit(&mut self, event: &Located<Event>) -> Batch<Vec<u8>> {
        let line = match &event.item {
            Event::Served { client, status, bytes } => {
                self.0 += bytes;
                format!("{client} got {status}, {} bytes in all\n", self.0)
            }
            Event::ClientGone { client } => format!("{client} left\n"),
            Event::NotUnderstood => format!("line {} was not understood\n", event.position.line),
        };
        Batch::one(line.into_bytes())
    }
}

impl Resume for Report {
    type State = u64;

    fn state(&self) -> u64 {
        self.0
    }

    fn resume(&mut self, served: u64) {
        self.0 = served;
    }
}

/// Follows a log into a report. With `is_killed`, the run ends before it commits what it has read.
fn follow(log: &Path, out: &Path, until: Until, is_killed: bool) -> Result<(), Box<dyn Error>> {
    let mut ledger = FileLedger::open(out, &out.with_extension("checkpoint"))?;
    let (name, mut log) = (SourceName::from("access log"), Follow::open(log, until)?);
    let (reducer, report) = (locating(AccessLog), Report::default());
    let checkpoint = ledger.load(&name)?;
    let expected = checkpoint.as_ref().map(|checkpoint| checkpoint.position);
    let processor = match checkpoint {
        None => Processor::with_framer(
            TextLines,
            Transducer::new(reducer, report),
            LineFramer::default(),
        ),
        Some(checkpoint) => {
            log.resume(&checkpoint.facts.identity)?;
            let snapshot = Snapshot::<LocatingState<Clients>, u64>::from_json(&checkpoint.state)?;
            Processor::resume(TextLines, reducer, snapshot, report, DEFAULT_MAX_LINE)
        }
    };
    // The outputs are collected, because they are committed together with the position after them.
    let mut segments: Segments<_, _, _, Vec<u8>, _> =
        Segments::new(name, SourceFacts::default(), expected, processor);
    let mut is_due = false;
    loop {
        match is_due {
            // A full segment holds the rest of what was pushed, until it is committed.
            true => segments.go_on(),
            false => match log.step()? {
                Step::Bytes(_) if is_killed => return Ok(()),
                Step::Bytes(bytes) => segments.push(bytes),
                Step::NextFile(_) => segments.next_file(),
                Step::Notice(_) | Step::Idle => {}
                Step::End => return Ok(()),
            },
        }
        is_due = segments.is_due();
        let read = segments.processor().next_record().offset;
        if let Some(identity) = log.identity(read)?.filter(|_| segments.has_news()) {
            ledger.commit(&[segments.commit(identity)?], &[])?;
        }
    }
}

/// The log is read in three runs while it is written: the second run is killed, and the third one follows.
fn main() -> Result<(), Box<dyn Error>> {
    const LOG: &str = include_str!("access.log");
    let folder = tempfile::tempdir()?;
    let [log, out, whole] = ["log", "report", "whole"].map(|name| folder.path().join(name));
    for (length, is_killed) in [(150, false), (300, true)] {
        fs::write(&log, &LOG[..length])?;
        follow(&log, &out, Until::EndOfFile, is_killed)?;
    }
    let write_rest =
        || fs::OpenOptions::new().append(true).open(&log)?.write_all(&LOG.as_bytes()[300..]);
    std::thread::scope(|scope| {
        let writer = scope.spawn(write_rest);
        follow(&log, &out, Until::Idle(Duration::from_millis(500)), false)?;
        writer.join().map_err(|_| "the writer panicked")??;
        Ok::<_, Box<dyn Error>>(())
    })?;
    follow(&log, &whole, Until::EndOfFile, false)?;
    assert_eq!(fs::read_to_string(&out)?, fs::read_to_string(&whole)?);
    print!("{}", fs::read_to_string(&out)?);
    Ok(())
}
