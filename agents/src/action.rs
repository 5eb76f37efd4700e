//! Building blocks of action mappers, shared by several agents.

use foldline_domain::{
    ActionType, CommandExitStatus, EscapedText, FileChange, Json, NormalizedEntry,
    NormalizedEntryType, SessionId, Text, TodoItem, ToolUse,
};
use foldline_json::Raw;

use super::{
    files,
    wire::{Object, value},
};

/// The action of a call and its title.
pub type Titled = (ActionType, Text);

/// Maps a call: the tool's name, its parameters, and the agent's working directory.
pub type ActionMapper = fn(&str, Option<Raw<'_>>, Option<&str>) -> MappedCall;

/// The parameters of a tool as an object. A value that is not an object gives an empty object; the call then keeps it
/// as it is: [`MappedCall::tool`].
pub fn parameters(given: Option<Raw<'_>>) -> Option<Object<'_>> {
    match given {
        Some(given) if !given.is_null() => value::object(given),
        _ => Some(Object::default()),
    }
}

/// Takes a path from the first of these fields that has one. `names` is separated by spaces.
pub fn take_path(given: &mut Object<'_>, names: &str, cwd: Option<&str>) -> Text {
    let path = names.split(' ').find_map(|name| given.str(name)).unwrap_or_default();
    files::relative_path(&path, cwd)
}

/// An action that reads a file or lists a directory.
pub fn file_read(path: Text) -> Titled {
    (ActionType::FileRead { path: path.clone(), result: None }, path)
}

/// An action that changes files, `path` first.
pub fn file_edit(path: Text, changes: Vec<FileChange>) -> Titled {
    (ActionType::FileEdit { path: path.clone(), changes, result: None }, path)
}

/// An action that writes a whole file; a call without content empties it.
pub fn file_write(path: Text, content: Option<Text>) -> Titled {
    let content = content.unwrap_or_default();
    file_edit(path.clone(), vec![FileChange::Write { path, content }])
}

/// An action that replaces a part of a file; the two named fields state the texts, see [`take_replacement`].
pub fn file_replacement(path: Text, given: &mut Object<'_>, names: [&str; 2]) -> Titled {
    let change = take_replacement(given, names, &path);
    file_edit(path, change.into_iter().collect())
}

/// Takes the new content of a notebook cell; the old content is not stated.
pub fn notebook_edit(path: Text, given: &mut Object<'_>) -> Titled {
    let new = given.take("new_source", EscapedText::of_raw).unwrap_or_default();
    let change = files::replacement(&path, "", new);
    file_edit(path, vec![change])
}

/// Takes the old and the new text from the two named fields.
pub fn take_replacement(
    given: &mut Object<'_>,
    names: [&str; 2],
    path: &Text,
) -> Option<FileChange> {
    let [old, new] = names;
    let spelt = |name| EscapedText::of_raw(given.get(name)?);
    let change = files::replacement(path, spelt(old)?, spelt(new)?);
    given.ignore(&names);
    Some(change)
}

/// Takes a list of changes. The field also stays if it states more than the changes.
pub fn take_changes(
    given: &mut Object<'_>,
    list: &str,
    read: impl Fn(&mut Object<'_>) -> Option<FileChange>,
) -> Option<Vec<FileChange>> {
    let items = given.get(list).and_then(value::elements)?;
    let mut is_whole = true;
    let changes = items.into_iter().filter_map(|item| {
        let mut item = value::object(item).unwrap_or_default();
        let change = read(&mut item);
        is_whole &= change.is_some() && item.rest().is_empty();
        change
    });
    let changes = changes.collect();
    if is_whole {
        given.ignore(&[list]);
    }
    Some(changes)
}

/// An action that changes the files of a patch text; `None` if the patch names no file.
pub fn file_patch<'t>(patch: impl Into<EscapedText<'t>>, cwd: Option<&str>) -> Option<Titled> {
    let changes = files::read_patch(patch, cwd);
    let path = changes.first()?.path().clone();
    Some(file_edit(path, changes))
}

/// Takes a patch text from the first of these fields that has one.
pub fn take_patch(given: &mut Object<'_>, names: &[&str], cwd: Option<&str>) -> Option<Titled> {
    let read = |raw| file_patch(EscapedText::of_raw(raw)?, cwd);
    names.iter().find_map(|name| given.take(name, read))
}

/// An action that runs a command, which is empty if the call states none.
pub fn command_run(command: Option<Text>) -> Titled {
    let command = command.unwrap_or_default();
    (ActionType::CommandRun { command: command.clone(), result: None }, command)
}

/// Takes the exit code from a tool's output, under the field names that agents use. A `signal` that ended the command
/// stays in the output and makes the status a failure.
pub fn take_exit_status(output: &mut Object<'_>) -> Option<CommandExitStatus> {
    let mut names = ["exitCode", "exit_code"].into_iter();
    let code = names.find_map(|name| output.take(name, value::parse));
    let is_killed = output.get_str("signal").is_some_and(|signal| !signal.is_empty());
    let killed = is_killed.then_some(CommandExitStatus::Success { success: false });
    code.map(|code| CommandExitStatus::ExitCode { code }).or(killed)
}

/// An action that searches file contents, file names or the web.
pub fn search(query: Option<Text>) -> Titled {
    let query = query.unwrap_or_default();
    (ActionType::Search { query: query.clone(), result: None }, query)
}

/// An action that fetches a web page.
pub fn web_fetch(url: Option<Text>) -> Titled {
    let url = url.unwrap_or_default();
    (ActionType::WebFetch { url: url.clone(), result: None }, url)
}

/// An action that delegates work to a sub-agent. Without a description, the prompt is used.
pub fn task_create(
    description: Option<Text>,
    prompt: Option<Text>,
    subagent_type: Option<Text>,
) -> Titled {
    let description = description.or_else(|| prompt.clone()).unwrap_or_default();
    let title = description.clone();
    (ActionType::TaskCreate { description, prompt, subagent_type, result: None }, title)
}

/// [`task_create`] from the fields `description`, `prompt` and the one named `subagent_type`.
pub fn take_task(given: &mut Object<'_>, subagent_type: &str) -> Titled {
    let (description, prompt) = (given.text("description"), given.text("prompt"));
    task_create(description, prompt, given.text(subagent_type))
}

/// An action that presents a plan for approval.
pub fn plan_presentation(plan: Option<Text>) -> Titled {
    let plan = plan.unwrap_or_default();
    (ActionType::PlanPresentation { plan, result: None }, "plan".into())
}

/// An action that reads or writes the to-do list.
pub fn todo_list(operation: &str, todos: Vec<TodoItem>) -> Titled {
    let action = ActionType::TodoManagement { todos, operation: operation.into(), result: None };
    (action, "todo list".into())
}

/// Takes the field `todos`, an array or [lines](numbered_todos). An array also stays if some of its items could not be
/// read.
pub fn take_todos(parameters: &mut Object<'_>) -> Vec<TodoItem> {
    if let Some(lines) = parameters.text("todos") {
        return numbered_todos(lines);
    }
    let Some(items) = parameters.get("todos").and_then(value::elements) else { return Vec::new() };
    let todos = todo_items(&items);
    if todos.len() == items.len() {
        parameters.ignore(&["todos"]);
    }
    todos
}

/// An action that asks one question.
pub fn question(question: Text) -> Titled {
    (ActionType::Question { questions: vec![question.clone()], result: None }, question)
}

/// An action that asks the questions of the field `questions`. The field also stays if it states more, such as answers
/// to choose from.
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

/// The result of an action mapper for one tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct MappedCall {
    /// The action of the call.
    pub action: ActionType,
    /// A short title: a path, a command, a query or the tool's name.
    pub title: Text,
    /// Parameters that the action has no field for.
    pub extra: Vec<(String, Json)>,
    /// Whether the tool is unknown.
    pub unknown: bool,
    /// The session of the sub-agent that the call starts.
    pub child_session_id: Option<SessionId>,
}

impl MappedCall {
    /// A call with this action and a short human-readable title.
    pub fn new(action: ActionType, title: impl Into<Text>) -> Self {
        Self {
            action,
            title: title.into(),
            extra: Vec::new(),
            unknown: false,
            child_session_id: None,
        }
    }

    /// The same, with the session of the sub-agent that the call starts.
    #[must_use]
    pub fn starting(self, child_session_id: Option<SessionId>) -> Self {
        Self { child_session_id, ..self }
    }

    /// A call of a known tool; parameters that were not taken are kept as extra fields.
    pub fn known((action, title): Titled, parameters: Object<'_>) -> Self {
        Self { extra: parameters.into_extra().collect(), ..Self::new(action, title) }
    }

    /// A call that keeps its name and arguments as they are.
    pub fn tool(name: &str, arguments: Option<Raw<'_>>) -> Self {
        let arguments = arguments.map(Json::from);
        let action = ActionType::Tool { tool_name: name.into(), arguments, result: None };
        Self::new(action, name)
    }

    /// Maps a call of the tool `name`: `act` takes its action from the parameters. A call that has none, or whose
    /// parameters are no object, keeps its name and parameters as they are. Without an action, the tool is unknown
    /// unless it is plain.
    pub fn of(
        name: &str,
        parameters: Option<Raw<'_>>,
        is_plain: impl FnOnce() -> bool,
        act: impl FnOnce(&mut Object<'_>) -> Option<Titled>,
    ) -> Self {
        let Some(mut given) = self::parameters(parameters) else {
            return Self::tool(name, parameters);
        };
        match act(&mut given) {
            Some(action) => Self::known(action, given),
            None => Self { unknown: !is_plain(), ..Self::tool(name, parameters) },
        }
    }

    /// The entry of the call before its result.
    pub fn into_entry(self, tool_name: &str) -> NormalizedEntry {
        let tool = ToolUse::new(tool_name, self.action);
        let mut entry = NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), self.title);
        if self.child_session_id.is_some() {
            entry.metadata_mut().child_session_id = self.child_session_id;
        }
        if !self.extra.is_empty() {
            entry.metadata_mut().extra.extend(self.extra);
        }
        entry
    }
}

