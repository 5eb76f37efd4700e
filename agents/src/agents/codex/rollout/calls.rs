//! Calls in a rollout file: `function_call`, its output, and the events about both.

use super::{
    echoes::{Channel, EchoKind},
    item::{Call, Output},
    session::Step,
};
use crate::{
    codex::{
        action_mapper,
        result::{self, Status},
        tools::Tool,
    },
    prelude::*,
};

impl Step<'_, '_> {
    pub(super) fn call(&mut self, channel: Channel, call: Call<'_>, extra: Extra) {
        let Call { id, namespace, name, input } = call;
        if let Some(id) = &id
            && self.is_echo(EchoKind::Call, id.as_str(), channel)
        {
            return;
        }
        let namespace = namespace.as_deref();
        let call = action_mapper::map(namespace, &name, input, self.cx.cwd().as_deref());
        self.cx.call(id, &action_mapper::full_name(namespace, &name), call, extra);
    }

    pub(super) fn output(&mut self, channel: Channel, output: Output, extra: Extra) {
        let Output { id, content, success } = output;
        if let Some(id) = &id
            && self.is_echo(EchoKind::Result, id.as_str(), channel)
        {
            return;
        }
        self.blocks(&content);
        let mut result = result::of_output(content.content(), success);
        result.extra.extend(extra);
        result.timestamp = self.cx.at;
        self.cx.result(id, result);
    }

    /// Reports a call that another line may also report.
    pub(super) fn began(&mut self, id: Option<CorrId>, tool: &Tool<'_>, extra: Extra) {
        let id = id.unwrap_or_else(|| self.new_id());
        if !self.is_echo(EchoKind::Call, id.as_str(), Channel::Event) {
            self.begin(id, tool, extra);
        }
    }

    /// Ends a call. The line has all data, so it can also replace a missing call.
    pub(super) fn ended(
        &mut self,
        channel: Channel,
        id: Option<CorrId>,
        tool: &Tool<'_>,
        extra: Extra,
    ) {
        let (id, key) = match (id, tool) {
            // This is only a call; if it is known, its output follows.
            (Some(id), Tool::ViewImage(_)) if self.cx.calls().knows(&id) => return,
            // Only one of the two lines of a search has an id.
            (id, Tool::Web(search)) => (id, Some(search.key())),
            (None, Tool::Patch(patch)) => {
                if let Some(open) = self.cx.calls().oldest_of("apply_patch").cloned() {
                    if !self.is_echo(EchoKind::Result, open.as_str(), channel) {
                        let tool_name = Some(tool.name().into());
                        let key = ResultKey { tool_name, ..ResultKey::default() };
                        self.end(key, self.cx.at, tool, extra);
                    }
                    return;
                }
                if patch.changes.is_empty() {
                    return self.patch_without_call(&patch.status, extra);
                }
                (None, None)
            }
            (id, _) => (id, None),
        };
        let is_search = key.is_some();
        let key = key.or_else(|| id.as_ref().map(CorrId::to_string));
        let mut told = key.is_some_and(|key| self.is_echo(EchoKind::Result, &key, channel));
        if let (Some(id), true) = (&id, is_search) {
            told |= self.is_echo(EchoKind::Result, id.as_str(), channel);
        }
        if told && is_search {
            return;
        }
        let id = id.unwrap_or_else(|| self.new_id());
        let is_new = !self.cx.calls().knows(&id);
        if is_new {
            // The line of the call may follow, or may precede the beginning of the file.
            self.is_echo(EchoKind::Call, id.as_str(), channel);
            self.begin(id.clone(), tool, Vec::new());
        }
        if !told {
            // If only the end of a call is in the log, its start time is unknown.
            let ended_at = self.cx.at.filter(|_| !is_new);
            self.end(ResultKey::from(id), ended_at, tool, extra);
        }
    }

    fn end(&mut self, key: ResultKey, ended_at: Option<Timestamp>, tool: &Tool<'_>, extra: Extra) {
        for (name, block) in tool.unknown_blocks() {
            self.cx.unknown_block(name, block.clone());
        }
        let mut result = tool.result().at(ended_at);
        result.extra.extend(extra);
        self.cx.result(key, result);
    }

    fn begin(&mut self, id: CorrId, tool: &Tool<'_>, extra: Extra) {
        let call = tool.call(self.cx.cwd().as_deref());
        self.cx.call(Some(id), &tool.name(), call, extra);
    }

    /// Reports whether a patch without a call was applied, the only data of such a line.
    fn patch_without_call(&mut self, status: &Status, extra: Extra) {
        let (entry_type, content) = match status {
            Status::Failed | Status::Declined => {
                (NormalizedEntryType::ErrorMessage, Text::from("patch not applied"))
            }
            _ => (NormalizedEntryType::SystemMessage, Text::from("patch applied")),
        };
        self.cx.entry(entry_type, content, extra);
    }

    fn new_id(&mut self) -> CorrId {
        self.memory.unnamed += 1;
        CorrId::from(format!("unnamed-{}", self.memory.unnamed))
    }
}
