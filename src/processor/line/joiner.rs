//! [`Joiner`]: joins objects that span several lines.

use super::{FramerState, Line};
use crate::position::Position;

/// Joins the lines of a pretty-printed object or array.
///
/// Only a line that cannot be complete is held: it begins with a bracket and ends with `{`, `[` or `,` inside an open
/// bracket. The following lines are added until the brackets are closed. The lines are passed on separately as soon
/// as one cannot belong to that value: a line that ends within a string, a line that cannot begin within JSON, a
/// complete record at the beginning of a line.
#[derive(Clone, Debug, Default)]
pub(super) struct Joiner {
    pending: Vec<u8>,
    begun: Option<Position>,
    next: FramerState,
    lines: u64,
    depth: usize,
}

impl Joiner {
    /// The position of the first held line.
    pub(super) fn begun(&self) -> Option<Position> {
        self.begun
    }

    pub(super) fn push(
        &mut self,
        frame: Line<'_>,
        max_bytes: usize,
        each: &mut dyn FnMut(Line<'_>),
    ) {
        if self.begun.is_some() {
            if let Some(depth) = self.depth_with(frame, max_bytes) {
                self.pending.push(b'\n');
                self.pending.extend_from_slice(frame.bytes);
                self.lines += frame.lines;
                self.next = frame.next;
                self.depth = depth;
                if depth == 0 {
                    self.finish(each);
                }
                return;
            }
            self.finish(each);
        }
        let open = if frame.skipped == 0 && is_open_ended(frame.bytes) {
            depth_after(frame.bytes, 0).filter(|depth| *depth > 0)
        } else {
            None
        };
        match open {
            Some(depth) => {
                self.pending.extend_from_slice(frame.bytes);
                self.begun = Some(frame.position);
                self.lines = frame.lines;
                self.next = frame.next;
                self.depth = depth;
            }
            None => each(frame),
        }
    }

    /// Passes on the held lines, complete or not.
    pub(super) fn finish(&mut self, each: &mut dyn FnMut(Line<'_>)) {
        let Some(position) = self.begun.take() else { return };
        let pending = std::mem::take(&mut self.pending);
        let bytes = &*pending;
        let (lines, next) = (self.lines, self.next);
        each(Line { position, bytes, skipped: 0, is_shortened: false, sha256: None, lines, next });
    }

    /// The number of open brackets after `frame`, if it can continue the held value.
    fn depth_with(&self, frame: Line<'_>, max_bytes: usize) -> Option<usize> {
        let fits = self.pending.len() + 1 + frame.bytes.len() <= max_bytes;
        if !fits || frame.skipped > 0 || !may_go_on(frame.bytes) || is_record(frame.bytes) {
            return None;
        }
        depth_after(frame.bytes, self.depth)
    }
}

/// Whether a line begins with a bracket, and ends where no value can end. A line that is only `[` does not count: the
/// elements of the array are passed on one by one.
pub(in crate::processor) fn is_open_ended(line: &[u8]) -> bool {
    matches!(
        line.trim_ascii(),
        [b'{', .., b'{' | b'[' | b','] | [b'{'] | [b'[', .., b'{' | b'[' | b',']
    )
}

/// Whether a line can begin within a value.
fn may_go_on(line: &[u8]) -> bool {
    match line.trim_ascii_start() {
        [] => true,
        [first, ..] => matches!(
            first,
            b'"' | b'{' | b'}' | b'[' | b']' | b',' | b':' | b'-' | b'0'
                ..=b'9' | b't' | b'f' | b'n'
        ),
    }
}

/// Whether a line is a complete record. In a pretty-printed value, every inner line is indented.
fn is_record(line: &[u8]) -> bool {
    line.starts_with(b"{\"")
        && line.ends_with(b"}")
        && str::from_utf8(line).is_ok_and(foldline_json::is_valid)
}

/// The number of open brackets at the end of a line; `None` if it ends within a string, or closes too many brackets.
fn depth_after(line: &[u8], mut depth: usize) -> Option<usize> {
    let (mut in_string, mut escaped) = (false, false);
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    (!in_string).then_some(depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines as passed on, each with its first line number and its number of lines.
    fn joined(log: &str, max_bytes: usize) -> Vec<(u64, u64, String)> {
        let (mut joiner, mut out) = (Joiner::default(), Vec::new());
        let mut each = |frame: Line<'_>| {
            let text = String::from_utf8_lossy(frame.bytes).into_owned();
            // Reading goes on after all lines that were passed on.
            assert_eq!(frame.next.position.line, frame.position.line + frame.lines);
            out.push((frame.position.line, frame.lines, text));
        };
        for (number, line) in (1..).zip(log.lines()) {
            let position = Position { line: number, offset: 0 };
            let after = Position { line: number + 1, offset: 0 };
            let next = FramerState { position: after, ..FramerState::default() };
            let bytes = line.as_bytes();
            let frame = Line {
                position,
                bytes,
                skipped: 0,
                is_shortened: false,
                sha256: None,
                lines: 1,
                next,
            };
            joiner.push(frame, max_bytes, &mut each);
        }
        joiner.finish(&mut each);
        out
    }

    fn numbers(log: &str) -> Vec<(u64, u64)> {
        joined(log, 1000).into_iter().map(|(line, lines, _)| (line, lines)).collect()
    }

    #[test]
    fn an_object_for_people_is_one() {
        let object = "{\n  \"a\": \"{\",\n\n  \"b\": [\n    {}\n  ]\n}";
        assert_eq!(joined(object, 1000), [(1, 7, object.to_owned())]);
        assert_eq!(numbers("{\"a\":1}\n{\n\"b\":\n2\n}\n{\"c\":3}"), [(1, 1), (2, 4), (6, 1)]);
    }

    #[test]
    fn the_elements_of_an_array_come_one_by_one() {
        assert_eq!(
            numbers("[\n  {\n    \"a\": 1\n  },\n  {\n    \"b\": 2\n  }\n]"),
            [(1, 1), (2, 3), (5, 3), (8, 1)]
        );
    }

    #[test]
    fn whole_records_wait_for_nothing() {
        let torn = "{\"a\":1,\n{\"b\":2}\n{\"c\":3}";
        assert_eq!(numbers(torn), [(1, 1), (2, 1), (3, 1)]);
        assert_eq!(numbers("{\"a\":[\nError: no\n{\"b\":2}"), [(1, 1), (2, 1), (3, 1)]);
        assert_eq!(numbers("{\"a\":\"x,\n\"b\":2}"), [(1, 1), (2, 1)]);
        assert_eq!(numbers("{\"a\":1,\n\"b\":2"), [(1, 2)]);
    }

    #[test]
    fn what_is_held_back_is_bounded() {
        assert_eq!(
            joined("{\n\"a\":\n1,\n\"b\":2}", 6),
            [
                (1, 2, "{\n\"a\":".to_owned()),
                (3, 1, "1,".to_owned()),
                (4, 1, "\"b\":2}".to_owned()),
            ]
        );
    }
}
