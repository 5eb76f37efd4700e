//! Cursor's transcripts, `~/.cursor/projects/<project>/agent-transcripts/<session>/<session>.jsonl`: their messages,
//! their texts, which Cursor mixes with its own, and their tools.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{
    action::*,
    dialect::{
        anthropic::{BlockKind, Message},
        messages::Parts,
        textual_result::TextualResult,
    },
    prelude::*,
    recogniser::message,
};

/// A transcript. It has neither times nor results, so the outcome of its calls is unknown; the name of the file states
/// the session.
#[derive(Clone, Debug, Default)]
pub struct CursorTranscript {
    session: Option<SessionId>,
    parent: Option<SessionId>,
    /// The folder of the project: its path, with `-` for each separator, which is all that is stated of it.
    project: Option<Text>,
}

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TranscriptMemory {
    /// The number of calls, by which they are named.
    calls: u64,
    has_begun: bool,
}

/// One record.
#[derive(Clone, Debug)]
pub enum TranscriptLine<'a> {
    /// A message of the person.
    User(Message<'a>),
    /// A message of the agent.
    Agent(Message<'a>),
    /// The end of a turn, unless it succeeded.
    Ended(Cow<'a, str>),
}

type Cx<'s> = Context<'s, TextualResult>;

impl Executor for CursorTranscript {
    const FORMAT: Format =
        Format::new("cursor-transcript", "Cursor agent, transcript file", "cursor")
            .with_homes(&["~/.cursor/projects"]);
    type Line<'a> = TranscriptLine<'a>;
    type Result = TextualResult;
    type Memory = TranscriptMemory;

    fn of_file(&self, path: &Path, _: Beside<'_>) -> Option<Self> {
        let session = SessionId::from(path.file_stem()?.to_str()?);
        let folders: Vec<&str> = path.iter().rev().skip(1).filter_map(|it| it.to_str()).collect();
        let parent = match *folders {
            ["subagents", parent, ..] => Some(SessionId::from(parent)),
            _ => None,
        };
        let transcripts = folders.iter().position(|folder| *folder == "agent-transcripts");
        let project = transcripts.and_then(|at| folders.get(at + 1));
        Some(Self { session: Some(session), parent, project: project.map(|name| (*name).into()) })
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        let role = object.get_str("role").unwrap_or_default();
        let is_bare = !object.has_any(&["type", "uuid", "sessionId", "id", "timestamp"]);
        let is_message = message(object).is_some_and(|message| {
            message.has("content") && !message.has_any(&["role", "id", "model", "usage"])
        });
        Evidence::certain_if(is_bare && is_message && matches!(&*role, "user" | "assistant"))
    }

    fn parse<'a>(
        &self,
        object: &mut Object<'a>,
        header: &mut Header<'a>,
    ) -> Parsed<TranscriptLine<'a>> {
        if header.name == "turn_ended" {
            return match object.str("status") {
                Some(status) if status != "success" => Parsed::Line(TranscriptLine::Ended(status)),
                _ => Parsed::Ignored,
            };
        }
        let role = object.get_str("role").unwrap_or_default();
        if !header.name.is_empty() || !matches!(&*role, "user" | "assistant") {
            return Parsed::Unknown;
        }
        let Some(message) = object.object("message") else { return Parsed::Unknown };
        object.ignore(&["role"]);
        header.name = role.clone();
        let message = Message::take(message);
        Parsed::Line(match &*role {
            "user" => TranscriptLine::User(message),
            _ => TranscriptLine::Agent(message),
        })
    }

    fn line(&self, line: Self::Line<'_>, extra: Extra, memory: &mut Self::Memory, cx: &mut Cx<'_>) {
        if !std::mem::replace(&mut memory.has_begun, true) {
            let (session_id, cwd) = (self.session.clone(), self.project.clone());
            let parent = self.parent.clone().map(|parent| Box::new(Parent::of_agent(parent)));
            cx.session(Session { session_id, parent, cwd, ..Session::default() });
        }
        match line {
            TranscriptLine::User(message) => {
                memory.message(NormalizedEntryType::UserMessage, message, extra, cx);
            }
            TranscriptLine::Agent(message) => {
                memory.message(NormalizedEntryType::AssistantMessage, message, extra, cx);
            }
            TranscriptLine::Ended(status) => {
                let text = format!("turn ended: {status}");
                cx.entry(NormalizedEntryType::SystemMessage, text, extra);
            }
        }
    }
}

