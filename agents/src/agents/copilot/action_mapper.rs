//! Maps Copilot's tools to [`ActionType`](foldline_domain::ActionType)s.
//!
//! Tools of the releases of 2026 are known, as are older names. Parameters without a field in the action are kept in
//! the entry's metadata.

use crate::{action::*, prelude::*};

/// Known tools without a separate action, or whose calls may have none.
const PLAIN_TOOLS: &str = "apply_patch create_pull_request fetch_copilot_cli_documentation \
    list_agents list_bash list_powershell lsp manage_schedule read_agent read_bash \
    read_powershell report_intent report_progress session_store_sql skill sql stop_bash \
    stop_powershell store_memory task_complete think tool_search tool_search_tool \
    tool_search_tool_regex vote_memory write_agent write_bash write_powershell";

/// Maps a call of the tool `name`.
pub(super) fn map(name: &str, arguments: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    let text = arguments.and_then(value::as_str).unwrap_or_default();
    if name == "apply_patch"
        && let Some(edit) = file_patch(&*text, cwd)
    {
        return edit.into();
    }
    // Some releases write the arguments as JSON text.
    let inner = Raw::parse(&text).ok().filter(|inner| value::object(*inner).is_some());
    let arguments = inner.or(arguments);
    let is_plain = || is_among(PLAIN_TOOLS, name);
    MappedCall::of(name, arguments, is_plain, |given| action(name, given, cwd))
}

/// The action of a call; `None` if it has no separate one.
fn action(name: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
    Some(match name {
        "bash" | "shell" | "powershell" | "local_shell" => command_run(given.text("command")),
        "view" => file_read(take_path(given, "path", cwd)),
        "create" => file_write(take_path(given, "path", cwd), given.text("file_text")),
        "edit" | "str_replace" => {
            file_replacement(take_path(given, "path", cwd), given, ["old_str", "new_str"])
        }
        "apply_patch" => take_patch(given, &["input", "patch"], cwd)?,
        "grep" | "rg" | "glob" => search(given.text("pattern")),
        "web_search" | "search_code_subagent" => search(given.text("query")),
        "web_fetch" => web_fetch(given.text("url")),
        "update_todo" => todo_list("write", take_todos(given)),
        "task" => take_task(given, "agent_type"),
        "ask_user" => match given.text("question") {
            Some(words) => question(words),
            None => take_questions(given),
        },
        "exit_plan_mode" => plan_presentation(given.text("plan").or_else(|| given.text("summary"))),
        _ => return None,
    })
}
