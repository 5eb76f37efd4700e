//! The bytes of a log, its lines, parallel calls in it, and damage that happens to real logs.

use std::{fmt, ops::Deref};

use proptest::{collection::vec, prelude::*, sample::select};

use super::value::{json, quote};

/// The bytes of a log. A failing test prints them as a string.
#[derive(Clone, PartialEq, Eq)]
pub struct LogBytes(pub Vec<u8>);

impl fmt::Debug for LogBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

impl Deref for LogBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Any bytes except a line end.
pub fn garbage() -> BoxedStrategy<Vec<u8>> {
    let byte = any::<u8>().prop_map(|byte| if byte == b'\n' { b' ' } else { byte });
    vec(byte, 0..40).boxed()
}

/// The lines of several parts of a conversation, concatenated.
pub fn concat(parts: Vec<BoxedStrategy<Vec<String>>>) -> BoxedStrategy<Vec<String>> {
    parts.prop_map(|parts| parts.concat()).boxed()
}

/// A few parallel calls, answered in any order; the last ones possibly not at all.
#[derive(Clone, Debug)]
pub struct Calls {
    order: Vec<u8>,
    unanswered: usize,
}

/// Generates [`Calls`].
pub fn calls() -> BoxedStrategy<Calls> {
    (vec(any::<u8>(), 1..5), prop_oneof![6 => Just(0), 1 => Just(1usize)])
        .prop_map(|(order, unanswered)| Calls { order, unanswered })
        .boxed()
}

impl Calls {
    /// The number of calls.
    pub fn count(&self) -> usize {
        self.order.len()
    }

    /// An id for each call as JSON text: `"call_0"`, `"call_1"`, ... for the name `call`.
    pub fn ids(&self, name: &str) -> Vec<String> {
        (0..self.order.len()).map(|n| quote(&format!("{name}_{n}"))).collect()
    }

    /// Selects the items of answered calls from one item per call, in the order of the answers.
    pub fn answered<T>(&self, calls: Vec<T>) -> Vec<T> {
        let mut answers: Vec<_> = self.order.iter().zip(calls).collect();
        answers.sort_by_key(|(order, _)| **order);
        answers.truncate(self.order.len().saturating_sub(self.unanswered));
        answers.into_iter().map(|(_, call)| call).collect()
    }
}

/// One disturbance at one position of a log.
#[derive(Clone, Debug)]
enum Disturbance {
    /// The line is truncated.
    Torn(usize),
    /// The line's beginning is missing.
    Beheaded(usize),
    /// The line is joined with the next one.
    Glued,
    /// The line is missing.
    Lost,
    /// The line is repeated.
    Twice,
    /// The line is swapped with the next one.
    Overtaken,
    /// Bytes before the line that no agent wrote.
    Preceded(Vec<u8>),
    /// One byte is replaced.
    Damaged(usize, u8),
    /// The line ends with a carriage return.
    CarriageReturn,
    /// All lines up to this one are one array.
    Array,
}

/// The bytes of a log with these lines, undisturbed or with a few disturbances of real logs: lines torn, joined,
/// lost, repeated, swapped, damaged, wrapped as an array; blank lines, plain text, other JSON and arbitrary bytes
/// between them; CRLF; a byte order mark; no last line end.
pub fn disturbed(lines: impl Strategy<Value = Vec<String>> + 'static) -> BoxedStrategy<LogBytes> {
    let disturbances = vec((any::<usize>(), disturbance()), 0..6);
    let marks = (proptest::bool::weighted(0.1), proptest::bool::weighted(0.8));
    (lines, disturbances, marks)
        .prop_map(|(lines, disturbances, (bom, last_end))| {
            let mut lines: Vec<_> =
                lines.into_iter().map(|line| [line.as_bytes(), b"\n"].concat()).collect();
            for (at, disturbance) in disturbances {
                if !lines.is_empty() {
                    let at = at % lines.len();
                    disturb(&mut lines, at, disturbance);
                }
            }
            let mut log = if bom { b"\xEF\xBB\xBF".to_vec() } else { Vec::new() };
            log.extend(lines.concat());
            if !last_end && log.ends_with(b"\n") {
                log.pop();
            }
            LogBytes(log)
        })
        .boxed()
}

fn disturbance() -> BoxedStrategy<Disturbance> {
    use Disturbance as D;
    let said = select(vec!["", "   ", "Error: no such file", "[ERROR] {oops", "12 monkeys", "\t"]);
    prop_oneof![
        any::<usize>().prop_map(D::Torn),
        any::<usize>().prop_map(D::Beheaded),
        Just(D::Glued),
        Just(D::Lost),
        Just(D::Twice),
        Just(D::Overtaken),
        said.prop_map(|said| D::Preceded(said.into())),
        json().prop_map(|json| D::Preceded(json.into())),
        garbage().prop_map(D::Preceded),
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| D::Damaged(at, byte)),
        Just(D::CarriageReturn),
        Just(D::Array),
    ]
    .boxed()
}

fn disturb(lines: &mut Vec<Vec<u8>>, at: usize, disturbance: Disturbance) {
    let Some(line) = lines.get_mut(at) else { return };
    let length = line.len().max(1);
    match disturbance {
        Disturbance::Torn(end) => {
            line.truncate(end % length);
            line.push(b'\n');
        }
        Disturbance::Beheaded(start) => drop(line.drain(..start % length)),
        Disturbance::Glued => line.retain(|byte| *byte != b'\n'),
        Disturbance::Lost => drop(lines.remove(at)),
        Disturbance::Twice => {
            let again = line.clone();
            lines.insert(at, again);
        }
        Disturbance::Overtaken => {
            let next = (at + 1) % lines.len();
            lines.swap(at, next);
        }
        Disturbance::Preceded(mut bytes) => {
            bytes.push(b'\n');
            lines.insert(at, bytes);
        }
        Disturbance::Damaged(place, byte) => {
            if let Some(damaged) = line.get_mut(place % length) {
                *damaged = byte;
            }
        }
        Disturbance::CarriageReturn => {
            if line.ends_with(b"\n") {
                line.insert(length - 1, b'\r');
            }
        }
        Disturbance::Array => {
            let mut array = lines.drain(..=at).collect::<Vec<_>>().concat();
            array.retain(|byte| *byte != b'\r');
            for byte in &mut array {
                *byte = if *byte == b'\n' { b',' } else { *byte };
            }
            if array.last() == Some(&b',') {
                array.pop();
            }
            lines.insert(0, [b"[".as_slice(), &array, b"]\n"].concat());
        }
    }
}
