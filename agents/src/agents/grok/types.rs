//! The wire types of Grok's sessions.

use super::{LINE, image_of_url};
use crate::{dialect::usage::take_counters, prelude::*, recogniser::nested};

/// A line of a session.
#[derive(Clone, Debug)]
pub enum GrokLine<'a> {
    /// The facts of the session.
    Facts(Box<Session>),
    /// Texts of a person, of the program, or thoughts.
    Said(NormalizedEntryType, Vec<Content>),
    /// An answer of the model, with its calls: id, name and arguments as a JSON text.
    Answer { text: Text, calls: Vec<CallOf<'a>>, model: Option<Text>, effort: Option<Text> },
    /// The result of a call.
    Result { call: Option<CorrId>, has_failed: bool, body: Option<Text> },
    /// A call of a tool that ran at the service.
    Served { id: Option<CorrId>, name: Cow<'a, str>, action: Raw<'a>, status: Option<ToolStatus> },
    /// The end of a turn.
    Turn(Box<Turn>),
}

/// A call: its id, the name of the tool, and the arguments.
type CallOf<'a> = (Option<CorrId>, Cow<'a, str>, Option<Cow<'a, str>>);

/// The tokens of a turn.
#[derive(Clone, Debug)]
pub struct Turn {
    pub id: Option<Text>,
    pub usage: TokenUsage,
    /// The same by model.
    pub models: Vec<(Text, TokenUsage)>,
}

/// The counters of a turn: cached input is part of the input, reasoning of the output.
const COUNTERS: [&str; 5] =
    ["inputTokens", "outputTokens", "cachedReadTokens", "cacheCreationTokens", "reasoningTokens"];

/// The ticks of a dollar.
const TICKS: f64 = 1e10;

impl<'a> GrokLine<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        let Some(line) = nested(object, LINE) else { return Parsed::Unknown };
        // Older sessions name the role.
        let kind = line.get_str("type").or_else(|| line.get_str("role")).unwrap_or_default();
        header.name = kind.clone();
        header.at = line.clone().timestamp("at");
        if Self::take(&kind, &mut line.clone()).is_none() {
            return Parsed::Unknown;
        }
        let taken = object.within(LINE, |line| {
            line.ignore(&["type", "role", "at"]);
            Self::take(&kind, line)
        });
        taken.flatten().map_or(Parsed::Unknown, Parsed::Line)
    }

    fn take(kind: &str, line: &mut Object<'a>) -> Option<Self> {
        Some(match kind {
            "session" => Self::Facts(Box::new(Session {
                session_id: line.str("id").map(SessionId::from),
                parent: line.str("parent").map(|id| {
                    Box::new(match line.str("kind").as_deref() {
                        Some("subagent" | "subagent_fork") => Parent::of_agent(&*id),
                        _ => Parent::of_fork(&*id),
                    })
                }),
                title: line.text("title"),
                cwd: line.text("cwd"),
                model: line.text("model"),
                branch: line.text("branch"),
                reasoning_effort: line.text("effort"),
                started_at: line.timestamp("created_at"),
                ..Session::default()
            })),
            "system" => {
                Self::Said(NormalizedEntryType::SystemMessage, contents(line.raw("content")?))
            }
            "user" => {
                line.ignore(&["prompt_index", "prompt_id"]);
                let reason = line.str("synthetic_reason");
                let is_typed = reason.is_none_or(|reason| reason == "interjection");
                let author = match is_typed {
                    true => NormalizedEntryType::UserMessage,
                    false => NormalizedEntryType::SystemMessage,
                };
                Self::Said(author, contents(line.raw("content")?))
            }
            "reasoning" => {
                line.ignore(&["id", "encrypted_content", "status", "prompt_id"]);
                Self::Said(NormalizedEntryType::Thinking, contents(line.raw("summary")?))
            }
            "assistant" => {
                line.ignore(&["model_fingerprint", "prompt_id"]);
                let calls = line.array("tool_calls").unwrap_or_default().into_iter().map(|raw| {
                    let mut call = value::object(raw).unwrap_or_default();
                    let name = call.str("name").unwrap_or_default();
                    (call.corr_id("id"), name, call.str("arguments"))
                });
                let calls = calls.collect();
                Self::Answer {
                    text: line.text("content").unwrap_or_default(),
                    calls,
                    model: line.text("model_id"),
                    effort: line.text("reasoning_effort"),
                }
            }
            "tool_result" | "tool" => Self::Result {
                call: line.corr_id("tool_call_id"),
                has_failed: line.str("status").as_deref() == Some("failed"),
                body: line.raw("content").filter(|raw| !raw.is_null()).map(words),
            },
            "backend_tool_call" => {
                let mut kind = line.object("kind")?;
                Self::Served {
                    id: kind.corr_id("id"),
                    name: kind.str("tool_type").unwrap_or_default(),
                    action: kind.raw("action")?,
                    status: match kind.str("status").as_deref() {
                        Some("completed") => Some(ToolStatus::Success),
                        Some("failed") => Some(ToolStatus::Failed),
                        _ => None,
                    },
                }
            }
            "turn" => {
                line.ignore(&["stop_reason"]);
                let mut usage = line.object("usage").unwrap_or_default();
                let cost = usage.f64("costUsdTicks").map(|ticks| ticks / TICKS);
                let models = usage.object("modelUsage").unwrap_or_default().rest();
                let models = models.into_iter().filter_map(|(name, raw)| {
                    let mut usage = value::object(raw)?;
                    let cost = usage.f64("costUsdTicks").map(|ticks| ticks / TICKS);
                    Some((
                        name.into(),
                        TokenUsage { cost_usd: cost, ..take_counters(&mut usage, COUNTERS) },
                    ))
                });
                let models = models.collect();
                let usage = TokenUsage { cost_usd: cost, ..take_counters(&mut usage, COUNTERS) };
                Self::Turn(Box::new(Turn { id: line.text("id"), usage, models }))
            }
            _ => return None,
        })
    }
}

/// A text, or the texts and pictures of a list.
fn contents(raw: Raw<'_>) -> Vec<Content> {
    let Some(parts) = value::elements(raw) else { return vec![value::into_text(raw).into()] };
    let parts = parts.into_iter().map(|raw| {
        let mut part = value::object(raw).unwrap_or_default();
        match (part.text("text"), part.str("url")) {
            (Some(text), _) => text.into(),
            (None, Some(url)) => image_of_url(&url),
            (None, None) => value::into_text(raw).into(),
        }
    });
    parts.filter(|content: &Content| !content.is_empty()).collect()
}

/// The text of a result.
fn words(raw: Raw<'_>) -> Text {
    let Some(parts) = value::elements(raw) else { return value::into_text(raw) };
    let parts = parts.into_iter().map(|raw| {
        let mut part = value::object(raw).unwrap_or_default();
        let text = part.text("text").or_else(|| part.object("content")?.text("text"));
        text.unwrap_or_else(|| value::into_text(raw)).decode().into_owned()
    });
    Text::from(parts.collect::<Vec<_>>().join("\n"))
}
