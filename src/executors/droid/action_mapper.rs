//! From Droid's tools to [`ActionType`]s.
//!
//! The tools of the captured streams and of the documentation are known, with the spellings of older
//! builds. Parameters that an action has no place for are kept in the entry's metadata.

use std::borrow::Cow;

use crate::json::Raw;

use crate::{
    conversation::{ActionType, FileChange, Text, TodoItem},
    executors::{
        action::{
            self, MappedCall, command_run, file_edit, file_read, is_mcp_tool, numbered_todos,
            search, take_questions, task_create, todo_list, web_fetch,
        },
        files,
        wire::{Object, value},
    },
};

/// Tools that are known and have no action of their own.
const PLAIN_TOOLS: [&str; 8] = [
    "Skill",
    "ToolSearch",
    "GenerateDroid",
    "ProposeMission",
    "StartMissionRun",
    "EndFeatureRun",
    "DismissHandoffItems",
    "slack_post_message",
];

/// Reads a call of the tool `name`.
pub fn map(name: &str, parameters: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    let mut given: Object<'_> = parameters.and_then(value::object).unwrap_or_default();
    let action = match name {
        "Read" => file_read(take_path(&mut given, cwd)),
        "LS" => {
            let path = given.str("directory_path").or_else(|| given.str("path"));
            let path = files::relative_path(&path.unwrap_or(Cow::Borrowed(".")), cwd);
            file_read(path)
        }
        "Create" | "Write" => {
            let path = take_path(&mut given, cwd);
            let content = given.text("content").unwrap_or_default();
            file_edit(path.clone(), vec![FileChange::Write { path, content }])
        }
        "Edit" => {
            let path = take_path(&mut given, cwd);
            let change = take_replacement(&mut given, &path);
            file_edit(path, change.into_iter().collect())
        }
        "MultiEdit" => {
            let path = take_path(&mut given, cwd);
            let changes = take_replacements(&mut given, &path);
            file_edit(path, changes)
        }
        "ApplyPatch" => {
            let patch = given.str("input").or_else(|| given.str("patch")).unwrap_or_default();
            let changes = files::read_patch(&patch, cwd);
            let path = changes.first().map(|change| change.path().clone());
            match path {
                Some(path) => file_edit(path, changes),
                None => return MappedCall::tool(name, parameters),
            }
        }
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
        "TodoWrite" => todo_list("write", take_todos(&mut given)),
        "Task" => {
            let (description, prompt) = (given.text("description"), given.text("prompt"));
            task_create(description, prompt, given.text("subagent_type"))
        }
        "ExitSpecMode" => {
            let plan = given.text("plan").or_else(|| given.text("spec")).unwrap_or_default();
            let title = given.text("title").unwrap_or_else(|| "plan".into());
            (ActionType::PlanPresentation { plan, result: None }, title)
        }
        "AskUser" => match given.text("question").or_else(|| given.text("questionnaire")) {
            Some(question) => {
                (ActionType::Question { questions: vec![question.clone()], result: None }, question)
            }
            None => take_questions(&mut given),
        },
        _ => {
            let mut call = MappedCall::tool(name, parameters);
            call.unknown = !PLAIN_TOOLS.contains(&name) && !is_mcp_tool(name);
            return call;
        }
    };
    MappedCall::known(action, given)
}

fn take_path(given: &mut Object<'_>, cwd: Option<&str>) -> Text {
    let path = given.str("file_path").or_else(|| given.str("path")).unwrap_or_default();
    files::relative_path(&path, cwd)
}

fn take_replacement(given: &mut Object<'_>, path: &Text) -> Option<FileChange> {
    [("old_str", "new_str"), ("old_string", "new_string")].into_iter().find_map(|(old, new)| {
        let change = files::replacement(path, &given.get_str(old)?, &given.get_str(new)?);
        given.ignore(&[old, new]);
        Some(change)
    })
}

/// The list stays, beside the changes, if it says more than they do.
fn take_replacements(given: &mut Object<'_>, path: &Text) -> Vec<FileChange> {
    let list_of = |name| value::elements(given.get(name)?);
    let mut names = ["changes", "edits"].into_iter();
    let Some((name, list)) = names.find_map(|name| Some((name, list_of(name)?))) else {
        return Vec::new();
    };
    let mut changes = Vec::with_capacity(list.len());
    let mut is_whole = true;
    for raw in list {
        let mut item: Object<'_> = value::object(raw).unwrap_or_default();
        let change = take_replacement(&mut item, path);
        is_whole &= change.is_some() && item.rest().is_empty();
        changes.extend(change);
    }
    if is_whole {
        given.ignore(&[name]);
    }
    changes
}

/// The list is an array of objects (2025) or one numbered text (2026). It stays, beside the todos, if
/// not every item could be read.
fn take_todos(given: &mut Object<'_>) -> Vec<TodoItem> {
    match given.text("todos") {
        Some(todos) => numbered_todos(todos),
        None => action::take_todos(given),
    }
}
