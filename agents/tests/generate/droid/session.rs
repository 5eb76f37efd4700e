//! Strategies for Droid's session files.

use foldline_testkit::generate::{
    Calls, FieldsStrategy, LogBytes, array, calls, concat, disturbed, field, fields, json, kind,
    list, literal, maybe, number, object, quote, time, word,
};
use proptest::{collection::vec, prelude::*};

use super::tools::tool;

/// The ids of [`line`]: few, so that some repeat and some results precede their calls.
const IDS: &[&str] = &["call_1", "toolu_1", "call_3\nfc_3", ""];

/// Any one line: every type of record, and types that these files do not have.
pub(crate) fn line() -> BoxedStrategy<String> {
    let id = || maybe("id", word(IDS));
    let answered = maybe("tool_use_id", word(IDS));
    let blocks = list(prop_oneof![text(), odd(), tool_use(id()), tool_result(answered)].boxed());
    let outcome = object(vec![
        prop_oneof![kind("agent_turn_outcome"), kind("session_end")].boxed(),
        maybe("outcome", word(&["success", "aborted", "limit_reached", "odd"])),
        maybe("reason", literal()),
        common(),
    ]);
    let unknown = object(vec![maybe("type", literal()), maybe("message", json()), common()]);
    prop_oneof![
        1 => start(),
        6 => message(word(&["user", "assistant", ""]), prop_oneof![6 => blocks, 1 => json()].boxed()),
        1 => todo_state(),
        1 => compaction(),
        1 => outcome,
        1 => unknown,
    ]
    .boxed()
}

/// The lines of a regular log: like [`droid::conversation`](super::conversation), with calls in one or several
/// messages, and their results likewise.
pub(crate) fn conversation() -> BoxedStrategy<Vec<String>> {
    vec(part(), 0..8)
        .prop_flat_map(|parts| {
            let prompt = message(Just(quote("user")), list(text()));
            let mut lines = vec![vec![start(), prompt].boxed()];
            lines.extend(parts.into_iter().enumerate().map(|(n, part)| part.lines(n)));
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
    Message(&'static str),
    TodoState,
    Compaction,
    Calls { one_message: bool, calls: Calls },
}

fn part() -> BoxedStrategy<Part> {
    prop_oneof![
        2 => Just(Part::Message("assistant")),
        1 => Just(Part::Message("user")),
        1 => Just(Part::TodoState),
        1 => Just(Part::Compaction),
        4 => (any::<bool>(), calls())
            .prop_map(|(one_message, calls)| Part::Calls { one_message, calls }),
    ]
    .boxed()
}

impl Part {
    fn lines(self, part: usize) -> BoxedStrategy<Vec<String>> {
        let lines = match self {
            Self::Message(role) => {
                vec![message(Just(quote(role)), list(prop_oneof![text(), odd()].boxed()))]
            }
            Self::TodoState => vec![todo_state()],
            Self::Compaction => vec![compaction()],
            Self::Calls { one_message, calls } => {
                let ids = calls.ids(&format!("call_{part}"));
                let uses = ids.iter().map(|id| tool_use(field("id", Just(id.clone())))).collect();
                let answered = calls.answered(ids).into_iter();
                let results = answered.map(|id| tool_result(field("tool_use_id", Just(id))));
                let mut lines = messages("assistant", one_message, uses);
                lines.extend(messages("user", one_message, results.collect()));
                lines
            }
        };
        lines.boxed()
    }
}

/// These blocks in one message or in one message each.
fn messages(
    role: &'static str,
    one_message: bool,
    blocks: Vec<BoxedStrategy<String>>,
) -> Vec<BoxedStrategy<String>> {
    let message = |blocks| message(Just(quote(role)), array(blocks));
    match one_message {
        true => vec![message(blocks)],
        false => blocks.into_iter().map(|block| message(vec![block])).collect(),
    }
}

fn common() -> FieldsStrategy {
    fields(vec![maybe("id", literal()), maybe("parentId", literal()), maybe("timestamp", time())])
}

fn start() -> BoxedStrategy<String> {
    object(vec![
        kind("session_start"),
        maybe("id", word(&["7f0c5c1e-0000-4000-8000-000000000001"])),
        maybe("title", literal()),
        maybe("sessionTitle", literal()),
        maybe("isSessionTitleManuallySet", word(&["true"])),
        maybe("owner", literal()),
        maybe("version", Just("2".to_owned())),
        maybe("cwd", word(&["/home/me/project", "/"])),
        maybe("callingSessionId", literal()),
    ])
}

fn message(
    role: impl Strategy<Value = String> + 'static,
    content: BoxedStrategy<String>,
) -> BoxedStrategy<String> {
    let hidden = prop_oneof![6 => Just(Vec::new()), 1 => field("visibility", word(&["llm_only"]))];
    let message = object(vec![
        field("role", role),
        field("content", content),
        hidden.boxed(),
        maybe("modelId", word(&["gpt-5-codex", "claude-opus-4-8"])),
        maybe("reasoningEffort", word(&["high", "none"])),
    ]);
    object(vec![kind("message"), common(), field("message", message)])
}

fn text() -> BoxedStrategy<String> {
    let reminder = Just(quote("<system-reminder>\nread\n</system-reminder>"));
    let text = prop_oneof![6 => literal(), 1 => reminder];
    object(vec![kind("text"), field("text", text)])
}

fn odd() -> BoxedStrategy<String> {
    let thinking =
        object(vec![kind("thinking"), field("thinking", literal()), maybe("signature", literal())]);
    let image = object(vec![kind("image"), maybe("source", json())]);
    prop_oneof![2 => thinking, 1 => image, 1 => object(vec![kind("novel"), maybe("x", json())])]
        .boxed()
}

fn tool_use(id: FieldsStrategy) -> BoxedStrategy<String> {
    let tool = tool().prop_map(|(name, input)| vec![("name", quote(&name)), ("input", input)]);
    object(vec![kind("tool_use"), id, tool.boxed()])
}

fn tool_result(id: FieldsStrategy) -> BoxedStrategy<String> {
    let content = prop_oneof![4 => literal(), 1 => list(text()), 1 => list(odd()), 1 => json()];
    let is_error = any::<bool>().prop_map(|is_error| is_error.to_string());
    object(vec![kind("tool_result"), id, maybe("is_error", is_error), maybe("content", content)])
}

fn todo_state() -> BoxedStrategy<String> {
    let todos = object(vec![maybe("todos", prop_oneof![literal(), json()])]);
    object(vec![
        kind("todo_state"),
        common(),
        maybe("todos", todos),
        maybe("messageIndex", number()),
    ])
}

fn compaction() -> BoxedStrategy<String> {
    object(vec![
        kind("compaction_state"),
        common(),
        maybe("summaryText", literal()),
        maybe("summaryTokens", number()),
        maybe("anchorMessage", json()),
    ])
}