/// A call without extra parameters.
impl From<Titled> for MappedCall {
    fn from((action, title): Titled) -> Self {
        Self::new(action, title)
    }
}

/// Whether `names`, separated by spaces, contains a name.
pub fn is_among(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

/// Whether a tool belongs to an MCP server, according to its name: `server___tool` (Droid) and `mcp__server__tool`
/// (Claude Code and others).
pub fn is_mcp_tool(name: &str) -> bool {
    name.contains("___") || name.starts_with("mcp__")
}

/// Reads a to-do list from objects with `content` (or `text`, `step`, `description`), `status`, `priority`.
pub fn todo_items(items: &[Raw<'_>]) -> Vec<TodoItem> {
    let items = items.iter().filter_map(|raw| {
        let mut item: Object<'_> = value::object(*raw)?;
        Some(TodoItem {
            content: ["content", "text", "step", "title", "description"]
                .into_iter()
                .find_map(|key| item.text(key))
                .unwrap_or_default(),
            status: item.text("status").map_or_else(|| "pending".into(), plain_status),
            priority: item.text("priority"),
        })
    });
    items.collect()
}

/// Normalizes a status: `TODO_STATUS_IN_PROGRESS` becomes `in_progress`.
fn plain_status(status: Text) -> Text {
    let word = match status.decode().strip_prefix("TODO_STATUS_") {
        Some("PENDING") => "pending",
        Some("IN_PROGRESS") => "in_progress",
        Some("COMPLETED") => "completed",
        Some("CANCELLED") => "cancelled",
        _ => return status,
    };
    Text::from(word)
}

/// Reads a to-do list from lines such as `1. [in_progress] Write the tests`, or `- [x] Write the tests`. A text beyond
/// the limits of lines or size is a single item.
fn numbered_todos(text: Text) -> Vec<TodoItem> {
    const MAX_ITEMS: usize = 1 << 12;
    const MAX_SIZE: usize = 1 << 20;
    if text.size() > MAX_SIZE || text.decode().lines().nth(MAX_ITEMS).is_some() {
        return vec![TodoItem { content: text, status: "pending".into(), priority: None }];
    }
    let text = text.decode();
    let items = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || "-*. ".contains(c));
        let marked = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (status, content) = match marked {
            Some(("x" | "X", content)) => ("completed", content),
            Some((" ", content)) => ("pending", content),
            marked => marked.unwrap_or(("pending", line)),
        };
        TodoItem { content: content.trim().into(), status: status.into(), priority: None }
    });
    items.collect()
}
