//! However the bytes are cut, and wherever they are gone on with, the lines are the same.
#![no_main]

use foldline::processor::{Frame, LineFramer, read_records};
use libfuzzer_sys::fuzz_target;

const MAX_LINE: usize = 300;

type Line = (u64, u64, Vec<u8>, u64, String);

fn keep(lines: &mut Vec<Line>, frame: Frame<'_>) {
    let mut records = String::new();
    read_records(frame, |record| records += &format!("{record:?}"));
    assert!(
        records.is_empty()
            == (frame.bytes.trim_ascii().is_empty() && frame.skipped == 0 || is_blank(frame))
    );
    let Frame { source, bytes, skipped, .. } = frame;
    lines.push((source.line, source.offset, bytes.to_vec(), skipped, records));
}

/// White space of Unicode is blank too.
fn is_blank(frame: Frame<'_>) -> bool {
    frame.skipped == 0 && std::str::from_utf8(frame.bytes).is_ok_and(|text| text.trim().is_empty())
}

fuzz_target!(|input: (Vec<u8>, Vec<u8>)| {
    let (cuts, bytes) = input;
    let (mut whole, mut cut, mut resumed) = (Vec::new(), Vec::new(), Vec::new());

    let mut framer = LineFramer::new(MAX_LINE);
    framer.push(&bytes, |frame| keep(&mut whole, frame));
    framer.finish(|frame| keep(&mut whole, frame));

    let (mut framer, mut going_on) = (LineFramer::new(MAX_LINE), LineFramer::new(MAX_LINE));
    let mut begun = 0;
    for length in cuts {
        let end = (begun + usize::from(length)).min(bytes.len());
        framer.push(&bytes[begun..end], |frame| keep(&mut cut, frame));
        begun = end;
        let state = going_on.state();
        going_on = LineFramer::restore(state, MAX_LINE);
        going_on.push(&bytes[state.source.offset as usize..end], |frame| keep(&mut resumed, frame));
    }
    framer.push(&bytes[begun..], |frame| keep(&mut cut, frame));
    framer.finish(|frame| keep(&mut cut, frame));
    let state = going_on.state();
    going_on = LineFramer::restore(state, MAX_LINE);
    going_on.push(&bytes[state.source.offset as usize..], |frame| keep(&mut resumed, frame));
    going_on.finish(|frame| keep(&mut resumed, frame));
    assert_eq!(whole, cut);
    assert_eq!(whole, resumed);
});
