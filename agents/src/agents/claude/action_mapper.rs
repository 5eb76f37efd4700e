//! From Claude Code's tools to [`ActionType`](foldline_domain::ActionType)s.
//!
//! Tools of the captured logs and of the documentation are known, as are names of older releases. Parameters without a
//! field in the action are kept in the entry's metadata.

use foldline_domain::{EscapedText, TodoItem};

use crate::{action::*, prelude::*};

/// Known tools without a separate action.
const PLAIN_TOOLS: &str = "BashOutput CronCreate CronDelete CronList DesignSync EnterPlanMode \
    EnterWorktree ExitWorktree KillBash KillShell ListMcpResourcesTool LSP Monitor PushNotification \
    ReadMcpResourceTool RemoteTrigger SendMessage Skill SlashCommand TaskOutput TaskStop \
    ToolSearch";

/// Fields that contain a path.
const PATHS: &str = "file_path notebook_path path";

/// Maps a call of the tool `name`.
pub(super) fn map(name: &str, input: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    let is_plain = || is_among(PLAIN_TOOLS, name) || is_mcp_tool(name);
    MappedCall::of(name, input, is_plain, |given| action(name, given, cwd))
}

/// The action of a call; `None` if it has no separate one.
fn action(name: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
    Some(match name {
        "Read" | "LS" => file_read(take_path(given, PATHS, cwd)),
        "Write" => file_write(take_path(given, PATHS, cwd), given.text("content")),
        "Edit" | "MultiEdit" => {
            let path = take_path(given, PATHS, cwd);
            let first = take_replacement(given, &path);
            let edits = given.array("edits").unwrap_or_default().into_iter();
            let edits = edits.filter_map(|raw| take_replacement(&mut value::object(raw)?, &path));
            let changes = first.into_iter().chain(edits).collect();
            file_edit(path, changes)
        }
        "NotebookEdit" => notebook_edit(take_path(given, PATHS, cwd), given),
        "Bash" => command_run(given.text("command")),
        "Grep" | "Glob" => search(given.text("pattern")),
        "WebSearch" | "web_search" => search(given.text("query")),
        "WebFetch" | "web_fetch" => web_fetch(given.text("url")),
        "TodoWrite" => todo_list("write", todo_items(&given.array("todos").unwrap_or_default())),
        "TodoRead" | "TaskList" => todo_list("read", Vec::new()),
        "TaskGet" => (todo_list("read", Vec::new()).0, task_title(given)),
        "TaskCreate" | "TaskUpdate" => {
            let title = given.text("subject").unwrap_or_else(|| task_title(given));
            let status = given.text("status").unwrap_or_else(|| "pending".into());
            let item = TodoItem { content: title.clone(), status, priority: None };
            (todo_list("update", vec![item]).0, title)
        }
        "Task" | "Agent" => take_task(given, "subagent_type"),
        "ExitPlanMode" => plan_presentation(given.text("plan")),
        "AskUserQuestion" => take_questions(given),
        _ => return None,
    })
}

/// The title of a task that has only a number.
fn task_title(given: &Object<'_>) -> Text {
    let id = given.get("taskId").map(value::into_text);
    id.map_or_else(|| "task".into(), |id| Text::from(format!("task {id}")))
}

fn take_replacement(given: &mut Object<'_>, path: &Text) -> Option<FileChange> {
    let old = given.take("old_string", EscapedText::of_raw)?;
    let new = given.take("new_string", EscapedText::of_raw).unwrap_or_default();
    Some(files::replacement(path, old, new))
}
