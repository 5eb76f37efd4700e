//! From Claude Code's tools to [`ActionType`](crate::conversation::ActionType)s.
//!
//! The tools of the captured logs and of the documentation are known, with the names of older
//! releases. Parameters that an action has no place for are kept in the entry's metadata.

use crate::{
    conversation::{FileChange, Spelling, Text, TodoItem},
    executors::{
        action::{
            MappedCall, command_run, file_edit, file_read, file_write, is_among, is_mcp_tool,
            notebook_edit, plan_presentation, search, take_path, take_questions, take_task,
            todo_items, todo_list, web_fetch,
        },
        files,
        wire::{Object, value},
    },
    json::Raw,
};

/// Tools that are known and have no action of their own.
const PLAIN_TOOLS: &str = "BashOutput CronCreate CronDelete CronList DesignSync EnterPlanMode \
    EnterWorktree ExitWorktree KillBash KillShell ListMcpResourcesTool Monitor PushNotification \
    ReadMcpResourceTool RemoteTrigger SendMessage Skill SlashCommand TaskOutput TaskStop \
    ToolSearch";

/// The fields of a path.
const PATHS: &str = "file_path notebook_path path";

/// Reads a call of the tool `name`.
pub(super) fn map(name: &str, input: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    let mut given: Object<'_> = input.and_then(value::object).unwrap_or_default();
    let action = match name {
        "Read" | "LS" => file_read(take_path(&mut given, PATHS, cwd)),
        "Write" => file_write(take_path(&mut given, PATHS, cwd), given.text("content")),
        "Edit" | "MultiEdit" => {
            let path = take_path(&mut given, PATHS, cwd);
            let first = take_replacement(&mut given, &path);
            let edits = given.array("edits").unwrap_or_default().into_iter();
            let edits = edits.filter_map(|raw| take_replacement(&mut value::object(raw)?, &path));
            let changes = first.into_iter().chain(edits).collect();
            file_edit(path, changes)
        }
        "NotebookEdit" => notebook_edit(take_path(&mut given, PATHS, cwd), &mut given),
        "Bash" => command_run(given.text("command")),
        "Grep" | "Glob" => search(given.text("pattern")),
        "WebSearch" | "web_search" => search(given.text("query")),
        "WebFetch" | "web_fetch" => web_fetch(given.text("url")),
        "TodoWrite" => todo_list("write", todo_items(&given.array("todos").unwrap_or_default())),
        "TodoRead" | "TaskList" => todo_list("read", Vec::new()),
        "TaskGet" => (todo_list("read", Vec::new()).0, task_title(&given)),
        "TaskCreate" | "TaskUpdate" => {
            let title = given.text("subject").unwrap_or_else(|| task_title(&given));
            let status = given.text("status").unwrap_or_else(|| "pending".into());
            let item = TodoItem { content: title.clone(), status, priority: None };
            (todo_list("update", vec![item]).0, title)
        }
        "Task" | "Agent" => take_task(&mut given, "subagent_type"),
        "ExitPlanMode" => plan_presentation(given.text("plan")),
        "AskUserQuestion" => take_questions(&mut given),
        _ => {
            return MappedCall::other(
                name,
                input,
                is_among(PLAIN_TOOLS, name) || is_mcp_tool(name),
            );
        }
    };
    MappedCall::known(action, given)
}

/// A task that is named by its number alone.
fn task_title(given: &Object<'_>) -> Text {
    let id = given.get("taskId").map(|id| id.get().trim_matches('"'));
    id.map_or_else(|| "task".into(), |id| Text::from(format!("task {id}")))
}

fn take_replacement(given: &mut Object<'_>, path: &Text) -> Option<FileChange> {
    let old = given.take("old_string", Spelling::of_raw)?;
    let new = given.take("new_string", Spelling::of_raw).unwrap_or_default();
    Some(files::replacement(path, old, new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{
        ActionType,
        ToolKind::{Edit, Execute, Fetch, Other, Read, Search, Think},
    };

    fn mapped(name: &str, input: &str) -> MappedCall {
        let raw = Raw::parse(input).unwrap();
        map(name, Some(raw), Some("/w"))
    }

    #[test]
    fn every_tool_has_its_kind_and_title() {
        for (name, input, kind, title) in [
            ("Read", r#"{"file_path":"/w/a.rs","limit":3}"#, Read, "a.rs"),
            ("LS", r#"{"path":"/w/src"}"#, Read, "src"),
            ("Write", r#"{"file_path":"/w/a","content":"x"}"#, Edit, "a"),
            ("NotebookEdit", r#"{"notebook_path":"/w/n.ipynb","new_source":"1"}"#, Edit, "n.ipynb"),
            ("Bash", r#"{"command":"ls","description":"List"}"#, Execute, "ls"),
            ("Glob", r#"{"pattern":"*.rs"}"#, Search, "*.rs"),
            ("Grep", r#"{"pattern":"fn","-n":true}"#, Search, "fn"),
            ("WebSearch", r#"{"query":"shops"}"#, Search, "shops"),
            ("WebFetch", r#"{"url":"https://x","prompt":"p"}"#, Fetch, "https://x"),
            ("TodoWrite", r#"{"todos":[]}"#, Think, "todo list"),
            ("TaskCreate", r#"{"subject":"Mend it","description":"d"}"#, Think, "Mend it"),
            ("TaskUpdate", r#"{"taskId":"7","status":"completed"}"#, Think, "task 7"),
            ("Agent", r#"{"description":"Look","prompt":"p"}"#, Other, "Look"),
            ("ExitPlanMode", r##"{"plan":"# Plan"}"##, Think, "plan"),
            ("AskUserQuestion", r#"{"questions":[{"question":"Which?"}]}"#, Other, "Which?"),
            ("KillShell", r#"{"shell_id":"1"}"#, Other, "KillShell"),
            ("mcp__desk__open", "{}", Other, "mcp__desk__open"),
        ] {
            let call = mapped(name, input);
            assert_eq!((call.action.kind(), &call.title), (kind, &title.into()), "{name}");
            assert!(!call.unknown, "{name}");
        }
        assert!(mapped("Frobnicate", "{}").unknown);
    }

    #[test]
    fn what_an_action_has_no_place_for_is_kept() {
        let extra = mapped("Bash", r#"{"command":"ls","timeout":600000}"#).extra;
        let extra: Vec<_> = extra.iter().map(|(name, json)| (name.as_str(), json.get())).collect();
        assert_eq!(extra, [("timeout", "600000")]);
    }

    #[test]
    fn several_edits_are_several_changes() {
        let input = r#"{"file_path":"/w/a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"1","new_string":"2"}]}"#;
        let ActionType::FileEdit { path, changes, .. } = mapped("MultiEdit", input).action else {
            panic!()
        };
        assert_eq!((path, changes.len()), ("a".into(), 2));
        assert_eq!(changes[1], files::replacement(&"a".into(), "1", "2"));
    }

    #[test]
    fn anything_may_stand_where_the_input_should() {
        for name in ["Read", "Edit", "Bash", "TodoWrite", "TaskGet", "AskUserQuestion", "Task"] {
            for input in ["null", "7", "[]", r#"{"todos":7,"questions":"x","edits":{}}"#] {
                assert!(!mapped(name, input).unknown);
            }
            assert!(!map(name, None, None).unknown);
        }
    }
}
