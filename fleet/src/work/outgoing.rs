//! [`Outgoing`]: the events of a source, and its patches, as messages.

use std::{collections::BTreeMap, sync::Arc};

use foldline::{
    ledger::SourceName,
    processor::Collect,
    transduce::{Batch, Emitter, Resume},
};
use foldline_domain::{
    DomainEvent, Located, Position, SessionId, SessionKey,
    patch::{ConversationPatch, PatchRecord, SessionPatches, session_patches},
};
use serde::{Deserialize, Serialize};

use crate::{
    ledger::Message,
    messages::{SOURCE, Sender},
};

/// The destinations of the messages of a partition.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) events: Arc<str>,
    /// The topic of patches, if patches are produced.
    pub(super) patches: Option<Arc<str>>,
    pub(super) checkpoints: Arc<str>,
    pub(super) partition: i32,
}

impl Target {
    /// The message that removes the checkpoint of a source.
    pub(super) fn removal(&self, source: &SourceName) -> Message {
        Message {
            topic: self.checkpoints.clone(),
            partition: Some(self.partition),
            key: source.as_str().into(),
            value: None,
            headers: vec![(SOURCE, source.as_str().into())],
        }
    }
}

/// Converts the events of a source into messages.
pub(super) struct Outgoing {
    target: Arc<Target>,
    sender: Arc<Sender>,
    /// The number of events that were sent before: these are folded again, but not sent again.
    sent: u64,
    memory: Memory,
    patches: Option<SessionPatches>,
}

/// A patch as an item of a message.
#[derive(Serialize)]
struct Patch {
    patch: ConversationPatch,
}

/// The state kept between segments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Memory {
    /// The number of events so far.
    events: u64,
    /// The names of the open sessions.
    sessions: BTreeMap<SessionKey, SessionId>,
}

/// The approximate overhead of a message in bytes, in addition to its value.
const MESSAGE: usize = 256;

impl Outgoing {
    pub(super) fn new(target: Arc<Target>, sender: Arc<Sender>, sent: u64) -> Self {
        let patches = target.patches.is_some().then(session_patches);
        let memory = Memory::default();
        Self { target, sender, sent, memory, patches }
    }

    /// The number of events so far.
    pub(super) fn events(&self) -> u64 {
        self.memory.events
    }

    fn message(
        &self,
        topic: &Arc<str>,
        session: SessionKey,
        at: (u64, Position),
        item: &impl Serialize,
    ) -> Batch<Result<Message, foldline_json::Error>> {
        let name = self.memory.sessions.get(&session).map(SessionId::as_str);
        let mut messages = Batch::EMPTY;
        let made = self.sender.enclose(topic, (session, name), at, item, |message| {
            messages.push(Ok(message));
        });
        messages.extend(made.err().map(Err));
        messages
    }

    fn patch_messages(
        &self,
        patches: Batch<(SessionKey, PatchRecord)>,
    ) -> Batch<Result<Message, foldline_json::Error>> {
        let mut messages = Batch::EMPTY;
        if let Some(topic) = &self.target.patches {
            patches.drain_with(|(session, PatchRecord { seq, position, patch, .. })| {
                messages.append(self.message(topic, session, (seq, position), &Patch { patch }));
            });
        }
        messages
    }
}

impl Emitter<Located<DomainEvent>, Result<Message, foldline_json::Error>> for Outgoing {
    fn emit(
        &mut self,
        event: &Located<DomainEvent>,
    ) -> Batch<Result<Message, foldline_json::Error>> {
        if let DomainEvent::Session(facts) = &event.item
            && let Some(name) = &facts.session_id
        {
            self.memory.sessions.insert(event.session, name.clone());
        }
        self.memory.events += 1;
        let patches = self.patches.as_mut().map(|patches| patches.emit(event));
        let mut messages = Batch::EMPTY;
        if self.memory.events > self.sent {
            let at = (self.memory.events, event.position);
            messages = self.message(&self.target.events, event.session, at, &event.item);
            messages.append(self.patch_messages(patches.unwrap_or_default()));
        }
        if matches!(event.item, DomainEvent::SessionEnded) {
            self.memory.sessions.remove(&event.session);
        }
        messages
    }

    fn finish(&mut self) -> Batch<Result<Message, foldline_json::Error>> {
        let finish = Emitter::<Located<DomainEvent>, _>::finish;
        let patches = self.patches.as_mut().map(finish);
        self.patch_messages(patches.unwrap_or_default())
    }
}

/// Messages to be committed.
#[derive(Default)]
pub(super) struct Messages {
    pub(super) all: Vec<Message>,
    size: usize,
    /// A message that could not be made: the others are not to be committed.
    pub(super) failed: Option<foldline_json::Error>,
}

impl Collect for Messages {
    type Item = Result<Message, foldline_json::Error>;

    fn add(&mut self, message: Result<Message, foldline_json::Error>) {
        match message {
            Ok(message) => {
                self.size += message.value.as_ref().map_or(0, Vec::len) + MESSAGE;
                self.all.push(message);
            }
            Err(error) => self.failed = Some(error),
        }
    }

    fn size(&self) -> usize {
        self.size
    }
}

/// A source that began without patches gets none later: they would change entries that no consumer has.
impl Resume for Outgoing {
    type State = (Memory, Option<<SessionPatches as Resume>::State>);

    fn state(&self) -> Self::State {
        (self.memory.clone(), self.patches.as_ref().map(Resume::state))
    }

    fn resume(&mut self, (memory, patches): Self::State) {
        self.memory = memory;
        self.patches = self.patches.take().zip(patches).map(|(mut stream, state)| {
            stream.resume(state);
            stream
        });
    }
}
