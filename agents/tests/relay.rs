use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicUsize, Ordering},
};

use foldline::{
    position::{Located, Position},
    processor::{Counts, HeapSize, LineFramer, ParseAhead, Processor},
    transduce::{Batch, Emitter, Reducer, Transducer, emit_fn},
};
use foldline_agents::{DynExecutor, Records, Sessions, SplitExecutor, droid::Droid, wire::Record};
use foldline_domain::{DomainEvent, WarningKind};
use proptest::prelude::*;

type Event = Located<DomainEvent>;

/// The longest line that is kept.
const MAX_LINE: usize = 300;

/// The observable result of reading a log: its events with session and digest, the counts, and the last position.
type Seen = (Vec<Event>, Counts, Position);

fn copies() -> impl Emitter<Event, Event> + Send {
    emit_fn(|event: &Event| Batch::one(event.clone()))
}

fn pushed<'l>(chunks: impl IntoIterator<Item = &'l [u8]>) -> Seen {
    let (executor, mut events) = (DynExecutor::new(Droid), Vec::new());
    let transducer = Transducer::new(Sessions::new(executor), copies());
    let framer = LineFramer::new(MAX_LINE);
    let mut processor = Processor::with_framer(Records, transducer, framer).with_line_hashes();
    chunks.into_iter().for_each(|chunk| processor.push(chunk, |event| events.push(event)));
    let (counts, position) = (processor.counts(), processor.position());
    processor.finish(|event| events.push(event));
    (events, counts, position)
}

fn relayed<'l>(chunks: impl IntoIterator<Item = &'l [u8], IntoIter: Send>) -> Seen {
    let (executor, mut events) = (DynExecutor::new(Droid), Vec::new());
    let ahead = Sessions::new(SplitExecutor::new(executor.clone()));
    let transducer = Transducer::new(Sessions::new(executor), copies());
    let framer = LineFramer::new(MAX_LINE);
    let processor = Processor::with_framer(Records, transducer, framer).with_line_hashes();
    let mut chunks = chunks.into_iter();
    let read = |bytes: &mut Vec<u8>| -> io::Result<()> {
        bytes.extend_from_slice(chunks.next().unwrap_or_default());
        Ok(())
    };
    let processor = processor.relay(&ahead, read, |event| events.push(event), |_| Ok(())).unwrap();
    let (counts, position) = (processor.counts(), processor.position());
    processor.finish(|event| events.push(event));
    (events, counts, position)
}

/// A line that a log may have, with its end.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let object = (0..4_u8, 0..3_u8, "[a-z\"\\\\é{}]{0,40}").prop_map(|(call, session, text)| {
        let (text, end) = (serde_json::to_string(&text).unwrap(), if call == 0 { "\r\n" } else { "\n" });
        match call {
            0 => format!(r#"{{"type":"message","role":"user","text":{text},"session_id":"s{session}"}}{end}"#),
            1 => format!(r#"{{"type":"tool_result","id":"c{session}","value":{text}}}{end}"#),
            _ => format!(
                r#"{{"type":"tool_call","id":"c{session}","toolName":"Read","parameters":{{"file_path":{text}}}}}{end}"#
            ),
        }
        .into_bytes()
    });
    let other = prop::sample::select(vec![
        &b"\n"[..],
        b"plain text\n",
        b"{\n",
        b"[\n",
        b"\"type\":\"message\",\n",
        b"\"text\":\"over lines\"\n",
        b"}\n",
        b"{\"type\":\"x\"}{\"type\":\"y\"}\n",
        b" {\"type\":\"x\"} \n",
        b"{\"type\":\"x\",\"torn\":\"\n",
        b"{\"type\":\"message\",\"text\":\"\xff\"}\n",
        b"\xef\xbb\xbf{\"type\":\"x\"}\n",
        b"{}\n",
    ]);
    let long = (MAX_LINE - 20..MAX_LINE + 20).prop_map(|length| {
        let text = "x".repeat(length.saturating_sub(13));
        format!("{{\"type\":\"{text}\"}}\n").into_bytes()
    });
    prop_oneof![6 => object, 3 => other.prop_map(<[u8]>::to_vec), 1 => long]
}

