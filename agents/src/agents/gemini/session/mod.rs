//! The sessions that Gemini CLI keeps, `~/.gemini/tmp/<project>/chats/session-*.jsonl` and `.json`.

mod types;

use std::{collections::BTreeMap, path::Path, sync::Arc};

use foldline::source::Opener;
use foldline_domain::Digest;
use serde::{Deserialize, Serialize};

use self::types::{Author, Call, Message, SessionRecord};
use crate::{
    Documents,
    dialect::{
        gemini,
        recent_map::RecentMap,
        textual_result::{self, TextualResult},
    },
    prelude::*,
    siblings::folder_name,
};

/// A session file: lines, or a single document of the older releases.
///
/// - A message is written again, with the same id, when it grows: only what is new is emitted.
/// - Messages have ids that no other session has, so the tokens of a session with two files count once.
/// - Messages that were withdrawn stay in the conversation.
#[derive(Clone, Debug, Default)]
pub struct GeminiSession {
    /// The session that started this one, by the folder of the file.
    parent: Option<SessionId>,
    /// The project, by the files beside its folder.
    cwd: Option<Text>,
}

/// The fields by which a session is recognised.
const RECOGNISED_BY: [&str; 3] = ["sessionId", "projectHash", "startTime"];

/// The largest number of ended calls to remember.
const REMEMBERED: usize = 1024;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GeminiSessionMemory {
    /// The latest messages.
    told: RecentMap<Text, ToldMessage>,
    /// The message that may still grow, with its text.
    open: Option<(Text, Text)>,
    /// The calls that have ended.
    ended: RecentIds,
    has_begun: bool,
}

/// What was emitted of a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct ToldMessage {
    thoughts: usize,
    text: Option<Digest>,
    usage: TokenUsage,
}

type Cx<'s> = Context<'s, TextualResult>;

impl Executor for GeminiSession {
    const FORMAT: Format = Format::new("gemini-session", "Gemini CLI, session file", "gemini")
        .with_homes(&["${GEMINI_CLI_HOME:-~}/.gemini/tmp"])
        .with_no_logs(&["logs.json"]);
    type Line<'a> = SessionRecord<'a>;
    type Result = TextualResult;
    type Memory = GeminiSessionMemory;

    fn openers(&self) -> Vec<Arc<dyn Opener>> {
        vec![Arc::new(Documents {
            is_one: |_, fields| RECOGNISED_BY.iter().all(|name| fields.iter().any(|it| it == name)),
            recognised_by: &RECOGNISED_BY,
            list: "messages",
            volatile: &["lastUpdated"],
            line: 0,
        })]
    }

    fn of_file(&self, path: &Path, beside: Beside<'_>) -> Option<Self> {
        let mut folders = path.ancestors().skip(1);
        let (folder, above) = (folders.next()?, folders.next()?);
        let (parent, project) = match (&*folder_name(Some(folder))?, &*folder_name(Some(above))?) {
            ("chats", _) => (None, above),
            (parent, "chats") => (Some(SessionId::from(parent)), folders.next()?),
            _ => return None,
        };
        Some(Self { parent, cwd: project_of(project, beside) })
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        let is_header = object.has_all(&RECOGNISED_BY);
        if is_header || object.has_any(&["$set", "$rewindTo"]) {
            return Evidence::Certain;
        }
        let is_message = object.has_all(&["id", "timestamp", "content"])
            && !object.has_any(&["uuid", "message", "parentId", "role"]);
        Evidence::certain_if(is_message && object.get_str("type").as_deref() == Some("gemini"))
    }

    fn parse<'a>(
        &self,
        object: &mut Object<'a>,
        header: &mut Header<'a>,
    ) -> Parsed<SessionRecord<'a>> {
        let parsed = SessionRecord::parse(object);
        if header.name.is_empty() {
            header.name = "session".into();
        }
        parsed
    }

    fn line(&self, line: Self::Line<'_>, extra: Extra, memory: &mut Self::Memory, cx: &mut Cx<'_>) {
        let SessionRecord { facts, messages, rewound_to } = line;
        if !std::mem::replace(&mut memory.has_begun, true) {
            let parent = self.parent.clone().map(|parent| Box::new(Parent::of_agent(parent)));
            cx.session(Session { parent, cwd: self.cwd.clone(), ..Session::default() });
        }
        let mut extra = Some(extra);
        if facts != Session::default() {
            cx.session(facts);
            // What is not known of a header is not of its first message.
            if let Some(extra) = extra.take().filter(|extra| !extra.is_empty()) {
                cx.entry(NormalizedEntryType::SystemMessage, "session", extra);
            }
        }
        if let Some(message) = rewound_to {
            memory.close(cx);
            let text = format!("withdrawn: message {message} and all after it");
            cx.entry(NormalizedEntryType::SystemMessage, text, ());
        }
        for mut message in messages {
            cx.at = message.at.or(cx.at);
            let unknown = std::mem::take(&mut message.unknown);
            let mut more = cx.unknown_fields("message", &unknown);
            more.extend(extra.take().unwrap_or_default());
            memory.message(message, more, cx);
        }
        if let Some(extra) = extra.filter(|extra| !extra.is_empty()) {
            cx.entry(NormalizedEntryType::SystemMessage, "session", extra);
        }
    }

    fn is_ignored(&self, line: &SessionRecord<'_>) -> bool {
        let SessionRecord { facts, messages, rewound_to } = line;
        *facts == Session::default() && messages.is_empty() && rewound_to.is_none()
    }

    fn end(&self, memory: &mut GeminiSessionMemory, cx: &mut Cx<'_>) {
        memory.close(cx);
    }
}

