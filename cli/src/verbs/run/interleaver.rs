//! [`Interleaver`]: merges the standard output and the standard error of an agent into one log.

use foldline_agents::aside;
use foldline_domain::Timestamp;

/// The largest number of bytes of standard error that wait for the end of a line of standard output.
const HELD: usize = 1 << 20;

/// Inserts lines of standard error between lines of standard output, as separate records.
///
/// Standard output is passed on immediately, in pieces of any size. Standard error waits for the end of the
/// current line of standard output.
#[derive(Debug, Default)]
pub(super) struct Interleaver {
    /// Whether standard output is in the middle of a line.
    is_mid_line: bool,
    /// The beginning of a line of standard error.
    begun: Vec<u8>,
    /// Waiting records of standard error.
    held: Vec<u8>,
}

impl Interleaver {
    /// Adds a piece of standard output to the log.
    pub(super) fn stdout(&mut self, piece: &[u8], log: &mut Vec<u8>) {
        if self.held.is_empty() {
            log.extend_from_slice(piece);
        } else {
            // Waiting records are inserted at the first end of a line.
            let end = piece.iter().position(|byte| *byte == b'\n').map_or(piece.len(), |at| at + 1);
            let (line, rest) = piece.split_at(end);
            log.extend_from_slice(line);
            if line.ends_with(b"\n") {
                log.append(&mut self.held);
            }
            log.extend_from_slice(rest);
        }
        if let Some(last) = piece.last() {
            self.is_mid_line = *last != b'\n';
        }
    }

    /// Adds a piece of standard error with its time.
    pub(super) fn stderr(&mut self, piece: &[u8], at: Timestamp, log: &mut Vec<u8>) {
        self.begun.extend_from_slice(piece);
        while let Some(end) = self.begun.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.begun.drain(..=end).collect();
            self.hold(&line, at);
        }
        // A line without an end must not grow without bounds.
        if self.begun.len() > HELD {
            let line = std::mem::take(&mut self.begun);
            self.hold(&line, at);
        }
        self.release(log);
    }

    /// Adds the rest, when both streams have ended.
    pub(super) fn finish(&mut self, at: Timestamp, log: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.begun);
        if !line.is_empty() {
            self.hold(&line, at);
        }
        if self.is_mid_line && !self.held.is_empty() {
            log.push(b'\n');
            self.is_mid_line = false;
        }
        self.release(log);
    }

    fn hold(&mut self, line: &[u8], at: Timestamp) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches(['\n', '\r']);
        if !text.is_empty() {
            self.held.extend_from_slice(aside::stderr(text, at).as_bytes());
            self.held.push(b'\n');
        }
    }

    fn release(&mut self, log: &mut Vec<u8>) {
        if self.is_mid_line && self.held.len() > HELD {
            // A line without an end is kept as text, and so are the records that wait for it.
            log.push(b'\n');
            self.is_mid_line = false;
        }
        if !self.is_mid_line {
            log.append(&mut self.held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_millis(0);

    fn record(text: &str) -> String {
        aside::stderr(text, AT) + "\n"
    }

    #[test]
    fn standard_error_stands_between_lines() {
        let (mut weave, mut log) = (Interleaver::default(), Vec::new());
        weave.stderr(b"one\nhalf", AT, &mut log);
        weave.stdout(b"{\"a\":", &mut log);
        weave.stderr(b" a line\n\ntwo\n", AT, &mut log);
        weave.stdout(b"1}\n{\"b\":", &mut log);
        weave.stderr(b"three", AT, &mut log);
        weave.finish(AT, &mut log);
        let expected = [
            &record("one"),
            "{\"a\":1}\n",
            &record("half a line"),
            &record("two"),
            "{\"b\":\n",
            &record("three"),
        ];
        assert_eq!(String::from_utf8(log).unwrap(), expected.concat());
    }

    #[test]
    fn standard_output_is_as_it_was() {
        let (mut weave, mut log) = (Interleaver::default(), Vec::new());
        for piece in [&b"{}"[..], b"\n", b"", b"no end"] {
            weave.stdout(piece, &mut log);
        }
        weave.finish(AT, &mut log);
        assert_eq!(log, b"{}\nno end");
    }

    #[test]
    fn neither_stream_holds_the_other_up_for_ever() {
        let (mut weave, mut log) = (Interleaver::default(), Vec::new());
        weave.stdout(b"{", &mut log);
        let line = "x".repeat(1000) + "\n";
        for _ in 0..3000 {
            weave.stderr(line.as_bytes(), AT, &mut log);
        }
        assert!(log.len() > 2 << 20);
        weave.stderr("y".repeat(3 << 20).as_bytes(), AT, &mut log);
        assert!(log.len() > 5 << 20);
    }
}
