//! From Gemini's tools to [`ActionType`]s.
//!
//! The tools of 2026's releases are known, with the names and parameters of older ones. Parameters that
//! an action has no place for are kept in the entry's metadata.

use crate::{
    conversation::{ActionType, FileChange, Text},
    executors::{
        action::{
            MappedCall, Titled, command_run, file_edit, file_read, search, take_questions,
            take_todos, task_create, todo_list, web_fetch,
        },
        files,
        wire::{Object, value},
    },
    json::Raw,
};

/// Tools that are known and have no action of their own.
const PLAIN_TOOLS: [&str; 9] = [
    "activate_skill",
    "complete_task",
    "enter_plan_mode",
    "get_internal_docs",
    "list_mcp_resources",
    "list_background_processes",
    "read_mcp_resource",
    "save_memory",
    "update_topic",
];

/// Reads a call of the tool `name`.
pub(super) fn map(name: &str, parameters: Option<Raw<'_>>) -> MappedCall {
    let mut given: Object<'_> = parameters.and_then(value::object).unwrap_or_default();
    let action = match name {
        "read_file" | "list_directory" => file_read(take_path(&mut given)),
        "read_many_files" => {
            let paths = given.texts("include").or_else(|| given.texts("paths")).unwrap_or_default();
            let paths: Vec<_> = paths.iter().map(Text::decode).collect();
            file_read(Text::from(paths.join(", ")))
        }
        "write_file" => {
            let path = take_path(&mut given);
            let content = given.text("content").unwrap_or_default();
            file_edit(path.clone(), vec![FileChange::Write { path, content }])
        }
        "replace" | "edit" => {
            let path = take_path(&mut given);
            let change = take_replacement(&mut given, &path);
            file_edit(path, change.into_iter().collect())
        }
        "run_shell_command" => command_run(given.text("command")),
        "glob" | "grep_search" | "search_file_content" => search(given.text("pattern")),
        "google_web_search" => search(given.text("query")),
        "web_fetch" => {
            web_fetch(given.text("url").or_else(|| first_url(&given.get_str("prompt")?)))
        }
        "write_todos" => todo_list("write", take_todos(&mut given)),
        "ask_user" => take_questions(&mut given),
        "exit_plan_mode" => plan(&mut given),
        "invoke_agent" => task_create(None, given.text("prompt"), given.text("agent_name")),
        // Sub-agents that are tools of their own.
        "codebase_investigator" => task_create(None, given.text("objective"), Some(name.into())),
        "cli_help" => task_create(None, given.text("question"), Some(name.into())),
        "generalist" => task_create(None, given.text("request"), Some(name.into())),
        "browser_agent" => task_create(None, given.text("task"), Some(name.into())),
        _ => {
            let mut call = MappedCall::tool(name, parameters);
            call.unknown = !PLAIN_TOOLS.contains(&name) && !is_foreign(name);
            return call;
        }
    };
    MappedCall::known(action, given)
}

/// Whether a tool comes from an MCP server (`mcp_server_tool`, in older releases `server__tool`) or
/// from the project's own programs; the tracker's tools are a family of their own.
fn is_foreign(name: &str) -> bool {
    let families = ["mcp_", "discovered_tool_", "tracker_"];
    name.contains("__") || families.iter().any(|family| name.starts_with(family))
}

/// The stream does not say which directory a path may be below.
fn take_path(given: &mut Object<'_>) -> Text {
    let mut keys = ["file_path", "absolute_path", "dir_path", "path"].into_iter();
    keys.find_map(|key| given.text(key)).unwrap_or_default()
}

fn take_replacement(given: &mut Object<'_>, path: &Text) -> Option<FileChange> {
    let (old, new) = (given.get_str("old_string")?, given.get_str("new_string")?);
    given.ignore(&["old_string", "new_string"]);
    Some(files::replacement(path, &old, &new))
}

/// A plan is a file, and its text is not in the stream.
fn plan(given: &mut Object<'_>) -> Titled {
    let mut keys = ["plan", "plan_filename", "plan_path"].into_iter();
    let plan = keys.find_map(|key| given.text(key)).unwrap_or_default();
    (ActionType::PlanPresentation { plan, result: None }, "plan".into())
}

/// A prompt says in its own words what is to be fetched.
fn first_url(prompt: &str) -> Option<Text> {
    let at = prompt.find("https://").or_else(|| prompt.find("http://"))?;
    let ends = |c: char| c.is_whitespace() || "\"'<>`)]".contains(c);
    prompt[at..].split(ends).next().map(|url| Text::from(url.trim_end_matches(['.', ',', ';'])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::ToolKind;

    fn mapped(name: &str, parameters: &str) -> MappedCall {
        map(name, Some(Raw::parse(parameters).unwrap()))
    }

    #[test]
    fn every_tool_has_its_kind_and_title() {
        for (name, parameters, kind, title) in [
            ("read_file", r#"{"absolute_path":"/w/a.rs"}"#, ToolKind::Read, "/w/a.rs"),
            ("list_directory", r#"{"dir_path":"src"}"#, ToolKind::Read, "src"),
            ("read_many_files", r#"{"include":["a","b"]}"#, ToolKind::Read, "a, b"),
            ("write_file", r#"{"file_path":"a","content":"x"}"#, ToolKind::Edit, "a"),
            (
                "replace",
                r#"{"file_path":"a","old_string":"x","new_string":"y"}"#,
                ToolKind::Edit,
                "a",
            ),
            ("run_shell_command", r#"{"command":"ls"}"#, ToolKind::Execute, "ls"),
            ("glob", r#"{"pattern":"*.rs"}"#, ToolKind::Search, "*.rs"),
            ("search_file_content", r#"{"pattern":"fn"}"#, ToolKind::Search, "fn"),
            ("google_web_search", r#"{"query":"shops"}"#, ToolKind::Search, "shops"),
            (
                "web_fetch",
                r#"{"prompt":"Read https://a.b/c, please"}"#,
                ToolKind::Fetch,
                "https://a.b/c",
            ),
            ("web_fetch", r#"{"prompt":"Read it"}"#, ToolKind::Fetch, ""),
            ("write_todos", r#"{"todos":[]}"#, ToolKind::Think, "todo list"),
            ("ask_user", r#"{"questions":[{"question":"Which?"}]}"#, ToolKind::Other, "Which?"),
            ("exit_plan_mode", r#"{"plan_filename":"p.md"}"#, ToolKind::Think, "plan"),
            ("codebase_investigator", r#"{"objective":"Find it"}"#, ToolKind::Other, "Find it"),
            ("invoke_agent", r#"{"agent_name":"x","prompt":"Do"}"#, ToolKind::Other, "Do"),
            ("save_memory", r#"{"fact":"f"}"#, ToolKind::Other, "save_memory"),
            ("mcp_desk_open", "{}", ToolKind::Other, "mcp_desk_open"),
            ("desk__open", "{}", ToolKind::Other, "desk__open"),
        ] {
            let call = mapped(name, parameters);
            assert_eq!((call.action.kind(), &call.title), (kind, &title.into()), "{name}");
            assert!(!call.unknown, "{name}");
        }
        assert!(mapped("frobnicate", "{}").unknown);
    }

    #[test]
    fn anything_may_stand_where_the_parameters_should() {
        for name in ["read_file", "replace", "write_todos", "ask_user", "web_fetch"] {
            for given in
                ["null", "7", "[]", r#"{"todos":7,"questions":"x","prompt":[],"old_string":1}"#]
            {
                assert!(!mapped(name, given).unknown);
            }
            assert!(!map(name, None).unknown);
        }
    }
}