/// The project of the folder `tmp/<name>`: the text of its `.project_root`, or else the path that `projects.json` calls
/// by this name.
fn project_of(folder: &Path, beside: Beside<'_>) -> Option<Text> {
    let stated = beside(&folder.join(".project_root")).map(|root| root.trim().to_owned());
    let named = || {
        let name = folder.file_name()?.to_str()?;
        let projects = beside(&folder.parent()?.parent()?.join("projects.json"))?;
        let projects = serde_json::from_str::<Projects>(&projects).ok()?.projects;
        projects.into_iter().find(|(_, short)| short == name).map(|(path, _)| path)
    };
    stated.filter(|root| !root.is_empty()).or_else(named).map(Text::from)
}

/// The content of `~/.gemini/projects.json`.
#[derive(Deserialize)]
struct Projects {
    projects: BTreeMap<String, String>,
}

impl GeminiSessionMemory {
    fn message(&mut self, message: Message<'_>, mut extra: Extra, cx: &mut Cx<'_>) {
        let Message { id, kind, text, thoughts, calls, model, usage, facts, .. } = message;
        extra.extend(facts);
        if self.open.as_ref().is_some_and(|(open, _)| Some(open) != id.as_ref()) {
            self.close(cx);
        }
        let known = id.as_ref().and_then(|id| self.told.take(id));
        let is_new = known.is_none();
        let mut told = known.unwrap_or_default();
        let mut meta = Meta { message_id: id.clone(), model: None, extra };
        if let Author::Other(kind) = kind {
            if is_new {
                cx.entry(kind, text, meta.next());
            }
            self.told.push(id, told);
            return;
        }
        if cx.known().model != model && model.is_some() {
            cx.session(Session { model: model.clone(), ..Session::default() });
        }
        for thought in thoughts.iter().skip(told.thoughts) {
            cx.entry(NormalizedEntryType::Thinking, thought.clone(), meta.next());
        }
        told.thoughts = told.thoughts.max(thoughts.len());
        self.text(id.as_ref(), text, &mut told, &mut meta, cx);
        for call in calls {
            self.call(call, meta.next(), cx);
        }
        let more = usage.since(&told.usage);
        if !usage.is_empty() && (is_new || usage != told.usage) {
            cx.usage_of_message(id.clone(), model, if is_new { usage } else { more });
        }
        told.usage = told.usage.max(&usage);
        self.told.push(id, told);
    }

    /// Emits what is new of a message's text.
    fn text(
        &mut self,
        id: Option<&Text>,
        content: Content,
        told: &mut ToldMessage,
        meta: &mut Meta,
        cx: &mut Cx<'_>,
    ) {
        let text = content.text.clone();
        let whole = text.decode();
        let digest = Some(Digest::of(whole.as_bytes()));
        if whole.is_empty() || told.text == digest {
            return;
        }
        let is_first = told.text.is_none();
        told.text = digest;
        let entry = cx.draft(NormalizedEntryType::AssistantMessage, content, meta.next());
        let (Some(id), true) = (id, is_first || self.open.is_some()) else { return cx.push(entry) };
        let corr_id = open_id(id);
        match &mut self.open {
            Some((_, known)) => match whole.strip_prefix(&*known.decode()) {
                Some(more) => cx.grow(corr_id, more.into()),
                None => {
                    self.open = None;
                    return cx.close(corr_id, Some(entry));
                }
            },
            None => cx.open(corr_id, entry),
        }
        self.open = Some((id.clone(), text.clone()));
    }

    fn call(&mut self, call: Call<'_>, meta: Meta, cx: &mut Cx<'_>) {
        let Call { id, agent_id, name, args, status, at, body, is_error, diff } = call;
        if id.as_ref().is_some_and(|id| self.ended.contains(id)) {
            return;
        }
        let mapped = gemini::map(&name, args, cx.cwd().as_deref()).starting(agent_id);
        cx.call_again(id.clone(), &name, mapped, meta);
        let ended = match &*status {
            "success" => textual_result::status(is_error, false, None),
            // Programs that write such files for tests state no status.
            "" if body.is_some() => textual_result::status(is_error, false, None),
            "" => ToolStatus::Unknown,
            "error" => ToolStatus::Failed,
            "cancelled" => ToolStatus::Cancelled,
            "awaiting_approval" => {
                let id = id.as_ref();
                id.map(|id| {
                    cx.update(id, |entry| {
                        if let Some(tool) = entry.tool_mut() {
                            tool.status = ToolStatus::PendingApproval;
                        }
                    })
                });
                return;
            }
            _ => {
                id.iter().for_each(|id| cx.running(id));
                return;
            }
        };
        if let Some(id) = &id {
            self.ended.insert(id.clone(), REMEMBERED);
        }
        let result = TextualResult::new(ended, at.or(cx.at)).with_body(body);
        cx.result(id, result.with_detail(diff));
    }

    /// Closes the message that may grow.
    fn close(&mut self, cx: &mut Cx<'_>) {
        if let Some((id, _)) = self.open.take() {
            cx.close(open_id(&id), None);
        }
    }
}

/// The id of the entry with the text of a message.
fn open_id(id: &Text) -> CorrId {
    CorrId::from(format!("{id}/text").as_str())
}
