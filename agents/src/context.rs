//! [`Context`]: the only interface through which an executor emits events; [`Facts`]: the known facts of a session.

use std::borrow::Cow;

use foldline::transduce::Batch;
use foldline_domain::{
    ActionType, Content, CorrId, DomainEvent, Json, NormalizedEntry, NormalizedEntryType, Session,
    Text, Timestamp, TokenUsage, ToolCalls, ToolStatus, Warning, WarningKind,
    tool_calls::{CallResult, Limits, ResultKey},
};
use foldline_json::Raw;
use serde::{Deserialize, Serialize};

use crate::{action::MappedCall, content::Blocks, report, wire::Fields};

/// Unknown fields of a record, to be kept with its entry.
pub type Extra = Vec<(String, Json)>;

/// Fields of an entry in addition to its text.
#[derive(Clone, Debug, Default)]
pub struct Meta {
    /// The message that contains the entry.
    pub message_id: Option<Text>,
    /// The model that wrote it, if it differs from the session's model.
    pub model: Option<Text>,
    /// Further fields.
    pub extra: Extra,
}

impl From<()> for Meta {
    fn from((): ()) -> Self {
        Self::default()
    }
}

impl From<Extra> for Meta {
    fn from(extra: Extra) -> Self {
        Self { extra, ..Self::default() }
    }
}

impl From<(Option<Text>, Extra)> for Meta {
    fn from((message_id, extra): (Option<Text>, Extra)) -> Self {
        Self { message_id, model: None, extra }
    }
}

impl Meta {
    /// The metadata for the next entry of the message; only the first entry has the extra fields.
    pub(super) fn next(&mut self) -> Self {
        let Self { message_id, model, extra } = self;
        let (message_id, model) = (message_id.clone(), model.clone());
        Self { message_id, model, extra: std::mem::take(extra) }
    }

    fn write(self, parent: Option<&CorrId>, entry: &mut NormalizedEntry) {
        let Self { message_id, model, extra } = self;
        if message_id.is_none() && model.is_none() && extra.is_empty() && parent.is_none() {
            return;
        }
        let metadata = entry.metadata_mut();
        metadata.message_id = message_id;
        metadata.model = model;
        metadata.parent_corr_id = parent.cloned();
        metadata.extra.extend(extra);
    }
}

/// Collects the events of one record.
#[derive(Debug)]
pub struct Context<'s, R> {
    /// The time of the record.
    pub at: Option<Timestamp>,
    /// The call whose sub-agent wrote the record.
    pub parent: Option<CorrId>,
    pub(super) agent: &'static str,
    pub(super) limits: &'s Limits,
    pub(super) calls: &'s mut ToolCalls<R>,
    pub(super) facts: &'s mut Facts,
    pub(super) events: &'s mut Batch<DomainEvent>,
}

