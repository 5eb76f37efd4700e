//! Law 11: streams of several sessions, of reducers and of consumers.

use std::{collections::BTreeSet, fmt::Debug};

use foldline::{
    laws::{caught, same},
    position::{Located, SessionKey},
    processor::HeapSize,
    transduce::Reducer,
};
use foldline_agents::{SessionKeyOf, Sessions, wire::Record};
use foldline_domain::{CorrId, DomainEvent};

use super::{Law, Outcome, Place, Violation};
use crate::run::located_events;

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

        let run = |log: &str| located_events(Sessions::new(reducer), [log.as_bytes()]);
        let alone = [right, left, right].map(&run);
        let together = run(&mixed);
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

/// The law of sessions for any consumer: what it makes of a session does not depend on the other sessions of the stream.
///
/// `consume` returns what the consumer makes of one session of these events: rows, usage, patches, a document.
///
/// ```
/// use foldline::position::{Located, Position, SessionKey};
/// use foldline_testkit::law;
///
/// let event = |session, n: u32| Located::new(Position::default(), n).in_session(SessionKey(session));
/// let events = [event(0, 1), event(1, 2), event(0, 3)];
/// let own = |session, events: &[Located<u32>]| -> u32 {
///     events.iter().filter(|event| event.session == session).map(|event| event.item).sum()
/// };
/// law::consumer_sessions(own, &events)?;
///
/// let all = |_, events: &[Located<u32>]| -> u32 { events.iter().map(|event| event.item).sum() };
/// assert!(law::consumer_sessions(all, &events).is_err());
/// # Ok::<(), foldline_testkit::Violation>(())
/// ```
///
/// # Errors
/// The first session that differs.
pub fn consumer_sessions<E, T>(
    consume: impl Fn(SessionKey, &[Located<E>]) -> T,
    events: &[Located<E>],
) -> Result<Outcome, Violation>
where
    E: Clone,
    T: PartialEq + Debug,
{
    caught(Law::Sessions, Place::Unknown, || {
        let sessions: BTreeSet<_> = events.iter().map(|event| event.session).collect();
        for session in &sessions {
            let own = events.iter().filter(|event| event.session == *session);
            let own: Vec<_> = own.cloned().collect();
            let message = format!("what is made of session {} differs", session.0);
            let names = ["alone", "with other sessions"];
            let (alone, among) = (consume(*session, &own), consume(*session, events));
            same(Law::Sessions, names, Place::Completion, &message, &alone, &among)?;
        }
        Ok(match sessions.len() {
            0 | 1 => Outcome::Vacuous("the events have one session"),
            _ => Outcome::Checked,
        })
    })
}
