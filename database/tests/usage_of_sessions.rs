//! Tokens belong to the session that tells the most of them.

use std::slice;

use foldline::transduce::*;
use foldline_database::usage::*;
use foldline_domain::*;

fn said(id: &str, output: u64) -> MessageUsage {
    let usage = TokenUsage { output_tokens: Some(output), ..TokenUsage::default() };
    MessageUsage::new(UsedFor { message_id: Some(id.to_owned()), ..UsedFor::default() }, usage)
}

#[test]
fn a_message_counts_where_most_is_told_of_it() {
    let session = |messages: &[MessageUsage]| SessionUsage {
        messages: messages.to_vec(),
        ..SessionUsage::default()
    };
    let mut sessions = [
        session(&[said("a", 1), said("b", 5), said("a", 2)]),
        session(&[said("a", 4), said("b", 5)]),
    ];
    count_once(&mut sessions);
    let left = sessions.map(|session| session.messages);
    assert_eq!(left, [vec![said("b", 5)], vec![said("a", 4)]]);
}

#[test]
fn a_fork_copies_what_its_ancestors_counted() {
    let session = |id: &str, parent: Option<&str>, started_at, messages: &[MessageUsage]| {
        let started_at = Some(Timestamp::from_millis(started_at));
        let (session_id, parent_session_id) = (Some(id.into()), parent.map(Into::into));
        let messages = messages.to_vec();
        SessionUsage {
            session_id,
            parent_session_id,
            started_at,
            messages,
            ..SessionUsage::default()
        }
    };
    let [first, second] = [said("thread:10/10", 10), said("thread:15/5", 5)];
    let mut sessions = [
        session("fork", Some("first"), 2, &[first.clone(), second.clone()]),
        session("first", None, 1, slice::from_ref(&first)),
        // The second of its own is not that of the other fork.
        session("sibling", Some("first"), 3, &[first.clone(), second.clone()]),
        session("other", None, 4, slice::from_ref(&first)),
        session("grandchild", Some("fork"), 5, &[first.clone(), second.clone()]),
        // The log of their parent is missing.
        session("orphan", Some("lost"), 6, slice::from_ref(&first)),
        session("its sibling", Some("lost"), 7, &[first.clone(), second.clone()]),
    ];
    count_once(&mut sessions);
    let left = sessions.map(|session| session.messages);
    let [first, second] = [vec![first], vec![second]];
    let expected =
        [second.clone(), first.clone(), second.clone(), first.clone(), vec![], first, second];
    assert_eq!(left, expected);
}

#[test]
fn each_session_has_the_facts_and_tokens_of_its_own_events() {
    use foldline_domain::{Position, Session};

    let facts = |id: &str, cwd: Option<&str>| {
        let session =
            Session { session_id: Some(id.into()), cwd: cwd.map(Text::from), ..Session::default() };
        DomainEvent::Session(Box::new(session))
    };
    let used = |millis| DomainEvent::Usage {
        usage: Box::new(said("", 1).usage),
        model: Some("m".into()),
        message_id: None,
        timestamp: Some(Timestamp::from_millis(millis)),
    };
    let events = [
        (0, facts("a", Some("/p"))),
        (0, used(1)),
        (1, facts("b", None)),
        (1, used(2)),
        (0, used(3)),
    ];
    let mut emitter = UsageEmitter::default();
    for (key, event) in events {
        let event = Located::new(Position::default(), event).in_session(SessionKey(key));
        drop(emitter.emit(&event));
    }
    let sessions: Vec<_> = emitter
        .into_sessions()
        .into_iter()
        .map(|session| {
            let output = session.messages.iter().map(|message| message.usage.output_tokens);
            (session.project, output.sum::<Option<u64>>())
        })
        .collect();
    assert_eq!(sessions, [(Some("/p".into()), Some(2)), (None, Some(1))]);
}
