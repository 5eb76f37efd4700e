//! Work with sub-agents: `collab_tool_call` items and `collab_.._end` events.

use crate::{
    action::task_create,
    codex::{
        either,
        result::{self, CodexResult, Status},
        snake,
    },
    prelude::*,
};

/// A call that starts, instructs, awaits or closes sub-agents.
#[derive(Clone, Debug, Default)]
pub struct AgentCall<'a> {
    /// `spawn_agent`, `send_input`, `wait`, `close_agent`, `resume_agent`.
    pub tool: Cow<'a, str>,
    pub prompt: Option<Text>,
    /// The kind of the agent.
    pub role: Option<Text>,
    /// The threads of the sub-agents.
    pub threads: Vec<Text>,
    /// The state of each thread, one per line.
    pub states: Option<Text>,
    pub status: Status,
}

impl<'a> AgentCall<'a> {
    /// Reads an item.
    pub fn take(item: &mut Object<'a>) -> Self {
        let tool = item.str("tool").unwrap_or_default();
        let threads = either(item, "receiver_thread_ids", Object::texts).unwrap_or_default();
        let states = either(item, "agents_states", Object::object);
        let states = states.map(Object::rest).unwrap_or_default();
        let lines: Vec<_> = states.iter().map(|(thread, raw)| state_line(thread, *raw)).collect();
        item.ignore(&["sender_thread_id", "senderThreadId", "model", "reasoning_effort"]);
        Self {
            tool: Cow::Owned(snake(&tool).into_owned()),
            prompt: item.text("prompt"),
            role: None,
            threads,
            states: join_lines(&lines),
            status: Status::take(item),
        }
    }

    /// Reads an event such as `collab_agent_spawn_end` as a call of `tool`.
    pub fn take_event(tool: &'static str, event: &mut Object<'a>) -> Self {
        let thread = event.text("new_thread_id").or_else(|| event.text("receiver_thread_id"));
        let nickname =
            event.str("new_agent_nickname").or_else(|| event.str("receiver_agent_nickname"));
        let role = event.text("new_agent_role").or_else(|| event.text("receiver_agent_role"));
        let mut lines = Vec::new();
        if let Some(raw) = event.raw("status") {
            let thread = thread.as_ref().map(Text::decode);
            lines.push(state_line(&nickname.or(thread).unwrap_or_default(), raw));
        }
        for raw in event.array("agent_statuses").unwrap_or_default() {
            let mut state: Object<'_> = value::object(raw).unwrap_or_default();
            let name = state.str("agent_nickname").or_else(|| state.str("thread_id"));
            let status = state.raw("status").unwrap_or(raw);
            lines.push(state_line(&name.unwrap_or_default(), status));
        }
        let statuses = event.object("statuses").map(Object::rest).unwrap_or_default();
        if lines.is_empty() {
            lines.extend(statuses.iter().map(|(thread, raw)| state_line(thread, *raw)));
        }
        event.ignore(&["sender_thread_id", "model", "reasoning_effort", "turn_id"]);
        Self {
            tool: Cow::Borrowed(tool),
            prompt: event.text("prompt"),
            role,
            threads: thread.into_iter().collect(),
            states: join_lines(&lines),
            status: Status::Completed,
        }
    }

    pub(super) fn call(&self) -> MappedCall {
        call(&self.tool, self.prompt.clone(), self.role.clone())
    }

    pub(super) fn result(&self) -> CodexResult {
        let result = result::of_status(&self.status, self.states.clone().map(ToolResult::Text));
        // Other calls name the agents that they instruct or await.
        let child = self.threads.first().filter(|_| self.tool == "spawn_agent");
        let child_session_id = child.map(|thread| SessionId::from(&*thread.decode()));
        CodexResult { child_session_id, ..result }
    }
}

/// The action of a call that works with sub-agents.
pub(crate) fn call(tool: &str, prompt: Option<Text>, role: Option<Text>) -> MappedCall {
    let prompt = prompt.filter(|prompt| !prompt.is_empty());
    let description = prompt.clone().unwrap_or_else(|| tool.into());
    task_create(Some(description), prompt, role).into()
}

/// `{status, message}`, a word, or a message under its status: `{"completed": "done"}`.
fn state_line(name: &str, raw: Raw<'_>) -> String {
    let said = match value::object(raw) {
        None => value::into_text(raw).decode().into_owned(),
        Some(mut state) => match (state.str("status"), state.str("message")) {
            (Some(status), Some(message)) => format!("{}: {message}", snake(&status)),
            (Some(status), None) => snake(&status).into_owned(),
            (None, _) => {
                let said = state.rest().into_iter().map(|(status, message)| {
                    format!("{status}: {}", value::into_text(message).decode())
                });
                said.collect::<Vec<_>>().join(", ")
            }
        },
    };
    if name.is_empty() { said } else { format!("{name}: {said}") }
}

fn join_lines(lines: &[String]) -> Option<Text> {
    (!lines.is_empty()).then(|| Text::from(lines.join("\n")))
}
