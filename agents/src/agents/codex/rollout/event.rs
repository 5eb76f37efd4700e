//! The wire types of `event_msg`: output of the program's interface.

use foldline_domain::Image;

use super::{
    item::Output,
    limits::StatedLimit,
    prompts::{Author, Prompt},
    session::Terms,
};
use crate::{
    codex::{
        either, snake, take_usage,
        tools::{AgentCall, CommandExecution, FileChanges, MakeImage, McpCall, Tool, WebSearch},
    },
    content::{self, Blocks, Part},
    prelude::*,
};

/// An event of the program's interface.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// `task_started`.
    TurnStarted,
    /// `task_complete`, `turn_aborted`.
    TurnEnded(TurnEnd),
    /// `user_message`: a prompt of the user.
    UserMessage(Prompt),
    AgentMessage(Text),
    /// `agent_reasoning`, `agent_reasoning_raw_content`.
    Thought(Text),
    /// `token_count`, which is repeated often.
    TokenCount {
        /// All tokens of the thread so far.
        total: Option<TokenUsage>,
        /// The tokens of the last request.
        last: Option<TokenUsage>,
        /// The limits of the account.
        limits: Vec<StatedLimit>,
    },
    /// `dynamic_tool_call_request`.
    Began(Option<CorrId>, Tool<'a>),
    /// `exec_command_end`, `patch_apply_end`, `mcp_tool_call_end`, `collab_.._end` and similar events.
    Ended(Option<CorrId>, Tool<'a>),
    /// `item_completed`.
    Completed(CompletedItem<'a>, Fields<'a>),
    Error(Text, Vec<(String, Json)>),
    /// A message of the program with all its fields.
    Notice(Text, Vec<(String, Json)>),
    Compacted,
    Title(Option<Text>),
    /// `thread_settings_applied`, with the terms of the price.
    Settings(Box<Session>, Option<Terms>),
}

/// The end of a turn.
#[derive(Clone, Debug, Default)]
pub struct TurnEnd {
    /// The outcome; absent for `task_complete` without an error.
    pub outcome: Option<Outcome>,
    /// The reason for aborting it.
    pub reason: Option<Text>,
    /// Repeats the agent's last message.
    pub last_words: Option<Text>,
    /// The error, which an `error` event may have reported before.
    pub error: Option<Text>,
    pub duration_ms: Option<u64>,
}

/// An item of `item_completed`.
#[derive(Clone, Debug)]
pub enum CompletedItem<'a> {
    /// `UserMessage`, `HookPrompt`.
    User(Prompt),
    /// `AgentMessage`.
    Agent(Option<Text>, Blocks),
    /// `Reasoning`.
    Thoughts(Option<Text>, Vec<Text>),
    /// `FunctionCallOutput`: the name of the tool, and its output.
    Output(String, Output),
    /// `ContextCompaction`.
    Compaction,
    /// `SubAgentActivity`, `EnteredReviewMode`, `ExitedReviewMode`, `Sleep`: a message of the program with all its fields.
    Notice(Text, Vec<(String, Json)>),
    /// A tool.
    Tool(Option<CorrId>, Tool<'a>),
    /// An unknown type.
    Unknown(String, Json),
}

impl<'a> Event<'a> {
    /// Reads a payload, if its type is known.
    ///
    /// `is_inherited`: the person typed it in the parent's session.
    pub(super) fn take(kind: &str, is_inherited: bool, payload: &mut Object<'a>) -> Option<Self> {
        Some(match kind {
            "task_started" | "turn_started" => {
                payload.ignore(&["turn_id", "started_at", "model_context_window", "trace_id"]);
                payload.ignore(&["collaboration_mode_kind"]);
                Self::TurnStarted
            }
            "task_complete" | "turn_complete" | "turn_aborted" => {
                Self::TurnEnded(TurnEnd::take(kind, payload))
            }
            "user_message" => Self::UserMessage(take_user_message(is_inherited, payload)),
            "agent_message" => {
                payload.ignore(&["phase", "memory_citation"]);
                Self::AgentMessage(payload.text("message").unwrap_or_default())
            }
            "agent_reasoning" | "agent_reasoning_raw_content" => {
                Self::Thought(payload.text("text").unwrap_or_default())
            }
            "token_count" => {
                let limits = StatedLimit::take(payload);
                let [total, last] = take_token_count(payload);
                Self::TokenCount { total, last, limits }
            }
            "dynamic_tool_call_request" => {
                let id = payload.corr_id("callId").or_else(|| payload.corr_id("call_id"));
                payload.ignore(&["startedAtMs", "started_at_ms"]);
                Self::Began(id, Tool::Mcp(McpCall::take_dynamic(payload)))
            }
            "item_completed" => {
                payload.ignore(&["thread_id", "turn_id", "started_at_ms", "completed_at_ms"]);
                let (item, unknown) = CompletedItem::read(is_inherited, payload.raw("item")?);
                Self::Completed(item, unknown)
            }
            "error" => {
                let message = payload.text("message").unwrap_or_default();
                Self::Error(message, std::mem::take(payload).into_extra().collect())
            }
            "context_compacted" => Self::Compacted,
            "thread_name_updated" => {
                payload.ignore(&["thread_id"]);
                Self::Title(payload.text("thread_name"))
            }
            "thread_settings_applied" => {
                let mut settings = payload.object("thread_settings").unwrap_or_default();
                let terms = settings.str("service_tier").and_then(|tier| Terms::of_tier(&tier));
                let facts = Session {
                    cwd: settings.text("cwd"),
                    model: settings.text("model"),
                    provider: settings.text("model_provider_id"),
                    reasoning_effort: settings.text("reasoning_effort"),
                    ..Session::default()
                };
                Self::Settings(Box::new(facts), terms)
            }
            _ => match take_tool(kind, payload) {
                Some((id, tool)) => {
                    payload.ignore(&["completed_at_ms", "started_at_ms"]);
                    Self::Ended(id, tool)
                }
                None => {
                    let text = notice(kind, payload)?;
                    Self::Notice(text, std::mem::take(payload).into_extra().collect())
                }
            },
        })
    }
}

fn take_tool<'a>(kind: &str, payload: &mut Object<'a>) -> Option<(Option<CorrId>, Tool<'a>)> {
    let id = payload.get_str("call_id").filter(|id| !id.is_empty()).map(CorrId::from);
    let tool = match kind {
        "exec_command_end" => Tool::Command(CommandExecution::take(payload)),
        "patch_apply_end" => Tool::Patch(FileChanges::take(payload)),
        "mcp_tool_call_end" => Tool::Mcp(McpCall::take(payload)),
        "dynamic_tool_call_response" => Tool::Mcp(McpCall::take_dynamic(payload)),
        "web_search_end" => Tool::Web(WebSearch::take(payload)),
        "view_image_tool_call" => Tool::ViewImage(payload.str("path").unwrap_or_default()),
        "image_generation_end" => Tool::MakeImage(MakeImage::take(payload)),
        "collab_agent_spawn_end" => Tool::Agents(AgentCall::take_event("spawn_agent", payload)),
        "collab_agent_interaction_end" => {
            Tool::Agents(AgentCall::take_event("send_input", payload))
        }
        "collab_waiting_end" => Tool::Agents(AgentCall::take_event("wait", payload)),
        "collab_close_end" => Tool::Agents(AgentCall::take_event("close_agent", payload)),
        "collab_resume_end" => Tool::Agents(AgentCall::take_event("resume_agent", payload)),
        _ => return None,
    };
    payload.ignore(&["call_id"]);
    Some((id, tool))
}