impl TranscriptMemory {
    fn message(
        &mut self,
        kind: NormalizedEntryType,
        message: Message<'_>,
        mut extra: Extra,
        cx: &mut Cx<'_>,
    ) {
        extra.extend(cx.unknown_fields("message", &message.unknown));
        let mut meta = Meta::from(extra);
        for block in message.content {
            let more = cx.unknown_fields("block", &block.unknown);
            meta.extra.extend(more);
            match block.kind {
                BlockKind::Text(content) => {
                    let parts = match kind {
                        NormalizedEntryType::UserMessage => {
                            let (parts, at) = sent(content);
                            cx.at = cx.at.or(at);
                            parts
                        }
                        _ => answered(content),
                    };
                    for (kind, content) in parts {
                        cx.entry(kind, content, meta.next());
                    }
                }
                BlockKind::Thinking(text) => {
                    cx.entry(NormalizedEntryType::Thinking, text, meta.next());
                }
                BlockKind::ToolUse(call) => {
                    self.calls += 1;
                    let id = CorrId::from(format!("call {}", self.calls).as_str());
                    let (name, cwd) = (&*call.name, cx.cwd());
                    let act = |given: &mut Object<'_>| action(name, given, cwd.as_deref());
                    let mapped = MappedCall::of(name, call.input, || is_plain(name), act);
                    cx.call(Some(id.clone()), &call.name, mapped, meta.next());
                    cx.result(Some(id), TextualResult::new(ToolStatus::Unknown, None));
                }
                BlockKind::RedactedThinking => {
                    cx.entry(NormalizedEntryType::Thinking, REDACTED, meta.next());
                }
                BlockKind::ToolResult(answer) => {
                    cx.entry(NormalizedEntryType::SystemMessage, answer.body, meta.next());
                }
                BlockKind::Media(content) => cx.entry(kind.clone(), content, meta.next()),
                BlockKind::Unknown { name, raw } => cx.unknown_block(&name, raw),
            }
        }
        if !meta.extra.is_empty() {
            cx.entry(kind, Text::default(), meta);
        }
    }
}

/// The text of a message of the person, apart from the context that Cursor adds, and the time in that.
pub(super) fn sent(content: Content) -> (Parts, Option<Timestamp>) {
    let TypedText { typed, context, at } = TypedText::read(&content.text.decode());
    let mut parts = Parts::new();
    if !context.is_empty() {
        parts.push((NormalizedEntryType::SystemMessage, context.into()));
    }
    if let Some(typed) = typed {
        parts.push((NormalizedEntryType::UserMessage, content.cut(|_| typed.into())));
    }
    (parts, at)
}

/// The text of a message of the agent, apart from the mark in place of a thought.
pub(super) fn answered(content: Content) -> Parts {
    let words = without_mark(&content.text.decode()).map(Text::from);
    let Some(words) = words else {
        return vec![(NormalizedEntryType::AssistantMessage, content)];
    };
    let thought = (NormalizedEntryType::Thinking, REDACTED.into());
    match words.is_empty() {
        true => vec![thought],
        false => {
            vec![(NormalizedEntryType::AssistantMessage, content.cut(|_| words)), thought]
        }
    }
}

/// Replaces a thought.
const REDACTED: &str = "[REDACTED]";

/// A text that Cursor sent to the model for the person.
#[derive(Debug, PartialEq)]
struct TypedText {
    /// What the person typed.
    typed: Option<String>,
    /// What Cursor added.
    context: String,
    /// The minute in which it was sent, which Cursor adds too: the only time in a transcript.
    at: Option<Timestamp>,
}

impl TypedText {
    /// Everything that is not between the tags of the person's text is context. A text without them is the person's,
    /// unless it describes their machine.
    fn read(text: &str) -> Self {
        let inner = text.split_once("<user_query>").and_then(|(before, rest)| {
            let (typed, after) = rest.rsplit_once("</user_query>")?;
            Some((before, typed, after))
        });
        let Some((before, typed, after)) = inner else {
            let text = text.to_owned();
            let is_context = text.starts_with("<user_info>");
            let (typed, context) =
                if is_context { (None, text) } else { (Some(text), String::new()) };
            return Self { typed, context, at: None };
        };
        let typed = typed.strip_prefix('\n').unwrap_or(typed);
        let typed = typed.strip_suffix('\n').unwrap_or(typed);
        let (before, at) = without_time(before);
        let context = [before.trim(), after.trim()].join("\n").trim().to_owned();
        Self { typed: Some(typed.to_owned()), context, at }
    }
}

/// The context of a prompt without the time in it, and the time. What is no time stays.
fn without_time(context: &str) -> (String, Option<Timestamp>) {
    let parts = context.split_once("<timestamp>").and_then(|(before, rest)| {
        let (time, after) = rest.split_once("</timestamp>")?;
        Some((format!("{before}{after}"), minute(time)?))
    });
    parts.map_or_else(|| (context.to_owned(), None), |(context, at)| (context, Some(at)))
}

