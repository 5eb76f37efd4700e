//! The loop of a program that reads, commits and goes on.

use foldline::{
    ledger::{Identity, SourceFacts},
    position::{Located, locating},
    processor::{Processor, SegmentLimits, Segments, TextLines},
    transduce::{Batch, Reducer, Transducer, memoryless},
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
