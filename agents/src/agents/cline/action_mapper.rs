//! Maps the tools of Cline and its relatives to [`ActionType`](foldline_domain::ActionType)s: as the model calls them, and
//! as the person sees them.

use crate::{action::*, prelude::*};

/// Known tools without a separate action, or whose calls may have none.
const PLAIN_TOOLS: &str = "access_mcp_resource attempt_completion browser_action condense \
    fetch_instructions load_mcp_documentation new_rule plan_mode_respond report_bug switch_mode \
    summarize_task use_mcp_tool";

/// Maps a call of the model.
pub(super) fn map(name: &str, input: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    let is_plain = || is_among(PLAIN_TOOLS, name) || is_mcp_tool(name);
    MappedCall::of(name, input, is_plain, |given| {
        Some(match name {
            "execute_command" => command_run(given.text("command")),
            "run_commands" => {
                let commands = given.str("commands")?;
                let list = Raw::parse(&commands).ok().and_then(value::elements)?;
                let lines: Option<Vec<_>> = list.into_iter().map(value::as_str).collect();
                command_run(Some(lines?.join("\n").into()))
            }
            "read_file" => file_read(take_path(given, "path", cwd)),
            "list_files" | "list_code_definition_names" => file_read(take_path(given, "path", cwd)),
            "write_to_file" => file_write(take_path(given, "path", cwd), given.text("content")),
            "replace_in_file" | "apply_diff" => take_blocks(given, cwd),
            "search_files" => search(given.text("regex")),
            "web_fetch" => web_fetch(given.text("url")),
            "ask_followup_question" => question(given.text("question")?),
            "new_task" => task_create(None, given.text("message"), given.text("mode")),
            _ => return None,
        })
    })
}

/// Maps a call of which the person saw a JSON text with the field `tool`.
pub(super) fn shown(name: &str, input: Raw<'_>, cwd: Option<&str>) -> MappedCall {
    MappedCall::of(
        name,
        Some(input),
        || false,
        |given| {
            given.ignore(&["tool"]);
            Some(match name {
                "editedExistingFile" | "appliedDiff" => take_blocks(given, cwd),
                "newFileCreated" => {
                    file_write(take_path(given, "path", cwd), given.text("content"))
                }
                "searchFiles" => search(given.text("regex")),
                "newTask" => task_create(None, given.text("content"), given.text("mode")),
                // The content is the full path.
                "readFile" => file_read(take_path(given, "path", cwd)),
                _ if name.starts_with("listFiles") => file_read(take_path(given, "path", cwd)),
                _ => return None,
            })
        },
    )
}

/// Takes the blocks of a `diff`, each with the old and the new text. A text without any stays.
fn take_blocks(given: &mut Object<'_>, cwd: Option<&str>) -> Titled {
    let path = take_path(given, "path", cwd);
    let changes = given.take("diff", |raw| {
        let text = value::as_str(raw)?;
        let changes = blocks(&text, &path);
        (!changes.is_empty()).then_some(changes)
    });
    file_edit(path, changes.unwrap_or_default())
}

fn blocks(diff: &str, path: &Text) -> Vec<FileChange> {
    let mut changes = Vec::new();
    for block in diff.split("<<<<<<< SEARCH\n").skip(1) {
        let Some((block, _)) = block.split_once(">>>>>>> REPLACE") else { continue };
        let split = block.strip_prefix("=======\n").map(|new| ("", new));
        let Some((old, new)) = split.or_else(|| block.split_once("\n=======\n")) else { continue };
        changes.push(files::replacement(path, old, new.strip_suffix('\n').unwrap_or(new)));
    }
    changes
}
