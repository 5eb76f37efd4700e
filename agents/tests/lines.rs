use foldline::{
    ledger::{Identity, SourceFacts},
    position::{Digest, Located, Position, locating},
    processor::*,
    transduce::{Batch, Memoryless, Reducer, Transducer, emit_fn, memoryless, reduce_fn},
};
use foldline_agents::{Records, wire::Record};
use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType};

/// Emits a description of each record, and is done after the record `stop`.
struct Names;

impl<'a> Reducer<Record<'a>, bool, DomainEvent> for Names {
    fn init(&self) -> bool {
        false
    }

    fn reduce(&self, _: bool, record: Record<'a>) -> (bool, Batch<DomainEvent>) {
        let name = match &record {
            Record::Object(object) => object.get_str("type").unwrap_or_default().into_owned(),
            Record::Irregular(irregular) => irregular.to_string(),
        };
        let is_done = name == "stop";
        let entry = NormalizedEntry::new(NormalizedEntryType::SystemMessage, name);
        (is_done, Batch::one(DomainEvent::entry(entry)))
    }

    fn is_done(&self, is_done: &bool) -> bool {
        *is_done
    }
}

fn names(event: &Located<DomainEvent>) -> Batch<String> {
    let DomainEvent::NewEntry { entry } = &event.item else { return Batch::EMPTY };
    Batch::one(entry.content.decode().into_owned())
}

/// A long line with much invalid UTF-8 is not text; a short one is repaired, as is a long one with little of it.
#[test]
fn a_long_line_that_is_mostly_no_text_is_left_out() {
    let found = |text: &str, invalid: usize| {
        let mut log = format!(r#"{{"type":"{text}","x":""#).into_bytes();
        (0..invalid).for_each(|_| log.extend(b"\xFFy"));
        log.extend(b"\"}\n");
        let (mut processor, mut found) =
            (Processor::new(Records, Transducer::new(locating(Names), memoryless(names))), vec![]);
        processor.push(&log, |name| found.push(name));
        processor.finish(|name| found.push(name));
        found.pop().unwrap()
    };
    let long = "n".repeat(70_000);
    assert_eq!(found("short", 2000), "short");
    assert_eq!(found(&long, 900), long);
    assert!(found(&long, 1100).contains("bytes"), "{}", found(&long, 1100));
}

#[test]
fn nothing_is_read_once_the_reducer_is_done() {
    let log = b"{\"type\":\"a\"}\n{\"type\":\"stop\"}\n{\"type\":\"b\"}\n{\"type\":\"c\"}\n";
    for size in [1, 7, 1000] {
        let mut found = Vec::new();
        let mut processor =
            Processor::new(Records, Transducer::new(locating(Names), memoryless(names)));
        for chunk in log.chunks(size) {
            processor.push(chunk, |name| found.push(name));
        }
        assert!(processor.is_done());
        assert_eq!(processor.position(), Position { line: 3, offset: 29 });
        let stored = processor.snapshot().to_json().unwrap();
        let finished = processor.finish(|name| found.push(name));
        assert_eq!(found, ["a", "stop"]);
        assert_eq!(finished.counts, Counts { lines: 2, blank: 0, records: 2 });
        assert_eq!(finished.framer.position, Position { line: 3, offset: 29 });

        // Nor after a resumption.
        let mut again = Processor::resume(
            Records,
            locating(Names),
            Snapshot::from_json(&stored).unwrap(),
            memoryless(names),
            DEFAULT_MAX_LINE,
        );
        again.push(&log[29..], |name| found.push(name));
        assert_eq!(again.finish(|name| found.push(name)).counts.lines, 2);
        assert_eq!(found.len(), 2);
    }
}

#[test]
fn a_last_line_without_its_end_is_read_once() {
    let log = b"{\"type\":\"a\"}\n{\"type\":\"b\"}\n";
    let mut found = Vec::new();
    let mut processor =
        Processor::new(Records, Transducer::new(locating(Names), memoryless(names)));
    processor.push(&log[..log.len() - 1], |name| found.push(name));
    let Finished { framer, counts, state, .. } = processor.finish(|name| found.push(name));
    let offset = usize::try_from(framer.position.offset).unwrap();
    let snapshot = Snapshot { framer, within: None, counts, state, emitter: () };
    let emitter = memoryless(names);
    let mut again =
        Processor::resume(Records, locating(Names), snapshot, emitter, DEFAULT_MAX_LINE);
    again.push(&log[offset..], |name| found.push(name));
    let counts = again.finish(|name| found.push(name)).counts;
    assert_eq!(found, ["a", "b"]);
    assert_eq!(counts, Counts { lines: 2, blank: 0, records: 2 });
}

#[test]
fn a_last_line_of_whole_records_is_read_when_the_source_pauses() {
    let mut processor =
        Processor::new(Records, Transducer::new(locating(Names), memoryless(names)));
    let mut found = Vec::new();
    for (bytes, last, names) in [
        (&b"{\"type\":\"a\"}\n{\"type\""[..], LastLine::Left, 1),
        (b":\"b\"}", LastLine::Taken, 2),
        (b"\n", LastLine::None, 2),
        // Of two records on a line, the first is no whole one.
        (b"x{\"type\":\"c\"}", LastLine::Left, 2),
    ] {
        processor.push(bytes, |name| found.push(name));
        assert_eq!(processor.flush_last_line(|name| found.push(name)), last);
        assert_eq!(found.len(), names, "{found:?}");
    }
    assert_eq!(found, ["a", "b"]);
}

#[test]
fn a_record_over_several_lines_is_copied_as_one() {
    let log = "{\n  \"type\": \"x\",\n  \"rest\": {\n    \"a\": 1\n  }\n}\n{\"type\":\"y\"}\n";
    let rest = reduce_fn(
        || (),
        |(), record: Record<'_>| {
            let Record::Object(object) = record else { return ((), Batch::EMPTY) };
            let rest = object.get("rest").map(|raw| raw.get().to_owned()).unwrap_or_default();
            let entry = NormalizedEntry::new(NormalizedEntryType::SystemMessage, rest);
            ((), Batch::one(DomainEvent::entry(entry)))
        },
    );
    let all = emit_fn(|event: &Located<DomainEvent>| Batch::one(event.clone()));
    let mut found = Vec::new();
    let mut processor =
        Processor::new(Records, Transducer::new(locating(rest), all)).with_line_hashes();
    processor.push(log.as_bytes(), |event| found.push(event));
    let counts = processor.finish(|event| found.push(event)).counts;
    assert_eq!(counts, Counts { lines: 7, blank: 0, records: 2 });
    assert_eq!(names(&found[0]).as_slice()[0], "{     \"a\": 1   }");
    assert_eq!(found[1].position, Position { line: 7, offset: log.len() as u64 - 13 });
    // The digest covers the unchanged lines of the log.
    let lines = log.trim_end().rsplit_once('\n').unwrap().0;
    assert_eq!(found[0].line_sha256.as_deref(), Some(&Digest::of(lines.as_bytes())));
}

