//! Strategies for Droid's stream: `droid exec --output-format stream-json`, and `-o json`. [`session`] has the
//! strategies for its session files.

pub(crate) mod session;
mod tools;

use foldline_testkit::generate::{
    Calls, FieldsStrategy, LogBytes, calls, disturbed, field, json, kind, literal, maybe, number,
    object, quote, word,
};
use proptest::{collection::vec, prelude::*};

pub(crate) use self::tools::tool;

/// The ids of [`line`]: few, so that some repeat and some results precede their calls; the empty id counts as missing.
const IDS: &[&str] = &["call_1", "call_2", "toolu_1", "call_3\nfc_3", ""];

/// Any one line: every type of record with every variation of its fields, and types that Droid does not have. Single
/// lines do not form a conversation: ids are missing, repeated or unused.
pub(crate) fn line() -> BoxedStrategy<String> {
    let unknown = object(vec![maybe("type", literal()), maybe("id", json()), common()]);
    prop_oneof![
        1 => system(),
        3 => message(word(&["user", "assistant", "system", ""])),
        1 => reasoning(),
        4 => tool_call(maybe("id", word(IDS)), word(&["m1", "m2"])),
        4 => tool_result(maybe("id", word(IDS))),
        1 => completion(),
        1 => result(),
        1 => error(),
        1 => unknown,
    ]
    .boxed()
}

/// The lines of a regular log: every call has a unique id and at most one result, which follows it and has its id;
/// results of parallel calls are in any order; thoughts appear twice, as in real logs; the log ends with a completion,
/// before or after the last message, with a failure, or without an end.
pub(crate) fn conversation() -> BoxedStrategy<Vec<String>> {
    let parts = vec(part(), 0..8);
    (parts, end())
        .prop_flat_map(|(parts, end)| {
            let mut lines = vec![system(), message(Just(quote("user")))];
            for (n, part) in parts.into_iter().enumerate() {
                part.push_lines(n, &mut lines);
            }
            let repeated = move |lines: Vec<String>| end.clone().into_lines(lines);
            lines.prop_map(double_thoughts).prop_map(repeated)
        })
        .boxed()
}

/// The bytes of an irregular log: a conversation or any lines, after [`disturbed`].
pub(crate) fn log() -> BoxedStrategy<LogBytes> {
    disturbed(prop_oneof![conversation(), vec(line(), 0..24)])
}

