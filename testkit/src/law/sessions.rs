//! Law 11.

use std::collections::BTreeSet;

use foldline::{
    position::{Located, SessionKey},
    processor::{HeapSize, Processor},
    transduce::{Batch, Reducer, Transducer, emit_fn},
};
use foldline_agents::{Records, SessionKeyOf, Sessions, wire::Record};
use foldline_domain::{CorrId, DomainEvent};

use super::{Law, Place, Violation, same::same};
use crate::violation::caught;

/// Law 11, **sessions**: a stream that interleaves two sessions gives each session the same events as the session
/// alone, for any order of their lines, and every update is stamped with the session of the item that it updates.
///
/// Each log has one session, and every record names that session. `turns` selects the log of each next line; the rest
/// of either log follows. The sessions may use the same ids for calls and texts.
///
/// Typical violations: a fact, a call or a count that is kept outside of the state, or in the wrong one; a static.
/// The logs are therefore run several times, in several orders.
///
/// ```
/// use foldline_agents::{ExecutorReducer, droid::Droid};
/// use foldline_testkit::law;
///
/// let log = |session: &str| {
///     format!(
///         r#"{{"type":"system","subtype":"init","session_id":"{session}","model":"of {session}"}}
/// {{"type":"tool_call","id":"c","toolName":"Read","parameters":{{}},"session_id":"{session}"}}
/// {{"type":"tool_result","id":"c","value":"for {session}","session_id":"{session}"}}"#
///     )
/// };
/// law::sessions(&ExecutorReducer::new(Droid), [&log("a"), &log("b")], [true, false, true, false])?;
/// # Ok::<(), foldline_testkit::Violation>(())
/// ```
///
/// # Errors
/// The session whose events differ, or the first event that is stamped with another session.
pub fn sessions<R, S>(
    reducer: &R,
    logs: [&str; 2],
    turns: impl IntoIterator<Item = bool>,
) -> Result<(), Violation>
where
    R: for<'a> Reducer<Record<'a>, S, DomainEvent> + for<'a> SessionKeyOf<Record<'a>>,
    S: HeapSize,
{
    caught(Law::Sessions, Place::Unknown, || {
        let [left, right] = logs;
        let (mut lines, mut more) = (left.lines(), right.lines());
        let (mut mixed, mut is_left_first) = (String::new(), None);
        let mut add = |line: Option<&str>, is_left: bool| {
            if let Some(line) = line {
                is_left_first.get_or_insert(is_left);
                mixed.extend([line, "\n"]);
            }
        };
        for is_left in turns {
            add(if is_left { lines.next() } else { more.next() }, is_left);
        }
        lines.for_each(|line| add(Some(line), true));
        more.for_each(|line| add(Some(line), false));

        let alone = [right, left, right].map(|log| run(reducer, log));
        let together = run(reducer, &mixed);
        stamped(&together)?;
        let keys = if is_left_first == Some(false) { [1, 0] } else { [0, 1] };
        let names = ["alone", "interleaved"];
        for (log, key) in [(&alone[1], keys[0]), (&alone[2], keys[1]), (&alone[0], keys[1])] {
            let of = |events: &[Located<DomainEvent>], key| -> Vec<DomainEvent> {
                let events = events.iter().filter(|event| event.session == SessionKey(key));
                events.map(|event| event.item.clone()).collect()
            };
            let message = format!("the events of session {key} differ");
            same(
                Law::Sessions,
                names,
                Place::Completion,
                &message,
                &of(log, 0),
                &of(&together, key),
            )?;
        }
        Ok(())
    })
}

/// The events of a log, with their sessions.
pub(super) fn run<R, S>(reducer: &R, log: &str) -> Vec<Located<DomainEvent>>
where
    R: for<'a> Reducer<Record<'a>, S, DomainEvent> + for<'a> SessionKeyOf<Record<'a>>,
    S: HeapSize,
{
    let all = emit_fn(|event: &Located<DomainEvent>| Batch::one(event.clone()));
    let mut processor = Processor::new(Records, Transducer::new(Sessions::new(reducer), all));
    let mut events = Vec::new();
    processor.push(log.as_bytes(), |event| events.push(event));
    let _ = processor.finish(|event| events.push(event));
    events
}

/// Whether every update is stamped with the session of the item that it updates.
pub(super) fn stamped(events: &[Located<DomainEvent>]) -> Result<(), Violation> {
    let mut opened = BTreeSet::<(SessionKey, &CorrId)>::new();
    for (index, event) in events.iter().enumerate() {
        match &event.item {
            DomainEvent::NewToolCall { corr_id, .. } | DomainEvent::OpenEntry { corr_id, .. } => {
                opened.insert((event.session, corr_id));
            }
            DomainEvent::UpdateToolCall { corr_id, .. }
            | DomainEvent::GrowEntry { corr_id, .. }
            | DomainEvent::CloseEntry { corr_id, .. }
                if !opened.contains(&(event.session, corr_id)) =>
            {
                let message = "an update is stamped with another session than its entry";
                let violation = Violation::new(Law::Sessions, Place::Event(index), message);
                return Err(violation.side("event", event));
            }
            _ => {}
        }
    }
    Ok(())
}
