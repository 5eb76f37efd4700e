//! What streams and session files have in common: messages in, entries and calls out.

use crate::json::Raw;
use serde::{Deserialize, Serialize};

use super::{
    action_mapper,
    content::{Block, BlockKind, Message, ToolResult, ToolUse},
    detail::ResultDetail,
    markup,
    result::{self, ClaudeResult},
};
use crate::{
    conversation::{
        CorrId, DomainEvent, Json, NormalizedEntry, NormalizedEntryType, Session, SessionId, Text,
        Timestamp, ToolCalls, ToolStatus,
        tool_calls::{Limits, ResultKey},
    },
    executors::{report, wire::Fields},
    transduce::Batch,
};

/// What both reducers remember.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Talk {
    pub(super) calls: ToolCalls<ClaudeResult>,
    /// What was said of the session so far; tools left out.
    pub(super) session: Session,
    introduced: bool,
}

/// One line on its way through a reducer.
pub(super) struct Turn<'s> {
    pub(super) limits: &'s Limits,
    pub(super) talk: &'s mut Talk,
    pub(super) events: &'s mut Batch<DomainEvent>,
    /// When the line was written.
    pub(super) at: Option<Timestamp>,
    /// The call whose sub-agent speaks.
    pub(super) parent: Option<CorrId>,
}

/// What stands beside a message with results.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beside<'a> {
    /// `tool_use_result`.
    pub(super) detail: Option<Raw<'a>>,
    /// `tool_result_meta`.
    pub(super) meta: Option<&'a [Raw<'a>]>,
}

/// Who a user message is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The person, or for a sub-agent the agent that started it.
    Person,
    /// The program, in the person's name.
    Program,
}

/// Somebody who may have shown an entry before: gives it back if not.
pub(super) type Claim<'c> =
    &'c mut dyn FnMut(NormalizedEntry, &mut Batch<DomainEvent>) -> Option<NormalizedEntry>;

