//! Maps Amp's tools to [`ActionType`](foldline_domain::ActionType)s.
//!
//! Tools of the releases of 2026 are known, as are older names. Parameters without a field in the action are kept in
//! the entry's metadata.

use foldline_domain::TodoItem;

use crate::{action::*, prelude::*};

/// Known tools without a separate action, or whose calls may have none.
const PLAIN_TOOLS: &str = "apply_patch chart clear_schedule create_thread download_thread_file \
    format_file get_current_user_identity get_diagnostics get_schedule handoff list_agent_modes \
    list_mcp_resources list_runners load_plugin mermaid painter public_artifact_url \
    read_mcp_resource read_thread set_schedule shell_command_status skill task_create task_get \
    task_update thread_file_url thread_interact undo_edit update_schedule upload_thread_file \
    wait_for_threads walkthrough";

/// Maps a call of the tool `name`.
pub(super) fn map(name: &str, input: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    let is_plain = || is_among(PLAIN_TOOLS, name) || is_mcp_tool(name);
    MappedCall::of(name, input, is_plain, |given| action(name, given, cwd))
}

/// The action of a call; `None` if it has no separate one.
fn action(name: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
    Some(match name {
        "Read" | "read_file" | "look_at" | "view_media" | "list_directory" => {
            file_read(take_path(given, "path", cwd))
        }
        "create_file" => file_write(take_path(given, "path", cwd), given.text("content")),
        "edit_file" => {
            file_replacement(take_path(given, "path", cwd), given, ["old_str", "new_str"])
        }
        "apply_patch" => take_patch(given, &["patchText", "input"], cwd)?,
        "Bash" | "shell_command" => {
            command_run(given.text("command").or_else(|| given.text("cmd")))
        }
        "Grep" => search(given.text("pattern")),
        "glob" => search(given.text("filePattern").or_else(|| given.text("pattern"))),
        "finder" | "codebase_search_agent" | "find_thread" => search(given.text("query")),
        "web_search" => search(given.text("objective").or_else(|| given.text("query"))),
        "read_web_page" => web_fetch(given.text("url")),
        "todo_write" => todo_list("write", take_todos(given)),
        "todo_read" => todo_list("read", Vec::new()),
        "task_list" => {
            let operation = given.str("action").unwrap_or("read".into());
            todo_list(&operation, take_todo(given).into_iter().collect())
        }
        "Task" => take_task(given, ""),
        // Sub-agents that answer one question.
        "oracle" => task_create(None, given.text("task"), Some(name.into())),
        "librarian" => task_create(None, given.text("query"), Some(name.into())),
        _ => return None,
    })
}

fn take_todo(given: &mut Object<'_>) -> Option<TodoItem> {
    let content = given.text("title")?;
    let status = given.text("status").unwrap_or_else(|| "pending".into());
    Some(TodoItem { content, status, priority: None })
}
