//! The attributes of a tool call.

use foldline_domain::{ActionType, CommandExitStatus, CorrId, ToolStatus, ToolUse};

use super::{
    attribute::Attributes,
    convention::{
        ERROR_TYPE, EXECUTE_TOOL, MCP_METHOD_NAME, OPERATION_NAME, PROCESS_COMMAND_LINE,
        PROCESS_EXIT_CODE, TOOL_CALL_ARGUMENTS, TOOL_CALL_ID, TOOL_CALL_RESULT, TOOL_KIND,
        TOOL_NAME, TOOL_STATUS, TOOL_TYPE, UNFINISHED,
    },
};

/// The name of the tool, or of the action if the log states no name.
pub(super) fn name(tool: &ToolUse) -> String {
    let name = tool.tool_name.decode();
    if name.trim().is_empty() { tool.action_type.name().to_owned() } else { name.into_owned() }
}

/// The type of the error, if the call failed.
pub(super) fn error(tool: &ToolUse) -> Option<&'static str> {
    tool.status.is_failure().then(|| tool.status.name())
}

/// Whether the log has no result of the call.
pub(super) fn is_unfinished(tool: &ToolUse) -> bool {
    tool.status == ToolStatus::Unfinished || !tool.status.is_final()
}

/// The attributes of a call without those of its session. `has_content` adds arguments and results.
pub(super) fn attributes(corr_id: &CorrId, tool: &ToolUse, has_content: bool) -> Attributes {
    let name = name(tool);
    let is_mcp = is_mcp_tool(&name);
    let attributes = Attributes::default()
        .with(OPERATION_NAME, EXECUTE_TOOL)
        .with(TOOL_NAME, name)
        .with(TOOL_CALL_ID, corr_id.as_str())
        .with(TOOL_TYPE, if is_mcp { "extension" } else { "function" })
        .with_known(MCP_METHOD_NAME, is_mcp.then_some("tools/call"))
        .with(TOOL_KIND, tool.action_type.kind().as_str())
        .with(TOOL_STATUS, tool.status.name())
        .with_known(ERROR_TYPE, error(tool))
        .with_known(PROCESS_EXIT_CODE, exit_code(&tool.action_type))
        .with_known(UNFINISHED, is_unfinished(tool).then_some(true));
    if has_content { content(attributes, tool) } else { attributes }
}

/// `server___tool` (Droid) and `mcp__server__tool` (Claude Code and others).
fn is_mcp_tool(name: &str) -> bool {
    name.contains("___") || name.starts_with("mcp__")
}

fn exit_code(action: &ActionType) -> Option<i32> {
    let ActionType::CommandRun { result: Some(result), .. } = action else { return None };
    match result.exit_status? {
        CommandExitStatus::ExitCode { code } => Some(code),
        CommandExitStatus::Success { .. } => None,
    }
}

/// Adds the arguments, as JSON, and the result. The arguments are those of the log for a tool without an action of its
/// own, else the action.
fn content(attributes: Attributes, tool: &ToolUse) -> Attributes {
    let result = tool.action_type.result_text().map(|text| text.decode().into_owned());
    let mut action = tool.action_type.clone();
    action.take_result();
    let arguments = match &action {
        ActionType::Tool { arguments, .. } => arguments.as_ref().map(|json| json.get().to_owned()),
        action => foldline_json::to_string(action).ok(),
    };
    let command = match &action {
        ActionType::CommandRun { command, .. } => Some(command.decode().into_owned()),
        _ => None,
    };
    attributes
        .with_known(TOOL_CALL_ARGUMENTS, arguments)
        .with_known(TOOL_CALL_RESULT, result)
        .with_known(PROCESS_COMMAND_LINE, command)
}
