//! The loop of a program that reads, commits and goes on.

use foldline::{
    ledger::{Identity, SourceFacts},
    position::{Located, Locating, LocatingState, locating},
    processor::{
        DEFAULT_MAX_LINE, LastLine, Processor, SegmentLimits, Segments, Snapshot, TextLines,
    },
    transduce::{Batch, Emitter, Memoryless, Reducer, Resume, Transducer, memoryless},
};

/// Each line, after the number of lines before it.
struct Numbered;

impl<'a> Reducer<&'a str, usize, String> for Numbered {
    fn init(&self) -> usize {
        0
    }

    fn reduce(&self, before: usize, line: &'a str) -> (usize, Batch<String>) {
        (before + 1, Batch::one(format!("{before} {line};")))
    }
}

#[test]
fn a_source_goes_on_in_the_next_file() {
    let bytes = memoryless(|event: &Located<String>| Batch::one(event.item.clone().into_bytes()));
    let processor = Processor::new(TextLines, Transducer::new(locating(Numbered), bytes));
    let limits = SegmentLimits { bytes: 4, ..SegmentLimits::default() };
    let mut segments =
        Segments::<_, _, _, Vec<u8>, _>::new("log".into(), SourceFacts::default(), None, processor)
            .with_limits(limits);
    segments.push(b"one\ntw");
    assert!(segments.is_due() && segments.has_news());
    let commit = segments.commit(Identity::default()).unwrap();
    assert_eq!((commit.expected, commit.checkpoint.position.offset), (None, 4));
    assert!(!segments.is_due() && !segments.has_news());

    // The last line of a file ends with it, and the next file has offsets of its own.
    segments.next_file();
    assert_eq!(segments.processor().next_record().offset, 0);
    segments.push(b"three\n");
    assert_eq!((segments.pending_bytes(), segments.is_due()), (6, true));
    let next = segments.commit(Identity::default()).unwrap();
    assert_eq!(next.expected, Some(commit.checkpoint.position));
    let output = [commit.output, next.output].concat();
    assert_eq!(String::from_utf8(output).unwrap(), "0 one;1 tw;2 three;");
}

/// What follows each segment while the source is held, with the number of commits.
fn held(mut then: impl FnMut(&mut Shell)) -> (String, usize) {
    let bytes: fn(&_) -> _ = |event: &Located<String>| Batch::one(event.item.clone().into_bytes());
    let transducer = Transducer::new(locating(Numbered), memoryless(bytes));
    let processor = Processor::new(TextLines, transducer);
    let limits = SegmentLimits { size: 6, ..SegmentLimits::default() };
    let mut segments =
        Shell::new("log".into(), SourceFacts::default(), None, processor).with_limits(limits);
    let (mut output, mut commits) = (Vec::new(), 0);
    let mut step = |segments: &mut Shell| {
        commits += 1;
        output.extend(segments.commit(Identity::default()).unwrap().output);
    };
    segments.push(b"one\ntwo\n");
    assert!(segments.is_paused() && segments.is_due());
    assert_eq!(segments.processor().next_record().line, 2);
    // Held behind what is held already.
    segments.push(b"three\nfour");
    then(&mut segments);
    while segments.is_paused() || segments.has_news() {
        step(&mut segments);
        segments.go_on();
    }
    (String::from_utf8(output).unwrap(), commits)
}

type Shell = Segments<
    Locating<Numbered>,
    LocatingState<usize>,
    Memoryless<fn(&Located<String>) -> Batch<Vec<u8>>>,
    Vec<u8>,
    TextLines,
>;

#[test]
fn a_full_segment_holds_what_follows_until_it_is_committed() {
    let (output, commits) = held(|_| {});
    assert_eq!(output, "0 one;1 two;2 three;");
    assert!(commits > 1);
    // Whatever ends the last line reduces what is held.
    let all = "0 one;1 two;2 three;3 four;";
    assert_eq!(held(Shell::end_line).0, all);
    assert_eq!(held(Shell::next_file).0, all);
    // A line of text may always go on, so that a pause does not end it.
    let pause = |segments: &mut Shell| assert_eq!(segments.flush_last_line(), LastLine::Left);
    assert_eq!(held(pause).0, "0 one;1 two;2 three;");
}

/// Whatever ended a line, the next full segment holds what follows it.
#[test]
fn a_segment_is_full_again_after_the_end_of_a_line() {
    for end in [Shell::end_line, Shell::next_file] {
        let mut went_on = false;
        held(|segments| {
            end(segments);
            drop(segments.commit(Identity::default()).unwrap());
            segments.push(b"five\nsix\nseven\n");
            went_on |= segments.is_paused();
        });
        assert!(went_on);
    }
}

/// Is done after the first line.
struct First;

impl<'a> Reducer<&'a str, bool, String> for First {
    fn init(&self) -> bool {
        false
    }

    fn reduce(&self, _: bool, line: &'a str) -> (bool, Batch<String>) {
        (true, Batch::one(line.to_owned()))
    }

    fn is_done(&self, is_done: &bool) -> bool {
        *is_done
    }
}

#[test]
fn nothing_is_collected_once_the_reducer_is_done() {
    let bytes = memoryless(|event: &Located<String>| Batch::one(event.item.clone().into_bytes()));
    let processor = Processor::new(TextLines, Transducer::new(locating(First), bytes));
    let facts = SourceFacts::default();
    let mut segments = Segments::<_, _, _, Vec<u8>, _>::new("log".into(), facts, None, processor);
    segments.push(b"one\ntwo\n");
    let commit = segments.commit(Identity::default()).unwrap();
    assert_eq!((commit.output, commit.checkpoint.position.offset), (b"one".to_vec(), 4));
}

#[test]
fn a_log_goes_on_in_the_next_file() {
    let lines = memoryless(|event: &Located<String>| {
        Batch::one(format!("{} at {}", event.item, event.position.offset))
    });
    let mut processor = Processor::new(TextLines, Transducer::new(locating(Numbered), lines));
    let mut found = Vec::new();
    processor.push(b"one\ntw", |line| found.push(line));
    processor.next_file(|line| found.push(line));
    processor.push(b"three\n", |line| found.push(line));
    assert_eq!(found, ["0 one; at 0", "1 tw; at 4", "2 three; at 0"]);
}

/// The number of outputs before, and the output.
#[derive(Default)]
struct Counting(u32);

impl Emitter<Located<String>, String> for Counting {
    fn emit(&mut self, event: &Located<String>) -> Batch<String> {
        self.0 += 1;
        Batch::one(format!("{}: {}", self.0, event.item))
    }
}

impl Resume for Counting {
    type State = u32;
    fn state(&self) -> u32 {
        self.0
    }
    fn resume(&mut self, state: u32) {
        self.0 = state;
    }
}

#[test]
fn an_emitter_goes_on_from_the_snapshot_too() {
    let mut output = Vec::new();
    let transducer = Transducer::new(locating(Numbered), Counting::default());
    let mut processor = Processor::new(TextLines, transducer);
    processor.push(b"one\ntw", |text| output.push(text));
    let snapshot = Snapshot::from_json(&processor.snapshot().to_json().unwrap()).unwrap();
    let mut processor = Processor::resume(
        TextLines,
        locating(Numbered),
        snapshot,
        Counting::default(),
        DEFAULT_MAX_LINE,
    );
    processor.push(b"two", |text| output.push(text));
    processor.end_line(|text| output.push(text));
    assert_eq!(output, ["1: 0 one;", "2: 1 two;"]);
}
