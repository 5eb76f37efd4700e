//! What the action mappers of several agents share.

use crate::json::Raw;

use super::wire::{Object, value};
use crate::conversation::{
    ActionType, FileChange, Json, NormalizedEntry, NormalizedEntryType, Text, TodoItem, ToolUse,
};

/// What a call does, with its title.
pub type Titled = (ActionType, Text);

/// Reads a file, or lists a directory.
pub fn file_read(path: Text) -> Titled {
    (ActionType::FileRead { path: path.clone(), result: None }, path)
}

/// Changes files, `path` first.
pub fn file_edit(path: Text, changes: Vec<FileChange>) -> Titled {
    (ActionType::FileEdit { path: path.clone(), changes, result: None }, path)
}

/// Runs a command; a call without one has an empty command.
pub fn command_run(command: Option<Text>) -> Titled {
    let command = command.unwrap_or_default();
    (ActionType::CommandRun { command: command.clone(), result: None }, command)
}

/// Searches files, their names, or the web.
pub fn search(query: Option<Text>) -> Titled {
    let query = query.unwrap_or_default();
    (ActionType::Search { query: query.clone(), result: None }, query)
}

/// Fetches from the web.
pub fn web_fetch(url: Option<Text>) -> Titled {
    let url = url.unwrap_or_default();
    (ActionType::WebFetch { url: url.clone(), result: None }, url)
}

/// Hands work to a sub-agent. Without a description, the prompt describes it.
pub fn task_create(
    description: Option<Text>,
    prompt: Option<Text>,
    subagent_type: Option<Text>,
) -> Titled {
    let description = description.or_else(|| prompt.clone()).unwrap_or_default();
    let title = description.clone();
    (ActionType::TaskCreate { description, prompt, subagent_type, result: None }, title)
}

/// Reads or writes the list of things to do.
pub fn todo_list(operation: &str, todos: Vec<TodoItem>) -> Titled {
    let action = ActionType::TodoManagement { todos, operation: operation.into(), result: None };
    (action, "todo list".into())
}

/// Takes the field `todos`. The list stays, beside what was read, if not every item could be read.
pub fn take_todos(parameters: &mut Object<'_>) -> Vec<TodoItem> {
    let Some(items) = parameters.get("todos").and_then(value::elements) else { return Vec::new() };
    let todos = todo_items(&items);
    if todos.len() == items.len() {
        parameters.ignore(&["todos"]);
    }
    todos
}

/// Asks what the field `questions` says. The list stays, beside the questions, if it says more, such as
/// the answers to choose from.
pub fn take_questions(parameters: &mut Object<'_>) -> Titled {
    let list = parameters.get("questions").and_then(value::elements);
    let mut is_whole = list.is_some();
    let questions = list.unwrap_or_default().into_iter().map(|raw| {
        let mut item: Object<'_> = value::object(raw).unwrap_or_default();
        let question = item.text("question");
        is_whole &= item.rest().is_empty();
        question.unwrap_or_else(|| value::into_text(raw))
    });
    let questions: Vec<_> = questions.collect();
    if is_whole {
        parameters.ignore(&["questions"]);
    }
    let title = questions.first().cloned().unwrap_or_default();
    (ActionType::Question { questions, result: None }, title)
}

/// A tool call, read by an action mapper.
#[derive(Clone, Debug, PartialEq)]
pub struct MappedCall {
    /// What the call does.
    pub action: ActionType,
    /// A short title: a path, a command, a query, the tool's name.
    pub title: Text,
    /// Parameters that the action has no place for.
    pub extra: Vec<(String, Json)>,
    /// Nobody knows this tool.
    pub unknown: bool,
}

impl MappedCall {
    /// A call that does this, with a short title for people.
    pub fn new(action: ActionType, title: impl Into<Text>) -> Self {
        Self { action, title: title.into(), extra: Vec::new(), unknown: false }
    }

