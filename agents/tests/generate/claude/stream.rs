//! Strategies for `claude -p --output-format stream-json --verbose`.

mod envelope;
mod partial;

use foldline_testkit::generate::{
    Calls, FieldsStrategy, LogBytes, array, calls, concat, disturbed, field, fields, json, kind,
    list, literal, maybe, number, object, path, quote, word,
};
use proptest::{collection::vec, prelude::*};

use self::{
    envelope::{common, one},
    partial::{delta, partial},
};
use super::blocks;

/// The ids of [`line`]: few, so that some repeat and some results precede their calls.
const IDS: &[&str] = &["toolu_1", "toolu_2", "srvtoolu_3", "toolu_4\nx", ""];

/// The messages of [`line`].
const MESSAGES: &[&str] = &["msg_1", "msg_2", "msg_3"];

/// Any one line: every type with every variation of its fields, and types that Claude Code does not
/// have.
pub(crate) fn line() -> BoxedStrategy<String> {
    let id = maybe("id", word(MESSAGES));
    let envelope = || fields(vec![common(), maybe("parent_tool_use_id", parent())]);
    let results = fields(vec![
        maybe("tool_use_result", blocks::detail()),
        maybe("tool_result_meta", blocks::meta(quote("toolu_1"))),
        maybe("isSynthetic", word(&["true"])),
    ]);
    let failed = prop_oneof![6 => Just(Vec::new()), 1 => blocks::api_error()].boxed();
    let unknown = object(vec![maybe("type", literal()), maybe("message", json()), envelope()]);
    prop_oneof![
        1 => init(),
        4 => object(vec![
            kind("assistant"),
            field("message", blocks::assistant(id, blocks::any_content(IDS))),
            failed,
            envelope(),
        ]),
        4 => object(vec![
            kind("user"),
            field("message", blocks::user(blocks::any_content(IDS))),
            results,
            envelope(),
        ]),
        6 => partial(delta(word(IDS), word(MESSAGES)), envelope()),
        2 => notice(maybe("tool_use_id", word(IDS))),
        1 => result(list(denial(maybe("tool_use_id", word(IDS))))),
        1 => rate_limit(),
        1 => unknown,
    ]
    .boxed()
}

/// The lines of a regular log: messages of several blocks, one per line, some of them streamed before; parallel calls
/// with results in any order, some of them sub-agents with messages and calls in between; notices anywhere; and an
/// optional final result.
///
/// A call that the result lists as denied has no other result: the first of two results would count, so their order
/// would matter.
pub(crate) fn conversation() -> BoxedStrategy<Vec<String>> {
    let end = prop_oneof![1 => Just(false), 4 => Just(true)];
    (vec(part(), 0..7), end)
        .prop_flat_map(|(parts, end)| {
            let mut lines = vec![one(init())];
            lines.extend(parts.into_iter().enumerate().map(|(n, part)| part.lines(n)));
            if end {
                let call = field("tool_use_id", Just(quote("toolu_denied")));
                lines.push(one(result(list(denial(call)))));
            }
            concat(lines)
        })
        .boxed()
}

/// The bytes of an irregular log: a conversation or any lines, after [`disturbed`].
pub(crate) fn log() -> BoxedStrategy<LogBytes> {
    disturbed(prop_oneof![conversation(), vec(line(), 0..24)])
}

#[derive(Clone, Debug)]
enum Part {
    Message { said: Vec<Said>, partial: bool },
    Prompt,
    Notice,
    RateLimit,
    Calls { calls: Calls, partial: bool, agents: bool },
}

#[derive(Clone, Debug)]
enum Said {
    Text,
    Thinking,
    Odd,
}

fn part() -> BoxedStrategy<Part> {
    let said = prop_oneof![3 => Just(Said::Text), 2 => Just(Said::Thinking), 1 => Just(Said::Odd)];
    let message = (vec(said, 1..4), any::<bool>());
    prop_oneof![
        3 => message.prop_map(|(said, partial)| Part::Message { said, partial }),
        1 => Just(Part::Prompt),
        1 => Just(Part::Notice),
        1 => Just(Part::RateLimit),
        4 => (calls(), any::<bool>(), any::<bool>())
            .prop_map(|(calls, partial, agents)| Part::Calls { calls, partial, agents }),
    ]
    .boxed()
}

impl Part {
    fn lines(self, part: usize) -> BoxedStrategy<Vec<String>> {
        let id = format!("msg_{part}");
        match self {
            Self::Message { said, partial } => {
                let blocks = said.iter().map(|said| match (said, partial) {
                    (Said::Text, true) => partial::text("text", "text_delta"),
                    (Said::Thinking, true) => partial::text("thinking", "thinking_delta"),
                    (Said::Text, false) => partial::whole(blocks::text()),
                    (Said::Thinking, false) => partial::whole(blocks::thinking()),
                    (Said::Odd, _) => partial::whole(blocks::odd()),
                });
                partial::message(&id, "null".to_owned(), partial, blocks.collect())
            }
            Self::Prompt => one(prompt("null".to_owned())),
            Self::Notice => one(notice(Just(Vec::new()).boxed())),
            Self::RateLimit => one(rate_limit()),
            Self::Calls { calls, partial, agents } => {
                let ids = calls.ids(&format!("toolu_{part}"));
                let main = "null".to_owned();
                let uses = ids.iter().map(|id| match agents {
                    true => partial::call(id, blocks::agent_use(field("id", Just(id.clone())))),
                    false => partial::call(id, blocks::tool_use(field("id", Just(id.clone())))),
                });
                let mut lines = vec![partial::message(&id, main.clone(), partial, uses.collect())];
                for (n, id) in ids.iter().enumerate().filter(|_| agents) {
                    lines.push(sub_agent(&format!("{part}_{n}"), id));
                }
                let results = calls.answered(ids).into_iter();
                lines.extend(results.map(|id| one(answer(id, main.clone()))));
                concat(lines)
            }
        }
    }
}

