//! The wire types of chats: the facts, and the requests with their answers.

use super::{CHAT, REQUEST};
use crate::prelude::*;

/// A line of a chat.
#[derive(Clone, Debug)]
pub enum ChatLine<'a> {
    /// The facts of the chat.
    Facts(Box<Session>),
    /// A request with its answer.
    Request(Box<ChatRequest<'a>>),
}

/// A request with its answer.
#[derive(Clone, Debug)]
pub struct ChatRequest<'a> {
    pub id: Option<Text>,
    pub prompt: Text,
    /// The model and the version of the extension.
    pub facts: Box<Session>,
    /// The steps of the answer, with their times.
    pub steps: Vec<(Option<Timestamp>, Step<'a>)>,
    pub error: Option<Text>,
    pub is_cancelled: bool,
    pub usage: TokenUsage,
}

/// A step of an answer.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    Thinking(Text),
    Text(Text),
    Call(Call<'a>),
    Unknown { name: Cow<'a, str>, raw: Raw<'a> },
}

/// A call with its result.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    pub id: Option<CorrId>,
    pub name: Cow<'a, str>,
    /// The arguments as the model gave them, a JSON text.
    pub arguments: Option<Cow<'a, str>>,
    /// What the person saw, without the arguments.
    pub title: Option<Text>,
    /// The command of a terminal, as the person saw it.
    pub command: Option<Text>,
    pub result: Option<(ToolStatus, Option<Text>)>,
}

/// What the editor or the model's provider keeps for itself, or states elsewhere too.
const IGNORED: [&str; 13] = [
    "agent",
    "codeCitations",
    "contentReferences",
    "editedFileEvents",
    "followups",
    "modelId",
    "modelState",
    "response",
    "responseId",
    "responseMarkdownInfo",
    "timestamp",
    "variableData",
    "result",
];

/// Parts of an answer that the editor shows in another way, or as edits of a file.
const SILENT: [&str; 4] = ["prepareToolInvocation", "undoStop", "codeblockUri", "textEditGroup"];

/// The depth to which the tree of a result is read.
const DEPTH: usize = 32;

impl<'a> ChatLine<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        if object.has(CHAT) {
            header.name = "chat".into();
            let facts = object.within(CHAT, |chat| {
                chat.ignore(&["version"]);
                Session {
                    session_id: chat.str("sessionId").map(SessionId::from),
                    started_at: chat.timestamp("creationDate"),
                    title: chat.text("customTitle"),
                    ..Session::default()
                }
            });
            return facts.map_or(Parsed::Unknown, |it| Parsed::Line(Self::Facts(Box::new(it))));
        }
        header.name = "request".into();
        let request = object.within(REQUEST, |request| {
            header.at = request.timestamp("timestamp");
            ChatRequest::take(request)
        });
        request.map_or(Parsed::Unknown, |it| Parsed::Line(Self::Request(Box::new(it))))
    }
}

impl<'a> ChatRequest<'a> {
    fn take(request: &mut Object<'a>) -> Self {
        let mut message = request.object("message").unwrap_or_default();
        let mut agent = request.object("agent").unwrap_or_default();
        let mut result = request.object("result").unwrap_or_default();
        let mut metadata = result.object("metadata").unwrap_or_default();
        let chosen = request.str("modelId");
        let chosen = chosen.as_deref().and_then(|id| id.split('/').next_back()).map(Text::from);
        let facts = Session {
            model: metadata.text("resolvedModel").or(chosen),
            version: agent.text("extensionVersion"),
            ..Session::default()
        };
        let rounds = metadata.array("toolCallRounds").unwrap_or_default();
        let steps = match rounds.is_empty() {
            false => rounds.into_iter().flat_map(round).collect(),
            true => shown(request.array("response").unwrap_or_default()),
        };
        let error = result.object("errorDetails").and_then(|mut error| error.text("message"));
        let usage = TokenUsage {
            input_tokens: metadata.u64("promptTokens"),
            output_tokens: metadata.u64("outputTokens"),
            ..TokenUsage::default()
        };
        let is_cancelled = request.bool("isCanceled") == Some(true);
        let id = request.text("requestId");
        request.ignore(&IGNORED);
        let prompt = message.text("text").unwrap_or_default();
        Self { id, prompt, facts: Box::new(facts), steps, error, is_cancelled, usage }
    }
}

