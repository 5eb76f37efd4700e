//! From Claude Code's tools to [`ActionType`](crate::conversation::ActionType)s.
//!
//! The tools of the captured logs and of the documentation are known, with the names of older
//! releases. Parameters that an action has no place for are kept in the entry's metadata.

use crate::json::Raw;

use crate::{
    conversation::{FileChange, Spelling, Text, TodoItem},
    executors::{
        action::{
            MappedCall, command_run, file_edit, file_read, file_write, is_mcp_tool,
            plan_presentation, search, take_questions, task_create, todo_items, todo_list,
            web_fetch,
        },
        files,
        wire::{Object, value},
    },
};

/// Tools that are known and have no action of their own.
const PLAIN_TOOLS: [&str; 21] = [
    "BashOutput",
    "CronCreate",
    "CronDelete",
    "CronList",
    "DesignSync",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitWorktree",
    "KillBash",
    "KillShell",
    "ListMcpResourcesTool",
    "Monitor",
    "PushNotification",
    "ReadMcpResourceTool",
    "RemoteTrigger",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "TaskOutput",
    "TaskStop",
    "ToolSearch",
];

/// Reads a call of the tool `name`.
pub(super) fn map(name: &str, input: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    let mut given: Object<'_> = input.and_then(value::object).unwrap_or_default();
    let action = match name {
        "Read" | "LS" => file_read(take_path(&mut given, cwd)),
        "Write" => file_write(take_path(&mut given, cwd), given.text("content")),
        "Edit" | "MultiEdit" => {
            let path = take_path(&mut given, cwd);
            let mut changes: Vec<_> = take_replacement(&mut given, &path).into_iter().collect();
            changes.extend(
                given
                    .array("edits")
                    .unwrap_or_default()
                    .into_iter()
                    .filter_map(|raw| take_replacement(&mut value::object(raw)?, &path)),
            );
            file_edit(path, changes)
        }
        "NotebookEdit" => {
            let path = take_path(&mut given, cwd);
            let new = given.take("new_source", Spelling::of_raw).unwrap_or_default();
            let change = files::replacement(&path, "", new);
            file_edit(path, vec![change])
        }
        "Bash" => command_run(given.text("command")),
        "Grep" | "Glob" => search(given.text("pattern")),
        "WebSearch" | "web_search" => search(given.text("query")),
        "WebFetch" | "web_fetch" => web_fetch(given.text("url")),
        "TodoWrite" => {
            let todos = given.array("todos").map(|items| todo_items(&items)).unwrap_or_default();
            todo_list("write", todos)
        }
        "TodoRead" | "TaskList" => todo_list("read", Vec::new()),
        "TaskGet" => (todo_list("read", Vec::new()).0, task_title(&given)),
        "TaskCreate" | "TaskUpdate" => {
            let title = given.text("subject").unwrap_or_else(|| task_title(&given));
            let status = given.text("status").unwrap_or_else(|| "pending".into());
            let item = TodoItem { content: title.clone(), status, priority: None };
            (todo_list("update", vec![item]).0, title)
        }
        "Task" | "Agent" => {
            let (description, prompt) = (given.text("description"), given.text("prompt"));
            task_create(description, prompt, given.text("subagent_type"))
        }
        "ExitPlanMode" => plan_presentation(given.text("plan")),
        "AskUserQuestion" => take_questions(&mut given),
        _ => {
            let is_known = PLAIN_TOOLS.contains(&name) || is_mcp_tool(name);
            return MappedCall::other(name, input, is_known);
        }
    };
    MappedCall::known(action, given)
}

/// A task that is named by its number alone.
fn task_title(given: &Object<'_>) -> Text {
    let id = given.get("taskId").map(|id| id.get().trim_matches('"'));
    id.map_or_else(|| "task".into(), |id| Text::from(format!("task {id}")))
}

fn take_path(given: &mut Object<'_>, cwd: Option<&str>) -> Text {
    let path = given.str("file_path").or_else(|| given.str("notebook_path"));
    let path = path.or_else(|| given.str("path")).unwrap_or_default();
    files::relative_path(&path, cwd)
}

fn take_replacement(given: &mut Object<'_>, path: &Text) -> Option<FileChange> {
    let old = given.take("old_string", Spelling::of_raw)?;
    let new = given.take("new_string", Spelling::of_raw).unwrap_or_default();
    Some(files::replacement(path, old, new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{ActionType, ToolKind};

    fn mapped(name: &str, input: &str) -> MappedCall {
        let raw = Raw::parse(input).unwrap();
        map(name, Some(raw), Some("/w"))
    }

    #[test]
    fn every_tool_has_its_kind_and_title() {
        for (name, input, kind, title) in [
            ("Read", r#"{"file_path":"/w/a.rs","limit":3}"#, ToolKind::Read, "a.rs"),
            ("LS", r#"{"path":"/w/src"}"#, ToolKind::Read, "src"),
            ("Write", r#"{"file_path":"/w/a","content":"x"}"#, ToolKind::Edit, "a"),
            (
                "NotebookEdit",
                r#"{"notebook_path":"/w/n.ipynb","new_source":"1"}"#,
                ToolKind::Edit,
                "n.ipynb",
            ),
            ("Bash", r#"{"command":"ls","description":"List"}"#, ToolKind::Execute, "ls"),
            ("Glob", r#"{"pattern":"*.rs"}"#, ToolKind::Search, "*.rs"),
            ("Grep", r#"{"pattern":"fn","-n":true}"#, ToolKind::Search, "fn"),
            ("WebSearch", r#"{"query":"shops"}"#, ToolKind::Search, "shops"),
            ("WebFetch", r#"{"url":"https://x","prompt":"p"}"#, ToolKind::Fetch, "https://x"),
            ("TodoWrite", r#"{"todos":[]}"#, ToolKind::Think, "todo list"),
            (
                "TaskCreate",
                r#"{"subject":"Mend it","description":"d"}"#,
                ToolKind::Think,
                "Mend it",
            ),
            ("TaskUpdate", r#"{"taskId":"7","status":"completed"}"#, ToolKind::Think, "task 7"),
            ("Agent", r#"{"description":"Look","prompt":"p"}"#, ToolKind::Other, "Look"),
            ("ExitPlanMode", r##"{"plan":"# Plan"}"##, ToolKind::Think, "plan"),
            (
                "AskUserQuestion",
                r#"{"questions":[{"question":"Which?"}]}"#,
                ToolKind::Other,
                "Which?",
            ),
            ("KillShell", r#"{"shell_id":"1"}"#, ToolKind::Other, "KillShell"),
            ("mcp__desk__open", "{}", ToolKind::Other, "mcp__desk__open"),
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