/// The lines of a sub-agent: a prompt, a message, a tool call and its result.
fn sub_agent(name: &str, parent: &str) -> BoxedStrategy<Vec<String>> {
    let id = quote(&format!("toolu_child_{name}"));
    let running = notice(field("tool_use_id", Just(parent.to_owned())));
    let parent = parent.to_owned();
    let blocks = vec![
        partial::text("text", "text_delta"),
        partial::call(&id, blocks::tool_use(field("id", Just(id.clone())))),
    ];
    let message = partial::message(&format!("msg_child_{name}"), parent.clone(), true, blocks);
    concat(vec![one(running), one(prompt(parent.clone())), message, one(answer(id, parent))])
}

/// The result of a call.
fn answer(id: String, parent: String) -> BoxedStrategy<String> {
    let result = blocks::tool_result(field("tool_use_id", Just(id.clone())));
    object(vec![
        kind("user"),
        field("message", blocks::user(array(vec![result]))),
        maybe("tool_use_result", blocks::detail()),
        maybe("tool_result_meta", blocks::meta(id)),
        field("parent_tool_use_id", Just(parent)),
        common(),
    ])
}

fn prompt(parent: String) -> BoxedStrategy<String> {
    let content = prop_oneof![list(blocks::text()), literal()].boxed();
    object(vec![
        kind("user"),
        field("message", blocks::user(content)),
        field("parent_tool_use_id", Just(parent)),
        common(),
    ])
}

fn parent() -> BoxedStrategy<String> {
    prop_oneof![3 => Just("null".to_owned()), 1 => word(IDS)].boxed()
}

fn init() -> BoxedStrategy<String> {
    object(vec![
        kind("system"),
        field("subtype", Just(quote("init"))),
        maybe("cwd", word(&["/home/me/project", "/", "C:\\work"])),
        maybe("tools", list(literal())),
        maybe("mcp_servers", json()),
        maybe("model", word(&["claude-opus-4-8[1m]", "claude-haiku-4-5"])),
        maybe("claude_code_version", word(&["2.1.41", "2.1.281"])),
        maybe("permissionMode", word(&["default"])),
        common(),
    ])
}

/// Messages of the program, and about tasks of a call.
fn notice(call: FieldsStrategy) -> BoxedStrategy<String> {
    let subtype = word(&[
        "task_started",
        "task_progress",
        "task_updated",
        "task_notification",
        "thinking_tokens",
        "hook_started",
        "hook_response",
        "compact_boundary",
        "api_retry",
        "permission_denied",
        "status",
        "novel",
    ]);
    let compaction = object(vec![maybe("trigger", word(&["auto"])), maybe("pre_tokens", number())]);
    object(vec![
        kind("system"),
        field("subtype", subtype),
        call,
        maybe("status", word(&["completed", "failed"])),
        maybe("summary", literal()),
        maybe("compact_metadata", compaction),
        maybe("attempt", number()),
        maybe("error", literal()),
        maybe("stderr", literal()),
        maybe("exit_code", number()),
        maybe("message", literal()),
        common(),
    ])
}

fn rate_limit() -> BoxedStrategy<String> {
    let info = object(vec![
        maybe("status", word(&["allowed", "allowed_warning", "rejected"])),
        maybe("rateLimitType", word(&["five_hour", "seven_day"])),
        maybe("utilization", number()),
    ]);
    object(vec![kind("rate_limit_event"), maybe("rate_limit_info", info), common()])
}

fn result(denials: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let models = object(vec![maybe(
        "claude-opus-4-8",
        object(vec![maybe("inputTokens", number()), maybe("outputTokens", number())]),
    )]);
    object(vec![
        kind("result"),
        maybe("subtype", word(&["success", "error_max_turns", "error_during_execution"])),
        maybe("is_error", any::<bool>().prop_map(|is_error| is_error.to_string())),
        maybe("result", literal()),
        maybe("errors", list(literal())),
        maybe("duration_ms", number()),
        maybe("num_turns", number()),
        maybe("total_cost_usd", number()),
        maybe("usage", blocks::usage()),
        maybe("modelUsage", models),
        maybe("permission_denials", denials),
        maybe("terminal_reason", word(&["completed", "max_turns"])),
        common(),
    ])
}

fn denial(call: FieldsStrategy) -> BoxedStrategy<String> {
    let input = object(vec![maybe("file_path", path()), maybe("command", literal())]);
    let name = word(&["Bash", "Write", "FutureTool"]);
    object(vec![field("tool_name", name), call, maybe("tool_input", input)])
}