impl<R: CallResult> Context<'_, R> {
    /// Merges facts into the session and emits the changes as an event. A change of the model is also an entry of the
    /// conversation. The record's time is that of a new authority and of limits, unless it states another one.
    pub fn session(&mut self, mut facts: Session) {
        let before = self.known().authority.as_ref();
        match &mut facts.authority {
            Some(authority) if before.is_some_and(|before| before.is_same(authority)) => {
                facts.authority = None;
            }
            Some(authority) => authority.since = authority.since.or(self.at),
            None => {}
        }
        if let Some(mut limits) = facts.limits.take() {
            let known = self.known().limits.as_deref().unwrap_or_default();
            limits.iter_mut().for_each(|limit| limit.at = limit.at.or(self.at));
            limits.retain(|limit| limit.is_news(known));
            facts.limits = Some(limits).filter(|limits| !limits.is_empty());
        }
        let known = &self.known().model;
        let model = facts.model.clone().filter(|model| known.as_ref() != Some(model));
        self.facts.merge(self.agent, facts, self.events);
        if let Some(model) = model {
            let content = format!("model: {model}");
            self.entry(NormalizedEntryType::ModelChange { model }, content, ());
        }
    }

    /// The known facts of the session, except its tools and the titles of others.
    pub fn known(&self) -> &Session {
        self.facts.known()
    }

    /// The agent's working directory.
    pub fn cwd(&self) -> Option<Cow<'_, str>> {
        self.facts.cwd()
    }

    /// Enters the session with this id.
    pub(super) fn enter(&mut self, id: &str) {
        if self.known().session_id.as_ref().is_none_or(|known| known.as_str() != id) {
            self.session(Session { session_id: Some(id.into()), ..Session::default() });
        }
    }

    /// Emits the agent's name before the first other event.
    pub(super) fn introduce(&mut self) {
        self.facts.introduce(self.agent, self.events);
    }

    fn say(&mut self, event: DomainEvent) {
        self.introduce();
        self.events.push(event);
    }

    /// Emits an entry.
    pub fn entry(
        &mut self,
        kind: NormalizedEntryType,
        content: impl Into<Content>,
        meta: impl Into<Meta>,
    ) {
        let entry = self.draft(kind, content, meta);
        self.push(entry);
    }

    /// Builds an entry with the record's time and parent call, without emitting it.
    pub fn draft(
        &self,
        kind: NormalizedEntryType,
        content: impl Into<Content>,
        meta: impl Into<Meta>,
    ) -> NormalizedEntry {
        let Content { text, images } = content.into();
        let mut entry = NormalizedEntry::new(kind, text).at(self.at);
        meta.into().write(self.parent.as_ref(), &mut entry);
        if !images.is_empty() {
            entry.metadata_mut().images = images;
        }
        entry
    }

    /// Emits a drafted entry.
    pub fn push(&mut self, entry: NormalizedEntry) {
        self.say(DomainEvent::entry(entry));
    }

    /// Opens an entry that grows. The caller chooses the id, which must be unique.
    pub fn open(&mut self, id: CorrId, entry: NormalizedEntry) {
        self.say(DomainEvent::OpenEntry { corr_id: id, entry: entry.into() });
    }

    /// Appends text to an open entry.
    pub fn grow(&mut self, id: CorrId, text: Text) {
        self.events.push(DomainEvent::GrowEntry { corr_id: id, text });
    }

    /// Closes an open entry; `whole` replaces its content.
    pub fn close(&mut self, id: CorrId, whole: Option<NormalizedEntry>) {
        let entry = whole.map(Into::into);
        self.events.push(DomainEvent::CloseEntry { corr_id: id, entry });
    }

    /// Reports a tool call.
    pub fn call(
        &mut self,
        id: Option<CorrId>,
        name: &str,
        call: MappedCall,
        meta: impl Into<Meta>,
    ) {
        self.introduce();
        if call.unknown
            && let ActionType::Tool { arguments, .. } = &call.action
        {
            report::unknown_tool(name, arguments.as_ref(), self.events);
        }
        let mut entry = call.into_entry(name).at(self.at);
        meta.into().write(self.parent.as_ref(), &mut entry);
        self.calls.call(id, entry, self.limits, self.events);
    }

    /// Reports the result of a tool call.
    pub fn result(&mut self, key: impl Into<ResultKey>, result: R) {
        self.introduce();
        self.calls.result(key.into(), result, self.limits, self.events);
    }

    /// Updates an open call. Returns `false` if no such call is open.
    pub fn update(&mut self, id: &CorrId, change: impl FnOnce(&mut NormalizedEntry)) -> bool {
        self.calls.update(id, change, self.limits, self.events)
    }

    /// Reports a tool call; an open call is reported again if its details changed, and keeps its partial result.
    pub fn call_again(
        &mut self,
        id: Option<CorrId>,
        name: &str,
        call: MappedCall,
        meta: impl Into<Meta>,
    ) {
        let open = id.as_ref().and_then(|id| Some((id, self.calls.get(id)?)));
        let Some((id, before)) = open else { return self.call(id, name, call, meta) };
        let (mut told, meta) = (before.clone(), meta.into());
        told.content = call.title;
        let extra: Extra = call.extra.into_iter().chain(meta.extra).collect();
        if !extra.is_empty() {
            told.metadata_mut().extra.extend(extra);
        }
        if call.child_session_id.is_some() {
            told.metadata_mut().child_session_id = call.child_session_id;
        }
        if let Some(tool) = told.tool_mut() {
            let result = tool.action_type.take_result();
            let known = std::mem::replace(&mut tool.action_type, call.action);
            if let ActionType::FileEdit { changes, .. } = &mut tool.action_type
                && let ActionType::FileEdit { changes: known, .. } = known
                && changes.is_empty()
            {
                *changes = known;
            }
            result.into_iter().for_each(|result| tool.action_type.set_result(result));
            tool.tool_name = name.into();
        }
        if told != *before {
            self.update(id, |entry| *entry = told);
        }
    }

    /// Marks an open call as running.
    pub fn running(&mut self, id: &CorrId) {
        let status = self.calls.get(id).and_then(NormalizedEntry::tool).map(|tool| &tool.status);
        if matches!(status, Some(ToolStatus::Created | ToolStatus::PendingApproval)) {
            self.update(id, |entry| {
                if let Some(tool) = entry.tool_mut() {
                    tool.status = ToolStatus::InProgress;
                }
            });
        }
    }

    /// The open calls and the calls that ended recently.
    pub fn calls(&self) -> &ToolCalls<R> {
        self.calls
    }

    /// Reports token usage of the session's model. A stated zero is reported: it differs from unknown.
    pub fn usage(&mut self, usage: TokenUsage) {
        self.usage_of(self.known().model.clone(), usage);
    }

    /// Reports token usage of a model.
    pub fn usage_of(&mut self, model: Option<Text>, usage: TokenUsage) {
        self.usage_at(self.at, model, usage);
    }

    /// Reports token usage of a model at a time other than the record's.
    pub fn usage_at(
        &mut self,
        timestamp: Option<Timestamp>,
        model: Option<Text>,
        usage: TokenUsage,
    ) {
        if !usage.is_empty() {
            let usage = Box::new(usage);
            self.say(DomainEvent::Usage { usage, model, message_id: None, timestamp });
        }
    }

    /// Reports token usage of a message that other logs may also contain.
    pub fn usage_of_message(
        &mut self,
        message_id: Option<Text>,
        model: Option<Text>,
        usage: TokenUsage,
    ) {
        if !usage.is_empty() {
            let (usage, timestamp) = (Box::new(usage), self.at);
            self.say(DomainEvent::Usage { usage, model, message_id, timestamp });
        }
    }

    /// Reports unknown fields, and returns them to be kept.
    pub fn unknown_fields(&mut self, of: &str, fields: &Fields<'_>) -> Extra {
        report::unknown_fields(of, fields, self.events)
    }

    /// Keeps a part of a record of an unknown type, under a name.
    pub fn unknown_event(&mut self, name: &str, fields: &Fields<'_>) {
        report::unread_record(WarningKind::UnknownEvent, name, fields, self.at, self.events);
    }

    /// Keeps a record of an unknown type that is not part of the conversation: in its warning, without an entry, unless
    /// it is large.
    pub fn unknown_bookkeeping(&mut self, name: &str, fields: &Fields<'_>) {
        report::unread_bookkeeping(name, fields, self.at, self.events);
    }

    /// Keeps a content block of an unknown type.
    pub fn unknown_block(&mut self, name: &str, block: impl Into<Json>) {
        report::unknown_block(name, block.into(), self.at, self.events);
    }

    /// Reads content blocks as one content with their unknown fields. Warnings name the owner of the content by `of`.
    /// Blocks of unknown types are kept.
    pub fn content(&mut self, of: &str, raw: Raw<'_>) -> (Content, Extra) {
        let (blocks, fields) = Blocks::read_with_fields(raw);
        for (name, block) in &blocks.unknown {
            self.unknown_block(name, block.clone());
        }
        let fields = fields.iter().map(|(name, json)| (name.into(), Raw::known(json.get())));
        let extra = self.unknown_fields(of, &fields.collect());
        (blocks.content(), extra)
    }

    /// Reports a part of a tool's result of an unknown type; the result keeps it.
    pub fn unknown_part(&mut self, name: &str, part: Raw<'_>) {
        report::unknown_part(name, part, self.events);
    }

    /// Emits a warning about the log.
    pub fn warning(&mut self, warning: Warning) {
        self.events.push(warning.into());
    }
}

