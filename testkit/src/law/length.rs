//! Law 28: logs of thousands of records.

use std::{borrow::Cow, collections::BTreeSet};

use foldline::{laws::caught, position::Position};
use foldline_agents::{DynExecutor, SessionKeyOf};
use jiff::Timestamp;
use serde_json::Value;

use super::{
    Law, Outcome, Place, Violation,
    account::is_choice,
    texts::{ids, joined, record, strings, texts, with_strings},
};
use crate::run::Fold;

/// The number of records to which a log is repeated.
const RECORDS: usize = 2500;

/// The law of length: of a log that is repeated to thousands of records, every repetition is accounted for.
///
/// In each repetition, the log has other ids, and every text of it has a mark of its own. All marks of a repetition have to
/// be in the fold as often as those of the second one: nothing is lost after a number of records, and no memory that is
/// full changes what later records mean. `Vacuous` if the log has more than 128 records, or several sessions.
///
/// # Errors
/// The first repetition of which other texts are there.
pub fn length(executor: &DynExecutor, log: &[u8]) -> Result<Outcome, Violation> {
    caught(Law::Length, Place::Unknown, || {
        let records: Vec<String> = texts(log).into_iter().map(|(_, text)| text).collect();
        let names = |text: &String| {
            let record = record(Position::default(), text)?;
            executor.session_of(&record.item).map(Cow::into_owned)
        };
        let sessions: BTreeSet<String> = records.iter().filter_map(names).collect();
        if records.is_empty() || records.len() > 128 || sessions.len() > 1 {
            return Ok(Outcome::Vacuous("it needs a log of one session, of 1 to 128 records"));
        }
        let ids = ids(&records, &sessions);
        let is_text = |text: &String| {
            let is_time = text.parse::<Timestamp>().is_ok();
            !is_time && !is_choice(&Value::from(text.as_str())) && !sessions.contains(text)
        };
        let all = records.iter().flat_map(|text| strings(text)).map(|(_, text)| text);
        let marked: Vec<String> =
            all.filter(is_text).collect::<BTreeSet<_>>().into_iter().collect();
        let repetitions = RECORDS.div_ceil(records.len());
        let repeated = (0..repetitions).flat_map(|repetition| {
            let renew = move |text: &str, marked: &[String], ids: &BTreeSet<String>| {
                if ids.contains(text) {
                    return Some(format!("{text}-{repetition:05}"));
                }
                let index = marked.binary_search_by(|other| other.as_str().cmp(text)).ok()?;
                Some(format!("{text} {MARK}{repetition:05}.{index:05}"))
            };
            let (marked, ids) = (&marked, &ids);
            records.iter().map(move |text| with_strings(text, &|text| renew(text, marked, ids)))
        });
        let repeated: Vec<String> = repeated.collect();
        let fold = Fold::of(executor, joined(repeated.iter().map(String::as_str)).as_bytes());
        let mut there = vec![Vec::new(); repetitions];
        for session in fold.sessions.values() {
            let text = foldline_json::to_string(session.entries()).unwrap_or_default();
            for (repetition, index) in marks(&text) {
                if let (Some(there), Some(text)) = (there.get_mut(repetition), marked.get(index)) {
                    there.push(text.as_str());
                }
            }
        }
        there.iter_mut().for_each(|there| there.sort_unstable());
        let [_, second, later @ ..] = there.as_slice() else { return Ok(Outcome::Checked) };
        let later = &later[..later.len().saturating_sub(1)];
        match later.iter().position(|there| there != second) {
            None if second.is_empty() => Ok(Outcome::Vacuous("no text is in an entry")),
            None => Ok(Outcome::Checked),
            Some(index) => {
                let line = ((index + 2) * records.len() + 1) as u64;
                let message = "from here on, a repetition of the log has other texts";
                let violation = Violation::new(Law::Length, Place::Line(line), message);
                Err(violation.side("second repetition", second).side("this one", &later[index]))
            }
        }
    })
}

/// Before the numbers of a repetition and of a text.
const MARK: &str = "Lq7Q";

/// The repetitions and texts whose marks are in a text.
fn marks(text: &str) -> impl Iterator<Item = (usize, usize)> {
    text.match_indices(MARK).filter_map(|(at, _)| {
        let (repetition, index) =
            text.get(at + MARK.len()..at + MARK.len() + 11)?.split_once('.')?;
        Some((repetition.parse().ok()?, index.parse().ok()?))
    })
}
