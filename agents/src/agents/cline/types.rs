//! The wire types of tasks: the facts, what the person saw, and the messages of the model.

use super::{MESSAGE, SHOWN, TASK, action_mapper};
use crate::{
    action,
    content::image_of_url,
    dialect::{
        anthropic::{Block, BlockKind},
        usage::{take_counters, with_cache},
    },
    prelude::*,
    recogniser::nested,
};

/// A line of a task.
#[derive(Clone, Debug)]
pub enum ClineLine<'a> {
    /// The facts of the task.
    Task(Box<TaskFacts>),
    /// A message that the person saw.
    Shown(Box<Shown<'a>>),
    /// A message to or from the model.
    Message(Box<ModelMessage<'a>>),
}

/// The facts of a task, or of a session.
#[derive(Clone, Debug)]
pub struct TaskFacts {
    pub facts: Session,
    /// The tokens of the session, if no message states any.
    pub usage: TokenUsage,
}

/// A message that the person saw.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    /// Its `say` or `ask`.
    pub kind: Cow<'a, str>,
    pub at: Option<Timestamp>,
    pub content: Content,
    pub model: Option<Text>,
    pub provider: Option<Text>,
    /// The tokens and the cost of the request, or of the summary.
    pub usage: TokenUsage,
    /// The summary of what was condensed.
    pub summary: Option<Text>,
}

/// A message to or from the model.
#[derive(Clone, Debug)]
pub struct ModelMessage<'a> {
    pub id: Option<Text>,
    pub is_agent: bool,
    /// Whether it summarises the messages before it.
    pub is_summary: bool,
    pub parts: Vec<(Part<'a>, Fields<'a>)>,
    pub model: Option<Text>,
    pub provider: Option<Text>,
    pub usage: TokenUsage,
}

/// A part of a message.
#[derive(Clone, Debug)]
pub enum Part<'a> {
    Text(Content),
    Thinking(Text),
    /// What the program adds to each prompt: the folder, the mode, open files.
    Environment(Box<Session>),
    Call {
        id: Option<CorrId>,
        name: Cow<'a, str>,
        input: Option<Raw<'a>>,
    },
    Result {
        id: Option<CorrId>,
        is_error: bool,
        content: Content,
        extra: Extra,
    },
    Unknown {
        name: Cow<'a, str>,
        raw: Raw<'a>,
    },
}

/// The messages that a person sees and of which something is read.
const KINDS: &str = "task text user_feedback user_feedback_diff reasoning completion_result \
    api_req_started api_req_failed error tool command command_output use_mcp_server \
    mcp_server_response browser_action browser_action_launch followup plan_mode_respond \
    subtask_result condense_context sliding_window_truncation";

/// The counters of a request, of which the input excludes cached input.
const REQUEST: [&str; 5] = ["tokensIn", "tokensOut", "cacheReads", "cacheWrites", ""];

/// The counters of a session's message, of which the input includes cached input.
const METRICS: [&str; 5] =
    ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", ""];

impl<'a> ClineLine<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        if object.has(TASK) {
            header.name = "task".into();
            let facts = object.within(TASK, TaskFacts::take);
            return facts.map_or(Parsed::Unknown, |it| Parsed::Line(Self::Task(Box::new(it))));
        }
        if let Some(message) = nested(object, SHOWN) {
            let kind = message.get_str("say").or_else(|| message.get_str("ask"));
            let kind = kind.unwrap_or_default();
            header.name = format!("shown/{kind}").into();
            header.at = message.clone().timestamp("ts");
            if !action::is_among(KINDS, &kind) {
                return Parsed::Unknown;
            }
            let shown = object.within(SHOWN, |message| Shown::take(kind, message));
            return shown.map_or(Parsed::Unknown, |it| Parsed::Line(Self::Shown(Box::new(it))));
        }
        let Some(message) = nested(object, MESSAGE) else { return Parsed::Unknown };
        header.name = "message".into();
        header.at = message.clone().timestamp("ts");
        match message.get_str("role").as_deref() {
            Some("user" | "assistant") => {}
            // Only the model's provider can read it.
            None if message.get_str("type").as_deref() == Some("reasoning") => {
                object.within(MESSAGE, |message| {
                    message.ignore(&["type", "ts", "id", "summary", "encrypted_content"]);
                });
                return Parsed::Ignored;
            }
            _ => return Parsed::Unknown,
        }
        let message = object.within(MESSAGE, ModelMessage::take);
        message.map_or(Parsed::Unknown, |it| Parsed::Line(Self::Message(Box::new(it))))
    }
}

