//! Maps Cursor's tools to [`ActionType`](foldline_domain::ActionType)s. Arguments without a field in the action are
//! kept in the entry's metadata.

use foldline_domain::EscapedText;

use crate::{action::*, prelude::*};

/// Maps a call of a tool of this kind with the name `name`.
pub(super) fn map(kind: &str, name: &str, args: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    let is_plain = || ["function", "mcpToolCall"].contains(&kind);
    MappedCall::of(name, args, is_plain, |given| action(kind, given, cwd))
}

/// The action of a call; `None` if it has no separate one.
fn action(kind: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
    given.ignore(&["toolCallId"]);
    Some(match kind {
        "readToolCall" | "lsToolCall" | "editToolCall" | "writeToolCall" | "deleteToolCall" => {
            file_action(kind, take_path(given, "path", cwd), given)
        }
        "shellToolCall" => {
            // Facts that the command line shows.
            given.ignore(&["hasInputRedirect", "hasOutputRedirect"]);
            given.ignore(&["parsingResult", "simpleCommands"]);
            command_run(given.text("command"))
        }
        "grepToolCall" => search(given.text("pattern")),
        "globToolCall" => search(given.text("globPattern")),
        "webSearchToolCall" => search(given.text("searchTerm").or_else(|| given.text("query"))),
        "webFetchToolCall" => web_fetch(given.text("url")),
        "updateTodosToolCall" => take_list(given, "merge"),
        "readTodosToolCall" => todo_list("read", Vec::new()),
        "taskToolCall" => take_task(given, ""),
        "createPlanToolCall" => plan_presentation(given.text("plan")),
        "askQuestionToolCall" => take_questions(given),
        _ => return None,
    })
}

fn file_action(kind: &str, path: Text, given: &mut Object<'_>) -> Titled {
    match kind {
        "editToolCall" => {
            // A part of a file, or a whole new file: the result determines which.
            let text = given.take("streamContent", EscapedText::of_raw);
            let change = text.map(|text| files::replacement(&path, "", text));
            file_edit(path, change.into_iter().collect())
        }
        "writeToolCall" => {
            file_write(path, given.text("fileText").or_else(|| given.text("contents")))
        }
        "deleteToolCall" => file_edit(path.clone(), vec![FileChange::Delete { path }]),
        _ => file_read(path),
    }
}

/// Takes the to-do list, which may be partial.
pub(super) fn take_list(given: &mut Object<'_>, is_part: &str) -> Titled {
    let is_part = given.bool(is_part) == Some(true);
    todo_list(if is_part { "update" } else { "write" }, take_todos(given))
}