/// A line for the user; all further fields stay.
fn notice(kind: &str, payload: &mut Object<'_>) -> Option<Text> {
    let text = match kind {
        "entered_review_mode" => {
            let hints = ["user_facing_hint", "prompt", "review"];
            let hint = hints.into_iter().find_map(|name| payload.get_str(name));
            hint.map_or("review".into(), |hint| format!("review: {hint}"))
        }
        "exited_review_mode" => {
            let output = payload.get("review_output").and_then(value::object);
            let words = output.and_then(|mut output| output.str("overall_explanation"));
            let words = words.or_else(|| payload.get_str("review"));
            words.map_or("review finished".into(), |words| format!("review finished: {words}"))
        }
        "undo_completed" => {
            let words = payload.str("message");
            words.map_or_else(|| "undone".into(), Cow::into_owned)
        }
        "guardian_assessment" => {
            let status = payload.get_str("status").unwrap_or_default();
            match payload.get_str("rationale") {
                Some(rationale) => format!("assessment: {status}: {rationale}"),
                None => format!("assessment: {status}"),
            }
        }
        "sub_agent_activity" => {
            let agent =
                payload.get_str("agent_path").or_else(|| payload.get_str("agent_thread_id"));
            let kind = payload.get_str("kind").unwrap_or_default();
            format!("sub-agent {}: {kind}", agent.unwrap_or_default())
        }
        "thread_goal_updated" => {
            let goal = payload.get("goal").and_then(value::object);
            let mut goal = goal.unwrap_or_default();
            let objective = goal.str("objective").unwrap_or_default();
            format!("goal {}: {objective}", goal.str("status").unwrap_or_default())
        }
        "sleep" => "sleep".into(),
        "thread_rolled_back" => "turns rolled back".into(),
        "warning" | "stream_error" | "background_event" => {
            payload.str("message").unwrap_or_default().into_owned()
        }
        "deprecation_notice" => payload.str("summary").unwrap_or_default().into_owned(),
        _ => return None,
    };
    Some(text.into())
}

impl TurnEnd {
    fn take(kind: &str, payload: &mut Object<'_>) -> Self {
        let error = payload.object("error").and_then(|mut error| error.text("message"));
        let reason = payload.text("reason");
        let outcome = match kind {
            "turn_aborted" if reason.as_ref().is_some_and(|reason| *reason == "budget_limited") => {
                Some(Outcome::LimitReached)
            }
            "turn_aborted" => Some(Outcome::Cancelled),
            _ => error.is_some().then_some(Outcome::Failed),
        };
        payload.ignore(&["turn_id", "started_at", "completed_at", "time_to_first_token_ms"]);
        Self {
            outcome,
            reason,
            error,
            last_words: payload.text("last_agent_message"),
            duration_ms: payload.u64("duration_ms"),
        }
    }
}

