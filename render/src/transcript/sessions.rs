//! [`SessionTranscripts`]: the transcripts of a log with several sessions.

use std::collections::BTreeMap;

use foldline::transduce::{Batch, Emitter, Resume};
use foldline_domain::{DomainEvent, Located, SessionId, SessionKey};
use serde::{Deserialize, Serialize};

use super::{Page, Transcript, TranscriptStyle, session};

/// A [`Transcript`] for each session of a log, or another emitter around one. Output of alternating sessions is
/// separated by lines that name the session.
///
/// ```
/// use foldline::transduce::Emitter;
/// use foldline_domain::{
///     DomainEvent, Located, NormalizedEntry, NormalizedEntryType, Position, SessionKey,
/// };
/// use foldline_render::transcript::{SessionTranscripts, Transcript, TranscriptStyle};
///
/// let said = |session, text: &str| {
///     let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, text);
///     Located::new(Position::default(), DomainEvent::entry(entry)).in_session(SessionKey(session))
/// };
/// let style = TranscriptStyle::new(40);
/// let mut transcripts = SessionTranscripts::new(style, move || Transcript::new(style));
/// assert_eq!(transcripts.emit(&said(0, "hi")).as_slice(), ["❯ hi"]);
/// assert_eq!(transcripts.emit(&said(1, "hey")).len(), 3);
/// let again = transcripts.emit(&said(0, "again"));
/// assert!(again.as_slice()[1].contains("session 1") && again.as_slice()[2].contains("again"));
/// ```
#[derive(Clone, Debug)]
pub struct SessionTranscripts<F, M = Transcript> {
    style: TranscriptStyle,
    make: F,
    open: BTreeMap<SessionKey, OpenTranscript<M>>,
    /// The session of the last line.
    last: Option<SessionKey>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct OpenTranscript<M> {
    transcript: M,
    name: Option<SessionId>,
    has_printed: bool,
}

impl<F: FnMut() -> M, M> SessionTranscripts<F, M> {
    /// Transcripts created by `make`.
    pub const fn new(style: TranscriptStyle, make: F) -> Self {
        Self { style, make, open: BTreeMap::new(), last: None }
    }
}

impl<F, M> SessionTranscripts<F, M> {
    /// The lines of a session, after a divider if the previous lines belong to another session.
    fn divided(&mut self, key: SessionKey, lines: Batch<String>) -> Batch<String> {
        let Some(open) = self.open.get_mut(&key).filter(|_| !lines.is_empty()) else {
            return lines;
        };
        let is_elsewhere = self.last.replace(key).is_some_and(|last| last != key);
        // A transcript begins with its own header, if the session already has a name.
        let needs_divider = open.has_printed || open.name.is_none();
        open.has_printed = true;
        if !is_elsewhere {
            return lines;
        }
        let mut all = Batch::one(String::new());
        if needs_divider {
            let mut page = Page::new(self.style);
            session::divider(&mut page, key, open.name.as_ref());
            all.append(page.into_text());
        }
        all.append(lines);
        all
    }

    fn finish_session(&mut self, key: SessionKey) -> Batch<String>
    where
        M: Emitter<DomainEvent, String>,
    {
        let Some(open) = self.open.get_mut(&key) else { return Batch::EMPTY };
        let lines = open.transcript.finish();
        let lines = self.divided(key, lines);
        self.open.remove(&key);
        lines
    }
}

impl<F, M> Emitter<Located<DomainEvent>, String> for SessionTranscripts<F, M>
where
    F: FnMut() -> M,
    M: Emitter<DomainEvent, String>,
{
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<String> {
        let key = event.session;
        if event.item == DomainEvent::SessionEnded {
            return self.finish_session(key);
        }
        let open = self.open.entry(key).or_insert_with(|| OpenTranscript {
            transcript: (self.make)(),
            name: None,
            has_printed: false,
        });
        if let DomainEvent::Session(facts) = &event.item {
            open.name = facts.session_id.clone().or(open.name.take());
        }
        let lines = open.transcript.emit(&event.item);
        self.divided(key, lines)
    }

    fn finish(&mut self) -> Batch<String> {
        let keys: Vec<_> = self.open.keys().copied().collect();
        keys.into_iter().flat_map(|key| self.finish_session(key)).collect()
    }
}

/// The memory of [`SessionTranscripts`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionTranscriptsState<S> {
    open: BTreeMap<SessionKey, OpenTranscript<S>>,
    last: Option<SessionKey>,
}

impl<F: FnMut() -> M, M: Resume> Resume for SessionTranscripts<F, M> {
    type State = SessionTranscriptsState<M::State>;

    fn state(&self) -> Self::State {
        let open = self.open.iter().map(|(key, open)| {
            let OpenTranscript { transcript, name, has_printed } = open;
            let (transcript, name) = (transcript.state(), name.clone());
            (*key, OpenTranscript { transcript, name, has_printed: *has_printed })
        });
        SessionTranscriptsState { open: open.collect(), last: self.last }
    }

    fn resume(&mut self, SessionTranscriptsState { open, last }: Self::State) {
        let make = &mut self.make;
        let open = open.into_iter().map(|(key, open)| {
            let OpenTranscript { transcript: state, name, has_printed } = open;
            let mut transcript = make();
            transcript.resume(state);
            (key, OpenTranscript { transcript, name, has_printed })
        });
        (self.open, self.last) = (open.collect(), last);
    }
}
