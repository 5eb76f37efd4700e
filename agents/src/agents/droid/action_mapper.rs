//! Maps Droid's tools to [`ActionType`]s.
//!
//! Tools of the captured streams and of the documentation are known, as are names of older builds. Parameters without a
//! field in the action are kept in the entry's metadata.

use crate::{action::*, prelude::*};

/// Known tools without a separate action, or whose calls may have none.
const PLAIN_TOOLS: &str = "ApplyPatch Skill ToolSearch GenerateDroid ProposeMission \
    StartMissionRun EndFeatureRun DismissHandoffItems slack_post_message";

/// Fields that contain a path.
const PATHS: &str = "file_path path";

/// Maps a call of the tool `name`.
pub(super) fn map(name: &str, parameters: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    let is_plain = || is_among(PLAIN_TOOLS, name) || is_mcp_tool(name);
    MappedCall::of(name, parameters, is_plain, |given| action(name, given, cwd))
}

/// The action of a call; `None` if it has no separate one.
fn action(name: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
    Some(match name {
        "Read" => file_read(take_path(given, PATHS, cwd)),
        "LS" => {
            let path = given.str("directory_path").or_else(|| given.str("path"));
            let path = files::relative_path(&path.unwrap_or(Cow::Borrowed(".")), cwd);
            file_read(path)
        }
        "Create" | "Write" => file_write(take_path(given, PATHS, cwd), given.text("content")),
        "Edit" => {
            let path = take_path(given, PATHS, cwd);
            let change = take_replacement(given, &path);
            file_edit(path, change.into_iter().collect())
        }
        "MultiEdit" => {
            let path = take_path(given, PATHS, cwd);
            let read = |item: &mut Object<'_>| take_replacement(item, &path);
            let mut lists = ["changes", "edits"].into_iter();
            let changes = lists.find_map(|list| take_changes(given, list, read));
            file_edit(path, changes.unwrap_or_default())
        }
        "ApplyPatch" => take_patch(given, &["input", "patch"], cwd)?,
        "Execute" => command_run(given.text("command")),
        "Grep" => search(given.text("pattern").or_else(|| given.text("query"))),
        "Glob" => {
            let patterns = given.texts("patterns").map(|patterns| {
                let patterns: Vec<_> = patterns.iter().map(Text::decode).collect();
                Text::from(patterns.join(", "))
            });
            search(patterns.or_else(|| given.text("patterns")).or_else(|| given.text("pattern")))
        }
        "WebSearch" => search(given.text("query")),
        "FetchUrl" => web_fetch(given.text("url")),
        "TodoWrite" => todo_list("write", take_todos(given)),
        "Task" => take_task(given, "subagent_type"),
        "ExitSpecMode" => {
            let plan = given.text("plan").or_else(|| given.text("spec")).unwrap_or_default();
            let title = given.text("title").unwrap_or_else(|| "plan".into());
            (ActionType::PlanPresentation { plan, result: None }, title)
        }
        "AskUser" => match given.text("question").or_else(|| given.text("questionnaire")) {
            Some(words) => question(words),
            None => take_questions(given),
        },
        _ => return None,
    })
}

fn take_replacement(given: &mut Object<'_>, path: &Text) -> Option<FileChange> {
    let mut names = [["old_str", "new_str"], ["old_string", "new_string"]].into_iter();
    names.find_map(|names| action::take_replacement(given, names, path))
}
