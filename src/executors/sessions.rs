//! [`Sessions`]: several sessions in one stream, each with a state of its own.

use std::{borrow::Cow, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    DynExecutor, Executor, Reducing,
    wire::{ParseAhead, Record},
};
use crate::{
    conversation::{Located, Locating, LocatingState},
    transduce::{Batch, Reducer},
};

/// A session of a stream; none for what came before the first id, and for files.
pub type SessionKey = Option<Arc<str>>;

/// How many sessions are open at once. The one that was silent for longest is finished for a further one.
pub const MAX_SESSIONS: usize = 64;

/// How many bytes the open sessions hold back together, as [`StateSize`] counts them: as many as one session may
/// alone. Beyond that, those that were silent for longest are finished.
pub const MAX_SESSIONS_SIZE: usize = 16 << 20;

/// A reducer for each session that a stream carries; its events say which session they belong to
/// ([`Located::session`]).
///
/// A record that names no session belongs to the one before it, and what came before the first id
/// belongs to the first session that is named. Only streams carry several sessions: in a file, where a
/// fork carries foreign ids, [`Executor::session`] names none.
///
/// At most [`MAX_SESSIONS`] are open, and what they hold back is bounded ([`MAX_SESSIONS_SIZE`]), so that memory
/// does not grow with the length of a stream; a session that was finished and comes again begins anew.
///
/// ```
/// use foldline::{
///     conversation::{DomainEvent, Located, by_item, locating},
///     emitters::patch::PatchEmitter,
///     executors::{DynExecutor, Sessions, droid::Droid},
///     processor::Processor,
///     transduce::{KeyedEmitter, Transducer},
/// };
///
/// // An emitter a session: neither the ids nor the indices of two sessions mix.
/// let patches = KeyedEmitter::new(
///     |event: &Located<DomainEvent>| event.session.clone(),
///     |_| by_item(PatchEmitter::default()),
/// );
/// let reducer = Sessions::new(locating(DynExecutor::new(Droid)));
/// let mut processor = Processor::new(Transducer::new(reducer, patches));
/// let mut entries = Vec::new();
/// for session in ["a", "b", "a"] {
///     let line = format!(
///         r#"{{"type":"message","role":"user","id":"1","text":"hi","session_id":"{session}"}}"#
///     );
///     processor.push(format!("{line}\n").as_bytes(), |(key, _patch)| entries.push(key));
/// }
/// assert!(entries.iter().any(|key| key.as_deref() == Some("b")));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sessions<R> {
    reducer: R,
}

impl<R> Sessions<R> {
    /// Sessions told apart by what `reducer` finds in a record.
    pub const fn new(reducer: R) -> Self {
        Self { reducer }
    }

    /// The reducer within.
    pub const fn get_ref(&self) -> &R {
        &self.reducer
    }
}

/// What can tell the session of a record. (No closure: none can be inferred that borrows from the text
/// of a record that it is given by reference.)
pub trait NamesSession<In> {
    /// The session that a record names.
    fn session_of<'r>(&self, record: &'r In) -> Option<Cow<'r, str>>;
}

impl<In, N: NamesSession<In>> NamesSession<In> for &N {
    fn session_of<'r>(&self, record: &'r In) -> Option<Cow<'r, str>> {
        (**self).session_of(record)
    }
}

impl<In, N: NamesSession<In>> NamesSession<In> for Locating<N> {
    fn session_of<'r>(&self, record: &'r In) -> Option<Cow<'r, str>> {
        self.get_ref().session_of(record)
    }
}

impl<'a, E: Executor> NamesSession<Record<'a>> for Reducing<E> {
    fn session_of<'r>(&self, record: &'r Record<'a>) -> Option<Cow<'r, str>> {
        match record {
            Record::Object(object) => Reducing::session_of(self, object),
            Record::Irregular(_) => None,
        }
    }
}

impl<'a> NamesSession<Record<'a>> for DynExecutor {
    fn session_of<'r>(&self, record: &'r Record<'a>) -> Option<Cow<'r, str>> {
        match record {
            Record::Object(object) => self.session(object),
            Record::Irregular(_) => None,
        }
    }
}

