//! [`Sessions`]: several sessions in one stream, each with a state of its own.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{DynExecutor, Executor, Reducing, wire::Record};
use crate::transduce::{Batch, Reducer};

/// A session of a stream; none for what came before the first id.
pub type SessionKey = Option<Arc<str>>;

/// A reducer for each session that a stream carries.
///
/// A record that names no session belongs to the one before it, and what came before the first id
/// belongs to the first session that is named.
#[derive(Clone, Copy, Debug)]
pub struct Sessions<R> {
    reducer: R,
}

impl<R> Sessions<R> {
    /// Sessions told apart by what `reducer` finds in a record.
    pub const fn new(reducer: R) -> Self {
        Self { reducer }
    }
}

/// Who can tell the session of a record. (No closure: none can be inferred that borrows from the text
/// of a record that it is given by reference.)
pub trait NamesSession {
    /// The session that a record names.
    fn session_of<'a>(&self, record: &Record<'a>) -> Option<Cow<'a, str>>;
}

impl<N: NamesSession> NamesSession for &N {
    fn session_of<'a>(&self, record: &Record<'a>) -> Option<Cow<'a, str>> {
        (**self).session_of(record)
    }
}

impl<E: Executor> NamesSession for Reducing<E> {
    fn session_of<'a>(&self, record: &Record<'a>) -> Option<Cow<'a, str>> {
        match record {
            Record::Object(object) => self.executor.session(object),
            Record::Irregular(_) => None,
        }
    }
}

impl NamesSession for DynExecutor {
    fn session_of<'a>(&self, record: &Record<'a>) -> Option<Cow<'a, str>> {
        match record {
            Record::Object(object) => self.session(object),
            Record::Irregular(_) => None,
        }
    }
}

/// The states of the sessions that are open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionsState<S> {
    current: SessionKey,
    open: Vec<(SessionKey, S)>,
}

impl<'a, R, S, E> Reducer<Record<'a>, SessionsState<S>, (SessionKey, E)> for Sessions<R>
where
    R: Reducer<Record<'a>, S, E> + NamesSession,
{
    fn init(&self) -> SessionsState<S> {
        SessionsState { current: None, open: Vec::new() }
    }

    fn reduce(
        &self,
        mut state: SessionsState<S>,
        record: Record<'a>,
    ) -> (SessionsState<S>, Batch<(SessionKey, E)>) {
        if let Some(key) = self.reducer.session_of(&record)
            && state.current.as_deref() != Some(&*key)
        {
            let key: SessionKey = Some(Arc::from(&*key));
            if let Some(unnamed) = state.open.iter_mut().find(|(known, _)| known.is_none()) {
                unnamed.0.clone_from(&key);
            }
            state.current = key;
        }
        let at = state.open.iter().position(|(key, _)| *key == state.current);
        // Out of the list and in again, at its end: the latest session is found first.
        let (key, session) = match at {
            Some(at) => state.open.swap_remove(at),
            None => (state.current.clone(), self.reducer.init()),
        };
        let (session, events) = self.reducer.reduce(session, record);
        let events = events.map(|event| (key.clone(), event));
        state.open.push((key, session));
        (state, events)
    }

    fn finish(&self, state: SessionsState<S>) -> (SessionsState<S>, Batch<(SessionKey, E)>) {
        let mut events = Batch::EMPTY;
        let SessionsState { current, open } = state;
        let sorted: BTreeMap<_, _> = open.into_iter().collect();
        let open = sorted.into_iter().map(|(key, session)| {
            let (session, more) = self.reducer.finish(session);
            events.append(more.map(|event| (key.clone(), event)));
            (key, session)
        });
        let open = open.collect();
        (SessionsState { current, open }, events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        conversation::{DomainEvent, WarningKind},
        executors::{claude::ClaudeStream, droid::Droid},
    };

    fn run(executor: &DynExecutor, log: &str) -> Vec<(SessionKey, DomainEvent)> {
        let sessions = Sessions::new(executor);
        let mut state = sessions.init();
        let mut all = Vec::new();
        for line in log.lines() {
            Record::read(line, |_, record| {
                let (next, events) =
                    sessions.reduce(std::mem::replace(&mut state, sessions.init()), record);
                state = next;
                all.extend(events);
            });
        }
        all.extend(sessions.finish(state).1);
        all
    }

    /// Each session comes out of the interleaved stream as it does alone.
    fn is_as_alone(executor: &DynExecutor, a: &str, b: &str) {
        let mut mixed = String::from("starting up\n");
        let (mut left, mut right) = (a.lines(), b.lines());
        loop {
            let (l, r) = (left.next(), right.next());
            for line in [l, r].into_iter().flatten() {
                mixed += line;
                mixed.push('\n');
            }
            if l.is_none() && r.is_none() {
                break;
            }
        }
        let all = run(executor, &mixed);
        let of = |id: &str| -> Vec<_> {
            all.iter()
                .filter(|(key, _)| key.as_deref() == Some(id))
                .map(|(_, e)| e.clone())
                .collect()
        };
        let alone =
            |log: &str| -> Vec<_> { run(executor, log).into_iter().map(|(_, e)| e).collect() };
        assert!(all[..2].iter().all(|(key, _)| key.is_none()), "{:?}", &all[..2]);
        assert_eq!(of("a"), alone(a));
        assert_eq!(of("b"), alone(b));
        let duplicates = all.iter().filter(
            |(_, e)| matches!(e, DomainEvent::Warning(w) if w.kind == WarningKind::DuplicateCall),
        );
        assert_eq!(duplicates.count(), 0);
    }

    #[test]
    fn interleaved_sessions_do_not_mix() {
        let droid = r#"{"type":"system","subtype":"init","cwd":"/ID","session_id":"ID","tools":[],"model":"m-ID"}
{"type":"message","role":"user","id":"m","text":"hi ID","timestamp":1,"session_id":"ID"}
{"type":"tool_call","id":"call_0","toolName":"Read","parameters":{"file_path":"/ID/x"},"timestamp":2,"session_id":"ID"}
{"type":"tool_result","id":"call_0","isError":false,"value":"of ID","timestamp":3,"session_id":"ID"}
{"type":"completion","finalText":"done ID","numTurns":1,"durationMs":1,"session_id":"ID"}"#;
        is_as_alone(&DynExecutor::new(Droid), &droid.replace("ID", "a"), &droid.replace("ID", "b"));
        let claude = r#"{"type":"system","subtype":"init","cwd":"/ID","session_id":"ID","tools":[],"model":"claude-ID","uuid":"u1"}
{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":3}}},"session_id":"ID","parent_tool_use_id":null,"uuid":"u2"}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"session_id":"ID","parent_tool_use_id":null,"uuid":"u3"}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hel"}},"session_id":"ID","parent_tool_use_id":null,"uuid":"u4"}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}},"session_id":"ID","parent_tool_use_id":null,"uuid":"u5"}
{"type":"assistant","message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"hello"}],"usage":{"input_tokens":3,"output_tokens":1}},"session_id":"ID","parent_tool_use_id":null,"uuid":"u6"}
{"type":"result","subtype":"success","is_error":false,"duration_ms":9,"num_turns":1,"result":"hello","total_cost_usd":0.5,"usage":{"input_tokens":3,"output_tokens":2},"session_id":"ID","uuid":"u7"}"#;
        let claude_executor = DynExecutor::new(ClaudeStream);
        is_as_alone(&claude_executor, &claude.replace("ID", "a"), &claude.replace("ID", "b"));
    }
}