impl TaskFacts {
    fn take(object: &mut Object<'_>) -> Self {
        let status = object.str("status");
        let facts = Session {
            session_id: object.str("id").map(SessionId::from),
            parent: object.str("parent").map(|id| Box::new(Parent::of_agent(&*id))),
            agent: object.text("agent"),
            cwd: object.text("cwd"),
            title: object.text("title"),
            model: object.text("model"),
            provider: object.text("provider"),
            started_at: object.timestamp("started_at"),
            ended_at: object.timestamp("ended_at"),
            outcome: (status.as_deref() == Some("completed")).then_some(Outcome::Success),
            ..Session::default()
        };
        Self { facts, usage: object.within("usage", take_metrics).unwrap_or_default() }
    }
}

impl<'a> Shown<'a> {
    fn take(kind: Cow<'a, str>, message: &mut Object<'a>) -> Self {
        message.ignore(&[
            "type",
            "say",
            "ask",
            "partial",
            "conversationHistoryIndex",
            "isProtected",
        ]);
        let mut content = Content::from(message.text("text").unwrap_or_default());
        let thought = message.text("reasoning").filter(|_| content.is_empty());
        content = thought.map_or(content, Content::from);
        for image in message.array("images").unwrap_or_default() {
            content.push("\n", image_of_url(&value::as_str(image).unwrap_or_default()));
        }
        for file in message.texts("files").unwrap_or_default() {
            content.push("\n", format!("[file: {file}]").into());
        }
        let (model, provider) = take_model(message);
        let mut usage = TokenUsage::default();
        if kind == "api_req_started" {
            let stated = content.text.decode().into_owned();
            let mut stated = Object::parse(&stated).unwrap_or_default();
            usage = with_cache(take_counters(&mut stated, REQUEST));
            usage.cost_usd = stated.f64("cost");
        }
        let summary = message.within("contextCondense", |condensed| {
            usage.cost_usd = condensed.f64("cost");
            condensed.text("summary")
        });
        let at = message.timestamp("ts");
        Self { kind, at, content, model, provider, usage, summary: summary.flatten() }
    }

    /// A text of the JSON object that the text is.
    pub(super) fn field(&self, name: &str) -> Option<Text> {
        let text = self.content.text.decode();
        Object::parse(&text).ok()?.text(name)
    }

    /// The call that it is, with the name of the tool.
    pub(super) fn call(&self, cwd: Option<&str>) -> (String, MappedCall) {
        let text = self.content.text.decode();
        let stated = Raw::parse(&text).ok().filter(|raw| value::object(*raw).is_some());
        let name = self.field("tool").map(|tool| tool.decode().into_owned());
        match &*self.kind {
            "command" => {
                let command = action::command_run(Some(self.content.text.clone()));
                ("execute_command".to_owned(), command.into())
            }
            "followup" => {
                let asked = self.field("question").unwrap_or_else(|| self.content.text.clone());
                ("ask_followup_question".to_owned(), action::question(asked).into())
            }
            kind => {
                if let (Some(name), Some(stated)) = (name.filter(|_| kind == "tool"), stated) {
                    let call = action_mapper::shown(&name, stated, cwd);
                    return (name, call);
                }
                let mut call = MappedCall::tool(kind, stated);
                if stated.is_none() && !text.is_empty() {
                    call.extra.push(("text".to_owned(), self.content.text.clone().into()));
                }
                (kind.to_owned(), call)
            }
        }
    }
}

impl<'a> ModelMessage<'a> {
    fn take(message: &mut Object<'a>) -> Self {
        let is_agent = message.get_str("role").as_deref() == Some("assistant");
        message.ignore(&["role", "ts", "condenseId", "condenseParent", "truncationId"]);
        message.ignore(&["truncationParent", "isTruncationMarker", "reasoning_content"]);
        let content = message.raw("content");
        let blocks = content.map(|raw| value::elements(raw).unwrap_or_else(|| vec![raw]));
        let parts = blocks.unwrap_or_default().into_iter().map(|raw| Part::read(raw, is_agent));
        let parts = parts.collect();
        let (model, provider) = take_model(message);
        let usage = message.within("metrics", take_metrics).unwrap_or_default();
        Self {
            id: message.text("id"),
            is_agent,
            is_summary: message.bool("isSummary") == Some(true),
            parts,
            model,
            provider,
            usage,
        }
    }
}

