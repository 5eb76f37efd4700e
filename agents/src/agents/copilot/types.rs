//! The wire types of Copilot's events, releases 1.0.45 to 1.0.77.

use foldline_domain::NormalizedEntryType::{Compaction, ErrorMessage, SystemMessage, UserMessage};

use super::{STORE, STORED};
use crate::{
    action::is_among,
    content,
    dialect::{
        notice::{self, Notice, Said},
        usage::{ModelUsage, take_counters, with_cache},
    },
    prelude::*,
};

/// One event.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// `session.start`, `session.model_change`, ..: facts of the session.
    Session(Session),
    /// A message with further fields and its usage.
    Said(Said, ModelUsage),
    /// `system.message`: the system prompt.
    Prompt(Text),
    /// `assistant.message`
    Message(Message<'a>),
    /// `assistant.reasoning`: a thought, which the message may repeat.
    Thought(Option<Text>, Text),
    /// `assistant.message_delta` and `assistant.reasoning_delta`: a chunk of a message or thought.
    Delta { id: Text, is_thought: bool, more: Text },
    /// `tool.execution_start`, `tool.user_requested`
    Start(Call<'a>),
    /// `tool.execution_complete`
    Complete(Complete<'a>),
    /// `permission.completed`: the denied call and the user's comment.
    Denied(CorrId, Option<Text>),
    /// `subagent.started`: the call that started a sub-agent.
    SubAgent(CorrId),
    /// `assistant.usage`: the usage of a model call.
    Usage(ModelUsage),
    /// `session.shutdown`: the end of the program, with the usage by model and further totals.
    Shutdown(Session, Vec<ModelUsage>, Extra),
    /// The lines of the database follow.
    Store,
    /// The id and the usage of a request in the database.
    Stored(Option<u64>, ModelUsage),
    /// An event that others repeat, or that is not part of the conversation.
    Quiet,
}

/// `assistant.message`.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    pub id: Option<Text>,
    pub model: Option<Text>,
    /// The readable part of the model's thought.
    pub reasoning: Option<Text>,
    pub content: Text,
    pub calls: Vec<Call<'a>>,
    pub usage: TokenUsage,
}

/// A tool call.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    pub id: Option<CorrId>,
    pub name: Cow<'a, str>,
    pub arguments: Option<Raw<'a>>,
    /// The purpose of the call, and the server of the tool.
    pub facts: Extra,
}

/// `tool.execution_complete`.
#[derive(Clone, Debug)]
pub struct Complete<'a> {
    pub call: Option<CorrId>,
    pub has_failed: bool,
    pub is_denied: bool,
    /// Text for the model.
    pub content: Option<Text>,
    /// Text for the user.
    pub detail: Option<Text>,
    /// Files as content blocks.
    pub files: Option<Raw<'a>>,
    pub error: Option<Text>,
    /// The result in further forms.
    pub facts: Extra,
}

/// Events with a single message.
const NOTICES: [Notice; 12] = [
    ("abort", SystemMessage, "aborted: ", "reason"),
    ("hook.end", ErrorMessage, "hook failed: ", "hookType"),
    ("model.call_failure", ErrorMessage, "", "errorMessage"),
    ("session.compaction_complete", Compaction, "compaction: ", "summaryContent"),
    ("session.error", ErrorMessage, "", "message"),
    ("session.info", SystemMessage, "", "message"),
    ("session.task_complete", SystemMessage, "task complete: ", "summary"),
    ("session.truncation", Compaction, "context truncated", ""),
    ("session.warning", SystemMessage, "", "message"),
    ("skill.invoked", SystemMessage, "skill: ", "name"),
    ("subagent.failed", ErrorMessage, "sub-agent failed: ", "error"),
    ("system.notification", SystemMessage, "", "content"),
];

/// Events without content, or with content that others repeat.
const QUIET: &str = "assistant.idle assistant.intent assistant.message_start \
    assistant.streaming_delta assistant.tool_call_delta assistant.turn_end assistant.turn_start \
    hook.start pending_messages.modified permission.requested session.background_tasks_changed session.compaction_start \
    session.idle session.usage_checkpoint session.usage_info subagent.completed \
    tool.execution_partial_result tool.execution_progress";

