//! Maps the tools of transcripts to [`ActionType`](foldline_domain::ActionType)s. Parameters without a field in the
//! action are kept in the entry's metadata.

use crate::{action::*, prelude::*};

/// Known tools without a separate action.
const PLAIN_TOOLS: &str = "AskQuestion Await CallMcpTool EditNotebook FetchMcpResource GenerateImage ReadLints SwitchMode";

/// Maps a call of the tool `name`.
pub(super) fn map(name: &str, input: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    let Some(mut given) = action::parameters(input) else { return MappedCall::tool(name, input) };
    let action = match name {
        "Read" => file_read(take_path(&mut given, "path target_file", cwd)),
        "Write" => file_write(take_path(&mut given, "path", cwd), given.text("contents")),
        "StrReplace" => file_replacement(
            take_path(&mut given, "path", cwd),
            &mut given,
            ["old_string", "new_string"],
        ),
        "Delete" => {
            let path = take_path(&mut given, "path", cwd);
            file_edit(path.clone(), vec![FileChange::Delete { path }])
        }
        "ApplyPatch" => match take_patch(&mut given, &["patch", "input"], cwd) {
            Some(edit) => edit,
            None => return MappedCall::tool(name, input),
        },
        "Shell" | "Bash" => command_run(given.text("command")),
        "Glob" => search(given.text("glob_pattern")),
        "Grep" => search(given.text("pattern")),
        "SemanticSearch" => search(given.text("query")),
        "WebSearch" => search(given.text("search_term")),
        "WebFetch" => web_fetch(given.text("url")),
        "TodoWrite" => todo_list("write", take_todos(&mut given)),
        "Task" | "Agent" | "Subagent" => take_task(&mut given, "subagent_type"),
        _ => {
            let is_known = is_among(PLAIN_TOOLS, name) || is_mcp_tool(name);
            return MappedCall::other(name, input, is_known);
        }
    };
    MappedCall::known(action, given)
}