impl Turn<'_> {
    /// States facts about the session, if they are news.
    pub(super) fn learn(&mut self, news: Session) {
        let mut known = self.talk.session.clone();
        known.merge(&news);
        let introduced = std::mem::replace(&mut self.talk.introduced, true);
        if known == self.talk.session && introduced {
            return;
        }
        let agent = (!introduced).then(|| Text::from("claude-code"));
        self.events.push(DomainEvent::Session(Box::new(Session { agent, ..news })));
        self.talk.session = Session { tools: None, ..known };
    }

    /// The session that a line belongs to.
    pub(super) fn enter(&mut self, session_id: Option<&str>) {
        let known = self.talk.session.session_id.as_ref().map(SessionId::as_str);
        if session_id.is_some() && known != session_id {
            let session_id = session_id.map(SessionId::from);
            self.learn(Session { session_id, ..Session::default() });
        } else if !self.talk.introduced {
            self.learn(Session::default());
        }
    }

    /// The main conversation goes on with a model; that it is another one than before is shown.
    pub(super) fn learn_model(&mut self, model: Option<Text>) {
        let Some(model) = model else { return };
        if self.talk.session.model.as_ref().is_some_and(|known| is_same_model(known, &model)) {
            return;
        }
        self.learn(Session { model: Some(model.clone()), ..Session::default() });
        self.say(NormalizedEntryType::SystemMessage, format!("model: {model}").into());
    }

    /// Reports fields that nobody knows, and gives them back to be kept.
    pub(super) fn unknown(&mut self, of: &str, fields: &Fields<'_>) -> Vec<(String, Json)> {
        report::unknown_fields(of, fields, self.events)
    }

    /// An entry of whoever speaks now.
    pub(super) fn entry(&self, entry_type: NormalizedEntryType, content: Text) -> NormalizedEntry {
        let mut entry = NormalizedEntry::new(entry_type, content).at(self.at);
        if let Some(parent) = &self.parent {
            entry.metadata_mut().parent_corr_id = Some(parent.clone());
        }
        entry
    }

    pub(super) fn say(&mut self, entry_type: NormalizedEntryType, content: Text) {
        self.say_with(entry_type, content, Vec::new());
    }

    pub(super) fn say_with(
        &mut self,
        entry_type: NormalizedEntryType,
        content: Text,
        extra: Vec<(String, Json)>,
    ) {
        let mut entry = self.entry(entry_type, content);
        if !extra.is_empty() {
            entry.metadata_mut().extra.extend(extra);
        }
        self.events.push(DomainEvent::entry(entry));
    }

    /// A message of the model. `entry_type` is what its texts are.
    pub(super) fn assistant(
        &mut self,
        message: Message<'_>,
        entry_type: &NormalizedEntryType,
        mut extra: Vec<(String, Json)>,
        claim: Claim<'_>,
    ) {
        extra.extend(self.unknown("assistant.message", &message.unknown));
        let model = message.model.filter(|model| {
            let known = self.talk.session.model.as_ref();
            known.is_none_or(|known| !is_same_model(known, model))
        });
        for Block { kind, unknown } in message.content {
            let mut entry = match kind {
                BlockKind::Text(text) | BlockKind::Thinking(text) if text.is_empty() => {
                    self.unknown("assistant.empty", &unknown);
                    continue;
                }
                BlockKind::Text(text) | BlockKind::Media(text) => {
                    extra.extend(self.unknown("assistant.text", &unknown));
                    self.entry(entry_type.clone(), text)
                }
                BlockKind::Thinking(text) => {
                    extra.extend(self.unknown("assistant.thinking", &unknown));
                    self.entry(NormalizedEntryType::Thinking, text)
                }
                BlockKind::ToolUse(call) => {
                    extra.extend(self.unknown("tool_use", &unknown));
                    let extra = std::mem::take(&mut extra);
                    self.call(call, message.id.clone(), model.clone(), extra);
                    continue;
                }
                BlockKind::ToolResult(result) => {
                    self.result(result, unknown, ResultDetail::default());
                    continue;
                }
                BlockKind::RedactedThinking => {
                    self.unknown("redacted_thinking", &unknown);
                    continue;
                }
                BlockKind::Unknown { name, raw } => {
                    report::unknown_block(&name, raw.into(), self.at, self.events);
                    continue;
                }
            };
            let metadata = entry.metadata_mut();
            metadata.message_id = message.id.clone();
            metadata.model = model.clone();
            metadata.extra.extend(std::mem::take(&mut extra));
            if let Some(entry) = claim(entry, self.events) {
                self.events.push(DomainEvent::entry(entry));
            }
        }
    }

    /// A message to the model: what somebody said, and what the tools gave back.
    pub(super) fn user(
        &mut self,
        message: Message<'_>,
        from: Speaker,
        mut extra: Vec<(String, Json)>,
        beside: Beside<'_>,
    ) {
        extra.extend(self.unknown("user.message", &message.unknown));
        let results = message.content.iter().filter(|block| block.is_result()).count();
        for Block { kind, unknown } in message.content {
            match kind {
                BlockKind::Text(text) | BlockKind::Media(text) | BlockKind::Thinking(text) => {
                    extra.extend(self.unknown("user.text", &unknown));
                    let (entry_type, text) = match from {
                        Speaker::Person => markup::read(text),
                        Speaker::Program => (NormalizedEntryType::SystemMessage, text),
                    };
                    if !text.is_empty() {
                        self.say_with(entry_type, text, std::mem::take(&mut extra));
                    }
                }
                BlockKind::ToolResult(result) => {
                    // The field beside the message is about its one result.
                    let detail = beside.detail.filter(|_| results == 1);
                    let mut detail = detail.map(ResultDetail::read).unwrap_or_default();
                    detail.add_meta(
                        beside.meta.unwrap_or_default(),
                        result.id.as_ref().map(CorrId::as_str),
                    );
                    self.result(result, unknown, detail);
                }
                BlockKind::ToolUse(call) => {
                    extra.extend(self.unknown("tool_use", &unknown));
                    self.call(call, message.id.clone(), None, std::mem::take(&mut extra));
                }
                BlockKind::RedactedThinking => {}
                BlockKind::Unknown { name, raw } => {
                    report::unknown_block(&name, raw.into(), self.at, self.events);
                }
            }
        }
    }

    fn call(
        &mut self,
        call: ToolUse<'_>,
        message_id: Option<Text>,
        model: Option<Text>,
        extra: Vec<(String, Json)>,
    ) {
        let mut entry = self.call_entry(&call.name, call.input);
        let metadata = entry.metadata_mut();
        metadata.message_id = message_id;
        metadata.model = model;
        metadata.extra.extend(extra);
        self.talk.calls.call(call.id, entry, self.limits, self.events);
    }

    /// A call that no complete line tells of.
    pub(super) fn call_of(
        &mut self,
        id: Option<CorrId>,
        name: &str,
        input: Option<Raw<'_>>,
        message_id: Option<Text>,
    ) {
        self.call(ToolUse { id, name: name.into(), input }, message_id, None, Vec::new());
    }

    /// The entry of a call, as it stands before its result.
    fn call_entry(&mut self, name: &str, input: Option<Raw<'_>>) -> NormalizedEntry {
        let cwd = self.talk.session.cwd.as_ref().map(Text::decode);
        let mapped = action_mapper::map(name, input, cwd.as_deref());
        if mapped.unknown {
            report::unknown_tool(name, input, self.events);
        }
        let mut entry = mapped.into_entry(name).at(self.at);
        if let Some(parent) = &self.parent {
            entry.metadata_mut().parent_corr_id = Some(parent.clone());
        }
        entry
    }

    fn result(&mut self, result: ToolResult<'_>, unknown: Fields<'_>, detail: ResultDetail) {
        self.unknown("tool_result", &unknown);
        for (name, raw) in &result.unknown_parts {
            report::unknown_part(name, *raw, self.events);
        }
        let extra = result::kept(unknown);
        let key = ResultKey { id: result.id.clone(), ..ResultKey::default() };
        let result = ClaudeResult::new(result, detail, self.at, extra);
        self.talk.calls.result(key, result, self.limits, self.events);
    }

    /// The log shows that an open call is running.
    pub(super) fn running(&mut self, call: &CorrId) {
        let created = |entry: &NormalizedEntry| {
            entry.tool().is_some_and(|tool| tool.status == ToolStatus::Created)
        };
        if self.talk.calls.get(call).is_some_and(created) {
            let run = |entry: &mut NormalizedEntry| {
                if let Some(tool) = entry.tool_mut() {
                    tool.status = ToolStatus::InProgress;
                }
            };
            self.talk.calls.update(call, run, self.limits, self.events);
        }
    }
}

/// A session's model may be spelt with the size of its context: `claude-opus-4-6[1m]`.
fn is_same_model(a: &Text, b: &Text) -> bool {
    let (a, b) = (a.decode(), b.decode());
    let base = |name: &str| name.split('[').next().unwrap_or_default().to_owned();
    a == b || (a.contains('[') != b.contains('[') && base(&a) == base(&b))
}