impl<'a> Event<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        let Some(mut data) = object.get("data").and_then(value::object) else {
            return Parsed::Unknown;
        };
        // Fields for the program and the model's provider.
        data.ignore(&["apiCallId", "clientRequestId", "interactionId", "providerCallId"]);
        data.ignore(&["requestId", "serviceRequestId", "hookInvocationId", "parentAgentTaskId"]);
        data.ignore(&["chunkCount", "chunkIndex", "turnId", "rte", "producer", "shellToolInfo"]);
        data.ignore(&["encryptedContent", "reasoningOpaque", "toolTelemetry"]);
        data.ignore(&["supportedNativeDocumentMimeTypes"]);
        let Some(event) = Self::take(&header.name, &mut data) else { return Parsed::Unknown };
        object.ignore(&["data", "id", "parentId", "ephemeral"]);
        let sub_agent = object.corr_id("agentId");
        header.parent = data.corr_id("parentToolCallId").or(sub_agent);
        if let Self::Quiet = event {
            return Parsed::Ignored;
        }
        object.adopt("data", data);
        Parsed::Line(event)
    }

    /// Reads an event; `None` for an unknown type.
    fn take(name: &str, data: &mut Object<'a>) -> Option<Self> {
        let has_succeeded = name == "hook.end" && data.bool("success") == Some(true);
        if has_succeeded || is_among(QUIET, name) {
            return Some(Self::Quiet);
        }
        let is_compaction = name == "session.compaction_complete";
        let used = is_compaction.then(|| data.object("compactionTokensUsed")).flatten();
        if let Some(said) = notice::take(&NOTICES, name, data) {
            return Some(Self::Said(said, take_usage(&mut used.unwrap_or_default())));
        }
        let call = data.corr_id("toolCallId");
        Some(match name {
            "session.start"
            | "session.resume"
            | "session.context_changed"
            | "session.model_change"
            | "session.title_changed" => Self::Session(take_session(data)),
            // The automatic choice of a model.
            "session.auto_mode_resolved" => {
                let model = std::mem::take(data).text("chosenModel");
                Self::Session(Session { model, ..Session::default() })
            }
            "session.shutdown" => take_shutdown(data),
            "system.message" => {
                data.ignore(&["role"]);
                Self::Prompt(data.text("content")?)
            }
            "user.message" => take_user(data),
            "assistant.message" => Self::Message(Message::take(data)),
            "assistant.reasoning" => Self::Thought(data.text("reasoningId"), data.text("content")?),
            "assistant.message_delta" | "assistant.reasoning_delta" => Self::Delta {
                id: data.text("messageId").or_else(|| data.text("reasoningId"))?,
                is_thought: name == "assistant.reasoning_delta",
                more: data.text("deltaContent")?,
            },
            "assistant.usage" => Self::Usage(take_usage(&mut std::mem::take(data))),
            STORE => Self::Store,
            STORED => {
                data.ignore(&["created_at"]);
                Self::Stored(data.u64("id"), (data.text("model"), take_counters(data, COLUMNS)))
            }
            "tool.execution_start" | "tool.user_requested" => {
                Self::Start(Call::take(call, "toolName", data))
            }
            "tool.execution_complete" => Self::Complete(Complete::take(call, data)),
            "permission.completed" => {
                let mut result = data.object("result")?;
                match result.str("kind")?.starts_with("approved") {
                    true => Self::Quiet,
                    false => Self::Denied(call?, result.text("feedback")),
                }
            }
            "subagent.started" => {
                *data = Object::default();
                Self::SubAgent(call?)
            }
            _ => return None,
        })
    }
}

/// Token counters. The input includes cached input, the output includes reasoning.
const COUNTERS: [&str; 5] =
    ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"];

/// The same in the database.
const COLUMNS: [&str; 5] = [
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
];

/// Takes the usage of a model.
fn take_usage(stated: &mut Object<'_>) -> ModelUsage {
    (stated.text("model"), take_counters(stated, COUNTERS))
}

fn take_session<'a>(data: &mut Object<'a>) -> Session {
    // The location of the session, which is in an object of the event or in the event itself.
    let context = data.object("context").unwrap_or_default();
    data.adopt("", context);
    data.ignore(&["gitRoot", "repository", "repositoryHost", "baseCommit"]);
    data.ignore(&["headCommit", "hostType"]);
    data.ignore(&["alreadyInUse", "contextTier", "eventCount", "previousModel"]);
    data.ignore(&["remoteSteerable", "resumeTime", "version"]);
    let model = data.text("newModel").or_else(|| data.text("selectedModel"));
    Session {
        session_id: data.str("sessionId").map(SessionId::from),
        version: data.text("copilotVersion"),
        // `auto` is not a model but a way to choose one.
        model: model.filter(|model| *model != "auto"),
        reasoning_effort: data.text("reasoningEffort"),
        started_at: data.timestamp("startTime"),
        title: data.text("title"),
        cwd: data.text("cwd"),
        branch: data.text("branch").filter(|branch| !branch.is_empty()),
        ..Session::default()
    }
}

