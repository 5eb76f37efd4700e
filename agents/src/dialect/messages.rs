//! [`Messages`]: the executor of formats whose openers write whole messages, all in the same form.
//!
//! Each line has the id of its session in a field of its format. The facts of a session come first, then its messages:
//! `{"zedThread": "1", "facts": {..}}`, `{"zedThread": "1", "message": {"role": "assistant", "content": [..]}}`.

use std::{fmt::Debug, marker::PhantomData, sync::Arc};

use foldline::source::Opener;
use foldline_domain::ToolResult as Body;

use super::{textual_result::TextualResult, usage::take_counters};
use crate::{action::Titled, prelude::*, recogniser::nested};

/// A format whose opener writes such lines.
pub trait MessageFormat: Clone + Copy + Debug + Default + Send + Sync + 'static {
    /// The format.
    const FORMAT: Format;
    /// The field with the id of the session.
    const KEY: &'static str;

    /// How its logs are opened.
    fn openers() -> Vec<Arc<dyn Opener>>;

    /// Takes the action of a call from its arguments; `None` if it has no separate one.
    fn action(name: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled>;

    /// Whether a tool without a separate action is known. By default, a program may have any tools.
    fn is_plain(_name: &str) -> bool {
        true
    }

    /// The words of a text by their kind, of which `kind` is that of the author, and the time in it.
    fn split(kind: NormalizedEntryType, text: Text) -> (Parts, Option<Timestamp>) {
        (vec![(kind, text.into())], None)
    }
}

/// Words by their kind.
pub type Parts = Vec<(NormalizedEntryType, Content)>;

/// The executor of a [`MessageFormat`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Messages<F>(PhantomData<F>);

/// A line.
#[derive(Clone, Debug)]
pub enum MessageLine<'a> {
    /// The facts of a session, with its tokens and their time, if the messages state none.
    Facts(Box<(Session, TokenUsage, Option<Timestamp>)>),
    /// A message.
    Message(Box<Message<'a>>),
}

/// A message.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    id: Option<Text>,
    model: Option<Text>,
    usage: TokenUsage,
    kind: NormalizedEntryType,
    /// Whether it has only results, at a time other than that of their calls.
    is_of_tool: bool,
    content: Option<Raw<'a>>,
}

type Cx<'s> = Context<'s, TextualResult>;

impl<F: MessageFormat> Executor for Messages<F> {
    const FORMAT: Format = F::FORMAT;
    type Line<'a> = MessageLine<'a>;
    type Result = TextualResult;
    type Memory = ();

    fn openers(&self) -> Vec<Arc<dyn Opener>> {
        F::openers()
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        Evidence::certain_if(object.has(F::KEY) && object.has_any(&["facts", "message"]))
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        object.get_str(F::KEY)
    }

    fn parse<'a>(
        &self,
        object: &mut Object<'a>,
        header: &mut Header<'a>,
    ) -> Parsed<MessageLine<'a>> {
        if let Some(facts) = object.within("facts", take_facts) {
            object.ignore(&[F::KEY]);
            header.name = "facts".into();
            return Parsed::Line(MessageLine::Facts(Box::new(facts)));
        }
        let role = nested(object, "message").and_then(|message| message.get_str("role"));
        let Some(kind) = role.as_deref().and_then(author) else { return Parsed::Unknown };
        object.ignore(&[F::KEY]);
        header.name = role.unwrap_or_default();
        let message = object.within("message", |message| {
            header.at = message.timestamp("createdAt").or(header.at);
            Message {
                id: message.text("id"),
                model: message.text("model"),
                usage: message.within("usage", take_usage).unwrap_or_default(),
                kind,
                is_of_tool: message.str("role").as_deref() == Some("tool"),
                content: message.raw("content"),
            }
        });
        message.map_or(Parsed::Unknown, |it| Parsed::Line(MessageLine::Message(Box::new(it))))
    }

    fn line(&self, line: MessageLine<'_>, extra: Extra, (): &mut (), cx: &mut Cx<'_>) {
        match line {
            MessageLine::Facts(line) => {
                let (facts, usage, at) = *line;
                cx.at = facts.started_at;
                cx.session(facts);
                if !extra.is_empty() {
                    cx.entry(NormalizedEntryType::SystemMessage, "session", extra);
                }
                cx.usage_at(at.or(cx.at), cx.known().model.clone(), usage);
            }
            MessageLine::Message(message) => show::<F>(*message, extra, cx),
        }
    }
}

/// The kind of an author's words.
fn author(role: &str) -> Option<NormalizedEntryType> {
    Some(match role {
        "user" => NormalizedEntryType::UserMessage,
        "assistant" => NormalizedEntryType::AssistantMessage,
        "system" | "tool" => NormalizedEntryType::SystemMessage,
        "compaction" => NormalizedEntryType::Compaction,
        "error" => NormalizedEntryType::ErrorMessage,
        _ => return None,
    })
}

/// The counters of a session or of a message, whose input includes cached input.
const COUNTERS: [&str; 5] = ["input", "output", "cacheRead", "cacheWrite", "reasoning"];

fn take_usage(usage: &mut Object<'_>) -> TokenUsage {
    TokenUsage { cost_usd: usage.f64("cost"), ..take_counters(usage, COUNTERS) }
}

