//! Maps the tools of Pi and OpenClaw to [`ActionType`](foldline_domain::ActionType)s.
//!
//! Parameters without a field in the action are kept in the entry's metadata.

use crate::{action::*, prelude::*};

/// Known tools without a separate action, or whose calls may have none.
const PLAIN_TOOLS: &str = "subagent agents_list browser canvas cron gateway image memory_get \
    message nodes process session_status sessions_history sessions_list sessions_send \
    sessions_yield tts";

/// The fields of the old and the new text.
const TEXTS: [&str; 2] = ["oldText", "newText"];

/// Maps a call of the tool `name`.
pub(super) fn map(name: &str, arguments: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    let is_plain = || is_among(PLAIN_TOOLS, name) || is_mcp_tool(name);
    MappedCall::of(name, arguments, is_plain, |given| action(name, given, cwd))
}

/// The action of a call; `None` if it has no separate one.
fn action(name: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
    Some(match name {
        "bash" | "exec" | "run_terminal" => command_run(given.text("command")),
        "read" | "ls" => file_read(take_path(given, "path", cwd)),
        "write" | "edit_file" => file_write(take_path(given, "path", cwd), given.text("content")),
        "edit" => {
            let path = take_path(given, "path", cwd);
            let changes = take_changes(given, "edits", |edit| take_replacement(edit, TEXTS, &path));
            match changes {
                Some(changes) => file_edit(path, changes),
                None => file_replacement(path, given, TEXTS),
            }
        }
        "grep" | "find" => search(given.text("pattern")),
        "web_search" | "memory_search" => search(given.text("query")),
        "web_fetch" => web_fetch(given.text("url")),
        "subagent" => {
            let task = given.text("task")?;
            task_create(None, Some(task), given.text("agent"))
        }
        "sessions_spawn" => task_create(given.text("label"), given.text("task"), None),
        _ => return None,
    })
}

/// A command that the person ran.
pub(super) fn command(command: Text) -> MappedCall {
    let (action, title) = command_run(Some(command));
    MappedCall::new(action, title)
}
