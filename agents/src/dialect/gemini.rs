//! Maps the tools of Google's Gemini CLI and of its fork Qwen Code to [`ActionType`]s.
//!
//! Tools of the releases of 2026 are known, as are older names and parameters. Parameters without a field in the action
//! are kept in the entry's metadata.

use foldline_domain::TodoItem;

use crate::{action::*, prelude::*};

/// Known tools without a separate action.
const PLAIN_TOOLS: &str = "activate_skill advisor artifact complete_task create_sub_session \
    cron_create cron_delete cron_list deferred_tool_call display_image enter_plan_mode \
    enter_worktree exec exit_worktree get_goal get_internal_docs image_gen list_agents \
    list_background_processes list_mcp_resources loop_wakeup lsp manage_memory monitor \
    propose_goal read_mcp_resource record_artifact record_source report_findings request_shutdown \
    save_memory search_memory send_message skill structured_output task_output task_stop \
    team_create team_delete team_plan_approval tool_call tool_search update_goal update_topic \
    workflow";

/// Fields that contain a path.
const PATHS: &str = "file_path absolute_path notebook_path dir_path path";

/// Maps a call of the tool `name`.
pub fn map(name: &str, parameters: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    let is_plain = || is_among(PLAIN_TOOLS, name) || is_foreign(name);
    MappedCall::of(name, parameters, is_plain, |given| action(name, given, cwd))
}

/// The action of a call; `None` if it has no separate one.
fn action(name: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
    Some(match name {
        "read_file" | "list_directory" | "zoom_image" => file_read(take_path(given, PATHS, cwd)),
        "read_many_files" => {
            let paths = given.texts("include").or_else(|| given.texts("paths")).unwrap_or_default();
            let paths: Vec<_> = paths.iter().map(Text::decode).collect();
            file_read(Text::from(paths.join(", ")))
        }
        "write_file" => file_write(take_path(given, PATHS, cwd), given.text("content")),
        "replace" | "edit" => {
            file_replacement(take_path(given, PATHS, cwd), given, ["old_string", "new_string"])
        }
        "notebook_edit" => notebook_edit(take_path(given, PATHS, cwd), given),
        "run_shell_command" => command_run(given.text("command")),
        "glob" | "grep_search" | "search_file_content" => search(given.text("pattern")),
        "google_web_search" | "web_search" => search(given.text("query")),
        "web_fetch" => {
            web_fetch(given.text("url").or_else(|| first_url(&given.get_str("prompt")?)))
        }
        "write_todos" | "todo_write" => todo_list("write", take_todos(given)),
        "task_list" | "task_get" => todo_list("read", Vec::new()),
        "task_create" | "task_update" => todo_list("update", vec![take_todo(given)]),
        "ask_user" | "ask_user_question" => take_questions(given),
        "exit_plan_mode" => plan(given),
        "task" | "agent" => take_task(given, "subagent_type"),
        "invoke_agent" => task_create(None, given.text("prompt"), given.text("agent_name")),
        // Sub-agents with their own tool.
        "codebase_investigator" => task_create(None, given.text("objective"), Some(name.into())),
        "cli_help" => task_create(None, given.text("question"), Some(name.into())),
        "generalist" => task_create(None, given.text("request"), Some(name.into())),
        "browser_agent" => task_create(None, given.text("task"), Some(name.into())),
        _ => return None,
    })
}

/// Whether a tool comes from an MCP server (`mcp_server_tool`, in older releases `server__tool`) or from the project's
/// own programs; the tracker's tools are a separate family.
fn is_foreign(name: &str) -> bool {
    let families = ["mcp_", "discovered_tool_", "tracker_"];
    name.contains("__") || families.iter().any(|family| name.starts_with(family))
}

/// Takes one item of a list that separate tools edit, without the other items.
fn take_todo(given: &mut Object<'_>) -> TodoItem {
    let content = given.text("subject").or_else(|| given.text("taskId")).unwrap_or_default();
    TodoItem::new(content, given.text("status").unwrap_or_else(|| "pending".into()))
}

/// A plan, which may be a file whose text is not in the log.
fn plan(given: &mut Object<'_>) -> Titled {
    let mut keys = ["plan", "plan_filename", "plan_path"].into_iter();
    plan_presentation(keys.find_map(|key| given.text(key)))
}

/// The first URL in a prompt, which states the request in prose.
fn first_url(prompt: &str) -> Option<Text> {
    let at = prompt.find("https://").or_else(|| prompt.find("http://"))?;
    let ends = |c: char| c.is_whitespace() || "\"'<>`)]".contains(c);
    prompt[at..].split(ends).next().map(|url| Text::from(url.trim_end_matches(['.', ',', ';'])))
}
