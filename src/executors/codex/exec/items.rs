//! Items of `codex exec --json`: what is said, and tools at work.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    reducer::Step,
    types::{Item, ItemKind, Phase},
};
use crate::{
    conversation::{
        CorrId, DomainEvent, Json, NormalizedEntry, NormalizedEntryType, Text,
        tool_calls::{RecentIds, ResultKey},
    },
    executors::{codex::tools::Tool, report},
    transduce::Batch,
};

impl Step<'_> {
    pub(super) fn item(&mut self, phase: Phase, item: Item<'_>, mut extra: Vec<(String, Json)>) {
        let Item { id, name, kind, unknown } = item;
        extra.extend(self.unknown(&name, &unknown));
        let id = id.map(|id| self.state.threads.corr_id(self.thread, &id));
        match kind {
            ItemKind::Message(text) => {
                self.text(phase, id, NormalizedEntryType::AssistantMessage, text, extra);
            }
            ItemKind::Reasoning(text) => {
                self.text(phase, id, NormalizedEntryType::Thinking, text, extra);
            }
            ItemKind::Tool(tool) => self.tool(phase, id, &tool, extra),
            ItemKind::Error(message) => {
                if phase == Phase::Completed {
                    self.say(NormalizedEntryType::ErrorMessage, message, extra);
                }
            }
            ItemKind::Unknown(item) => {
                report::unknown_block(&name, item, self.at, self.events);
            }
        }
    }

    /// Messages and thoughts come complete, but for harnesses that pass on their growth.
    fn text(
        &mut self,
        phase: Phase,
        id: Option<CorrId>,
        entry_type: NormalizedEntryType,
        text: Text,
        extra: Vec<(String, Json)>,
    ) {
        let grows = id.as_ref().is_some_and(|id| self.state.growing.texts.contains_key(id));
        if text.is_empty() && !grows {
            return;
        }
        let entry = NormalizedEntry::new(entry_type, text.clone()).at(self.at);
        let entry = Arc::new(self.of_thread(entry, extra));
        match (phase, id) {
            (Phase::Started | Phase::Updated, Some(id)) if grows => {
                self.state.growing.grow(&id, &text, self.events);
            }
            (Phase::Started | Phase::Updated, Some(id)) => {
                let corr_id = self.state.growing.open(id, text);
                self.events.push(DomainEvent::OpenEntry { corr_id, entry });
            }
            (Phase::Completed, Some(id)) if grows => {
                let closed = self.state.growing.texts.remove(&id);
                let close =
                    |Open { corr_id, .. }| DomainEvent::CloseEntry { corr_id, entry: Some(entry) };
                self.events.extend(closed.map(close));
            }
            (Phase::Completed, _) => self.events.push(DomainEvent::NewEntry { entry }),
            (Phase::Started | Phase::Updated, None) => {}
        }
    }

    fn tool(
        &mut self,
        phase: Phase,
        id: Option<CorrId>,
        tool: &Tool<'_>,
        extra: Vec<(String, Json)>,
    ) {
        let call = tool.call(self.cwd().as_deref());
        let now = (call.action.clone(), call.title.clone());
        let entry = call.into_entry(&tool.name()).at(self.at);
        let entry = self.of_thread(entry, Vec::new());
        let mut result = tool.result();
        result.call = Some(Box::new(now));
        result.extra.extend(extra);
        for (name, block) in tool.unknown_blocks() {
            report::unknown_block(name, block.clone(), self.at, self.events);
        }
        if let (Tool::Agents(agents), Some(id)) = (tool, &id) {
            for thread in &agents.threads {
                self.state.threads.spawned(&thread.decode(), id);
            }
        }
        let calls = &mut self.state.calls;
        match (phase, id) {
            (Phase::Started, id) => calls.call(id, entry, self.limits, self.events),
            (Phase::Updated, Some(id)) => {
                if !calls.knows(&id) {
                    calls.call(Some(id.clone()), entry, self.limits, self.events);
                }
                calls.update(&id, |call| result.progress(call), self.limits, self.events);
            }
            (Phase::Completed, Some(id)) => {
                if calls.knows(&id) {
                    result.timestamp = self.at;
                } else {
                    calls.call(Some(id.clone()), entry, self.limits, self.events);
                }
                calls.result(ResultKey::from(id), result, self.limits, self.events);
            }
            (Phase::Updated, None) => {}
            (Phase::Completed, None) => {
                let key = ResultKey { tool_name: Some(tool.name().into()), ..ResultKey::default() };
                if calls.oldest_of(&tool.name()).is_none() {
                    calls.call(None, entry, self.limits, self.events);
                }
                calls.result(key, result, self.limits, self.events);
            }
        }
    }
}

/// How many of the entries opened last are remembered.
const REMEMBERED: usize = 256;

/// Messages and thoughts that are not complete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Growing {
    /// By their items.
    texts: BTreeMap<CorrId, Open>,
    /// The ids of the entries opened last; an item that begins once more needs a new one.
    opened: RecentIds,
    count: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Open {
    corr_id: CorrId,
    text: Text,
}

impl Growing {
    /// An item begins: the id of its entry.
    fn open(&mut self, item: CorrId, text: Text) -> CorrId {
        self.count += 1;
        let mut corr_id = CorrId::from(format!("{item}/text"));
        if self.opened.contains(&corr_id) {
            corr_id = CorrId::from(format!("{item}/text-{}", self.count));
        }
        self.opened.insert(corr_id.clone(), REMEMBERED);
        self.texts.insert(item, Open { corr_id: corr_id.clone(), text });
        corr_id
    }

    /// The text is stated as a whole each time.
    fn grow(&mut self, item: &CorrId, text: &Text, events: &mut Batch<DomainEvent>) {
        let Some(Open { corr_id, text: known }) = self.texts.get_mut(item) else { return };
        let grown = text.decode();
        if let Some(more) = grown.strip_prefix(&*known.decode()).filter(|more| !more.is_empty()) {
            let corr_id = corr_id.clone();
            events.push(DomainEvent::GrowEntry { corr_id, text: more.into() });
            *known = text.clone();
        }
    }

    /// The log ended: what has grown so far is what there is.
    pub(super) fn finish(&mut self, events: &mut Batch<DomainEvent>) {
        for (_, Open { corr_id, .. }) in std::mem::take(&mut self.texts) {
            events.push(DomainEvent::CloseEntry { corr_id, entry: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        executors::{Executor, Format},
        testkit::{law, run},
    };

    #[test]
    fn a_message_may_begin_once_more_after_its_end() {
        let line = |phase: &str, text: &str| {
            format!(
                r#"{{"type":"item.{phase}","item":{{"id":"i","type":"agent_message","text":"{text}"}}}}"#
            )
        };
        let log = [line("started", "a"), line("completed", "ab"), line("started", "c")].join("\n");
        let executor = Executor::of(Format::CodexExec).unwrap();
        let events = run::sourced_events(&executor, [log.as_bytes()]);
        let events: Vec<_> = events.into_iter().map(|event| event.item).collect();
        law::balance(&events).unwrap();
        let opened = events.iter().filter(|event| event.name() == "open_entry").count();
        assert_eq!(opened, 2);
    }
}
