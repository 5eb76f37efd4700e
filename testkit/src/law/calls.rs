//! Laws 4, 5 and 12: calls and their results.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use foldline::laws::caught;
use foldline::{position::Position, transduce::Reducer};
use foldline_agents::DynExecutor;
use foldline_domain::{Conversation, CorrId, DomainEvent, NormalizedEntry};

use super::{
    Law, Outcome, Place, Violation,
    account::{MARKS, scalars},
    texts::{joined, strings, texts, with_strings},
};
use crate::run::{self, Fold};

/// Law 4, **balance**: in the events of a whole log, completion included,
///
/// - a tool call is ended (updated to a final status) exactly once, it is not updated before it was created or after
///   it ended, and its entry initially is a tool call without a final status;
/// - an entry that is opened is closed exactly once, and grows only in between;
/// - no id is opened twice, neither for calls nor for entries.
///
/// # Errors
/// The first event that violates the balance, or an item that is still open at completion.
pub fn balance(events: &[DomainEvent]) -> Result<(), Violation> {
    let mut opened = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        if let Err(message) = take(&mut opened, event) {
            let violation = Violation::new(Law::Balance, Place::Event(index), message);
            return Err(violation.side("event", event));
        }
    }
    let open: Vec<_> = opened.iter().filter(|(_, what)| !what.ended).collect();
    if open.is_empty() {
        return Ok(());
    }
    let message = "an item is still open after completion";
    Err(Violation::new(Law::Balance, Place::Completion, message).side("open", &open))
}

/// The item that was opened under an id.
#[derive(Debug)]
struct Opened {
    kind: Kind,
    ended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Call,
    Entry,
}

fn take(opened: &mut BTreeMap<CorrId, Opened>, event: &DomainEvent) -> Result<(), String> {
    match event {
        DomainEvent::NewToolCall { corr_id, entry } => {
            let tool = entry.tool().ok_or("the entry of a new tool call is not a tool call")?;
            if tool.status.is_final() {
                return Err("a new tool call already has a final status".to_owned());
            }
            open(opened, corr_id, Kind::Call)
        }
        DomainEvent::OpenEntry { corr_id, .. } => open(opened, corr_id, Kind::Entry),
        DomainEvent::UpdateToolCall { corr_id, entry } => {
            let tool =
                entry.tool().ok_or("the entry of an updated tool call is not a tool call")?;
            go_on(opened, corr_id, Kind::Call, tool.status.is_final())
        }
        DomainEvent::GrowEntry { corr_id, .. } => go_on(opened, corr_id, Kind::Entry, false),
        DomainEvent::CloseEntry { corr_id, .. } => go_on(opened, corr_id, Kind::Entry, true),
        _ => Ok(()),
    }
}

fn open(opened: &mut BTreeMap<CorrId, Opened>, id: &CorrId, kind: Kind) -> Result<(), String> {
    match opened.insert(id.clone(), Opened { kind, ended: false }) {
        None => Ok(()),
        Some(before) => Err(format!("the id {id} was opened before, as {before:?}")),
    }
}

fn go_on(
    opened: &mut BTreeMap<CorrId, Opened>,
    id: &CorrId,
    kind: Kind,
    end: bool,
) -> Result<(), String> {
    let what = opened.get_mut(id).ok_or_else(|| format!("the id {id} was never opened"))?;
    if what.kind != kind {
        return Err(format!("the id {id} was opened as something else: {:?}", what.kind));
    }
    if what.ended {
        return Err(format!("the id {id} has ended"));
    }
    what.ended = end;
    Ok(())
}