proptest! {
    /// For any log in any chunks, two threads give the same result as one.
    #[test]
    fn it_does_what_push_does(
        lines in prop::collection::vec(line(), 0..60),
        is_whole in any::<bool>(),
        is_utf16 in prop::bool::weighted(0.1),
        cuts in prop::collection::vec(1..700_usize, 1..8),
    ) {
        let mut log = lines.concat();
        if !is_whole {
            log.pop();
        }
        if is_utf16 {
            let text = String::from_utf8_lossy(&log);
            log = b"\xff\xfe".iter().copied().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        }
        let (mut chunks, mut rest) = (Vec::new(), &*log);
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, after) = rest.split_at(rest.len().min(*cut));
            chunks.push(chunk);
            rest = after;
        }
        prop_assert_eq!(relayed(chunks), pushed([&*log]));
    }
}

/// A chunk with more short lines than are parsed ahead.
#[test]
fn short_lines_are_all_read() {
    let log = "{}\n".repeat(5 * (1 << 11));
    let chunk = log.as_bytes();
    assert_eq!(relayed([chunk, chunk, chunk]), pushed([chunk, chunk, chunk]));
}

/// Numbers the records, with a text of this size; done after a given number.
struct Counting {
    text: usize,
    until: u64,
}

impl ParseAhead<Records> for Counting {
    type Parsed<'a> = Record<'a>;

    fn parse_ahead<'a>(&'a self, record: Record<'a>) -> Record<'a> {
        record
    }
}

impl<'a> Reducer<Located<Record<'a>>, u64, Event> for Counting {
    fn init(&self) -> u64 {
        0
    }

    fn reduce(&self, count: u64, record: Located<Record<'a>>) -> (u64, Batch<Event>) {
        let message = format!("{count} {}", "x".repeat(self.text));
        let event = DomainEvent::warning(WarningKind::ForeignRecord, message);
        (count + 1, Batch::one(Located::new(record.position, event)))
    }

    fn is_done(&self, count: &u64) -> bool {
        *count >= self.until
    }
}

