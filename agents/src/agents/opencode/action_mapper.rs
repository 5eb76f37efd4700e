//! Maps opencode's tools to [`ActionType`](foldline_domain::ActionType)s.
//!
//! Tools of the releases of 2026 are known, as are older ones. Parameters without a field in the action are kept in the
//! entry's metadata.

use crate::{action::*, prelude::*};

/// Known tools without a separate action, or whose calls may have none.
const PLAIN_TOOLS: &str = "patch batch browser execute invalid lsp skill";

/// The fields of the old and the new text.
const REPLACED: [&str; 2] = ["oldString", "newString"];

/// The fields of a path.
const PATH: &str = "filePath path";

/// Maps a call of the tool `name`. The stream does not state the working directory.
pub(super) fn map(name: &str, input: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    // Only the tools of MCP servers and of the project have compound names.
    let is_plain = || is_among(PLAIN_TOOLS, name) || name.contains('_');
    MappedCall::of(name, input, is_plain, |given| action(name, given, cwd))
}

/// The action of a call; `None` if it has no separate one.
fn action(name: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
    Some(match name {
        "read" | "list" => file_read(take_path(given, PATH, cwd)),
        "write" => file_write(take_path(given, PATH, cwd), given.text("content")),
        "edit" => file_replacement(take_path(given, PATH, cwd), given, REPLACED),
        "multiedit" => {
            let path = take_path(given, PATH, cwd);
            let changes = take_changes(given, "edits", |edit| {
                edit.ignore(&["filePath"]);
                take_replacement(edit, REPLACED, &path)
            });
            file_edit(path, changes.unwrap_or_default())
        }
        "apply_patch" | "patch" => take_patch(given, &["patchText"], cwd)?,
        "bash" | "shell" => command_run(given.text("command")),
        "grep" | "glob" => search(given.text("pattern")),
        "websearch" | "codesearch" => search(given.text("query")),
        "webfetch" => web_fetch(given.text("url")),
        "todowrite" => todo_list("write", take_todos(given)),
        "todoread" => todo_list("read", Vec::new()),
        "task" => take_task(given, "subagent_type"),
        "subagent" => take_task(given, "agent"),
        "question" => take_questions(given),
        _ => return None,
    })
}
