//! From Copilot's tools to [`ActionType`](crate::conversation::ActionType)s.
//!
//! The tools of 2026's releases are known, with the names of older ones. Parameters that an action has no
//! place for are kept in the entry's metadata.

use crate::{
    executors::{
        action::{
            self, MappedCall, command_run, file_patch, file_read, file_replacement, file_write,
            is_among, plan_presentation, question, search, take_patch, take_path, take_questions,
            take_task, take_todos, todo_list, web_fetch,
        },
        wire::value,
    },
    json::Raw,
};

/// Tools that are known and have no action of their own.
const PLAIN_TOOLS: &str = "create_pull_request fetch_copilot_cli_documentation list_agents list_bash \
    list_powershell lsp manage_schedule read_agent read_bash read_powershell report_intent \
    report_progress session_store_sql skill sql stop_bash stop_powershell store_memory task_complete \
    think tool_search tool_search_tool tool_search_tool_regex vote_memory write_agent write_bash \
    write_powershell";

/// Reads a call of the tool `name`.
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
    let Some(mut given) = action::parameters(arguments) else {
        return MappedCall::tool(name, arguments);
    };
    let action = match name {
        "bash" | "shell" | "powershell" | "local_shell" => command_run(given.text("command")),
        "view" => file_read(take_path(&mut given, "path", cwd)),
        "create" => file_write(take_path(&mut given, "path", cwd), given.text("file_text")),
        "edit" | "str_replace" => {
            file_replacement(take_path(&mut given, "path", cwd), &mut given, ["old_str", "new_str"])
        }
        "apply_patch" => match take_patch(&mut given, &["input", "patch"], cwd) {
            Some(edit) => edit,
            None => return MappedCall::tool(name, arguments),
        },
        "grep" | "rg" | "glob" => search(given.text("pattern")),
        "web_search" | "search_code_subagent" => search(given.text("query")),
        "web_fetch" => web_fetch(given.text("url")),
        "update_todo" => todo_list("write", take_todos(&mut given)),
        "task" => take_task(&mut given, "agent_type"),
        "ask_user" => match given.text("question") {
            Some(words) => question(words),
            None => take_questions(&mut given),
        },
        "exit_plan_mode" => plan_presentation(given.text("plan").or_else(|| given.text("summary"))),
        _ => return MappedCall::other(name, arguments, is_among(PLAIN_TOOLS, name)),
    };
    MappedCall::known(action, given)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::ToolKind::{Delete, Edit, Execute, Fetch, Other, Read, Search, Think};

    fn mapped(name: &str, arguments: &str) -> MappedCall {
        map(name, Some(Raw::parse(arguments).unwrap()), Some("/w"))
    }

    #[test]
    fn every_tool_has_its_kind_and_title() {
        for (name, arguments, kind, title) in [
            ("bash", r#"{"command":"ls","description":"List"}"#, Execute, "ls"),
            ("bash", r#""{\"command\":\"ls\"}""#, Execute, "ls"),
            ("view", r#"{"path":"/w/a.rs"}"#, Read, "a.rs"),
            ("create", r#"{"path":"/w/a","file_text":"x"}"#, Edit, "a"),
            ("edit", r#"{"path":"/w/a","old_str":"x","new_str":"y"}"#, Edit, "a"),
            ("apply_patch", r#""*** Delete File: /w/a\n""#, Delete, "a"),
            ("apply_patch", r#"{"input":"*** Delete File: /w/a"}"#, Delete, "a"),
            ("apply_patch", r#""none""#, Other, "apply_patch"),
            ("grep", r#"{"pattern":"fn"}"#, Search, "fn"),
            ("web_search", r#"{"query":"shops"}"#, Search, "shops"),
            ("web_fetch", r#"{"url":"https://a.b"}"#, Fetch, "https://a.b"),
            ("update_todo", r#"{"todos":"- [x] a"}"#, Think, "todo list"),
            ("task", r#"{"description":"Look","prompt":"p"}"#, Other, "Look"),
            ("ask_user", r#"{"question":"Which?","choices":["a"]}"#, Other, "Which?"),
            ("exit_plan_mode", r#"{"summary":"s"}"#, Think, "plan"),
            ("report_intent", r#"{"intent":"i"}"#, Other, "report_intent"),
        ] {
            let call = mapped(name, arguments);
            assert_eq!((call.action.kind(), &call.title), (kind, &title.into()), "{name}");
            assert!(!call.unknown, "{name}");
        }
        assert!(mapped("frobnicate", "{}").unknown);
    }

    #[test]
    fn anything_may_stand_where_the_arguments_should() {
        for name in ["bash", "edit", "apply_patch", "update_todo", "ask_user", "task"] {
            assert!(!map(name, None, None).unknown);
            assert!(!mapped(name, r#"{"todos":7,"question":[],"old_str":1,"input":{}}"#).unknown);
            for given in ["7", "[]", r#""x""#, r#""[1]""#] {
                assert_eq!(mapped(name, given), MappedCall::tool(name, Raw::parse(given).ok()));
            }
        }
    }
}
