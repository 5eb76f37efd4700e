//! Law 6.

use std::{
    collections::BTreeMap,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use serde::Serialize;

use super::{
    Law, Place, Violation, panicked,
    plant::{Dropped, Spot, spots},
};
use crate::{
    conversation::{DomainEvent, Json},
    executors::{
        DynExecutor, Header, Parsed, report,
        wire::{Object, Record},
    },
    processor::{Line, LineFramer, read_records},
    transduce::Reducer,
};

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
#[non_exhaustive]
pub struct Accounts {
    /// Records, including irregular ones.
    pub records: usize,
    /// Strings in which a marker was planted.
    pub planted: usize,
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

/// The maximum number of markers in one log; in a long log, they are spread evenly.
const MOST_PLANTED: usize = 4096;

/// Law 6, **totality**: no log causes a panic, and nothing in it is dropped without a trace.
///
/// - A line that is not blank contains at least one record.
/// - A record gives an event, changes the state, or is declared ignored; an unknown record gives an event. A record
///   that only repeats earlier data may give nothing, if it contains strings (see below).
/// - A marker is planted at the end of each string of each record that is not ignored, one at a time. It is so long
///   that a truncated text loses it. It has to appear in an event, either immediately or when the log ends at that
///   point, or in the state after both. Strings that contain JSON are also inspected.
///
/// `read` returns the executor's reading of a record and the record's type, see [`reading`]. `dropped` are fields
/// that the executor drops on purpose.
///
/// # Errors
/// The line that causes a panic, or of which a part leaves no trace.
pub fn totality<R, S>(
    reducer: &R,
    log: &[u8],
    read: impl Fn(&Record<'_>) -> (Reading, String),
    dropped: &[Dropped<'_>],
) -> Result<Accounts, Violation>
where
    R: for<'a> Reducer<Record<'a>, S, DomainEvent>,
    S: Clone + PartialEq + fmt::Debug + Serialize,
{
    let marker = format!("Planted{}End", "x".repeat(1024));
    let mut run = Run {
        reducer,
        read,
        dropped,
        marker: &marker,
        stride: count_strings(log).div_ceil(MOST_PLANTED).max(1),
        met: 0,
        accounts: Accounts::default(),
    };
    let mut state = Some(caught(Place::Start, "", || Ok(reducer.init()))?);
    let mut violation = None;
    each_line(log, |frame| {
        let Some(before) = state.take() else { return };
        let text = String::from_utf8_lossy(frame.bytes);
        let place = Place::Line(frame.position.line);
        match caught(place, &text, || run.line(before, frame, &text)) {
            Ok(after) => state = Some(after),
            Err(found) => violation = Some(found),
        }
    });
    if let Some(violation) = violation {
        return Err(violation);
    }
    let Some(state) = state else { return Ok(run.accounts) };
    let _ = caught(Place::Completion, "", || Ok(reducer.finish(state)))?;
    Ok(run.accounts)
}

struct Run<'r, R, F> {
    reducer: &'r R,
    read: F,
    dropped: &'r [Dropped<'r>],
    marker: &'r str,
    /// The interval between strings with a marker, and the number of strings so far.
    stride: usize,
    met: usize,
    accounts: Accounts,
}

impl<R, F: Fn(&Record<'_>) -> (Reading, String)> Run<'_, R, F> {
    /// Reduces the records of a line, and accounts for them.
    fn line<S>(&mut self, state: S, frame: Line<'_>, text: &str) -> Result<S, Violation>
    where
        R: for<'a> Reducer<Record<'a>, S, DomainEvent>,
        S: Clone + PartialEq + fmt::Debug + Serialize,
    {
        let fail = |message: String| {
            let violation =
                Violation::new(Law::Totality, Place::Line(frame.position.line), message);
            violation.text("line", text)
        };
        let (mut state, mut result) = (Some(state), Ok(()));
        let mut records = 0;
        read_records(frame, |record| {
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
        S: Clone + PartialEq + fmt::Debug + Serialize,
    {
        self.accounts.records += 1;
        let (reading, name) = (self.read)(&record);
        let text = match &record {
            Record::Object(object) => Some(report::object_of(&object.clone().rest())),
            Record::Irregular(_) => None,
        };
        let (state, events) = self.reducer.reduce(before.clone(), record);
        if reading == Reading::Ignored {
            *self.accounts.ignored.entry(name).or_default() += 1;
            return Ok(state);
        }
        let text = text.as_ref().map(Json::get).unwrap_or_default();
        let spots = spots(text);
        let unchanged = reading == Reading::Unknown || (state == *before && spots.is_empty());
        if events.is_empty() && unchanged {
            return Err(
                "the record gives no event, changes no state, and is not ignored".to_owned()
            );
        }
        for spot in spots.iter().filter(|spot| !spot.is_in(&name, self.dropped)) {
            self.met += 1;
            if self.met.is_multiple_of(self.stride) {
                self.plant(before, text, &name, spot)?;
            }
        }
        Ok(state)
    }

    fn plant<S>(&mut self, before: &S, line: &str, name: &str, spot: &Spot) -> Result<(), String>
    where
        R: for<'a> Reducer<Record<'a>, S, DomainEvent>,
        S: Clone + Serialize,
    {
        let planted = spot.plant(line, self.marker);
        let Ok(object) = Object::parse(&planted) else { return Ok(()) };
        let record = Record::Object(object);
        if (self.read)(&record).0 == Reading::Ignored {
            return Ok(());
        }
        self.accounts.planted += 1;
        let (state, events) = self.reducer.reduce(before.clone(), record);
        if self.is_in(events.as_slice()) {
            return Ok(());
        }
        let (state, events) = self.reducer.finish(state);
        if self.is_in(events.as_slice()) || self.is_in(&state) {
            return Ok(());
        }
        let path = &spot.path;
        Err(format!(
            "what stands in `{path}` of `{name}` is in no event and not in the state, or not all of it"
        ))
    }

    fn is_in(&self, value: &(impl Serialize + ?Sized)) -> bool {
        crate::json::to_string(value).is_ok_and(|json| json.contains(self.marker))
    }
}

fn each_line(log: &[u8], mut each: impl FnMut(Line<'_>)) {
    let mut framer = LineFramer::default();
    framer.push(log, &mut each);
    framer.finish(&mut each);
}

fn count_strings(log: &[u8]) -> usize {
    let mut count = 0;
    each_line(log, |frame| {
        count += std::str::from_utf8(frame.bytes).map_or(0, |line| spots(line).len());
    });
    count
}

/// Runs `check`; a panic is also a violation.
fn caught<T>(
    place: Place,
    text: &str,
    check: impl FnOnce() -> Result<T, Violation>,
) -> Result<T, Violation> {
    // Nothing is inspected after a panic, so no inconsistent value is visible.
    catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| {
        let violation = panicked(Law::Totality, place, &*panic);
        Err(if text.is_empty() { violation } else { violation.text("line", text) })
    })
}