/// The output of [`names`] with positions and digests of lines.
type Named = (Position, Option<Digest>, String);

fn named(event: &Located<DomainEvent>) -> Batch<Named> {
    let digest = event.line_sha256.as_deref().copied();
    names(event).map(|name| (event.position, digest, name))
}

type Naming = Memoryless<fn(&Located<DomainEvent>) -> Batch<Named>>;

fn naming() -> Naming {
    memoryless(named)
}

/// Each output has the size 1.
#[derive(Default)]
struct Collected(Vec<Named>);

impl Collect for Collected {
    type Item = Named;

    fn add(&mut self, output: Named) {
        self.0.push(output);
    }

    fn size(&self) -> usize {
        self.0.len()
    }
}

type Lines = Processor<
    foldline_domain::Locating<Names>,
    foldline_domain::LocatingState<bool>,
    Naming,
    Records,
>;

type Parts = Segments<
    foldline_domain::Locating<Names>,
    foldline_domain::LocatingState<bool>,
    Naming,
    Collected,
    Records,
>;

/// The segments of a log, with at most so many outputs.
fn parts(processor: Lines, size: usize) -> Parts {
    let limits = SegmentLimits { size, ..SegmentLimits::default() };
    Segments::new("log".into(), SourceFacts::default(), None, processor).with_limits(limits)
}

/// All outputs of a log, and the counts.
fn read(mut processor: Lines, log: &[u8]) -> (Vec<Named>, Counts) {
    let mut found = Vec::new();
    processor.push(log, |output| found.push(output));
    processor.end_line(|output| found.push(output));
    let counts = processor.finish(|output| found.push(output)).counts;
    (found, counts)
}

