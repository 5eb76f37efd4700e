//! The law of a bounded state.

use std::{borrow::Cow, collections::BTreeSet};

use foldline::{
    position::{Located, Position},
    transduce::Reducer,
};
use foldline_agents::{AnyState, DynExecutor, SessionKeyOf, Sessions, SessionsState, wire::Record};
use foldline_domain::DomainEvent;

use super::{
    Law, Outcome, Place, Violation,
    texts::{ids, record, texts, with_strings},
};
use crate::violation::caught;

/// The number of repetitions after which a state may still have grown, since a bounded number of ids is remembered.
const SETTLED: u64 = 1100;

/// The number of repetitions after which a state that remembers nothing has its size.
const EARLY: u64 = 40;

/// The maximum number of records of a log that is repeated.
const RECORDS: usize = 32;

/// The law of a bounded state: a log that is repeated again and again, with other ids each time, does not let the stored
/// state grow, if nothing is open at its end.
///
/// An executor may remember a bounded number of ids, about a thousand, in order to recognise repeated records. The log is
/// repeated so often, and as often again. `Vacuous` if the log has more than 32 records, several sessions, or an open item
/// at its end.
///
/// # Errors
/// The sizes of the state, in bytes.
pub fn bounded_state(executor: &DynExecutor, log: &[u8]) -> Result<Outcome, Violation> {
    caught(Law::BoundedState, Place::Unknown, || {
        let texts = texts(log).into_iter().map(|(_, text)| text);
        let records: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        let names = |text: &String| {
            let record = record(Position::default(), text)?;
            executor.session_of(&record.item).map(Cow::into_owned)
        };
        let sessions: BTreeSet<String> = records.iter().filter_map(names).collect();
        if records.is_empty() || records.len() > RECORDS || sessions.len() > 1 {
            return Ok(Outcome::Vacuous("it needs a log of one session, of 1 to 32 records"));
        }
        let ids = ids(&records, &sessions);
        let reducer = Sessions::new(executor);
        let (mut state, mut sizes, mut line) = (reducer.init(), Vec::new(), 0);
        for repetition in 1..=2 * SETTLED {
            for text in &records {
                line += 1;
                let fresh = |id: &str| ids.contains(id).then(|| format!("{id}-{repetition:05}"));
                let text = with_strings(text, &fresh);
                let position = Position { line, offset: line };
                let Some(record) = record(position, &text) else { continue };
                state = reducer.reduce(state, record).0;
            }
            if repetition == 1 && is_open(&reducer, &state) {
                return Ok(Outcome::Vacuous("something is open at the end of the log"));
            }
            if [EARLY, 2 * EARLY, SETTLED, 2 * SETTLED].contains(&repetition) {
                sizes.push(foldline_json::to_string(&state).unwrap_or_default().len());
            }
            if repetition == 2 * EARLY && !has_grown(&sizes) {
                break;
            }
        }
        match sizes.as_slice() {
            [.., half, whole] if has_grown(&sizes) => {
                let message = format!(
                    "the state has {half} bytes after {SETTLED} repetitions of the log, and {whole} after {}",
                    2 * SETTLED
                );
                let violation = Violation::new(Law::BoundedState, Place::Completion, message);
                Err(violation.text("state", foldline_json::to_string(&state).unwrap_or_default()))
            }
            _ => Ok(Outcome::Checked),
        }
    })
}

/// Whether the last size is larger than the one before. Numbers get longer.
fn has_grown(sizes: &[usize]) -> bool {
    matches!(sizes, [.., half, whole] if *whole > half + half / 10 + 256)
}

/// Whether the end of the log would end or add an item.
fn is_open(reducer: &Sessions<&DynExecutor>, state: &SessionsState<AnyState>) -> bool {
    let (_, events) = Reducer::<Located<Record<'_>>, _, _>::finish(reducer, state.clone());
    let is_item = |event: &Located<DomainEvent>| {
        !matches!(event.item, DomainEvent::SessionEnded | DomainEvent::Session(_))
    };
    events.iter().any(is_item)
}
