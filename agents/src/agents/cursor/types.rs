//! The wire types of `cursor-agent --print --output-format stream-json`, with and without
//! `--stream-partial-output`.

use crate::prelude::*;

/// One record of the stream.
#[derive(Clone, Debug)]
pub enum JsonLine<'a> {
    /// `system/init`: the beginning of a run.
    Init(Session),
    Message {
        is_user: bool,
        /// Whether it is a chunk of a message that follows as a whole.
        is_piece: bool,
        id: Option<Text>,
        content: Raw<'a>,
    },
    /// `thinking/delta`: a chunk of a thought, often empty.
    Thinking(Text),
    Thought,
    Started(ToolCall<'a>),
    /// `tool_call/completed`: the call again, with its result.
    Completed(ToolCall<'a>),
    /// The end of the run.
    Result {
        /// All of the agent's answers, concatenated, or the error.
        words: Option<Text>,
        facts: Session,
        usage: TokenUsage,
    },
}

/// `tool_call`: a tool call or its result.
#[derive(Clone, Debug)]
pub struct ToolCall<'a> {
    pub id: Option<CorrId>,
    pub message_id: Option<Text>,
    /// `shellToolCall`, ..
    pub kind: Cow<'a, str>,
    /// The kind, or the name of a foreign tool.
    pub name: Cow<'a, str>,
    /// The arguments; absent from calls that ended with an error.
    pub args: Option<Raw<'a>>,
    pub result: Option<Raw<'a>>,
    /// Fields next to the arguments: the purpose of the call and the output of hooks.
    pub facts: Extra,
}

impl<'a> JsonLine<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        if let Some(subtype) = object.get_str("subtype").filter(|_| header.name != "result") {
            header.name = format!("{}/{subtype}", header.name).into();
        }
        header.at = object.timestamp("timestamp_ms").or(header.at);
        let line = match &*header.name {
            "system/init" => {
                object.ignore(&["apiKeySource"]);
                Some(Self::Init(Session {
                    cwd: object.text("cwd"),
                    model: object.text("model"),
                    // The same word, whatever runs without a question.
                    authority: object.text("permissionMode").map(|mode| {
                        let permission_mode = Some(mode);
                        Box::new(Authority { permission_mode, ..Authority::default() })
                    }),
                    ..Session::default()
                }))
            }
            "user" | "assistant" => Self::take_message(object, header),
            "thinking/delta" => Some(Self::Thinking(object.text("text").unwrap_or_default())),
            "thinking/completed" => Some(Self::Thought),
            "tool_call/started" => ToolCall::take(object).map(Self::Started),
            "tool_call/completed" => ToolCall::take(object).map(Self::Completed),
            "result" => Some(Self::take_result(object)),
            _ => None,
        };
        let Some(line) = line else { return Parsed::Unknown };
        object.ignore(&["session_id", "subtype"]);
        Parsed::Line(line)
    }

    fn take_message(object: &mut Object<'a>, header: &Header<'a>) -> Option<Self> {
        let mut message = object.get("message").and_then(value::object)?;
        let content = message.raw("content")?;
        message.ignore(&["role"]);
        object.ignore(&["message"]);
        object.adopt("message", message);
        let id = object.text("model_call_id");
        let is_user = header.name == "user";
        // A whole answer names its model call, and the last one of a run has no time.
        let is_piece = !is_user && id.is_none() && header.at.is_some();
        Some(Self::Message { is_user, is_piece, id, content })
    }

    fn take_result(object: &mut Object<'_>) -> Self {
        let subtype = object.text("subtype").unwrap_or_else(|| "success".into());
        let is_error = object.bool("is_error").unwrap_or(subtype == "error");
        // The duration of the API calls equals that of the run.
        object.ignore(&["duration_api_ms", "request_id"]);
        let usage = object.within("usage", take_usage).unwrap_or_default();
        let facts = Session {
            outcome: Some(if is_error { Outcome::Failed } else { Outcome::Success }),
            outcome_reason: Some(subtype),
            duration_ms: object.u64("duration_ms"),
            ..Session::default()
        };
        Self::Result { words: object.text("result"), facts, usage }
    }
}

impl<'a> ToolCall<'a> {
    /// Takes the call from the only field, whose name is the kind of the tool.
    fn take(object: &mut Object<'a>) -> Option<Self> {
        let mut outer = object.get("tool_call").and_then(value::object)?;
        let mut fields = outer.clone().rest().into_iter();
        let is_kind = |name: &str| name.ends_with("ToolCall") || name == "function";
        let (kind, mut call) = fields
            .find_map(|(name, raw)| Some((is_kind(&name).then_some(name)?, value::object(raw)?)))?;
        outer.ignore(&[&kind]);
        object.ignore(&["tool_call"]);
        outer.ignore(&["startedAtMs", "completedAtMs"]);
        outer.take("hookAdditionalContexts", |raw| (raw.get() == "[]").then_some(()));
        let mut facts = Extra::new();
        for (of, name) in [(&mut call, "description"), (&mut outer, "hookAdditionalContexts")] {
            facts.extend(of.json(name).map(|fact| (name.to_owned(), fact)));
        }
        let (name, args) = match &*kind {
            "function" => (call.str("name").unwrap_or_default(), call.raw("arguments")),
            "mcpToolCall" => take_mcp(&mut call),
            _ => (kind.clone(), call.raw("args")),
        };
        let taken = Self {
            id: object.corr_id("call_id").or(outer.corr_id("toolCallId")),
            message_id: object.text("model_call_id"),
            kind,
            name,
            args,
            result: call.raw("result"),
            facts,
        };
        outer.adopt(&taken.kind, call);
        object.adopt("tool_call", outer);
        Some(taken)
    }
}

/// Takes the name of an MCP server's tool, in the notation of other agents, and its arguments.
fn take_mcp<'a>(call: &mut Object<'a>) -> (Cow<'a, str>, Option<Raw<'a>>) {
    let mut args = call.object("args").unwrap_or_default();
    args.ignore(&["toolCallId"]);
    let (server, tool) = (args.str("providerIdentifier"), args.str("toolName"));
    let (full_name, given) = (args.str("name"), args.raw("args"));
    call.adopt("args", args);
    let name =
        server.zip(tool.as_ref()).map(|(server, tool)| format!("mcp__{server}__{tool}").into());
    (name.or(full_name).or(tool).unwrap_or("mcpToolCall".into()), given)
}

/// Takes the usage. The input includes cached input in early releases and excludes it in later ones. A log does not
/// state which; but a part cannot exceed the whole.
fn take_usage(usage: &mut Object<'_>) -> TokenUsage {
    let (read, write) = (usage.u64("cacheReadTokens"), usage.u64("cacheWriteTokens"));
    let cached = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
    let apart = |input: u64| if cached > input { cached } else { 0 };
    TokenUsage {
        input_tokens: usage.u64("inputTokens").map(|input| input.saturating_add(apart(input))),
        output_tokens: usage.u64("outputTokens"),
        cache_read_tokens: read,
        cache_write_tokens: write,
        ..TokenUsage::default()
    }
}