/// A part of a conversation.
#[derive(Clone, Debug)]
enum Part {
    Message(&'static str),
    Reasoning,
    Calls { one_message: bool, calls: Calls },
}

fn part() -> BoxedStrategy<Part> {
    prop_oneof![
        2 => Just(Part::Message("assistant")),
        1 => Just(Part::Message("user")),
        1 => Just(Part::Reasoning),
        4 => (any::<bool>(), calls())
            .prop_map(|(one_message, calls)| Part::Calls { one_message, calls }),
    ]
    .boxed()
}

impl Part {
    fn push_lines(self, part: usize, lines: &mut Vec<BoxedStrategy<String>>) {
        match self {
            Self::Message(role) => lines.push(message(Just(quote(role)))),
            Self::Reasoning => lines.push(reasoning()),
            Self::Calls { one_message, calls } => {
                let ids = calls.ids(&format!("call_{part}"));
                for (n, id) in ids.iter().enumerate() {
                    let message = if one_message { 0 } else { n };
                    let message_id = Just(quote(&format!("message_{part}_{message}")));
                    lines.push(tool_call(field("id", Just(id.clone())), message_id));
                }
                for id in calls.answered(ids) {
                    lines.push(tool_result(field("id", Just(id))));
                }
            }
        }
    }
}

/// The end of a conversation.
#[derive(Clone, Debug)]
enum End {
    Cut,
    Completion { line: String, words: String, before_words: bool },
    Failure(String),
}

fn end() -> BoxedStrategy<End> {
    let completion = (literal(), any::<bool>(), usage(), number()).prop_map(
        |(words, before_words, usage, duration)| {
            let line = format!(
                r#"{{"type":"completion","finalText":{words},"numTurns":3,"durationMs":{duration},"usage":{usage}}}"#
            );
            End::Completion { line, words, before_words }
        },
    );
    prop_oneof![1 => Just(End::Cut), 3 => completion, 1 => error().prop_map(End::Failure)].boxed()
}

impl End {
    fn into_lines(self, mut lines: Vec<String>) -> Vec<String> {
        match self {
            Self::Cut => {}
            Self::Failure(line) => {
                lines.push(line);
                lines.push(r#"{"type":"error","source":"cli","message":"Exec failed"}"#.to_owned());
            }
            Self::Completion { line, words, before_words } => {
                let message =
                    format!(r#"{{"type":"message","role":"assistant","id":"m","text":{words}}}"#);
                lines.extend(if before_words { [line, message] } else { [message, line] });
            }
        }
        lines
    }
}

fn double_thoughts(lines: Vec<String>) -> Vec<String> {
    let times = |line: &String| if line.contains(r#""type":"reasoning""#) { 2 } else { 1 };
    lines.into_iter().flat_map(|line| std::iter::repeat_n(line.clone(), times(&line))).collect()
}

/// The fields of nearly every line: the time and the session.
fn common() -> FieldsStrategy {
    let session = word(&["7f0c5c1e-0000-4000-8000-000000000001"]);
    let timestamp = (1_760_806_427_595_u64..1_760_806_927_595).prop_map(|at| at.to_string());
    let timestamp = prop_oneof![12 => timestamp, 1 => number(), 1 => literal()];
    (maybe("timestamp", timestamp), maybe("session_id", session))
        .prop_map(|(timestamp, session)| [timestamp, session].concat())
        .boxed()
}

fn system() -> BoxedStrategy<String> {
    let tools = vec(literal(), 0..4).prop_map(|tools| format!("[{}]", tools.join(",")));
    object(vec![
        kind("system"),
        field("subtype", prop_oneof![9 => Just(quote("init")), 1 => literal()]),
        maybe("cwd", word(&["/home/me/project", "/", "C:\\work"])),
        maybe("tools", tools),
        maybe("model", word(&["gpt-5-codex", "claude-opus-4-8", "custom:x"])),
        maybe("reasoning_effort", word(&["high", "none"])),
        common(),
    ])
}

fn message(role: impl Strategy<Value = String> + 'static) -> BoxedStrategy<String> {
    object(vec![
        kind("message"),
        field("role", role),
        maybe("id", literal()),
        field("text", literal()),
        common(),
    ])
}

fn reasoning() -> BoxedStrategy<String> {
    object(vec![kind("reasoning"), maybe("id", literal()), field("text", literal()), common()])
}

fn tool_call(
    id: FieldsStrategy,
    message_id: impl Strategy<Value = String> + 'static,
) -> BoxedStrategy<String> {
    let tool = tool().prop_map(|(name, parameters)| {
        let name = quote(&name);
        vec![("toolId", name.clone()), ("toolName", name), ("parameters", parameters)]
    });
    object(vec![kind("tool_call"), id, maybe("messageId", message_id), tool.boxed(), common()])
}

fn tool_result(id: FieldsStrategy) -> BoxedStrategy<String> {
    let error = object(vec![field("type", word(&["tool_error"])), maybe("message", literal())]);
    let output = prop_oneof![
        4 => literal(),
        1 => (-1..3).prop_map(|code| quote(&format!("out\n\n\n[Process exited with code {code}]"))),
        1 => json(),
    ];
    let body = prop_oneof![
        6 => (field("isError", Just("false".to_owned())), field("value", output.clone())),
        2 => (field("isError", Just("true".to_owned())), field("error", error.clone())),
        1 => (field("value", output), field("error", error)),
    ];
    object(vec![
        kind("tool_result"),
        id,
        maybe("messageId", word(&["r1", "m1"])),
        maybe("toolId", word(&["", "Create", "Execute"])),
        body.prop_map(|(one, other)| [one, other].concat()).boxed(),
        common(),
    ])
}

fn usage() -> BoxedStrategy<String> {
    object(vec![
        maybe("input_tokens", number()),
        maybe("output_tokens", number()),
        maybe("cache_read_input_tokens", number()),
        maybe("cache_creation_input_tokens", number()),
        maybe("thinking_tokens", number()),
    ])
}

fn completion() -> BoxedStrategy<String> {
    object(vec![
        kind("completion"),
        maybe("finalText", literal()),
        maybe("numTurns", number()),
        maybe("durationMs", number()),
        common(),
        maybe("usage", usage()),
    ])
}

fn result() -> BoxedStrategy<String> {
    object(vec![
        kind("result"),
        maybe("subtype", word(&["success", "failure"])),
        maybe("is_error", any::<bool>().prop_map(|is_error| is_error.to_string())),
        maybe("duration_ms", number()),
        maybe("num_turns", number()),
        maybe("result", literal()),
        common(),
        maybe("usage", usage()),
    ])
}

fn error() -> BoxedStrategy<String> {
    object(vec![
        kind("error"),
        maybe("source", word(&["cli", "agent_loop"])),
        maybe("message", literal()),
        common(),
    ])
}