    /// A call of a known tool; what was not taken of its parameters is kept.
    pub fn known((action, title): Titled, parameters: Object<'_>) -> Self {
        Self { extra: parameters.into_extra().collect(), ..Self::new(action, title) }
    }

    /// A call that keeps its name and arguments as they are.
    pub fn tool(name: &str, arguments: Option<Raw<'_>>) -> Self {
        let arguments = arguments.map(Json::from);
        let action = ActionType::Tool { tool_name: name.into(), arguments, result: None };
        Self::new(action, name)
    }

    /// The entry of the call, as it stands before its result.
    pub fn into_entry(self, tool_name: &str) -> NormalizedEntry {
        let tool = ToolUse::new(tool_name, self.action);
        let mut entry = NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), self.title);
        if !self.extra.is_empty() {
            entry.metadata_mut().extra.extend(self.extra);
        }
        entry
    }
}

/// Whether a tool comes from an MCP server, by the ways agents spell such names: `server___tool`
/// (Droid) and `mcp__server__tool` (Claude Code and others).
pub fn is_mcp_tool(name: &str) -> bool {
    name.contains("___") || name.starts_with("mcp__")
}

/// Reads a list of things to do from objects with `content` (or `text`, `step`, `description`),
/// `status`, `priority`.
pub fn todo_items(items: &[Raw<'_>]) -> Vec<TodoItem> {
    let items = items.iter().filter_map(|raw| {
        let mut item: Object<'_> = value::object(*raw)?;
        Some(TodoItem {
            content: ["content", "text", "step", "description"]
                .into_iter()
                .find_map(|key| item.text(key))
                .unwrap_or_default(),
            status: item.text("status").unwrap_or_else(|| "pending".into()),
            priority: item.text("priority"),
        })
    });
    items.collect()
}

/// Reads a list of things to do from lines such as `1. [in_progress] Write the tests`. A text of
/// thousands of lines, or of a MiB, is one thing to do.
pub fn numbered_todos(text: Text) -> Vec<TodoItem> {
    const MAX_ITEMS: usize = 1 << 12;
    const MAX_SIZE: usize = 1 << 20;
    if text.size() > MAX_SIZE || text.decode().lines().nth(MAX_ITEMS).is_some() {
        return vec![TodoItem { content: text, status: "pending".into(), priority: None }];
    }
    let text = text.decode();
    let items = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ' ');
        let marked = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (status, content) = marked.unwrap_or(("pending", line));
        TodoItem { content: content.trim().into(), status: status.into(), priority: None }
    });
    items.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_says_more_than_was_read_stays() {
        let rest = |given: &str| {
            let mut given = Object::parse(given).unwrap();
            let todos = take_todos(&mut given).len();
            let (action, title) = take_questions(&mut given);
            let ActionType::Question { questions, .. } = action else { panic!() };
            (todos, questions.len(), title.to_string(), given.rest().len())
        };
        let titled =
            |title: &str, todos, questions, rest| (todos, questions, title.to_owned(), rest);
        assert_eq!(
            rest(r#"{"todos":[{"description":"x"}],"questions":[{"question":"q"}]}"#),
            titled("q", 1, 1, 0)
        );
        assert_eq!(
            rest(r#"{"todos":[{"content":"x"},7],"questions":[{"question":"q","options":[1]}]}"#),
            titled("q", 1, 1, 2)
        );
        assert_eq!(rest(r#"{"todos":"x","questions":"q"}"#), titled("", 0, 0, 2));
        assert_eq!(rest(r#"{"questions":["q"]}"#), titled("q", 0, 1, 0));
    }

    #[test]
    fn numbered_lists() {
        let todos =
            numbered_todos("1. [completed] Read it\n 2. [in_progress] Do [it]\n\nbare".into());
        let read: Vec<_> = todos.iter().map(|todo| (&todo.status, &todo.content)).collect();
        assert_eq!(
            read,
            [
                (&"completed".into(), &"Read it".into()),
                (&"in_progress".into(), &"Do [it]".into()),
                (&"pending".into(), &"bare".into())
            ]
        );
    }
}