/// The steps of a round of the model.
fn round(raw: Raw<'_>) -> Vec<(Option<Timestamp>, Step<'_>)> {
    let mut round = value::object(raw).unwrap_or_default();
    let at = round.timestamp("timestamp");
    let thought = round.object("thinking").and_then(|mut thinking| thinking.text("text"));
    let text = round.text("response").filter(|text| !text.is_empty());
    let mut steps: Vec<_> = thought.map(Step::Thinking).into_iter().collect();
    steps.extend(text.map(Step::Text));
    for raw in round.array("toolCalls").unwrap_or_default() {
        let mut call = value::object(raw).unwrap_or_default();
        let result = call.object("result").map(|mut result| {
            let parts = result.array("content").unwrap_or_default();
            let body: String = parts.into_iter().map(part).collect();
            (ToolStatus::Success, Some(Text::from(body)))
        });
        steps.push(Step::Call(Call {
            id: call.corr_id("id"),
            name: call.str("name").unwrap_or_default(),
            arguments: call.str("arguments"),
            title: None,
            command: None,
            result,
        }));
    }
    steps.into_iter().map(|step| (at, step)).collect()
}

/// A part of a result: a text, or a tree of texts.
fn part(raw: Raw<'_>) -> String {
    let mut part = value::object(raw).unwrap_or_default();
    if let Some(text) = part.str("value") {
        return text.into_owned();
    }
    let node = part.object("value").and_then(|mut value| value.object("node"));
    let mut text = String::new();
    match node {
        Some(mut node) => read_tree(&mut node, DEPTH, &mut text),
        None => text.push_str(raw.get()),
    }
    text
}

fn read_tree(node: &mut Object<'_>, depth: usize, out: &mut String) {
    if node.bool("lineBreakBefore") == Some(true) && !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&node.str("text").unwrap_or_default());
    for child in node.array("children").unwrap_or_default() {
        if let (Some(mut child), 1..) = (value::object(child), depth) {
            read_tree(&mut child, depth - 1, out);
        }
    }
}

/// The steps of what the person saw: pieces of a text, thoughts, calls.
fn shown(parts: Vec<Raw<'_>>) -> Vec<(Option<Timestamp>, Step<'_>)> {
    let (mut steps, mut text) = (Vec::new(), String::new());
    for raw in parts {
        let mut part = value::object(raw).unwrap_or_default();
        let kind = part.str("kind").unwrap_or_default();
        let step = match &*kind {
            "" if part.has("value") => {
                text.push_str(&words(&mut part, "value").unwrap_or_default().decode());
                continue;
            }
            "inlineReference" => {
                let mut file = part.object("inlineReference").unwrap_or_default();
                let path = file.str("fsPath").or_else(|| file.str("path"));
                text.push_str(&path.unwrap_or_default());
                continue;
            }
            "thinking" => Step::Thinking(words(&mut part, "value").unwrap_or_default()),
            "toolInvocationSerialized" => Step::Call(invocation(&mut part)),
            kind if SILENT.contains(&kind) => continue,
            _ => Step::Unknown { name: kind.clone(), raw },
        };
        steps.extend(told(&mut text));
        steps.push(step);
    }
    steps.extend(told(&mut text));
    steps.into_iter().map(|step| (None, step)).collect()
}

/// The text so far, if there is any.
fn told<'a>(text: &mut String) -> Option<Step<'a>> {
    let text = std::mem::take(text);
    (!text.is_empty()).then(|| Step::Text(text.into()))
}

fn invocation<'a>(part: &mut Object<'a>) -> Call<'a> {
    let mut detail = part.object("toolSpecificData").unwrap_or_default();
    let mut line = detail.object("commandLine").unwrap_or_default();
    let is_complete = part.bool("isComplete") == Some(true);
    let said = words(part, "pastTenseMessage");
    let name = part.str("toolId").unwrap_or_default();
    let title = words(part, "invocationMessage").unwrap_or_else(|| Text::from(&*name));
    Call {
        id: part.corr_id("toolCallId"),
        name,
        arguments: None,
        title: Some(title),
        command: line.text("original"),
        result: is_complete.then_some((ToolStatus::Unknown, said)),
    }
}

/// A text, or the object with its `value`.
fn words(part: &mut Object<'_>, field: &str) -> Option<Text> {
    part.text(field).or_else(|| part.object(field)?.text("value"))
}
