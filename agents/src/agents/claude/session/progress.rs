//! `progress`: the progress of open calls.

use super::types::take_message;
use crate::{dialect::anthropic::Message, prelude::*};

/// The progress of an open call.
#[derive(Clone, Debug)]
pub enum Progress<'a> {
    /// `bash_progress`: the output of a command so far.
    Output(Text),
    /// `agent_progress`: a whole message of a sub-agent.
    Agent(Box<AgentMessage<'a>>),
    /// `mcp_progress`, `waiting_for_task`, `query_update`, `search_results_received`: the call is running.
    Running,
    /// `hook_progress`: nothing to show.
    Quiet,
}

/// A message of a sub-agent.
#[derive(Clone, Debug)]
pub struct AgentMessage<'a> {
    /// Whether the model wrote it; otherwise it is a message to the model.
    pub by_model: bool,
    pub message: Message<'a>,
    /// The tool-specific result.
    pub detail: Option<Raw<'a>>,
    pub uuid: Option<CorrId>,
    /// Distinguishes records with the same uuid and different content.
    pub content: u64,
    pub timestamp: Option<Timestamp>,
    /// Unknown fields.
    pub unknown: Fields<'a>,
}

impl<'a> Progress<'a> {
    /// Takes `data`; its unknown fields stay.
    pub(super) fn take(object: &mut Object<'a>) -> Option<Self> {
        let mut data: Object<'a> = value::object(object.get("data")?)?;
        let progress = match &*data.str("type")? {
            "bash_progress" => {
                data.ignore(&["elapsedTimeSeconds", "timeoutMs", "totalLines", "totalBytes"]);
                let last_lines = data.text("output");
                Self::Output(data.text("fullOutput").or(last_lines).unwrap_or_default())
            }
            "agent_progress" => {
                data.ignore(&["agentId", "normalizedMessages", "prompt"]);
                Self::Agent(Box::new(AgentMessage::take(data.object("message")?)?))
            }
            "mcp_progress" => {
                data.ignore(&["elapsedTimeMs", "serverName", "status", "toolName"]);
                Self::Running
            }
            "waiting_for_task" => {
                data.ignore(&["taskDescription", "taskType"]);
                Self::Running
            }
            "query_update" | "search_results_received" => {
                data.ignore(&["query", "resultCount"]);
                Self::Running
            }
            "hook_progress" => {
                data.ignore(&["command", "hookEvent", "hookName"]);
                Self::Quiet
            }
            _ => return None,
        };
        object.ignore(&["data"]);
        object.adopt("", data);
        Some(progress)
    }
}

impl<'a> AgentMessage<'a> {
    fn take(mut record: Object<'a>) -> Option<Self> {
        let by_model = match &*record.str("type")? {
            "assistant" => true,
            "user" => false,
            _ => return None,
        };
        let mut content = 0;
        let message = take_message(&mut record, &mut content)?;
        record.ignore(&["isMeta", "requestId"]);
        Some(Self {
            by_model,
            message,
            detail: record.raw("toolUseResult"),
            uuid: record.corr_id("uuid"),
            content,
            timestamp: record.timestamp("timestamp"),
            unknown: record.rest(),
        })
    }
}

/// Takes the id of the call. It is not `toolUseID`, which numbers the progress records.
pub(super) fn take_call(object: &mut Object<'_>) -> Option<CorrId> {
    object.ignore(&["toolUseID"]);
    object.corr_id("parentToolUseID")
}
