//! Many readers of one growing session, some of which read slowly: no reader misses an event, and the server
//! needs no more resources than for one reader.
#![cfg(target_os = "linux")]

use std::{
    env,
    fmt::{self, Display, Formatter},
    fs,
    ops::Range,
    path::Path,
    sync::{
        Arc, Condvar, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    client::{Event, Events, Server, append, folder},
    logs::stdout,
};

const PATH: &str = "/api/sessions/session/patches";

/// Lines that are written one after the other, each after all readers have the previous line.
const ONE_BY_ONE: Range<usize> = 0..50;

/// Lines that are written at once: more than the server keeps for those who are slow.
const AT_ONCE: Range<usize> = 50..1_100;

/// The length of their texts.
const LENGTH: usize = 12_000;

/// How much memory a reader may cost, in KiB: about 600, and what the allocator adds from run to run.
const EACH: u64 = 1536;

pub(super) fn line(number: usize) -> String {
    let text = format!("line {number}. {}", "x".repeat(LENGTH));
    let line = json!({ "type": "message", "role": "assistant", "id": number.to_string(), "text": text,
                       "session_id": "session", "timestamp": 1_770_000_000_000_u64 + number as u64 });
    format!("{line}\n")
}

/// The number of the line that an event has the text of.
fn of_line(data: &str) -> Option<usize> {
    let (_, rest) = data.split_once("\"line ")?;
    rest.split('.').next()?.parse().ok()
}

/// A reader that checks that nothing is missing.
struct Reader {
    events: Events,
    /// The document that it got first.
    first: Value,
    last: Option<(String, u64)>,
    snapshots: usize,
}

impl Reader {
    fn connect(server: &Server) -> Self {
        let events = server.events(PATH, None);
        let mut reader = Self { events, first: Value::Null, last: None, snapshots: 0 };
        let snapshot = reader.next();
        assert_eq!(snapshot.name, "snapshot");
        reader.first = serde_json::from_str(&snapshot.data).unwrap();
        reader
    }

    fn next(&mut self) -> Event {
        let event = self.events.next();
        let (epoch, number) = event.id.split_once(':').unwrap();
        let number = number.parse().unwrap();
        match &*event.name {
            "snapshot" => self.snapshots += 1,
            _ => assert_eq!(self.last, Some((epoch.to_owned(), number - 1)), "a gap, or twice"),
        }
        self.last = Some((epoch.to_owned(), number));
        event
    }
}

/// Reads to the last line, and returns the time of each line.
fn read_at_once(mut reader: Reader, came: &Sender<(usize, Instant)>) {
    let last = format!("\"line {}.", AT_ONCE.end - 1);
    loop {
        let event = reader.next();
        if let Some(line) = of_line(&event.data) {
            came.send((line, Instant::now())).unwrap();
        }
        // On a busy machine, also who reads at once may be too slow for so much, and gets the whole again.
        if event.data.contains(&last) {
            return;
        }
    }
}

/// Reads nothing until a signal, and then everything.
fn read_late(mut reader: Reader, go: &(Mutex<bool>, Condvar), whole: &Value) {
    drop(go.1.wait_while(go.0.lock().unwrap(), |go| !*go).unwrap());
    let mut document = reader.first.take();
    loop {
        let event = reader.next();
        let data: Value = serde_json::from_str(&event.data).unwrap();
        match &*event.name {
            "snapshot" => document = data,
            _ => {
                let patch: json_patch::Patch = serde_json::from_value(data).unwrap();
                json_patch::patch(&mut document, &patch).unwrap();
            }
        }
        if count(&document) == count(whole) {
            assert!(document == *whole, "the document is another");
            // The reader was continued, or restarted once.
            assert!(reader.snapshots <= 2);
            return;
        }
    }
}

fn count(document: &Value) -> usize {
    document["entries"].as_array().map_or(0, Vec::len)
}

/// The cost of a crowd.
struct Cost {
    /// The server's memory before the first reader, and the most that it had, in KiB.
    before: u64,
    most: u64,
    /// The median time from a written line to its arrival.
    median: Duration,
}

impl Display for Cost {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { before, most, median } = self;
        write!(f, "{before} KiB before, {most} KiB at the most, a line arrives after {median:?}")
    }
}

/// Lets a session grow before so many readers, of which some are slow.
fn crowd(readers: usize, slow: usize) -> Cost {
    let (_folder, logs) = folder();
    let log = logs.join("log.jsonl");
    let init = json!({ "type": "system", "subtype": "init", "cwd": "/repo", "tools": [], "model": "m",
                       "session_id": "session", "timestamp": 1_760_000_000_000_u64 });
    append(&log, &format!("{init}\n"));
    let server = Server::start(&logs, &[]);
    server.body("/sessions/session");
    let before = memory(&server, "VmRSS");
    let whole = logs.with_extension("whole");
    let lines: String = AT_ONCE.map(line).collect();
    fs::write(&whole, format!("{init}\n{}{lines}", ONE_BY_ONE.map(line).collect::<String>()))
        .unwrap();
    let whole = Arc::new(conversation(&whole));
    let go = Arc::new((Mutex::new(false), Condvar::new()));
    let late: Vec<_> = (0..slow)
        .map(|_| {
            let (reader, go, whole) = (Reader::connect(&server), go.clone(), whole.clone());
            thread::spawn(move || read_late(reader, &go, &whole))
        })
        .collect();
    let (say, came) = channel();
    let fast: Vec<_> = (slow..readers)
        .map(|_| {
            let (reader, say) = (Reader::connect(&server), say.clone());
            thread::spawn(move || read_at_once(reader, &say))
        })
        .collect();
    drop(say);
    let mut times = Vec::new();
    for number in ONE_BY_ONE {
        let written = Instant::now();
        append(&log, &line(number));
        times.extend(arrivals(&came, number, fast.len()).map(|at| at - written));
    }
    times.sort_unstable();
    append(&log, &lines);
    // Active readers have everything, regardless of the others.
    end(fast);
    *go.0.lock().unwrap() = true;
    go.1.notify_all();
    end(late);
    Cost { before, most: memory(&server, "VmHWM"), median: times[times.len() / 2] }
}

/// The time at which each reader received a line.
fn arrivals(
    came: &Receiver<(usize, Instant)>,
    number: usize,
    readers: usize,
) -> impl Iterator<Item = Instant> {
    came.iter().take(readers).map(move |(line, at)| {
        assert_eq!(line, number);
        at
    })
}

fn end(readers: Vec<JoinHandle<()>>) {
    readers.into_iter().for_each(|reader| reader.join().unwrap());
}

fn conversation(log: &Path) -> Value {
    let replayed = stdout(&["replay", log.to_str().unwrap(), "--format", "conversation"]);
    serde_json::from_str(&replayed).unwrap()
}

/// The memory of the server in KiB, as the system reports it.
pub(super) fn memory(server: &Server, what: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with(what)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn it_costs_no_more_than_one_reader() {
    let readers = env::var("FOLDLINE_READERS").map_or(40, |readers| readers.parse().unwrap());
    let alone = crowd(1, 0);
    let all = crowd(readers, readers / 4);
    println!("one reader: {alone}\n{readers} readers, {} of them slow: {all}", readers / 4);
    assert!(all.most < alone.most + EACH * readers as u64, "alone {alone}; together {all}");
}