fn take_user_message(is_inherited: bool, payload: &mut Object<'_>) -> Prompt {
    let text = payload.text("message").unwrap_or_default();
    let mut content = Blocks::from(text);
    for key in ["images", "local_images"] {
        for image in payload.array(key).unwrap_or_default() {
            let shown = value::as_str(image).map(|url| content::image_of_url(&url));
            let unknown = || Content::picture("[image]", Image::without_content(""));
            content.parts.push(Part::Media(shown.unwrap_or_else(unknown)));
        }
    }
    for key in ["audio", "local_audio"] {
        for _ in payload.array(key).unwrap_or_default() {
            content.parts.push(Part::Media("[audio]".into()));
        }
    }
    let kind = payload.str("kind").unwrap_or_default();
    payload.ignore(&["text_elements", "client_id"]);
    // Old releases mark context by its kind.
    let is_context = matches!(&*kind, "environment_context" | "user_instructions");
    Prompt { id: None, content, author: author(is_context || is_inherited) }
}

/// Whether an item of an extension is a web search.
fn is_web_search(item: &Object<'_>) -> bool {
    let is_named = item.get_str("kind").is_some_and(|kind| snake(&kind) == "web_search");
    is_named || item.has("action") || item.has("query")
}

/// The author of a prompt.
fn author(is_context: bool) -> Author {
    if is_context { Author::Program } else { Author::Person }
}

impl<'a> CompletedItem<'a> {
    fn read(is_inherited: bool, raw: Raw<'a>) -> (Self, Fields<'a>) {
        let mut item: Object<'a> = value::object(raw).unwrap_or_default();
        let name = item.str("type").unwrap_or_default();
        let kind = snake(&name);
        let id = item.corr_id("id");
        let text_id = || id.as_ref().map(|id| Text::from(id.as_str()));
        let read = match &*kind {
            "user_message" => {
                item.ignore(&["client_id"]);
                let content = item.raw("content").map(Blocks::read).unwrap_or_default();
                Self::User(Prompt { id: text_id(), content, author: author(is_inherited) })
            }
            "hook_prompt" => {
                let content = hook_prompt(&mut item);
                Self::User(Prompt { id: text_id(), content, author: Author::Program })
            }
            "agent_message" => {
                item.ignore(&["phase", "memory_citation"]);
                let content = item.raw("content").map(Blocks::read).unwrap_or_default();
                Self::Agent(text_id(), content)
            }
            "reasoning" => {
                let summary = item.texts("summary_text").unwrap_or_default();
                let content = item.texts("raw_content").unwrap_or_default();
                Self::Thoughts(text_id(), if summary.is_empty() { content } else { summary })
            }
            "function_call_output" => {
                let tool = item.get_str("name").unwrap_or_default().into_owned();
                let output = Output::take(&mut item);
                Self::Output(tool, Output { id: output.id.or(id), ..output })
            }
            "context_compaction" => Self::Compaction,
            "sub_agent_activity" | "entered_review_mode" | "exited_review_mode" | "sleep" => {
                let text = notice(&kind, &mut item).unwrap_or_default();
                Self::Notice(text, std::mem::take(&mut item).into_extra().collect())
            }
            // A tool of an extension; the observed ones search the web.
            "extension" if is_web_search(&item) => {
                item.ignore(&["kind"]);
                Self::Tool(id, Tool::Web(WebSearch::take(&mut item)))
            }
            kind => match Tool::take_item(kind, &mut item) {
                Some(tool) => Self::Tool(id, tool),
                None => return (Self::Unknown(name.into_owned(), raw.into()), Fields::new()),
            },
        };
        (read, item.rest())
    }
}

/// The text of a hook, as the message to the model states it.
fn hook_prompt(item: &mut Object<'_>) -> Blocks {
    let fragments = item.array("fragments").unwrap_or_default().into_iter().filter_map(|raw| {
        let mut fragment: Object<'_> = value::object(raw)?;
        let hook = either(&mut fragment, "hook_run_id", Object::str).unwrap_or_default();
        let text = fragment.str("text").unwrap_or_default();
        Some(format!("<hook_prompt hook_run_id=\"{hook}\">{text}</hook_prompt>"))
    });
    fragments.map(|text| Blocks::from(Text::from(text))).collect()
}

/// Takes all tokens of the thread so far and those of the last request. Unknown fields stay, as `info.name`.
fn take_token_count(payload: &mut Object<'_>) -> [Option<TokenUsage>; 2] {
    let mut info = payload.object("info").unwrap_or_default();
    info.ignore(&["model_context_window"]);
    let total = take_usage(&mut info, "total_token_usage");
    let last = take_usage(&mut info, "last_token_usage");
    payload.adopt("info", info);
    [total, last]
}