/// Logs with several records on a line, in all irregular forms of lines.
fn crowded() -> Vec<Vec<u8>> {
    let a = r#"{"type":"a"}"#;
    let logs = [
        format!("{a}\n{a}{a}{a}\n\n \n{a}\n"),
        format!("{a}{a}\r\n{a} {a}\t{a}\r\n{a}"),
        format!("[{a},{a},{a}]\n[{a},{a}\n{a}"),
        format!("x{a}y{a}\n{{\"type\":\"x{a}{a}\n{a}{a}"),
        format!("\u{feff}{a}{a}\n{a}\n"),
        format!("{{\n\"type\":\"b\"}}{a}{a}\n{{\n\"type\":\n{a}{a}\n"),
        format!("{}{a}\n{a}", "z".repeat(600)),
    ];
    let utf16 = |log: &String| {
        let units = "\u{feff}".encode_utf16().chain(log.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    };
    let mut all: Vec<Vec<u8>> = logs[..4].iter().map(utf16).collect();
    all.extend(logs.map(String::into_bytes));
    all.push([b"\xff", a.as_bytes(), b"\xe2\x82\xff", a.as_bytes(), a.as_bytes()].concat());
    all.push([b" \xff", a.as_bytes(), b"\n\xff\n", a.as_bytes(), a.as_bytes(), b"\n"].concat());
    all
}

#[test]
fn a_pause_within_a_line_changes_nothing_and_can_be_resumed_from() {
    let begin = || {
        Lines::with_framer(
            Records,
            Transducer::new(locating(Names), naming()),
            LineFramer::new(500),
        )
        .with_line_hashes()
    };
    let mut within = 0;
    for log in crowded() {
        let (expected, counts) = read(begin(), &log);
        for (size, limit) in [(1, 1), (7, 2), (1000, 1), (1000, 3)] {
            let mut segments = parts(begin(), limit);
            let (mut found, mut before) = (Vec::new(), None);
            let mut chunks = log.chunks(size);
            loop {
                if segments.is_paused() {
                    segments.go_on();
                } else if let Some(chunk) = chunks.next() {
                    segments.push(chunk);
                } else {
                    break;
                }
                found.extend(segments.take().0);
                let processor = segments.processor();
                let place = Some(processor.next_record());
                assert!(before <= place, "{log:?}: {before:?} {place:?}");
                assert!(!segments.is_paused() || before < place, "{log:?}: twice {place:?}");
                before = place;
                let stored = processor.snapshot().to_json().unwrap();
                let snapshot: Snapshot<_> = Snapshot::from_json(&stored).unwrap();
                within += usize::from(snapshot.within.is_some());
                let again = Processor::resume(Records, locating(Names), snapshot, naming(), 500);
                assert_eq!(Some(again.next_record()), place);
                let offset = usize::try_from(again.position().offset).unwrap();
                // A pause in the first line after it is no earlier.
                let snapshot = Snapshot::from_json(&stored).unwrap();
                let first = Processor::resume(Records, locating(Names), snapshot, naming(), 500);
                let mut first = parts(first, 1);
                first.push(&log[offset..]);
                let first = first.processor().snapshot().framer.position.offset;
                assert!(first >= offset as u64, "{log:?}: {first} after {offset}");
                let (rest, again) = read(again.with_line_hashes(), &log[offset..]);
                let all: Vec<_> = found.iter().cloned().chain(rest).collect();
                assert_eq!(all, expected, "{log:?} from {place:?}");
                assert_eq!(again, counts, "{log:?} from {place:?}");
            }
            segments.end_line();
            while segments.is_paused() {
                found.extend(segments.take().0);
                segments.go_on();
            }
            let (last, finished) = segments.finish(|_| Identity::default()).unwrap();
            found.extend(last.output.0);
            assert_eq!(found, expected, "{log:?}");
            assert_eq!(finished.counts, counts, "{log:?}");
        }
    }
    assert!(within > 50, "{within}");
}

#[test]
fn a_pause_keeps_few_events() {
    let log = [b"{\"type\":\"a\"}".repeat(10_000), b"{}\n".repeat(10_000)].concat();
    let mut segments =
        parts(Processor::new(Records, Transducer::new(locating(Names), naming())), 10);
    segments.push(&log);
    let mut commits = 0;
    while segments.is_paused() {
        assert_eq!(segments.commit(Identity::default()).unwrap().output.0.len(), 10);
        segments.go_on();
        commits += 1;
    }
    assert_eq!(commits, 1999);
}

#[test]
fn records_of_a_decoded_line_stand_where_they_stand_in_the_log() {
    let a = "{\"type\":\"a\"}";
    let line = format!("{a}{a}");
    let utf16: Vec<u8> =
        format!("\u{feff}{line}").encode_utf16().flat_map(u16::to_be_bytes).collect();
    let damaged = [b"\xff".as_slice(), line.as_bytes()].concat();
    for (log, offsets) in [(utf16, [2, 26]), (damaged, [1, 13])] {
        let (read, _) =
            read(Processor::new(Records, Transducer::new(locating(Names), naming())), &log);
        let found: Vec<_> = read
            .iter()
            .filter(|(.., name)| name == "a")
            .map(|(position, ..)| position.offset)
            .collect();
        assert_eq!(found, offsets);
    }
}

/// Each output of a fan-out is in the collection at its position.
#[test]
fn a_fan_out_is_collected_side_by_side() {
    type Both = (Collected, Vec<u8>);
    let bytes = memoryless(|event| names(event).map(String::into_bytes));
    let processor = Processor::new(Records, Transducer::new(locating(Names), (naming(), bytes)));
    let mut segments =
        Segments::<_, _, _, Both, _>::new("log".into(), SourceFacts::default(), None, processor);
    segments.push(b"{\"type\":\"a\"}\n{\"type\":\"b\"}\n");
    assert_eq!((segments.collected().size(), segments.collected().0.size()), (4, 2));
    let (named, bytes) = segments.commit(Identity::default()).unwrap().output;
    assert_eq!((named.0.len(), bytes), (2, b"ab".to_vec()));
    assert_eq!(segments.collected().size(), 0);
}
