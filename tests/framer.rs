//! Lines of bytes that come in pieces.

use foldline::{
    position::{Digest, Position},
    processor::*,
};
use proptest::prelude::*;

fn lines(framer: &mut LineFramer, chunks: &[&[u8]]) -> Vec<(u64, u64, String, u64)> {
    let mut lines = Vec::new();
    let mut each = |frame: Line<'_>| {
        let text = String::from_utf8_lossy(frame.bytes).into_owned();
        lines.push((frame.position.line, frame.position.offset, text, frame.skipped));
    };
    for chunk in chunks {
        framer.push(chunk, &mut each);
    }
    framer.finish(&mut each);
    lines
}

#[test]
fn lines_know_where_they_stand() {
    let mut framer = LineFramer::default();
    assert_eq!(
        lines(&mut framer, &[b"\xEF\xBB\xBFa\r\n\nb", b"c\nlast"]),
        [
            (1, 3, "a".into(), 0),
            (2, 6, String::new(), 0),
            (3, 7, "bc".into(), 0),
            (4, 10, "last".into(), 0)
        ]
    );
    assert_eq!(framer.position(), Position { line: 5, offset: 14 });
}

#[test]
fn an_input_of_one_byte_is_a_line() {
    let mut framer = LineFramer::default();
    assert_eq!(lines(&mut framer, &[b"a"]), [(1, 0, "a".into(), 0)]);
    assert_eq!(framer.position(), Position { line: 2, offset: 1 });
}

#[test]
fn an_object_that_no_line_ends_is_given_line_by_line() {
    let mut framer = LineFramer::default().joining(true);
    let input = b"{\n\"a\": [\n1";
    let found: Vec<_> = lines(&mut framer, &[input]).into_iter().map(|line| line.2).collect();
    assert_eq!(found.concat().replace('\n', ""), "{\"a\": [1");
    // Text that is too long is no object, whose strings could be shortened.
    let mut framer = LineFramer::new(300).joining(true);
    let [(_, _, text, skipped)] = &lines(&mut framer, &["x ".repeat(500).as_bytes()])[..] else {
        panic!("one line")
    };
    assert_eq!((text.len() as u64 + skipped, *skipped > 0), (1000, true));
}

#[test]
fn of_an_object_that_is_too_long_the_ends_of_long_strings_are_left_out() {
    let long = "ä".repeat(5000);
    let objects = [
        format!(r#"{{"id": 1, "text": "{long}", "usage": {{"input": 7}}}}"#),
        // Of an object without long strings, the beginning is kept.
        format!(r#"{{"id": 1, "list": [{}0]}}"#, "1,".repeat(5000)),
    ];
    for (object, is_whole) in objects.iter().zip([true, false]) {
        for end in ["\n", "\r\n", ""] {
            let input = format!("{object}{end}");
            for size in [1, 7, 256, 20_000] {
                let (mut framer, mut found) = (LineFramer::new(2000), Vec::new());
                let mut each = |frame: Line<'_>| {
                    let text = String::from_utf8_lossy(frame.bytes).trim_end().to_owned();
                    found.push((text, frame.is_shortened, frame.digest()));
                };
                input.as_bytes().chunks(size).for_each(|chunk| framer.push(chunk, &mut each));
                framer.finish(&mut each);
                let [(text, is_shortened, digest)] = &*found else { panic!("{found:?}") };
                assert_eq!((*is_shortened, *digest), (is_whole, Digest::of(object.as_bytes())));
                let value = serde_json::from_str::<serde_json::Value>(text).ok();
                let input = value.as_ref().map(|value| &value["usage"]["input"]);
                assert_eq!(input.and_then(serde_json::Value::as_u64), is_whole.then_some(7));
                assert!(text.len() <= 600, "{}", text.len());
            }
        }
    }
}

#[test]
fn of_a_line_that_is_too_long_the_beginning_and_the_digest_are_kept() {
    let long = "x\r".repeat(500);
    for end in ["\n", "\r\n"] {
        let input = format!("{long}{end}next\n");
        for size in [1, 7, 255, 256, 257, 2000] {
            let chunks: Vec<_> = input.as_bytes().chunks(size).collect();
            let (mut framer, mut found) = (LineFramer::new(300), Vec::new());
            let mut each = |frame: Line<'_>| {
                let length = frame.bytes.len() as u64 + frame.skipped;
                let kept = if frame.skipped > 0 { &long[..256] } else { "next" };
                assert_eq!(frame.bytes, kept.as_bytes(), "in chunks of {size}");
                found.push((frame.position.offset, length, frame.sha256));
            };
            chunks.iter().for_each(|chunk| framer.push(chunk, &mut each));
            // One more `\r` belongs to the line's end.
            let line = &long[..long.len() - 1];
            let whole = if end == "\n" { line } else { &*long };
            let next = 1000 + end.len() as u64;
            let digest = Digest::of(whole.as_bytes());
            assert_eq!(
                found,
                [(0, whole.len() as u64, Some(digest)), (next, 4, None)],
                "in chunks of {size}"
            );
        }
    }
}

