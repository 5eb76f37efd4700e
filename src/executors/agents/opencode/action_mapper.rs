//! From opencode's tools to [`ActionType`](crate::conversation::ActionType)s.
//!
//! The tools of 2026's releases are known, with those of older ones. Parameters that an action has no place
//! for are kept in the entry's metadata.

use crate::{
    conversation::Text,
    executors::{
        action::{
            MappedCall, command_run, file_edit, file_read, file_replacement, file_write, is_among,
            search, take_changes, take_patch, take_questions, take_replacement, take_task,
            take_todos, todo_list, web_fetch,
        },
        wire::{Object, value},
    },
    json::Raw,
};

/// Tools that are known and have no action of their own.
const PLAIN_TOOLS: &str = "batch browser execute invalid lsp skill";

/// The fields of a text that is replaced, and of the text in its place.
const REPLACED: [&str; 2] = ["oldString", "newString"];

/// Reads a call of the tool `name`.
pub(super) fn map(name: &str, input: Option<Raw<'_>>) -> MappedCall {
    let mut given: Object<'_> = input.and_then(value::object).unwrap_or_default();
    let action = match name {
        "read" | "list" => file_read(take_path(&mut given)),
        "write" => file_write(take_path(&mut given), given.text("content")),
        "edit" => file_replacement(take_path(&mut given), &mut given, REPLACED),
        "multiedit" => {
            let path = take_path(&mut given);
            let changes = take_changes(&mut given, "edits", |edit| {
                edit.ignore(&["filePath"]);
                take_replacement(edit, REPLACED, &path)
            });
            file_edit(path, changes.unwrap_or_default())
        }
        "apply_patch" | "patch" => match take_patch(&mut given, &["patchText"], None) {
            Some(edit) => edit,
            None => return MappedCall::tool(name, input),
        },
        "bash" | "shell" => command_run(given.text("command")),
        "grep" | "glob" => search(given.text("pattern")),
        "websearch" | "codesearch" => search(given.text("query")),
        "webfetch" => web_fetch(given.text("url")),
        "todowrite" => todo_list("write", take_todos(&mut given)),
        "todoread" => todo_list("read", Vec::new()),
        "task" => take_task(&mut given, "subagent_type"),
        "question" => take_questions(&mut given),
        // A tool of an MCP server or of the project has two names in one; none of opencode's has.
        _ => {
            return MappedCall::other(
                name,
                input,
                is_among(PLAIN_TOOLS, name) || name.contains('_'),
            );
        }
    };
    MappedCall::known(action, given)
}

/// The stream does not say which directory a path may be below.
fn take_path(given: &mut Object<'_>) -> Text {
    given.text("filePath").or_else(|| given.text("path")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{
        ActionType,
        ToolKind::{Delete, Edit, Execute, Fetch, Other, Read, Search, Think},
    };

    fn mapped(name: &str, input: &str) -> MappedCall {
        map(name, Some(Raw::parse(input).unwrap()))
    }

    #[test]
    fn every_tool_has_its_kind_and_title() {
        for (name, input, kind, title) in [
            ("read", r#"{"filePath":"a.rs","offset":2}"#, Read, "a.rs"),
            ("list", r#"{"path":"src"}"#, Read, "src"),
            ("write", r#"{"filePath":"a","content":"x"}"#, Edit, "a"),
            ("edit", r#"{"filePath":"a","oldString":"x","newString":"y"}"#, Edit, "a"),
            ("apply_patch", r#"{"patchText":"*** Delete File: a"}"#, Delete, "a"),
            ("apply_patch", r#"{"patchText":"none"}"#, Other, "apply_patch"),
            ("bash", r#"{"command":"ls"}"#, Execute, "ls"),
            ("grep", r#"{"pattern":"fn"}"#, Search, "fn"),
            ("codesearch", r#"{"query":"serde"}"#, Search, "serde"),
            ("webfetch", r#"{"url":"https://a.b"}"#, Fetch, "https://a.b"),
            ("todowrite", r#"{"todos":[]}"#, Think, "todo list"),
            ("todoread", "{}", Think, "todo list"),
            ("task", r#"{"description":"Look","prompt":"p"}"#, Other, "Look"),
            ("question", r#"{"questions":[{"question":"Which?"}]}"#, Other, "Which?"),
            ("skill", r#"{"name":"x"}"#, Other, "skill"),
            ("desk_open", "{}", Other, "desk_open"),
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
