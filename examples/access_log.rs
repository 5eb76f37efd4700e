//! The access log of a web server, without agents and JSON: bytes cut anywhere, positions, snapshots.

use std::collections::BTreeMap;

use foldline::{
    conversation::{Located, LocatingState, locating},
    processor::{DEFAULT_MAX_LINE, LineFramer, Processor, Snapshot, TextLines},
    transduce::{Batch, Emitter, Memoryless, Reducer, Resume, Transducer, emit_fn},
};

const LOG: &str = "\
10.0.0.7 - - [10/Oct/2026:13:55:36 +0000] \"GET / HTTP/1.1\" 200 2326
{
10.0.0.9 - - [10/Oct/2026:13:56:02 +0000] \"GET /a HTTP/1.1\" 200 811
10.0.0.9 - - [10/Oct/2026:14:30:00 +0000] \"GET /b HTTP/1.1\" 500 12
";

/// How many seconds a client is silent before it counts as gone.
const IDLE: u32 = 900;

enum Event {
    RequestServed { client: String, status: u16, bytes: u64 },
    ClientIdle { client: String },
    NotUnderstood,
}

/// When each client was seen last, in seconds of the day.
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
        let (here, idle): (Clients, Clients) =
            clients.into_iter().partition(|(_, seen)| seen + IDLE >= now);
        let served = Event::RequestServed { client, status, bytes };
        let idle = idle.into_keys().map(|client| Event::ClientIdle { client });
        (here, idle.chain([served]).collect())
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

/// Says after each request how many bytes were served in all.
#[derive(Default)]
struct Served(u64);

impl Emitter<Located<Event>, u64> for Served {
    fn emit(&mut self, event: &Located<Event>) -> Batch<u64> {
        let Event::RequestServed { bytes, .. } = event.item else { return Batch::EMPTY };
        self.0 += bytes;
        Batch::one(self.0)
    }
}

impl Resume for Served {
    type State = u64;

    fn state(&self) -> u64 {
        self.0
    }

    fn resume(&mut self, served: u64) {
        self.0 = served;
    }
}

type Out = (Batch<String>, Batch<u64>);

fn emitters() -> impl Emitter<Located<Event>, Out> + Resume<State = ((), u64)> {
    let report = emit_fn(|Located { position, item, .. }: &Located<Event>| {
        Batch::one(match item {
            Event::RequestServed { client, status, .. } => format!("{client} got {status}"),
            Event::ClientIdle { client } => format!("{client} left"),
            Event::NotUnderstood => format!("line {}: not understood", position.line),
        })
    });
    (Memoryless(report), Served::default())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let transducer = || Transducer::new(locating(AccessLog), emitters());
    let begin = || Processor::of(TextLines, transducer(), LineFramer::default());
    let (mut whole, mut parts) = (Vec::new(), Vec::new());
    let mut processor = begin();
    processor.push(LOG.as_bytes(), |out| whole.push(out));
    processor.finish(|out| whole.push(out));
    // The same in two goes, the first of which ends within a line.
    let mut processor = begin();
    processor.push(&LOG.as_bytes()[..100], |out| parts.push(out));
    let stored = processor.snapshot().to_json()?;
    let snapshot = Snapshot::<LocatingState<Clients>, _>::from_json(&stored)?;
    let rest = &LOG.as_bytes()[usize::try_from(snapshot.framer.position.offset)?..];
    let (log, max) = (locating(AccessLog), DEFAULT_MAX_LINE);
    let mut processor = Processor::resume_of(TextLines, log, snapshot, emitters(), max);
    processor.push(rest, |out| parts.push(out));
    processor.finish(|out| parts.push(out));

    assert_eq!(whole, parts);
    let lines: Vec<_> = whole.iter().flat_map(|(line, _)| line).collect();
    assert_eq!(lines[1..4], ["line 2: not understood", "10.0.0.9 got 200", "10.0.0.7 left"]);
    Ok(())
}