/// The known facts of a session, so that only changes become events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Facts {
    /// All facts except the lists of tools and of titles, which may be long.
    session: Session,
    introduced: bool,
}

impl Facts {
    /// All facts except the lists of tools and of titles.
    pub(super) fn known(&self) -> &Session {
        &self.session
    }

    /// The agent's working directory.
    pub(super) fn cwd(&self) -> Option<Cow<'_, str>> {
        self.session.cwd.as_ref().map(Text::decode)
    }

    /// Emits the agent's name, once.
    pub(super) fn introduce(&mut self, agent: &str, events: &mut Batch<DomainEvent>) {
        if !self.introduced {
            self.merge(agent, Session::default(), events);
        }
    }

    /// Merges facts and emits the changes as an event. The first event includes `agent`, unless the log names another
    /// agent.
    pub(super) fn merge(&mut self, agent: &str, facts: Session, events: &mut Batch<DomainEvent>) {
        if self.introduced && facts == Session::default() {
            return;
        }
        let mut known = self.session.clone();
        known.merge(&facts);
        if known != self.session || !self.introduced {
            let agent = || (!self.introduced).then(|| Text::from(agent));
            let agent = facts.agent.clone().or_else(agent);
            self.introduced = true;
            self.session = Session { tools: None, record_titles: None, ..known };
            events.push(DomainEvent::Session(Box::new(Session { agent, ..facts })));
        }
    }
}
