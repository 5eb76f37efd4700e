//! [`Outgoing`]: the events of a source, and its patches, as messages.

use std::{mem, sync::Arc};

use foldline::{
    conversation::{DomainEvent, Located, SessionId},
    emitters::patch::{PatchRecord, PatchStream, PatchStreamState},
    json,
    ledger::kafka::Message,
    transduce::{Batch, Emitter, Gather, Resume},
};
use serde::{Deserialize, Serialize};

use crate::fleet::record::{EVENT, Envelope};

/// Where the messages of a partition go.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) events: Arc<str>,
    /// The topic of patches, if they are wanted.
    pub(super) patches: Option<Arc<str>>,
    pub(super) partition: i32,
}

/// Makes messages of the events of a source.
pub(super) struct Outgoing {
    target: Arc<Target>,
    source: Arc<str>,
    kind: Arc<str>,
    memory: Memory,
    patches: Option<PatchStream>,
    messages: Vec<Message>,
    size: usize,
}

/// What is remembered between stretches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Memory {
    /// How many events there were.
    events: u64,
    /// The session that the log is in.
    session: Option<SessionId>,
}

/// About how many bytes a message takes beside its value.
const MESSAGE: usize = 256;

impl Outgoing {
    pub(super) fn new(target: Arc<Target>, source: Arc<str>) -> Self {
        let patches = target.patches.is_some().then(PatchStream::default);
        let memory = Memory::default();
        let kind = EVENT.into();
        Self { target, source, kind, memory, patches, messages: Vec::new(), size: 0 }
    }

    /// How many events there were so far.
    pub(super) fn events(&self) -> u64 {
        self.memory.events
    }

    fn send(
        &mut self,
        topic: &Arc<str>,
        session: Option<&str>,
        value: &impl Serialize,
    ) -> Result<(), json::Error> {
        let mut json = Vec::new();
        json::append(&mut json, value)?;
        let Self { target, source, kind, memory, messages, size, .. } = self;
        let session = session.or(memory.session.as_ref().map(SessionId::as_str));
        let (partition, key) = (target.partition, session.unwrap_or(source));
        let envelope = Envelope { topic, partition, key, source, kind };
        envelope.enclose(json, |message| {
            *size += message.value.len() + MESSAGE;
            messages.push(message);
        });
        Ok(())
    }

    fn send_patches(
        &mut self,
        session: Option<&str>,
        patches: Batch<PatchRecord>,
    ) -> Batch<json::Error> {
        let Some(topic) = self.target.patches.clone() else { return Batch::EMPTY };
        let mut failures = Batch::EMPTY;
        patches.drain_with(|patch| {
            failures.extend(self.send(&topic, session, &patch).err());
        });
        failures
    }
}

impl Emitter<Located<DomainEvent>, json::Error> for Outgoing {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<json::Error> {
        if let DomainEvent::Session(facts) = &event.item
            && facts.session_id.is_some()
        {
            self.memory.session.clone_from(&facts.session_id);
        }
        self.memory.events += 1;
        let (topic, session) = (self.target.events.clone(), event.session.as_deref());
        let mut failures = Batch::from(self.send(&topic, session, event).err());
        let patches = self.patches.as_mut().map(|patches| patches.emit(event));
        failures.append(self.send_patches(session, patches.unwrap_or_default()));
        failures
    }

    fn finish(&mut self) -> Batch<json::Error> {
        let patches = self.patches.as_mut().map(Emitter::finish);
        self.send_patches(None, patches.unwrap_or_default())
    }
}

impl Gather for Outgoing {
    type Stretch = Vec<Message>;

    fn cut(&mut self) -> Vec<Message> {
        self.size = 0;
        mem::take(&mut self.messages)
    }

    fn size(&self) -> usize {
        self.size
    }
}

/// Patches of a source that began without them stay away: they would change entries that nobody has.
impl Resume for Outgoing {
    type State = (Memory, Option<PatchStreamState>);

    fn state(&self) -> Self::State {
        (self.memory.clone(), self.patches.as_ref().map(Resume::state))
    }

    fn resume(&mut self, (memory, patches): Self::State) {
        self.memory = memory;
        self.patches = self.patches.take().and(patches).map(PatchStream::restore);
    }
}