impl<R: ParseAhead> ParseAhead for Sessions<R> {
    type Parsed<'a> = R::Parsed<'a>;

    fn parse_ahead<'a>(&'a self, record: Record<'a>) -> Self::Parsed<'a> {
        self.reducer.parse_ahead(record)
    }
}

/// A state that knows its size.
pub trait StateSize {
    /// About how many bytes of the log it holds back.
    fn size(&self) -> usize;
}

impl<S: StateSize> StateSize for Box<S> {
    fn size(&self) -> usize {
        (**self).size()
    }
}

impl<S: StateSize> StateSize for LocatingState<S> {
    fn size(&self) -> usize {
        self.state.size()
    }
}

/// The states of the sessions that are open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionsState<S> {
    current: SessionKey,
    /// The one that was silent for longest comes first.
    open: Vec<(SessionKey, S)>,
    /// How much they hold back together: kept, so that a record costs the same however many are open.
    #[serde(skip)]
    size: Total,
}

/// How much is held back, which follows from the rest of the state, once it is known.
#[derive(Clone, Copy, Debug, Default)]
struct Total(Option<Held>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Held {
    /// By all open sessions together.
    all: usize,
    /// By the last of them.
    last: usize,
}

impl PartialEq for Total {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<S> SessionsState<S> {
    /// The same with other states within.
    ///
    /// # Errors
    /// What `make` fails with.
    pub fn try_map<T, F>(
        self,
        mut make: impl FnMut(S) -> Result<T, F>,
    ) -> Result<SessionsState<T>, F> {
        let Self { current, open, size: _ } = self;
        let open = open.into_iter().map(|(key, state)| Ok((key, make(state)?)));
        Ok(SessionsState { current, open: open.collect::<Result<_, F>>()?, size: Total(None) })
    }

    /// The sessions that are open, with their states.
    pub fn open(&self) -> impl Iterator<Item = (Option<&str>, &S)> {
        self.open.iter().map(|(key, state)| (key.as_deref(), state))
    }
}

impl<In, R, S, E> Reducer<Located<In>, SessionsState<S>, Located<E>> for Sessions<R>
where
    R: Reducer<Located<In>, S, Located<E>> + NamesSession<In>,
    S: StateSize,
{
    fn init(&self) -> SessionsState<S> {
        SessionsState { current: None, open: Vec::new(), size: Total::default() }
    }

    fn reduce(
        &self,
        mut state: SessionsState<S>,
        record: Located<In>,
    ) -> (SessionsState<S>, Batch<Located<E>>) {
        if let Some(key) = self.reducer.session_of(&record.item)
            && state.current.as_deref() != Some(&*key)
        {
            let key: SessionKey = Some(Arc::from(&*key));
            if let Some(unnamed) = state.open.iter_mut().find(|(known, _)| known.is_none()) {
                unnamed.0.clone_from(&key);
            }
            state.current = key;
        }
        let open = &mut state.open;
        let sum = || open.iter().map(|(_, session)| session.size()).sum();
        let mut size = state.size.0.map_or_else(sum, |held| held.all);
        let (key, session) = match open.iter().rposition(|(key, _)| *key == state.current) {
            Some(at) => {
                let last = state.size.0.map(|held| held.last).filter(|_| at + 1 == open.len());
                size = size.saturating_sub(last.unwrap_or_else(|| open[at].1.size()));
                open.remove(at)
            }
            None => (state.current.clone(), self.reducer.init()),
        };
        let (session, events) = self.reducer.reduce(session, record);
        let last = session.size();
        size += last;
        let mut silent = 0;
        while let Some((_, session)) = open.get(silent)
            && (open.len() - silent >= MAX_SESSIONS || size > MAX_SESSIONS_SIZE)
        {
            size = size.saturating_sub(session.size());
            silent += 1;
        }
        state.size = Total(Some(Held { all: size, last }));
        let mut all = Batch::EMPTY;
        if silent > 0 {
            for (key, session) in open.drain(..silent) {
                let (_, events) = self.reducer.finish(session);
                all.append(in_session(events, &key));
            }
        }
        all.append(in_session(events, &key));
        open.push((key, session));
        (state, all)
    }

    fn finish(&self, state: SessionsState<S>) -> (SessionsState<S>, Batch<Located<E>>) {
        let mut all = Batch::EMPTY;
        let SessionsState { current, open, size: _ } = state;
        let open = open.into_iter().map(|(key, session)| {
            let (session, events) = self.reducer.finish(session);
            all.append(in_session(events, &key));
            (key, session)
        });
        let open = open.collect();
        (SessionsState { current, open, size: Total(None) }, all)
    }

    fn is_done(&self, state: &SessionsState<S>) -> bool {
        let mut open = state.open.iter().peekable();
        open.peek().is_some() && open.all(|(_, session)| self.reducer.is_done(session))
    }
}

fn in_session<E>(mut events: Batch<Located<E>>, key: &SessionKey) -> Batch<Located<E>> {
    // In place: events are large.
    for event in events.as_mut_slice() {
        event.session.clone_from(key);
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        conversation::{DomainEvent, Position, WarningKind, locating},
        executors::{claude::ClaudeStream, droid::Droid},
    };

    fn run(executor: &DynExecutor, log: &str) -> Vec<(SessionKey, DomainEvent)> {
        let sessions = Sessions::new(locating(executor));
        let mut state = sessions.init();
        let mut all = Vec::new();
        for line in log.lines() {
            Record::read(line, |_, record| {
                let record = Located::new(Position::default(), record);
                let (next, events) =
                    sessions.reduce(std::mem::replace(&mut state, sessions.init()), record);
                state = next;
                all.extend(events);
            });
        }
        all.extend(sessions.finish(state).1);
        all.into_iter().map(|event| (event.session, event.item)).collect()
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

    /// However many sessions a stream carries, few are kept, and none is left unfinished.
    #[test]
    fn a_stream_of_many_sessions_keeps_few() {
        let executor = DynExecutor::new(Droid);
        let log: String = (0..1000)
            .map(|n| {
                format!(
                    "{{\"type\":\"tool_call\",\"id\":\"c\",\"toolName\":\"Read\",\"parameters\":{{}},\
                     \"timestamp\":1,\"session_id\":\"s{n}\"}}\n"
                )
            })
            .collect();
        let events = run(&executor, &log);
        let ended = events.iter().filter(|(_, e)| matches!(e, DomainEvent::UpdateToolCall { .. }));
        assert_eq!(ended.count(), 1000);
        let sessions = Sessions::new(locating(&executor));
        let mut state = sessions.init();
        for line in log.lines() {
            Record::read(line, |_, record| {
                let record = Located::new(Position::default(), record);
                state = sessions.reduce(std::mem::replace(&mut state, sessions.init()), record).0;
            });
        }
        assert_eq!(state.open().count(), MAX_SESSIONS);
        assert_eq!(state.open().last().unwrap().0, Some("s999"));
    }

    /// Open calls and early results of all sessions have one limit together, and what is beyond it comes out.
    #[test]
    fn what_all_sessions_hold_back_is_bounded() {
        let executor = DynExecutor::new(Droid);
        let sessions = Sessions::new(locating(&executor));
        let (mut state, mut ended) = (sessions.init(), 0);
        let text = "x".repeat(1 << 20);
        for n in 0..MAX_SESSIONS {
            let line = format!(
                r#"{{"type":"tool_result","id":"c","isError":false,"value":"{text}","session_id":"s{n}"}}"#
            );
            Record::read(&line, |_, record| {
                let record = Located::new(Position::default(), record);
                let before = std::mem::replace(&mut state, sessions.init());
                let (next, events) = sessions.reduce(before, record);
                state = next;
                let entries = events.as_slice().iter();
                ended += entries
                    .filter(|event| matches!(event.item, DomainEvent::NewEntry { .. }))
                    .count();
            });
            let sizes: Vec<_> = state.open().map(|(_, state)| state.size()).collect();
            let all = sizes.iter().sum();
            assert!(all <= MAX_SESSIONS_SIZE, "{all}");
            assert_eq!(state.size.0, Some(Held { all, last: *sizes.last().unwrap() }));
        }
        assert_eq!(ended + state.open().count(), MAX_SESSIONS);
        assert_eq!(state.open().last().unwrap().0, Some("s63"));
    }
}