/// Takes the usage by model from the end of a run, which has many other statistics.
fn take_shutdown<'a>(data: &mut Object<'a>) -> Event<'a> {
    data.ignore(&["conversationTokens", "currentModel", "currentTokens"]);
    data.ignore(&["eventsFileSizeBytes", "sessionStartTime", "systemTokens"]);
    data.ignore(&["toolDefinitionsTokens", "totalApiDurationMs", "totalNanoAiu"]);
    let totals = data.extra(&["totalPremiumRequests", "codeChanges"]);
    let reason = data.str("shutdownType");
    let outcome = match reason.as_deref() {
        Some("routine") => Some(Outcome::Success),
        Some("error") => Some(Outcome::Failed),
        _ => None,
    };
    let outcome_reason = data.text("errorReason").or(reason.map(Text::from));
    let models = data.object("modelMetrics").unwrap_or_default().rest();
    let only_model = match models.as_slice() {
        [(model, _)] => Some(Text::from(&**model)),
        _ => None,
    };
    let usages = models.into_iter().filter_map(|(model, raw)| {
        let mut usage = value::object(raw)?.object("usage")?;
        Some((Some(Text::from(model)), take_counters(&mut usage, COUNTERS)))
    });
    let mut usages: Vec<_> = usages.collect();
    let mut details = data.object("tokenDetails").unwrap_or_default();
    if usages.is_empty() {
        // The totals of the run, whose input excludes cached input.
        let mut count = |name| details.object(name)?.u64("tokenCount");
        let totals = TokenUsage {
            input_tokens: count("input"),
            output_tokens: count("output"),
            cache_read_tokens: count("cache_read"),
            cache_write_tokens: count("cache_write"),
            ..TokenUsage::default()
        };
        if !totals.is_empty() {
            usages.push((only_model, with_cache(totals)));
        }
    }
    let session = Session { outcome, outcome_reason, ..Session::default() };
    Event::Shutdown(session, usages, totals)
}

fn take_user<'a>(data: &mut Object<'a>) -> Event<'a> {
    data.ignore(&["delivery", "agentMode"]);
    let said = data.str("content").unwrap_or_default();
    if data.get_str("transformedContent").as_ref() == Some(&said) {
        data.ignore(&["transformedContent"]);
    }
    let files = data.within_each("attachments", file).unwrap_or_default();
    let said = if files.is_empty() { &*said } else { said.trim_start() };
    let said = Some(said).filter(|said| !said.is_empty()).map(Content::from);
    let content = Content::lines(said.into_iter().chain(files)).unwrap_or_default();
    let is_typed = data.get_str("source").is_none_or(|source| source == "user");
    let kind = if is_typed { UserMessage } else { SystemMessage };
    let facts = data.extra(&["source", "transformedContent"]);
    Event::Said((kind, content, facts), ModelUsage::default())
}

/// A file or another attachment of a prompt: a placeholder, perhaps with its picture.
fn file(file: &mut Object<'_>) -> Content {
    let kind = file.str("type").unwrap_or("file".into());
    let name = file.str("displayName");
    if let Some(data) = file.str("data") {
        return content::media_of_base64(&file.str("mimeType").unwrap_or_default(), &data);
    }
    let places = ["path", "filePath", "url"];
    let place = places.into_iter().find_map(|key| file.str(key)).or(name).unwrap_or_default();
    format!("[{kind}: {place}]").into()
}

impl<'a> Message<'a> {
    fn take(data: &mut Object<'a>) -> Self {
        let calls = data.within_each("toolRequests", |request| {
            request.ignore(&["type"]);
            Call::take(request.corr_id("toolCallId"), "name", request)
        });
        Self {
            calls: calls.unwrap_or_default(),
            id: data.text("messageId"),
            model: data.text("model"),
            reasoning: data.text("reasoningText").filter(|text| !text.is_empty()),
            content: data.text("content").unwrap_or_default(),
            usage: take_counters(data, COUNTERS),
        }
    }
}

impl<'a> Call<'a> {
    fn take(id: Option<CorrId>, name: &str, data: &mut Object<'a>) -> Self {
        data.ignore(&["model", "toolDescription"]);
        Self {
            id,
            name: data.str(name).unwrap_or_default(),
            arguments: data.raw("arguments"),
            facts: data.extra(&["intentionSummary", "toolTitle", "mcpServerName", "mcpToolName"]),
        }
    }
}

impl<'a> Complete<'a> {
    fn take(call: Option<CorrId>, data: &mut Object<'a>) -> Self {
        data.ignore(&["model", "isUserRequested", "toolDescription"]);
        let mut result = data.object("result").unwrap_or_default();
        let mut error = data.object("error").unwrap_or_default();
        // Newer releases state a code for failures, older ones a type for any result.
        let word = error.str("code").or_else(|| result.str("result_type")).unwrap_or_default();
        let taken = Self {
            call,
            has_failed: !data.bool("success").unwrap_or(matches!(&*word, "" | "success")),
            is_denied: matches!(&*word, "denied" | "rejected"),
            content: result.text("content").or_else(|| result.text("text_result_for_llm")),
            detail: result.text("detailedContent"),
            files: result.raw("binaryResultsForLlm"),
            error: error.text("message").or_else(|| data.text("error")),
            facts: result.extra(&["contents", "structuredContent"]),
        };
        data.adopt("result", result);
        data.adopt("error", error);
        taken
    }
}