#[test]
fn utf16_is_decoded_and_positions_are_those_of_the_input() {
    let text = "\u{FEFF}{\"a\":\"é😀\"}\r\n\n{\"b\":1}";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for input in [little, big] {
        for size in [1, 2, 3, 100] {
            let chunks: Vec<_> = input.chunks(size).collect();
            let mut framer = LineFramer::default();
            assert_eq!(
                lines(&mut framer, &chunks),
                [
                    (1, 2, "{\"a\":\"é😀\"}".into(), 0),
                    (2, 28, String::new(), 0),
                    (3, 30, "{\"b\":1}".into(), 0)
                ]
            );
            assert_eq!(framer.position().offset, input.len() as u64);
        }
        // Half a unit is an incomplete character.
        let mut framer = LineFramer::default();
        let last = lines(&mut framer, &[&input, b"x"]).pop();
        assert_eq!(last, Some((3, 30, "{\"b\":1}\u{FFFD}".into(), 0)));
        assert_eq!(framer.position().offset, input.len() as u64 + 1);
    }
}

proptest! {
    #[test]
    fn it_does_not_matter_where_the_bytes_are_cut(
        input in "(\u{FEFF}|)[a-c{}\\[,\n\r\u{FEFF}]{0,600}",
        cuts in prop::collection::vec(0usize..600, 0..8),
        wide in any::<bool>(),
    ) {
        let utf16: Vec<u8> = input.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let bytes = if wide { &utf16 } else { input.as_bytes() };
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.sort_unstable();
        let mut chunks = Vec::new();
        let mut start = 0;
        for &cut in &cuts {
            chunks.push(&bytes[start..cut]);
            start = cut;
        }
        chunks.push(&bytes[start..]);
        let whole = lines(&mut LineFramer::new(300), &[bytes]);
        prop_assert_eq!(lines(&mut LineFramer::new(300), &chunks), whole.clone());

        // Nor does the point of interruption matter.
        let (mut framer, mut resumed) = (LineFramer::new(300), Vec::new());
        for cut in cuts {
            let mut each = |frame: Line<'_>| {
                let text = String::from_utf8_lossy(frame.bytes).into_owned();
                resumed.push((frame.position.line, frame.position.offset, text, frame.skipped));
            };
            let from = framer.state().position.offset as usize;
            framer = LineFramer::restore(framer.state(), 300);
            framer.push(&bytes[from..cut.max(from)], &mut each);
        }
        let from = framer.state().position.offset as usize;
        framer = LineFramer::restore(framer.state(), 300);
        resumed.extend(lines(&mut framer, &[&bytes[from..]]));
        prop_assert_eq!(resumed, whole);
    }
}

/// The lines of a log that is read in two parts; the first part has `cut` bytes.
fn in_two_goes(log: &[u8], cut: usize) -> (Vec<(u64, String)>, FramerState) {
    let mut found = Vec::new();
    let mut each = |line: Line<'_>| {
        found.push((line.position.line, String::from_utf8_lossy(line.bytes).into_owned()));
    };
    let mut first = LineFramer::default();
    first.push(&log[..cut], &mut each);
    first.finish(&mut each);
    let state = first.state();
    let mut second = LineFramer::restore(state, DEFAULT_MAX_LINE);
    let offset = usize::try_from(state.position.offset).unwrap();
    log[offset..].chunks(1).for_each(|byte| second.push(byte, &mut each));
    second.finish(&mut each);
    (found, second.state())
}

#[test]
fn a_line_end_that_comes_later_is_no_line() {
    let utf16 = |text: &str| -> Vec<u8> {
        let text = format!("\u{feff}{text}");
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    for (log, cut) in [
        (b"a\nb\nc\n".to_vec(), 3),
        (b"a\r\nb\r\nc\n".to_vec(), 4),
        (b"a\r\nb\r\nc\n".to_vec(), 5),
        (utf16("a\nb\r\nc\n"), 8),
    ] {
        let (lines, end) = in_two_goes(&log, cut);
        let expected = [(1, "a"), (2, "b"), (3, "c")].map(|(line, text)| (line, text.to_owned()));
        assert_eq!(lines, expected, "{log:?}");
        assert_eq!(end.position, Position { line: 4, offset: log.len() as u64 });
    }
}

#[test]
fn more_text_on_a_line_belongs_to_it() {
    let (lines, end) = in_two_goes(b"a\n{}{}\nc", 4);
    let expected = [(1, "a"), (2, "{}"), (2, "{}"), (3, "c")].map(|(n, text)| (n, text.to_owned()));
    assert_eq!(lines, expected);
    assert!(end.unended);
}
