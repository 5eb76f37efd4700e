//! [`count_once`]: in which session a message counts.

use std::{cmp::Reverse, collections::BTreeMap};

use foldhash::HashMap;
use foldline_domain::{OF_THREAD, Timestamp};

use super::{MessageUsage, SessionUsage, lineage::Lineage};
use crate::NOT_STATED;

/// Counts each message once, in the session with the most output tokens for it, and removes it from the others. Of several,
/// that is the one with the highest stated cost, or else with the earliest use, or else the first. A resumed session repeats
/// the messages of its predecessor, and a sub-agent's messages are also in the file of the session that started it. The
/// [forks](OF_THREAD) of a session repeat what it counted.
pub fn count_once<'s>(sessions: impl IntoIterator<Item = &'s mut SessionUsage>) {
    let mut sessions: Vec<_> = sessions.into_iter().collect();
    let counted = counted(&sessions);
    let mut counted = counted.into_iter();
    for session in &mut sessions {
        session.messages.retain(|_| counted.next().unwrap_or(true));
    }
}

/// The output tokens that a session tells of a message, their stated cost, and the first time of use.
type Told = (Option<u64>, f64, Reverse<i64>);

const NOTHING: Told = (None, 0.0, Reverse(i64::MAX));

/// Whether each message of each session counts there.
fn counted(sessions: &[&mut SessionUsage]) -> Vec<bool> {
    // Each id is numbered, so that it is hashed only once.
    let mut numbers: HashMap<&str, usize> = HashMap::default();
    let mut numbered = Vec::new();
    // By number: the last session that has the message with what it tells, and the best session.
    let mut told: Vec<(usize, Told)> = Vec::new();
    let mut best: Vec<(usize, Told)> = Vec::new();
    // The sessions with a message of a thread, by number.
    let mut tellers: BTreeMap<usize, Vec<(usize, Option<Timestamp>)>> = BTreeMap::new();
    for (session, used) in sessions.iter().enumerate() {
        let mut here = Vec::new();
        for MessageUsage { of, usage, .. } in &used.messages {
            let number = of.message_id.as_deref().map(|id| {
                let next = numbers.len();
                *numbers.entry(id).or_insert(next)
            });
            numbered.push((session, number));
            let Some(number) = number else { continue };
            if number == told.len() {
                told.push((usize::MAX, NOTHING));
                best.push((session, NOTHING));
            }
            if told[number].0 != session {
                told[number] = (session, NOTHING);
                here.push(number);
                if of.message_id.as_ref().is_some_and(|id| id.starts_with(OF_THREAD)) {
                    tellers.entry(number).or_default().push((session, of.at));
                }
            }
            let (_, (output, cost, at)) = &mut told[number];
            *at = (*at).max(Reverse(of.at.map_or(NOT_STATED, Timestamp::as_millis)));
            *output = match (*output, usage.output_tokens) {
                (Some(output), Some(more)) => Some(output.saturating_add(more)),
                (output, more) => output.or(more),
            };
            *cost += usage.cost_usd.unwrap_or(0.0);
        }
        for number in here {
            if told[number].1 > best[number].1 {
                best[number] = told[number];
            }
        }
    }
    let lineage = Lineage::of(sessions);
    let originals: BTreeMap<usize, Vec<usize>> = tellers
        .into_iter()
        .map(|(number, tellers)| (number, lineage.originals(tellers, sessions)))
        .collect();
    let counts = |(session, number): (usize, Option<usize>)| match number {
        None => true,
        Some(number) => match originals.get(&number) {
            Some(originals) => originals.contains(&session),
            None => best[number].0 == session,
        },
    };
    numbered.into_iter().map(counts).collect()
}