/// The model and its provider, as the extensions and the command line program name them.
fn take_model(message: &mut Object<'_>) -> (Option<Text>, Option<Text>) {
    let named = message.within("modelInfo", |model| {
        model.ignore(&["mode", "family"]);
        let provider = model.text("providerId").or_else(|| model.text("provider"));
        (model.text("modelId").or_else(|| model.text("id")), provider)
    });
    named.unwrap_or_default()
}

/// The tokens of a session's message, or of one of a task, in the object `tokens`.
fn take_metrics(metrics: &mut Object<'_>) -> TokenUsage {
    let of_task = metrics.within("tokens", |tokens| {
        take_counters(tokens, ["prompt", "completion", "cached", "", ""])
    });
    let usage = of_task.unwrap_or_else(|| take_counters(metrics, METRICS));
    let cost = metrics.f64("cost").or_else(|| metrics.f64("totalCost"));
    TokenUsage { cost_usd: cost, ..usage }
}

impl<'a> Part<'a> {
    /// Reads a block, with its unknown fields.
    fn read(raw: Raw<'a>, is_agent: bool) -> (Self, Fields<'a>) {
        let mut object = value::object(raw).unwrap_or_default();
        if object.get_str("type").as_deref() == Some("file") {
            let path = object.text("path").unwrap_or_default();
            let text = object.text("content").unwrap_or_default();
            object.ignore(&["type"]);
            return (Self::Text(format!("[file: {path}]\n{text}").into()), object.rest());
        }
        let Block { kind, mut unknown } = Block::read(raw);
        let part = match kind {
            BlockKind::Text(content) | BlockKind::Media(content) if is_agent => Self::Text(content),
            BlockKind::Text(content) | BlockKind::Media(content) => Self::sent(content),
            BlockKind::Thinking(text) => {
                // The command line program states it as a text.
                let stated = object.text("text").filter(|_| text.is_empty());
                unknown.retain(|(name, _)| name != "text");
                Self::Thinking(stated.unwrap_or(text))
            }
            BlockKind::RedactedThinking => Self::Thinking("[redacted]".into()),
            BlockKind::ToolUse(call) => {
                Self::Call { id: call.id, name: call.name, input: call.input }
            }
            BlockKind::ToolResult(answer) => {
                unknown.retain(|(name, _)| name != "name");
                let parts = answer.unknown_parts.into_iter();
                let extra = parts.map(|(name, raw)| (format!("part.{name}"), raw.into())).collect();
                let (id, is_error) = (answer.id, answer.is_error);
                Self::Result { id, is_error, content: answer.body, extra }
            }
            BlockKind::Unknown { name, raw } => Self::Unknown { name, raw },
        };
        (part, unknown)
    }

    /// A text that was sent to the model: what a person typed, in an element, or what the program adds.
    fn sent(mut content: Content) -> Self {
        let text = content.text.decode().into_owned();
        let inner = |name: &str| {
            let inner = text.trim().strip_prefix(&*format!("<{name}>"))?;
            Some(inner.strip_suffix(&*format!("</{name}>"))?.trim())
        };
        if let Some(environment) = inner("environment_details") {
            return Self::Environment(Box::new(environment_facts(environment)));
        }
        let typed = ["task", "feedback", "user_message"].into_iter().find_map(inner);
        if let Some(typed) = typed {
            content.text = typed.into();
        }
        Self::Text(content)
    }
}

/// The folder and the model that the program states: `# Current Workspace Directory (/w) Files`,
/// `<model>m</model>`.
fn environment_facts(details: &str) -> Session {
    let between = |before: &str, after: &str| {
        let (_, rest) = details.split_once(before)?;
        let (found, _) = rest.split_once(after)?;
        Some(Text::from(found)).filter(|found| !found.is_empty() && !found.decode().contains('\n'))
    };
    Session {
        cwd: between("# Current Workspace Directory (", ")"),
        model: between("<model>", "</model>"),
        ..Session::default()
    }
}
