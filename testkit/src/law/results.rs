//! Law 5.

use std::{fmt, sync::Arc};

use foldline::transduce::Reducer;
use foldline_domain::{Conversation, DomainEvent, NormalizedEntry};

use super::{Law, Place, Violation};
use crate::{run, violation::caught};

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
