//! Maps the tools of Copilot Chat to [`ActionType`](foldline_domain::ActionType)s.

use crate::{action::*, prelude::*};

/// Known tools without a separate action, or whose calls may have none.
const PLAIN_TOOLS: &str =
    "get_changed_files get_errors get_terminal_output list_code_usages run_task runTests";

/// Maps a call of the tool `name`.
pub(super) fn map(name: &str, arguments: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    let is_plain = || is_among(PLAIN_TOOLS, name) || name.starts_with("mcp_");
    MappedCall::of(name, arguments, is_plain, |given| {
        let texts = ["oldString", "newString"];
        Some(match name {
            "run_in_terminal" => command_run(given.text("command")),
            "read_file" | "list_dir" => file_read(take_path(given, "filePath path", cwd)),
            "create_file" => file_write(take_path(given, "filePath", cwd), given.text("content")),
            "replace_string_in_file" => {
                file_replacement(take_path(given, "filePath", cwd), given, texts)
            }
            "apply_patch" => take_patch(given, &["input"], cwd)?,
            "grep_search" | "file_search" | "semantic_search" => search(given.text("query")),
            _ => return None,
        })
    })
}

/// Maps a call of which only what the person saw is stated: its title, and the command of a terminal.
pub(super) fn shown(name: &str, title: Option<Text>, command: Option<Text>) -> MappedCall {
    match command {
        Some(command) => command_run(Some(command)).into(),
        None => MappedCall {
            title: title.unwrap_or_else(|| name.into()),
            ..MappedCall::tool(name, None)
        },
    }
}
