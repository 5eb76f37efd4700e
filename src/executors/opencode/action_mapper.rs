//! From opencode's tools to [`ActionType`](crate::conversation::ActionType)s.
//!
//! The tools of 2026's releases are known, with those of older ones. Parameters that an action has no place
//! for are kept in the entry's metadata.

use crate::{
    conversation::{FileChange, Text},
    executors::{
        action::{
            MappedCall, command_run, file_edit, file_read, search, take_questions, take_todos,
            task_create, todo_list, web_fetch,
        },
        files,
        wire::{Object, value},
    },
    json::Raw,
};

/// Tools that are known and have no action of their own.
const PLAIN_TOOLS: [&str; 6] = ["batch", "browser", "execute", "invalid", "lsp", "skill"];

/// Reads a call of the tool `name`.
pub(super) fn map(name: &str, input: Option<Raw<'_>>) -> MappedCall {
    let mut given: Object<'_> = input.and_then(value::object).unwrap_or_default();
    let action = match name {
        "read" | "list" => file_read(take_path(&mut given)),
        "write" => {
            let path = take_path(&mut given);
            let content = given.text("content").unwrap_or_default();
            file_edit(path.clone(), vec![FileChange::Write { path, content }])
        }
        "edit" => {
            let path = take_path(&mut given);
            let change = take_replacement(&mut given, &path);
            file_edit(path, change.into_iter().collect())
        }
        "multiedit" => {
            let path = take_path(&mut given);
            let changes = take_replacements(&mut given, &path);
            file_edit(path, changes)
        }
        "apply_patch" | "patch" => {
            let changes = files::read_patch(&given.str("patchText").unwrap_or_default(), None);
            match changes.first().map(|change| change.path().clone()) {
                Some(path) => file_edit(path, changes),
                None => return MappedCall::tool(name, input),
            }
        }
        "bash" | "shell" => command_run(given.text("command")),
        "grep" | "glob" => search(given.text("pattern")),
        "websearch" | "codesearch" => search(given.text("query")),
        "webfetch" => web_fetch(given.text("url")),
        "todowrite" => todo_list("write", take_todos(&mut given)),
        "todoread" => todo_list("read", Vec::new()),
        "task" => {
            let (description, prompt) = (given.text("description"), given.text("prompt"));
            task_create(description, prompt, given.text("subagent_type"))
        }
        "question" => take_questions(&mut given),
        _ => {
            let mut call = MappedCall::tool(name, input);
            // A tool of an MCP server or of the project has two names in one; none of opencode's has.
            call.unknown = !PLAIN_TOOLS.contains(&name) && !name.contains('_');
            return call;
        }
    };
    MappedCall::known(action, given)
}

/// The stream does not say which directory a path may be below.
fn take_path(given: &mut Object<'_>) -> Text {
    given.text("filePath").or_else(|| given.text("path")).unwrap_or_default()
}

fn take_replacement(given: &mut Object<'_>, path: &Text) -> Option<FileChange> {
    let (old, new) = (given.get_str("oldString")?, given.get_str("newString")?);
    given.ignore(&["oldString", "newString"]);
    Some(files::replacement(path, &old, &new))
}

/// The list stays, beside the changes, if it says more than they do.
fn take_replacements(given: &mut Object<'_>, path: &Text) -> Vec<FileChange> {
    let Some(edits) = given.get("edits").and_then(value::elements) else { return Vec::new() };
    let mut is_whole = true;
    let changes = edits.into_iter().filter_map(|edit| {
        let mut edit = value::object(edit).unwrap_or_default();
        let change = take_replacement(&mut edit, path);
        edit.ignore(&["filePath"]);
        is_whole &= change.is_some() && edit.rest().is_empty();
        change
    });
    let changes = changes.collect();
    if is_whole {
        given.ignore(&["edits"]);
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{ActionType, ToolKind};

    fn mapped(name: &str, input: &str) -> MappedCall {
        map(name, Some(Raw::parse(input).unwrap()))
    }

    #[test]
    fn every_tool_has_its_kind_and_title() {
        for (name, input, kind, title) in [
            ("read", r#"{"filePath":"a.rs","offset":2}"#, ToolKind::Read, "a.rs"),
            ("list", r#"{"path":"src"}"#, ToolKind::Read, "src"),
            ("write", r#"{"filePath":"a","content":"x"}"#, ToolKind::Edit, "a"),
            ("edit", r#"{"filePath":"a","oldString":"x","newString":"y"}"#, ToolKind::Edit, "a"),
            ("apply_patch", r#"{"patchText":"*** Delete File: a"}"#, ToolKind::Delete, "a"),
            ("apply_patch", r#"{"patchText":"none"}"#, ToolKind::Other, "apply_patch"),
            ("bash", r#"{"command":"ls"}"#, ToolKind::Execute, "ls"),
            ("grep", r#"{"pattern":"fn"}"#, ToolKind::Search, "fn"),
            ("codesearch", r#"{"query":"serde"}"#, ToolKind::Search, "serde"),
            ("webfetch", r#"{"url":"https://a.b"}"#, ToolKind::Fetch, "https://a.b"),
            ("todowrite", r#"{"todos":[]}"#, ToolKind::Think, "todo list"),
            ("todoread", "{}", ToolKind::Think, "todo list"),
            ("task", r#"{"description":"Look","prompt":"p"}"#, ToolKind::Other, "Look"),
            ("question", r#"{"questions":[{"question":"Which?"}]}"#, ToolKind::Other, "Which?"),
            ("skill", r#"{"name":"x"}"#, ToolKind::Other, "skill"),
            ("desk_open", "{}", ToolKind::Other, "desk_open"),
        ] {
            let call = mapped(name, input);
            assert_eq!((call.action.kind(), &call.title), (kind, &title.into()), "{name}");
            assert!(!call.unknown, "{name}");
        }
        assert!(mapped("frobnicate", "{}").unknown);
    }

    #[test]
    fn several_edits_are_several_changes() {
        let edit = r#"{"oldString":"x","newString":"y"}"#;
        for (edits, changed, rest) in [
            (format!("[{edit},{edit}]"), 2, 0),
            (format!("[{edit},7]"), 1, 1),
            ("7".to_owned(), 0, 1),
        ] {
            let call = mapped("multiedit", &format!(r#"{{"filePath":"a","edits":{edits}}}"#));
            let ActionType::FileEdit { changes, .. } = call.action else { panic!("an edit") };
            assert_eq!((changes.len(), call.extra.len()), (changed, rest), "{edits}");
        }
    }

    #[test]
    fn anything_may_stand_where_the_input_should() {
        for name in ["read", "edit", "multiedit", "todowrite", "question", "task", "bash"] {
            for given in ["null", "7", "[]", r#"{"todos":7,"questions":"x","oldString":1}"#] {
                assert!(!mapped(name, given).unknown);
            }
            assert!(!map(name, None).unknown);
        }
    }
}
