//! The lines do not depend on how the bytes are split or where processing is resumed.
#![no_main]

use foldline_agents::Records;
use foldline::processor::{Line, LineFramer, read_inputs};
use libfuzzer_sys::fuzz_target;

const MAX_LINE: usize = 300;

type Kept = (u64, u64, Vec<u8>, u64, String);

fn keep(lines: &mut Vec<Kept>, line: Line<'_>) {
    let mut records = String::new();
    read_inputs(line, &Records, |record| records += &format!("{record:?}"));
    assert!(
        records.is_empty()
            == (line.bytes.trim_ascii().is_empty() && line.skipped == 0 || is_blank(line))
    );
    let Line { position, bytes, skipped, .. } = line;
    lines.push((position.line, position.offset, bytes.to_vec(), skipped, records));
}

/// Unicode white space is blank too.
fn is_blank(line: Line<'_>) -> bool {
    line.skipped == 0 && std::str::from_utf8(line.bytes).is_ok_and(|text| text.trim().is_empty())
}

fuzz_target!(|input: (Vec<u8>, Vec<u8>)| {
    let (cuts, bytes) = input;
    let (mut whole, mut cut, mut resumed) = (Vec::new(), Vec::new(), Vec::new());

    let mut liner = LineFramer::new(MAX_LINE);
    liner.push(&bytes, |line| keep(&mut whole, line));
    liner.finish(|line| keep(&mut whole, line));

    let (mut liner, mut going_on) = (LineFramer::new(MAX_LINE), LineFramer::new(MAX_LINE));
    let mut begun = 0;
    for length in cuts {
        let end = (begun + usize::from(length)).min(bytes.len());
        liner.push(&bytes[begun..end], |line| keep(&mut cut, line));
        begun = end;
        let state = going_on.state();
        going_on = LineFramer::restore(state, MAX_LINE);
        going_on.push(&bytes[state.position.offset as usize..end], |line| keep(&mut resumed, line));
    }
    liner.push(&bytes[begun..], |line| keep(&mut cut, line));
    liner.finish(|line| keep(&mut cut, line));
    let state = going_on.state();
    going_on = LineFramer::restore(state, MAX_LINE);
    going_on.push(&bytes[state.position.offset as usize..], |line| keep(&mut resumed, line));
    going_on.finish(|line| keep(&mut resumed, line));
    assert_eq!(whole, cut);
    assert_eq!(whole, resumed);
});
