//! Masked lines do not depend on how a log is read.

use std::{convert::Infallible, fs, path::Path};

use foldline::source::{Step, Until};
use proptest::prelude::*;

use super::super::mask::SharedMasker;
use super::*;

/// The longest message, and the longest line that is searched.
const MAX: usize = 16;
const LONG: usize = 100;

const LOG: &str = concat!(
    "{\"a\":\"ada@example.org\"}\n",
    "\r\n",
    "{\"text\":\"a long line, and password=hunter2222 and \\u00e4\\n ada@example.org\"}\r\n",
    "plain\n",
    "{\"text\":\"a line that is too long, with ada@example.org and a lot of text behind it, so that nothing is searched, ",
    "01234567890123456789012345678901234567890123456789\"}\r\n",
    "/home/ada/x\n",
    "{\"cut\":\"ada@example.or",
);

fn cutter() -> Cutter {
    Cutter::new(MAX, Some(Masking::up_to(LONG, SharedMasker::default())))
}

/// The log as sent.
fn sent(chunks: &[&[u8]]) -> (Vec<u8>, Vec<usize>, bool) {
    let (mut sent, mut lengths) = (Vec::new(), Vec::new());
    let mut cutter = cutter();
    let mut give = |piece: &[u8]| {
        sent.extend_from_slice(piece);
        lengths.push(piece.len());
        Ok::<_, Infallible>(())
    };
    chunks.iter().for_each(|chunk| cutter.push(chunk, &mut give).unwrap());
    cutter.release(&mut give).unwrap();
    (sent, lengths, cutter.has_too_long())
}

#[test]
fn secrets_are_masked_wherever_a_line_is_cut() {
    let (masked, lengths, had_too_long) = sent(&[LOG.as_bytes()]);
    assert!(had_too_long);
    assert!(lengths.iter().all(|length| *length <= MAX));
    let masked = String::from_utf8(masked).unwrap();
    let too_long = "*".repeat(LOG.lines().nth(4).unwrap().len());
    let expected = [
        "{\"a\":\"***************\"}\n\r\n",
        "{\"text\":\"a long line, and password=********** and \\u00e4\\n ***************\"}\r\n",
        &format!("plain\n{too_long}\r\n/home/***/x\n{{\"cut\":\"**************"),
    ];
    assert_eq!(masked, expected.concat());
}

#[test]
fn what_is_sent_does_not_depend_on_what_is_read_at_once() {
    let log = LOG.as_bytes();
    let expected = sent(&[log]);
    for size in 1..log.len() {
        let chunks: Vec<_> = log.chunks(size).collect();
        assert_eq!(sent(&chunks), expected, "{size}");
    }
}

/// The rest of a log that was sent up to `offset`, as sent after resuming there.
fn rest(path: &Path, offset: usize, is_end: bool) -> Vec<u8> {
    let mut follow = Follow::open(path, Until::EndOfFile).unwrap();
    follow.seek(offset as u64).unwrap();
    let mut cutter = cutter();
    cutter.resume_at(&mut follow, offset as u64).unwrap();
    let mut sent = Vec::new();
    let mut give = |piece: &[u8]| {
        assert!(!piece.is_empty() && piece.len() <= MAX);
        sent.extend_from_slice(piece);
        Ok::<_, Infallible>(())
    };
    while let Step::Bytes(bytes) = follow.step().unwrap() {
        cutter.push(bytes, &mut give).unwrap();
    }
    if is_end {
        cutter.release(&mut give).unwrap();
    }
    sent
}

#[test]
fn a_log_that_is_gone_on_with_anywhere_is_masked_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    fs::write(&path, LOG).unwrap();
    let (whole, _, _) = sent(&[LOG.as_bytes()]);
    for offset in 0..=LOG.len() {
        let rest = String::from_utf8(rest(&path, offset, true)).unwrap();
        assert_eq!(rest.as_bytes(), &whole[offset..], "{offset}");
    }
    // A part of the last line may still belong to a secret.
    let begin = LOG.rfind('\n').unwrap() + 1;
    assert!(rest(&path, begin, false).is_empty());
}

proptest! {
    #[test]
    fn any_log_is_masked_the_same_however_it_is_read(
        lines in prop::collection::vec(
            prop_oneof!["[a-z \"]{0,40}", Just("x ada@example.org y".to_owned()), "[a-z]{90,130}"],
            0..6,
        ),
        ends in prop::collection::vec(prop::sample::select(vec!["\n", "\r\n", "\r", " "]), 6),
        size in 1..200_usize,
        at in any::<prop::sample::Index>(),
    ) {
        let log: String = lines.iter().zip(&ends).map(|(line, end)| format!("{line}{end}")).collect();
        let whole = sent(&[log.as_bytes()]);
        prop_assert_eq!(whole.0.len(), log.len());
        let chunks: Vec<_> = log.as_bytes().chunks(size).collect();
        prop_assert_eq!(&sent(&chunks), &whole);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, &log).unwrap();
        let offset = at.index(log.len() + 1);
        let rest = rest(&path, offset, true);
        prop_assert_eq!(rest, &whole.0[offset..]);
    }
}