/// A moment such as `Sunday, Aug 2, 2026, 3:51 AM (UTC-7)`.
fn minute(text: &str) -> Option<Timestamp> {
    let (local, zone) = text.trim().strip_suffix(')')?.rsplit_once(" (UTC")?;
    let (_, date) = local.split_once(", ")?;
    let local = jiff::fmt::strtime::parse("%b %d, %Y, %I:%M %p", date).ok()?.to_datetime().ok()?;
    let (hours, minutes) = zone.split_once(':').unwrap_or((zone, "0"));
    let hours: i32 = if hours.is_empty() { 0 } else { hours.parse().ok()? };
    let minutes: i32 = minutes.parse().ok().filter(|minutes| (0..60).contains(minutes))?;
    let minutes = if zone.starts_with('-') { -minutes } else { minutes };
    let seconds = hours.checked_mul(3600)?.checked_add(minutes * 60)?;
    let at = jiff::tz::Offset::from_seconds(seconds).ok()?.to_timestamp(local).ok()?;
    Some(Timestamp::from_millis(at.as_millisecond()))
}

/// The text of the agent before the mark at its end; `None` if there is no mark.
fn without_mark(text: &str) -> Option<&str> {
    let before = text.strip_suffix(REDACTED)?;
    match before.is_empty() {
        true => Some(before),
        false => before.strip_suffix("\n\n"),
    }
}

/// Known tools without a separate action, or whose calls may have none.
const PLAIN_TOOLS: &str = "ApplyPatch AskQuestion Await CallMcpTool EditNotebook FetchMcpResource \
    GenerateImage ReadLints SwitchMode";

/// Whether a tool without a separate action is known.
pub(super) fn is_plain(name: &str) -> bool {
    is_among(PLAIN_TOOLS, name) || is_mcp_tool(name)
}

/// The action of a call; `None` if it has no separate one. The tools of the editor have other names, of which newer ones end
/// with `_v2`.
pub(super) fn action(name: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
    Some(match name.strip_suffix("_v2").unwrap_or(name) {
        "Read" | "read_file" => file_read(take_path(given, "path target_file targetFile", cwd)),
        "list_dir" => file_read(take_path(given, "target_directory targetDirectory", cwd)),
        "Write" => file_write(take_path(given, "path", cwd), given.text("contents")),
        "StrReplace" | "search_replace" => {
            let path = take_path(given, "path file_path relativeWorkspacePath", cwd);
            file_replacement(path, given, ["old_string", "new_string"])
        }
        "Delete" => {
            let path = take_path(given, "path", cwd);
            file_edit(path.clone(), vec![FileChange::Delete { path }])
        }
        "ApplyPatch" => take_patch(given, &["patch", "input"], cwd)?,
        "Shell" | "Bash" | "run_terminal_cmd" | "run_terminal_command" => {
            command_run(given.text("command"))
        }
        "Glob" | "glob_file_search" => {
            search(given.text("glob_pattern").or_else(|| given.text("globPattern")))
        }
        "Grep" | "grep" => search(given.text("pattern")),
        "SemanticSearch" | "codebase_search" => search(given.text("query")),
        "WebSearch" => search(given.text("search_term")),
        "WebFetch" => web_fetch(given.text("url")),
        "TodoWrite" => todo_list("write", take_todos(given)),
        "Task" | "Agent" | "Subagent" => take_task(given, "subagent_type"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_apart_from_its_context() {
        let read = |text: &str| {
            let TypedText { typed, context, .. } = TypedText::read(text);
            (typed.unwrap_or_default(), context)
        };
        let pair = |typed: &str, context: &str| (typed.to_owned(), context.to_owned());
        assert_eq!(read("<user_query>\nhi\n</user_query>"), pair("hi", ""));
        assert_eq!(
            read("<info>x</info>\n<user_query>\nhi\n</user_query>\n"),
            pair("hi", "<info>x</info>")
        );
        assert_eq!(read("plain"), pair("plain", ""));
    }

    #[test]
    fn the_time_of_a_prompt_is_a_minute_of_its_zone() {
        let at = |time: &str| {
            let text = format!("<timestamp>{time}</timestamp>\n<user_query>\nhi\n</user_query>");
            let TypedText { context, at, .. } = TypedText::read(&text);
            assert_eq!(context.is_empty(), at.is_some(), "{context}");
            at.map(Timestamp::as_millis)
        };
        let utc = |text: &str| Some(text.parse::<jiff::Timestamp>().unwrap().as_millisecond());
        assert_eq!(at("Sunday, Aug 2, 2026, 3:51 AM (UTC-7)"), utc("2026-08-02T10:51:00Z"));
        assert_eq!(at("Monday, Dec 31, 2029, 12:05 PM (UTC+5:30)"), utc("2029-12-31T06:35:00Z"));
        assert_eq!(at("Friday, Jan 1, 2027, 12:00 AM (UTC)"), utc("2027-01-01T00:00:00Z"));
        assert_eq!(["", "yesterday", "Sunday, Aug 2, 2026, 3:51 AM (UTC+99)"].map(at), [None; 3]);
    }

    #[test]
    fn only_a_mark_at_the_end_stands_for_a_thought() {
        assert_eq!(without_mark("[REDACTED]"), Some(""));
        assert_eq!(without_mark("So.\n\n[REDACTED]"), Some("So."));
        assert_eq!(without_mark("say [REDACTED]"), None);
        assert_eq!(without_mark("[REDACTED] is said"), None);
    }
}
