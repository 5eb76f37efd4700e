//! The laws of consumers, whatever they make of events.

use std::{collections::BTreeSet, fmt::Debug};

use foldline::position::{Located, SessionKey};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    Accounts, Law, Outcome, Place, Violation,
    account::{Effects, MARKS, problems, scalars},
    same::same,
};
use crate::violation::caught;

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

/// The law of accounts for any consumer: every scalar of every event has an effect on what the consumer makes of them.
///
/// `consume` returns it as text. The effects are `shown`, if the new value is in the text, or `decides`. As in
/// [`account`](super::account), they are compared with those that `accounts` declares; its types are the names of events.
///
/// ```
/// use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType};
/// use foldline_testkit::law;
///
/// let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, "hello");
/// let events = [DomainEvent::entry(entry)];
/// let shouts = |events: &[DomainEvent]| events.iter().map(DomainEvent::name).collect::<String>();
/// let violation = law::consumer_account(shouts, &events, None).unwrap_err().to_string();
/// assert!(violation.contains("new_entry data.entry.content = dropped: ?"), "{violation}");
/// ```
///
/// # Errors
/// All fields with another effect, in the syntax of [`Accounts`].
pub fn consumer_account<E>(
    consume: impl Fn(&[E]) -> String,
    events: &[E],
    accounts: Option<&Accounts>,
) -> Result<usize, Violation>
where
    E: Clone + Serialize + DeserializeOwned,
{
    caught(Law::Account, Place::Unknown, || {
        let mut observed = Accounts::default();
        let (before, mut count) = (consume(events), 0);
        for (index, event) in events.iter().enumerate() {
            let Ok(text) = serde_json::to_string(event) else { continue };
            let value: Value = serde_json::from_str(&text).unwrap_or_default();
            let kind =
                value["event"].as_str().or(value["type"].as_str()).unwrap_or_default().to_owned();
            for scalar in scalars(&text) {
                let mut effects = Effects::new();
                let mut is_event = false;
                for change in scalar.changes() {
                    let Ok(new) = serde_json::from_str::<E>(&scalar.replace(&text, &change.new))
                    else {
                        continue;
                    };
                    is_event = true;
                    let mut changed = events.to_vec();
                    changed[index] = new;
                    let after = consume(&changed);
                    let shown = change.new.to_string();
                    let is_shown = MARKS.iter().all(|mark| after.contains(mark))
                        || (!before.contains(&shown) && after.contains(&shown));
                    if after != before {
                        effects.insert(if is_shown { "shown" } else { "decides" }.to_owned());
                        break;
                    }
                }
                if is_event {
                    count += 1;
                    observed.observe(&kind, &scalar.path, effects);
                }
            }
        }
        match problems(&observed, accounts) {
            None => Ok(count),
            Some(problems) => {
                let message = "the consumer does not account for these fields as declared";
                Err(Violation::new(Law::Account, Place::Completion, message)
                    .text("observed", problems))
            }
        }
    })
}
