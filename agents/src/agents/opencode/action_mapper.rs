//! Maps opencode's tools to [`ActionType`](foldline_domain::ActionType)s.
//!
//! Tools of the releases of 2026 are known, as are older ones. Parameters without a field in the action are kept in the
//! entry's metadata.

use foldline_json::Raw;

use crate::action::{
    MappedCall, command_run, file_edit, file_read, file_replacement, file_write, is_among,
    parameters, search, take_changes, take_patch, take_path, take_questions, take_replacement,
    take_task, take_todos, todo_list, web_fetch,
};

/// Known tools without a separate action.
const PLAIN_TOOLS: &str = "batch browser execute invalid lsp skill";

/// The fields of the old and the new text.
const REPLACED: [&str; 2] = ["oldString", "newString"];

/// The fields of a path.
const PATH: &str = "filePath path";

/// Maps a call of the tool `name`. The stream does not state the working directory.
pub(super) fn map(name: &str, input: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    let Some(mut given) = parameters(input) else { return MappedCall::tool(name, input) };
    let action = match name {
        "read" | "list" => file_read(take_path(&mut given, PATH, cwd)),
        "write" => file_write(take_path(&mut given, PATH, cwd), given.text("content")),
        "edit" => file_replacement(take_path(&mut given, PATH, cwd), &mut given, REPLACED),
        "multiedit" => {
            let path = take_path(&mut given, PATH, cwd);
            let changes = take_changes(&mut given, "edits", |edit| {
                edit.ignore(&["filePath"]);
                take_replacement(edit, REPLACED, &path)
            });
            file_edit(path, changes.unwrap_or_default())
        }
        "apply_patch" | "patch" => match take_patch(&mut given, &["patchText"], cwd) {
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
        // Only the tools of MCP servers and of the project have compound names.
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