fn take_facts(facts: &mut Object<'_>) -> (Session, TokenUsage, Option<Timestamp>) {
    let usage = facts.within("usage", take_usage).unwrap_or_default();
    let session = Session {
        title: facts.text("title").filter(|title| !title.is_empty()),
        cwd: facts.text("cwd"),
        branch: facts.text("branch"),
        model: facts.text("model"),
        provider: facts.text("provider"),
        parent: facts
            .str("parent")
            .map(|id| Parent::of_agent(&*id))
            .or_else(|| facts.str("continues").map(|id| Parent::of_continuation(&*id)))
            .map(Box::new),
        outcome_reason: facts.text("reason"),
        started_at: facts.timestamp("createdAt"),
        ended_at: facts.timestamp("endedAt"),
        ..Session::default()
    };
    let used_at = facts.timestamp("usedAt").or(session.ended_at);
    (session, usage, used_at)
}

/// Emits a message. Its unknown fields are kept with its first part, or else alone.
fn show<F: MessageFormat>(message: Message<'_>, extra: Extra, cx: &mut Cx<'_>) {
    let Message { id, model, usage, kind, is_of_tool, content } = message;
    if model.is_some() && cx.known().model != model {
        cx.session(Session { model, ..Session::default() });
    }
    let mut meta = Meta::from((id.clone(), extra));
    let blocks = content.map(|content| value::elements(content).unwrap_or_else(|| vec![content]));
    for raw in blocks.unwrap_or_default() {
        let mut block = value::object(raw).unwrap_or_default();
        let name = block.str("type").unwrap_or_default();
        let text = Text::from_raw(raw).or_else(|| block.text("text"));
        let thinking = NormalizedEntryType::Thinking;
        let (mut parts, mut call, mut result) = (Parts::new(), None, None);
        match (&*name, text) {
            ("" | "text", Some(text)) => {
                let (split, at) = F::split(kind.clone(), text);
                cx.at = cx.at.or(at);
                parts = split;
            }
            ("reasoning" | "thinking", Some(text)) => parts.push((thinking, text.into())),
            ("redacted-reasoning", _) => parts.push((thinking, "[REDACTED]".into())),
            ("image", _) => {
                let (content, more) = cx.content("content", raw);
                (block, meta.extra) = (Object::default(), [meta.extra, more].concat());
                parts.push((kind.clone(), content));
            }
            ("tool-call", _) => {
                let (tool, given) = (block.str("toolName").unwrap_or_default(), block.raw("args"));
                let cwd = cx.cwd();
                let act = |given: &mut Object<'_>| F::action(&tool, given, cwd.as_deref());
                let mapped = MappedCall::of(&tool, given, || F::is_plain(&tool), act);
                call = Some((block.corr_id("toolCallId"), tool, mapped));
            }
            ("tool-result", _) => {
                let at = cx.at.filter(|_| is_of_tool);
                result = Some((block.corr_id("toolCallId"), take_result(&mut block, at)));
            }
            _ => {
                cx.unknown_block(&name, raw);
                continue;
            }
        }
        // What only the model's provider can read.
        block.ignore(&["data", "signature", "providerOptions"]);
        let more = cx.unknown_fields("content", &block.rest());
        meta.extra.extend(more);
        for (kind, content) in parts {
            cx.entry(kind, content, meta.next());
        }
        if let Some((id, tool, mapped)) = call {
            cx.call(id, &tool, mapped, meta.next());
        }
        if let Some((id, mut result)) = result {
            result.extra.append(&mut meta.extra);
            cx.result(id, result);
        }
    }
    if !meta.extra.is_empty() {
        cx.entry(NormalizedEntryType::SystemMessage, "message", meta);
    }
    cx.usage_of_message(id, cx.known().model.clone(), usage);
}

/// Takes a result: a text, or an object with the output of the tool.
fn take_result(block: &mut Object<'_>, at: Option<Timestamp>) -> TextualResult {
    let mut result = TextualResult::new(ToolStatus::Success, at);
    let mut is_denied = block.str("userDecision").as_deref() == Some("rejected");
    let mut error = block.raw("error").map(|raw| {
        let mut given = value::object(raw).unwrap_or_default();
        let mut words = ["modelVisibleErrorMessage", "clientVisibleErrorMessage"].into_iter();
        words.find_map(|name| given.text(name)).unwrap_or_else(|| value::into_text(raw))
    });
    match block.raw("result").map(|raw| (raw, value::object(raw))) {
        Some((raw, Some(mut given))) => {
            is_denied |= given.get("rejected").is_some_and(|raw| raw.get() == "true");
            if given.has_any(&["output", "contents", "exit_code", "error"]) {
                let mut codes = ["exitCodeV2", "exitCode", "exit_code"].into_iter();
                let code = codes.find_map(|name| given.take(name, value::parse));
                result.exit_status = code.map(|code| CommandExitStatus::ExitCode { code });
                error = error.or_else(|| given.text("error"));
                let output = given.text("output").or_else(|| given.text("contents"));
                result.body = output.filter(|output| !output.is_empty()).map(Body::Text);
                given.ignore(&["rejected"]);
                let more = given.into_extra().map(|(name, json)| (format!("result.{name}"), json));
                result.extra = more.collect();
            } else {
                result.body = Some(Body::Json(raw.into()));
            }
        }
        Some((raw, None)) => result.body = Some(Body::Text(value::into_text(raw))),
        None => {}
    }
    error = error.filter(|error| !error.is_empty());
    result.status = match &*block.str("status").unwrap_or_default() {
        _ if is_denied => ToolStatus::Denied { reason: error.clone() },
        "cancelled" => ToolStatus::Cancelled,
        "error" => ToolStatus::Failed,
        _ if block.bool("isError") == Some(true) || error.is_some() => ToolStatus::Failed,
        "running" => ToolStatus::Unknown,
        _ => ToolStatus::Success,
    };
    block.ignore(&["isError", "toolName"]);
    result.body = result.body.take().or_else(|| error.map(Body::Text));
    result
}
