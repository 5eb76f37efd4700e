//! Laws 3 and 6: any bytes, in any pieces.

use std::collections::BTreeMap;

use foldline::{
    laws::{caught, same},
    processor::{Line, read_inputs},
    transduce::Reducer,
};
use foldline_agents::{DynExecutor, Header, Parsed, Records, wire::Record};
use foldline_domain::DomainEvent;

use super::{Law, Place, Violation, texts::each_line};
use crate::run;

/// Law 3, **chunk invariance**: a log read in chunks gives the same events, with the same positions, as the log read
/// at once, wherever it is split: within a line, a character, a line end.
///
/// `cuts` are offsets in the log, in any order; offsets beyond its end are treated as its end.
///
/// # Errors
/// The first event that differs.
pub fn chunk_invariance<R, S>(reducer: &R, log: &[u8], cuts: &[usize]) -> Result<(), Violation>
where
    R: for<'a> Reducer<Record<'a>, S, DomainEvent>,
{
    caught(Law::ChunkInvariance, Place::Unknown, || {
        let whole = run::sourced_events(reducer, [log]);
        let pieces = run::sourced_events(reducer, pieces(log, cuts));
        (0..whole.len().max(pieces.len())).try_for_each(|index| {
            let (law, names, place) =
                (Law::ChunkInvariance, ["at once", "in pieces"], Place::Event(index));
            let (whole, pieces) = (whole.get(index), pieces.get(index));
            same(law, names, place, "the events differ", &whole, &pieces)
        })
    })
}

fn pieces<'b>(log: &'b [u8], cuts: &[usize]) -> Vec<&'b [u8]> {
    let mut cuts = cuts.to_vec();
    cuts.sort_unstable();
    let mut rest = log;
    let mut done = 0;
    let mut pieces = Vec::with_capacity(cuts.len() + 1);
    for cut in cuts {
        let (piece, after) = rest.split_at((cut - done).min(rest.len()));
        done += piece.len();
        rest = after;
        pieces.push(piece);
        if rest.is_empty() {
            break;
        }
    }
    pieces.push(rest);
    pieces
}

/// An executor's reading of a record, for law 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The record has a meaning.
    Meant,
    /// The record is known and has no meaning: it is declared ignored.
    Ignored,
    /// The record is unknown, of another format, or not an object: it is kept unchanged.
    Unknown,
}

/// The counts of law 6.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records, including irregular ones.
    pub records: usize,
    /// Records that the executor ignores, by their type.
    pub ignored: BTreeMap<String, usize>,
}

/// The executor's reading of a record, and the type of the record, for [`totality`].
pub fn reading(executor: &DynExecutor, record: &Record<'_>) -> (Reading, String) {
    let Record::Object(object) = record else { return (Reading::Unknown, String::new()) };
    let mut object = object.clone();
    let name = object.get_str("type").unwrap_or_default();
    let mut header = Header { name, at: object.timestamp("timestamp"), ..Header::default() };
    let reading = match executor.parse(&mut object, &mut header) {
        Parsed::Line(()) => Reading::Meant,
        Parsed::Ignored => Reading::Ignored,
        Parsed::Foreign | Parsed::Unknown => Reading::Unknown,
    };
    (reading, header.name.into_owned())
}