/// The numbers from a [`Counting`], the number of calls of `after`, and the outcome. `after` fails at a given number.
fn counted(
    counting: impl Fn() -> Counting,
    chunks: &[io::Result<&'static str>],
    fails_at: usize,
) -> (Vec<u64>, usize, io::Result<u64>) {
    let (mut said, mut calls, mut chunks) = (Vec::new(), 0, chunks.iter());
    let number = emit_fn(|event: &Event| match &event.item {
        DomainEvent::Warning(warning) => {
            Batch::one(warning.message.split(' ').next().unwrap().parse().unwrap())
        }
        _ => Batch::EMPTY,
    });
    let processor =
        Processor::new(Records, Transducer::new::<Located<Record<'_>>, Event>(counting(), number));
    let read = |bytes: &mut Vec<u8>| match chunks.next() {
        Some(Ok(chunk)) => {
            bytes.extend_from_slice(chunk.as_bytes());
            Ok(())
        }
        Some(Err(error)) => Err(error.kind().into()),
        None => Ok(()),
    };
    let after = |_: &mut _| {
        calls += 1;
        if calls == fails_at { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    };
    let ended = processor.relay(&counting(), read, |number| said.push(number), after);
    let ended = ended.map(|processor| processor.position().line);
    (said, calls, ended)
}

#[test]
fn a_box_is_as_large_as_what_it_holds() {
    let event = DomainEvent::warning(WarningKind::ForeignRecord, "x".repeat(100));
    let size = event.heap_size();
    assert!(size >= 100, "{size}");
    assert_eq!(Box::new(event).heap_size(), size);
}

const TEN: &str = "{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n";

#[test]
fn large_events_are_emitted_before_the_chunk_ends() {
    let large = || Counting { text: 1 << 20, until: u64::MAX };
    // The framer reads the first chunk, which may have a byte order mark.
    let (said, calls, ended) = counted(large, &[Ok(TEN), Ok(TEN), Ok(TEN)], 0);
    assert_eq!(said, (0..30).collect::<Vec<_>>());
    assert!(calls > 6, "{calls}");
    assert_eq!(ended.unwrap(), 31);
}

#[test]
fn nothing_is_read_once_the_reducer_is_done() {
    for until in [5, 10, 25] {
        let counting = || Counting { text: 0, until };
        let chunks = [Ok(TEN), Ok(TEN), Ok(TEN), Ok(TEN)];
        let (said, _, ended) = counted(counting, &chunks, 0);
        assert_eq!(said, (0..until).collect::<Vec<_>>());
        assert_eq!(ended.unwrap(), until + 1);
    }
}

/// A source without an end, which a thread would read for ever.
#[test]
fn reading_stops_with_the_reducer_and_with_the_output() {
    let chunks: Vec<_> = (0..1_000_000).map(|_| TEN).collect();
    for (until, fails_at) in [(25, 0), (u64::MAX, 3)] {
        let (read, counting) = (AtomicUsize::new(0), Counting { text: 0, until });
        let next = |bytes: &mut Vec<u8>| -> io::Result<()> {
            let number = read.fetch_add(1, Ordering::Relaxed);
            bytes.extend_from_slice(chunks.get(number).copied().unwrap_or_default().as_bytes());
            Ok(())
        };
        let mut calls = 0;
        let after = |_: &mut _| {
            calls += 1;
            if calls == fails_at { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
        };
        let transducer = Transducer::new::<Located<Record<'_>>, Event>(counting, copies());
        let processor = Processor::new(Records, transducer);
        let counting = Counting { text: 0, until };
        let ended = processor.relay(&counting, next, |_| {}, after);
        assert_eq!(ended.is_ok(), fails_at == 0);
        let read = read.into_inner();
        assert!(read < chunks.len() / 2, "{read} chunks were read");
    }
}

#[test]
fn what_was_read_before_an_error_is_emitted() {
    let counting = || Counting { text: 0, until: u64::MAX };
    let failed = || Err(io::ErrorKind::TimedOut.into());
    let (said, calls, ended) = counted(counting, &[Ok(TEN), Ok(TEN), failed(), Ok(TEN)], 0);
    assert_eq!((said, calls), ((0..20).collect(), 2));
    assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::TimedOut);
}

#[test]
fn an_output_that_fails_ends_it() {
    for text in [0, 1 << 20] {
        let counting = || Counting { text, until: u64::MAX };
        let chunks: Vec<_> = (0..50).map(|_| Ok(TEN)).collect();
        let (said, calls, ended) = counted(counting, &chunks, 2);
        assert_eq!(calls, 2);
        assert!((4..=20).contains(&said.len()), "{}", said.len());
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}

/// A reducer that panics at a record, on the thread whose turn it is.
struct Falling(Counting);

impl ParseAhead<Records> for Falling {
    type Parsed<'a> = Record<'a>;

    fn parse_ahead<'a>(&'a self, record: Record<'a>) -> Record<'a> {
        record
    }
}

impl<'a> Reducer<Located<Record<'a>>, u64, Event> for Falling {
    fn init(&self) -> u64 {
        0
    }

    fn reduce(&self, count: u64, record: Located<Record<'a>>) -> (u64, Batch<Event>) {
        assert!(count < self.0.until, "it falls");
        self.0.reduce(count, record)
    }
}

#[test]
fn a_panic_of_the_reducer_ends_it() {
    for until in [0, 7, 12, 44] {
        let falling = || Falling(Counting { text: 0, until });
        let transducer = Transducer::new::<Located<Record<'_>>, Event>(falling(), copies());
        let processor = Processor::new(Records, transducer);
        let mut chunks = (0..50).map(|_| TEN);
        let read = |bytes: &mut Vec<u8>| -> io::Result<()> {
            bytes.extend_from_slice(chunks.next().unwrap_or_default().as_bytes());
            Ok(())
        };
        let ended = catch_unwind(AssertUnwindSafe(|| {
            processor.relay(&falling(), read, |_| {}, |_| Ok(())).is_ok()
        }));
        assert!(ended.is_err());
    }
}

/// A panic on one thread does not leave the other waiting.
#[test]
fn a_panic_ends_it() {
    for falls_at in [0, 7, 12, 44] {
        let counting = || Counting { text: 0, until: u64::MAX };
        let falls = emit_fn(|event: &Event| {
            assert!(event.position.line <= falls_at, "it falls");
            Batch::one(())
        });
        let transducer = Transducer::new::<Located<Record<'_>>, Event>(counting(), falls);
        let processor = Processor::new(Records, transducer);
        let mut chunks = (0..50).map(|_| TEN);
        let read = |bytes: &mut Vec<u8>| -> io::Result<()> {
            bytes.extend_from_slice(chunks.next().unwrap_or_default().as_bytes());
            Ok(())
        };
        let ended = catch_unwind(AssertUnwindSafe(|| {
            processor.relay(&counting(), read, |()| {}, |_| Ok(())).is_ok()
        }));
        assert!(ended.is_err());
    }
}