/// Law 5, **irrelevance of the order of results**: regardless of the positions of results among and before the calls,
/// every tool call is the same in the end, in the same position among the calls.
///
/// `is_result` decides whether an input (with its index) is a result and nothing else. All other inputs keep their
/// order; the n-th result is moved to the position given by the n-th number of `order`, modulo the number of
/// positions, and results at one position are sorted by their number. Any numbers define some order; equal and
/// missing numbers keep the order of the results.
///
/// The law applies to logs in which every result names its call and no id is used twice; without ids, only the order
/// is available.
///
/// # Errors
/// The first tool call that differs afterwards.
pub fn order_of_results<R, In, S>(
    reducer: &R,
    inputs: &[In],
    is_result: impl Fn(usize, &In) -> bool,
    order: &[usize],
) -> Result<(), Violation>
where
    R: Reducer<In, S, DomainEvent>,
    In: Clone + fmt::Debug,
{
    caught(Law::OrderOfResults, Place::Unknown, || {
        let reordered = reorder(inputs, is_result, order);
        let before = final_calls(&run::events(reducer, inputs));
        let after = final_calls(&run::events(reducer, &reordered));
        let differs = |index: &usize| before.get(*index) != after.get(*index);
        let Some(index) = (0..before.len().max(after.len())).find(differs) else { return Ok(()) };
        let message = format!("tool call {index} ends differently");
        let violation = Violation::new(Law::OrderOfResults, Place::Completion, message);
        Err(violation
            .side("in order", &before.get(index))
            .side("reordered", &after.get(index))
            .side("the order", &reordered))
    })
}

/// The inputs that only end a tool call: results, in any format, for [`order_of_results`].
///
/// A record that opens a call when it is read alone is not a result, even if the call was already open: it reports a
/// call as a whole (`exec_command_end` of Codex).
pub fn only_end_a_call<R, In, S>(reducer: &R, inputs: &[In]) -> Vec<bool>
where
    R: Reducer<In, S, DomainEvent>,
    In: Clone,
{
    let mut state = reducer.init();
    let mut ends = Vec::with_capacity(inputs.len());
    for input in inputs {
        let (next, events) = reducer.reduce(state, input.clone());
        state = next;
        let ends_one = match events.as_slice() {
            [DomainEvent::UpdateToolCall { entry, .. }] => {
                entry.tool().is_some_and(|tool| tool.status.is_final())
            }
            _ => false,
        };
        ends.push(ends_one && !opens_a_call(reducer, input.clone()));
    }
    ends
}

/// Whether an input opens a call when it is read alone.
fn opens_a_call<R, In, S>(reducer: &R, input: In) -> bool
where
    R: Reducer<In, S, DomainEvent>,
{
    let (_, events) = reducer.reduce(reducer.init(), input);
    events.iter().any(|event| matches!(event, DomainEvent::NewToolCall { .. }))
}

fn reorder<In: Clone>(
    inputs: &[In],
    is_result: impl Fn(usize, &In) -> bool,
    order: &[usize],
) -> Vec<In> {
    let (mut results, mut others) = (Vec::new(), Vec::new());
    for (index, input) in inputs.iter().enumerate() {
        if is_result(index, input) { &mut results } else { &mut others }.push(input.clone());
    }
    let places = others.len() + 1;
    let mut order = order.iter().copied();
    let mut last = usize::MAX;
    let mut placed: Vec<_> = results
        .into_iter()
        .map(|result| {
            last = order.next().unwrap_or(last);
            (last % places, last, result)
        })
        .collect();
    placed.sort_by_key(|(place, number, _)| (*place, *number));
    let mut placed = placed.into_iter().peekable();
    let mut reordered = Vec::with_capacity(inputs.len());
    for place in 0..places {
        while let Some((_, _, result)) = placed.next_if(|(at, ..)| *at == place) {
            reordered.push(result);
        }
        reordered.extend(others.get(place).cloned());
    }
    reordered
}

fn final_calls(events: &[DomainEvent]) -> Vec<Arc<NormalizedEntry>> {
    let conversation: Conversation = events.iter().collect();
    conversation.entries.into_iter().filter(|entry| entry.tool().is_some()).collect()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_go_where_the_order_says() {
        let inputs = ["a", "A", "b", "B", "c", "C"];
        let upper = |_: usize, input: &&str| input.chars().all(char::is_uppercase);
        let reordered = |order: &[usize]| reorder(&inputs, upper, order).concat();
        assert_eq!(reordered(&[3, 3, 3]), "abcABC");
        assert_eq!(reordered(&[0, 0, 0]), "ABCabc");
        assert_eq!(reordered(&[11, 7, 3]), "abcCBA");
        assert_eq!(reordered(&[2, 1, 0]), "CaBbAc");
    }
}
