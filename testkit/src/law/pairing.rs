//! The law of pairing.

use std::collections::BTreeSet;

use foldline::position::Position;
use foldline_agents::DynExecutor;

use super::{
    Law, Outcome, Place, Violation,
    account::{MARKS, scalars},
    results::only_end_a_call,
    texts::{joined, strings, texts, with_strings},
};
use crate::{fold::Fold, violation::caught};

/// The maximum number of results of a log that are changed.
const CHANGED: usize = 12;

/// Added to ids to rename them.
const RENAMED: &str = "Rn7Z";

/// The law of pairing: a result belongs to the call whose id it has.
///
/// - *Renaming* the ids of all calls renames them in the fold, and changes nothing else.
/// - *Unlinking* a result, by another id in its record, changes the fold.
/// - *Co-location*: what a result states is not in the entry of another call.
///
/// It needs records that are results and nothing else, each with the id of one call. `Vacuous` if the log has ended calls
/// and no such record.
///
/// # Errors
/// The first record whose content is in the wrong call, or the difference between the folds.
pub fn pairing(executor: &DynExecutor, log: &[u8]) -> Result<Outcome, Violation> {
    caught(Law::Pairing, Place::Unknown, || check(executor, log))
}

fn check(executor: &DynExecutor, log: &[u8]) -> Result<Outcome, Violation> {
    let records: Vec<(Position, String)> =
        texts(log).into_iter().filter(|(_, text)| !text.is_empty()).collect();
    let plain: Vec<String> =
        records.iter().map(|(_, text)| with_strings(text, &|_| None)).collect();
    let fold =
        |texts: &[String]| Fold::of(executor, joined(texts.iter().map(String::as_str)).as_bytes());
    let base = fold(&plain);
    let ended = calls(&base);
    let stated: BTreeSet<String> =
        plain.iter().flat_map(|text| strings(text)).map(|(_, text)| text).collect();
    let ids: BTreeSet<&str> = ended
        .iter()
        .map(|(id, _)| id.as_str())
        .filter(|id| stated.contains(*id) && !id.contains(' '))
        .collect();
    if ended.is_empty() {
        return Ok(Outcome::Vacuous("no tool call that ended"));
    }
    let rename = |text: &str, which: &dyn Fn(&str) -> bool| {
        with_strings(text, &|id| (ids.contains(id) && which(id)).then(|| format!("{id}{RENAMED}")))
    };
    let renamed: Vec<_> = plain.iter().map(|text| rename(text, &|_| true)).collect();
    let [before, after] = [&base, &fold(&renamed)].map(|fold| format!("{fold:#?}"));
    let after = after.replace(RENAMED, "");
    if before != after {
        let message = "renaming the ids of all calls changes more than their ids";
        let violation = Violation::new(Law::Pairing, Place::Completion, message);
        return Err(violation.text("before", before).text("after, with the old ids", after));
    }
    let log = joined(plain.iter().map(String::as_str));
    let inputs = crate::run::records(&log);
    let results = only_end_a_call(executor, &inputs);
    let mut count = 0;
    for (index, is_result) in results.into_iter().enumerate() {
        let own: BTreeSet<_> = strings(&plain[index]).into_iter().map(|(_, text)| text).collect();
        let mut own = own.iter().filter(|text| ids.contains(text.as_str()));
        let (true, Some(id), None) = (is_result, own.next(), own.next()) else { continue };
        count += 1;
        if count > CHANGED {
            break;
        }
        let fail = |message: String| {
            let violation =
                Violation::new(Law::Pairing, Place::Line(records[index].0.line), message);
            Err(violation.text("record", &plain[index]))
        };
        let with = |text: String| {
            let mut changed = plain.clone();
            changed[index] = text;
            fold(&changed)
        };
        if with(rename(&plain[index], &|own| own == id)) == base {
            return fail(format!(
                "the result of call {id} is paired with it under another id, too"
            ));
        }
        for scalar in scalars(&plain[index]) {
            let is_text =
                !scalar.is_choice() && scalar.value.as_str().is_some_and(|text| text != id);
            for change in scalar.changes().iter().filter(|_| is_text) {
                let fold = with(scalar.replace(&plain[index], &change.new));
                if let Some(other) = holder(&fold).find(|other| other != id) {
                    let path = &scalar.path;
                    return fail(format!("`{path}` of the result of call {id} is in call {other}"));
                }
            }
        }
    }
    Ok(if count > 0 {
        Outcome::Checked
    } else {
        Outcome::Vacuous("no record that is a result and names its call")
    })
}

/// The calls of a fold that ended, with their entries.
fn calls(fold: &Fold) -> Vec<(String, String)> {
    let entries = fold.sessions.values().flat_map(crate::SessionFold::entries);
    let ended = entries.filter(|entry| entry.tool().is_some_and(|tool| tool.status.is_final()));
    let of = |entry: &std::sync::Arc<foldline_domain::NormalizedEntry>| {
        let json = foldline_json::to_string(&**entry).unwrap_or_default();
        Some((entry.corr_id()?.to_string(), json))
    };
    ended.filter_map(of).collect()
}

/// The calls that hold a mark.
fn holder(fold: &Fold) -> impl Iterator<Item = String> {
    let holds = |(_, json): &(String, String)| MARKS.iter().any(|mark| json.contains(mark));
    calls(fold).into_iter().filter(holds).map(|(id, _)| id)
}
