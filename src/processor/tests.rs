use super::*;
use crate::{
    conversation::{NormalizedEntry, NormalizedEntryType, locating},
    transduce::{Batch, Memoryless, emit_fn, reduce_fn},
};

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

#[test]
fn nothing_is_read_once_the_reducer_is_done() {
    let log = b"{\"type\":\"a\"}\n{\"type\":\"stop\"}\n{\"type\":\"b\"}\n{\"type\":\"c\"}\n";
    for size in [1, 7, 1000] {
        let mut found = Vec::new();
        let mut processor =
            Processor::new(Transducer::new(locating(Names), Memoryless(emit_fn(names))));
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

        // Nor after it was resumed.
        let mut again = Processor::resume(
            locating(Names),
            Snapshot::from_json(&stored).unwrap(),
            Memoryless(emit_fn(names)),
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
        Processor::new(Transducer::new(locating(Names), Memoryless(emit_fn(names))));
    processor.push(&log[..log.len() - 1], |name| found.push(name));
    let Finished { framer, counts, state, .. } = processor.finish(|name| found.push(name));
    let offset = usize::try_from(framer.position.offset).unwrap();
    let snapshot = Snapshot { framer, counts, state, emitter: () };
    let emitter = Memoryless(emit_fn(names));
    let mut again = Processor::resume(locating(Names), snapshot, emitter, DEFAULT_MAX_LINE);
    again.push(&log[offset..], |name| found.push(name));
    let counts = again.finish(|name| found.push(name)).counts;
    assert_eq!(found, ["a", "b"]);
    assert_eq!(counts, Counts { lines: 2, blank: 0, records: 2 });
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
    let mut processor = Processor::new(Transducer::new(locating(rest), all)).with_line_hashes();
    processor.push(log.as_bytes(), |event| found.push(event));
    let counts = processor.finish(|event| found.push(event)).counts;
    assert_eq!(counts, Counts { lines: 7, blank: 0, records: 2 });
    assert_eq!(names(&found[0]).as_slice()[0], "{     \"a\": 1   }");
    assert_eq!(found[1].position, Position { line: 7, offset: log.len() as u64 - 13 });
    // The digest is that of the lines as they stand in the log.
    let lines = log.trim_end().rsplit_once('\n').unwrap().0;
    assert_eq!(found[0].line_sha256.as_deref(), Some(&Digest::of(lines.as_bytes())));
}