/// Law 6, **totality**: no log causes a panic, and no record is dropped without a trace.
///
/// - A line that is not blank contains at least one record.
/// - A record gives an event, changes the state, or is declared ignored; an unknown record gives an event. A record with
///   scalars that only repeats earlier data may give nothing: [`account`](super::account) examines its scalars.
///
/// `read` returns the executor's reading of a record and the record's type, see [`reading`].
///
/// # Errors
/// The line that causes a panic, or that leaves no trace.
pub fn totality<R, S>(
    reducer: &R,
    log: &[u8],
    read: impl Fn(&Record<'_>) -> (Reading, String),
) -> Result<Counts, Violation>
where
    R: for<'a> Reducer<Record<'a>, S, DomainEvent>,
    S: Clone + PartialEq,
{
    let mut run = Run { reducer, read, counts: Counts::default() };
    let mut state = Some(caught_at(Place::Start, "", || Ok(reducer.init()))?);
    let mut violation = None;
    each_line(log, |frame| {
        let Some(before) = state.take() else { return };
        let text = String::from_utf8_lossy(frame.bytes);
        let place = Place::Line(frame.position.line);
        match caught_at(place, &text, || run.line(before, frame, &text)) {
            Ok(after) => state = Some(after),
            Err(found) => violation = Some(found),
        }
    });
    if let Some(violation) = violation {
        return Err(violation);
    }
    let Some(state) = state else { return Ok(run.counts) };
    let _ = caught_at(Place::Completion, "", || Ok(reducer.finish(state)))?;
    Ok(run.counts)
}

struct Run<'r, R, F> {
    reducer: &'r R,
    read: F,
    counts: Counts,
}

impl<R, F: Fn(&Record<'_>) -> (Reading, String)> Run<'_, R, F> {
    /// Reduces the records of a line, and accounts for them.
    fn line<S>(&mut self, state: S, frame: Line<'_>, text: &str) -> Result<S, Violation>
    where
        R: for<'a> Reducer<Record<'a>, S, DomainEvent>,
        S: Clone + PartialEq,
    {
        let fail = |message: String| {
            let violation =
                Violation::new(Law::Totality, Place::Line(frame.position.line), message);
            violation.text("line", text)
        };
        let (mut state, mut result) = (Some(state), Ok(()));
        let mut records = 0;
        read_inputs(frame, &Records, |record| {
            records += 1;
            let Some(before) = state.take().filter(|_| result.is_ok()) else { return };
            match self.record(&before, record.item) {
                Ok(after) => state = Some(after),
                Err(message) => result = Err(fail(message)),
            }
        });
        result?;
        if records == 0 && !text.trim().is_empty() {
            return Err(fail("the line is not blank, but contains no record".to_owned()));
        }
        // The state is only missing after an error, which has already been returned.
        state.ok_or_else(|| fail("there is no state".to_owned()))
    }

    fn record<S>(&mut self, before: &S, record: Record<'_>) -> Result<S, String>
    where
        R: for<'a> Reducer<Record<'a>, S, DomainEvent>,
        S: Clone + PartialEq,
    {
        self.counts.records += 1;
        let (reading, name) = (self.read)(&record);
        let has_fields = record.object().is_some_and(|object| !object.clone().rest().is_empty());
        let (state, events) = self.reducer.reduce(before.clone(), record);
        if reading == Reading::Ignored {
            *self.counts.ignored.entry(name).or_default() += 1;
            return Ok(state);
        }
        let is_silent = reading == Reading::Unknown || (state == *before && !has_fields);
        match events.is_empty() && is_silent {
            true => {
                Err("the record gives no event, changes no state, and is not ignored".to_owned())
            }
            false => Ok(state),
        }
    }
}

/// Runs `check`; a panic is also a violation, and is shown with its line.
fn caught_at<T>(
    place: Place,
    line: &str,
    check: impl FnOnce() -> Result<T, Violation>,
) -> Result<T, Violation> {
    caught(Law::Totality, place, check).map_err(|violation| {
        let has_line = line.is_empty() || !violation.sides.is_empty();
        if has_line { violation } else { violation.text("line", line) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_may_come_in_any_order_and_beyond_the_end() {
        assert_eq!(pieces(b"abcdef", &[4, 1, 1, 99]), [&b"a"[..], b"", b"bcd", b"ef", b""]);
        assert_eq!(pieces(b"", &[3]), [&b""[..], b""]);
        assert_eq!(pieces(b"ab", &[]), [b"ab"]);
    }
}
