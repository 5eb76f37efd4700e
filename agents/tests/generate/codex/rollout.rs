//! Strategies for Codex's rollout files.

mod event;
mod record;

use foldline_testkit::generate::{
    Calls, FieldsStrategy, LogBytes, calls, concat, disturbed, field, fields, json, kind, list,
    literal, maybe, number, object, quote, time, word,
};
use proptest::{collection::vec, prelude::*, sample::select};

use self::{
    event::{event, token_count},
    record::{IDS, common, event_of, record, texts},
};
use super::tools;

/// Any one line: every type of record and of payload, and types that Codex does not have.
pub(crate) fn line() -> BoxedStrategy<String> {
    let id = || maybe("call_id", word(IDS));
    let unknown = object(vec![maybe("type", literal()), maybe("payload", json()), common()]);
    let search = object(vec![kind("web_search_call"), maybe("id", word(IDS)), tools::search()]);
    prop_oneof![
        1 => meta(),
        1 => context(),
        3 => item(message(word(&["user", "assistant", "developer", ""]), texts("input_text"))),
        1 => item(reasoning(list(summary_text()))),
        4 => item(call(id())),
        4 => item(output("function_call_output", id())),
        1 => item(search),
        1 => item(object(vec![kind("agent_message"), maybe("content", texts("input_text"))])),
        1 => item(object(vec![maybe("type", literal()), id(), maybe("x", json())])),
        6 => event(id()),
        1 => token_count(),
        1 => record("compacted", object(vec![maybe("message", literal())])),
        1 => record("world_state", json()),
        1 => unknown,
    ]
    .boxed()
}

/// The lines of a regular log: messages as an event and as an item, in either order; parallel calls of functions and
/// custom tools with results in any order, and token counts in between; turns with or without a final event.
///
/// Calls whose end is also an event have ids that begin with `told`: the first of two results counts, so their order
/// matters.
pub(crate) fn conversation() -> BoxedStrategy<Vec<String>> {
    vec(part(), 0..8)
        .prop_flat_map(|parts| {
            let mut lines = vec![vec![meta(), context(), started()].boxed()];
            lines.extend(parts.into_iter().enumerate().map(|(n, part)| part.lines(n)));
            lines.push(end());
            concat(lines)
        })
        .boxed()
}

/// The bytes of an irregular log: a conversation or any lines, after [`disturbed`].
pub(crate) fn log() -> BoxedStrategy<LogBytes> {
    disturbed(prop_oneof![conversation(), vec(line(), 0..24)])
}

fn one(line: BoxedStrategy<String>) -> BoxedStrategy<Vec<String>> {
    line.prop_map(|line| vec![line]).boxed()
}

#[derive(Clone, Debug)]
enum Part {
    Said { by: By, event_first: bool },
    Compacted,
    Search,
    Calls { calls: Calls, custom: bool, told: bool },
}

#[derive(Clone, Copy, Debug)]
enum By {
    Person,
    Agent,
    Thought,
}

fn part() -> BoxedStrategy<Part> {
    let by = select(vec![By::Person, By::Agent, By::Thought]);
    prop_oneof![
        3 => (by, any::<bool>()).prop_map(|(by, event_first)| Part::Said { by, event_first }),
        1 => Just(Part::Compacted),
        1 => Just(Part::Search),
        5 => (calls(), any::<bool>(), proptest::bool::weighted(0.3))
            .prop_map(|(calls, custom, told)| Part::Calls { calls, custom, told }),
    ]
    .boxed()
}

impl Part {
    fn lines(self, part: usize) -> BoxedStrategy<Vec<String>> {
        match self {
            Self::Said { by, event_first } => literal()
                .prop_flat_map(move |words| {
                    let [event, item] = said(by, &words);
                    if event_first { vec![event, item] } else { vec![item, event] }
                })
                .boxed(),
            Self::Compacted => {
                let event = event_of(object(vec![kind("context_compacted")]));
                let summary = object(vec![maybe("message", literal())]);
                vec![record("compacted", summary), event].boxed()
            }
            Self::Search => {
                let id = quote(&format!("ws_{part}"));
                tools::search()
                    .prop_flat_map(move |search| {
                        let search = Just(search).boxed();
                        let end = vec![
                            kind("web_search_end"),
                            field("call_id", Just(id.clone())),
                            search.clone(),
                        ];
                        vec![
                            item(object(vec![kind("web_search_call"), search])),
                            event_of(object(end)),
                        ]
                    })
                    .boxed()
            }
            Self::Calls { calls, custom, told } => {
                let name = if told { "told" } else { "call" };
                let ids = calls.ids(&format!("{name}_{part}"));
                let id = |id: &String| field("call_id", Just(id.clone()));
                let mut lines: Vec<_> = match custom {
                    true => ids.iter().map(|call| one(item(custom_call(id(call))))).collect(),
                    false => ids.iter().map(|call| one(item(call_of_function(id(call))))).collect(),
                };
                lines.push(one(token_count()));
                for call in calls.answered(ids) {
                    if told {
                        lines.push(one(event::ended(custom, id(&call))));
                    }
                    let kind =
                        if custom { "custom_tool_call_output" } else { "function_call_output" };
                    lines.push(one(item(output(kind, id(&call)))));
                }
                concat(lines)
            }
        }
    }
}

/// The same text as an event and as an item.
fn said(by: By, words: &str) -> [BoxedStrategy<String>; 2] {
    let words = || Just(words.to_owned());
    let part = |kind: &'static str| format!(r#"{{"type":"{kind}","text":"#);
    let parts = |kind| {
        let part = part(kind);
        words().prop_map(move |words| format!("[{part}{words}}}]")).boxed()
    };
    let event = |name, key| event_of(object(vec![kind(name), field(key, words())]));
    match by {
        By::Person => [
            event("user_message", "message"),
            item(message(Just(quote("user")), parts("input_text"))),
        ],
        By::Agent => [
            event("agent_message", "message"),
            item(message(Just(quote("assistant")), parts("output_text"))),
        ],
        By::Thought => [event("agent_reasoning", "text"), item(reasoning(parts("summary_text")))],
    }
}

fn started() -> BoxedStrategy<String> {
    event_of(object(vec![kind("task_started"), maybe("turn_id", literal())]))
}

fn end() -> BoxedStrategy<Vec<String>> {
    let complete = object(vec![
        kind("task_complete"),
        maybe("last_agent_message", literal()),
        maybe("duration_ms", number()),
    ]);
    let aborted = object(vec![kind("turn_aborted"), maybe("reason", word(&["interrupted"]))]);
    prop_oneof![
        2 => one(event_of(complete)),
        1 => one(event_of(aborted)),
        1 => Just(Vec::new()),
    ]
    .boxed()
}

fn item(payload: BoxedStrategy<String>) -> BoxedStrategy<String> {
    record("response_item", payload)
}

fn meta() -> BoxedStrategy<String> {
    let forked = field("forked_from_id", word(&["s2"]));
    record(
        "session_meta",
        object(vec![
            maybe("id", word(&["s1", "s1", "s2"])),
            maybe("timestamp", time()),
            maybe("cwd", word(&["/home/me/project", "/"])),
            maybe("cli_version", word(&["0.101.0", "0.144.3"])),
            maybe("source", prop_oneof![literal(), json()]),
            prop_oneof![4 => Just(Vec::new()), 1 => forked].boxed(),
        ]),
    )
}

fn context() -> BoxedStrategy<String> {
    record(
        "turn_context",
        object(vec![
            maybe("cwd", word(&["/home/me/project", "/tmp"])),
            maybe("model", word(&["gpt-5-codex", "gpt-5.5"])),
            maybe("effort", word(&["high", "low"])),
        ]),
    )
}

fn message(
    role: impl Strategy<Value = String> + 'static,
    content: BoxedStrategy<String>,
) -> BoxedStrategy<String> {
    object(vec![
        kind("message"),
        field("role", role),
        maybe("id", literal()),
        field("content", content),
    ])
}

fn reasoning(summary: BoxedStrategy<String>) -> BoxedStrategy<String> {
    object(vec![
        kind("reasoning"),
        field("summary", summary),
        maybe("encrypted_content", literal()),
    ])
}

fn summary_text() -> BoxedStrategy<String> {
    object(vec![kind("summary_text"), maybe("text", literal())])
}

fn call(id: FieldsStrategy) -> BoxedStrategy<String> {
    let shell = object(vec![kind("local_shell_call"), id.clone(), maybe("action", json())]);
    prop_oneof![3 => call_of_function(id.clone()), 2 => custom_call(id), 1 => shell].boxed()
}

fn call_of_function(id: FieldsStrategy) -> BoxedStrategy<String> {
    let function = tools::function().prop_flat_map(|(name, arguments)| {
        let text = prop_oneof![6 => Just(quote(&arguments)), 1 => literal(), 1 => json()];
        let name = field("name", Just(quote(&name)));
        fields(vec![name, maybe("arguments", text)])
    });
    let namespace = prop_oneof![6 => Just(Vec::new()), 1 => field("namespace", word(&["mcp__x"]))];
    object(vec![kind("function_call"), function.boxed(), namespace.boxed(), id])
}

fn custom_call(id: FieldsStrategy) -> BoxedStrategy<String> {
    let tool =
        tools::custom().prop_map(|(name, input)| vec![("name", quote(&name)), ("input", input)]);
    object(vec![kind("custom_tool_call"), tool.boxed(), maybe("status", word(&["completed"])), id])
}

fn output(name: &'static str, id: FieldsStrategy) -> BoxedStrategy<String> {
    let said = (literal(), -1..3).prop_map(|(output, code)| {
        let output = output.get(1..output.len() - 1).unwrap_or_default().to_owned();
        format!(
            r#""Chunk ID: 1\nWall time: 0.5 seconds\nProcess exited with code {code}\nOutput:\n{output}""#
        )
    });
    let held = object(vec![
        maybe("content", literal()),
        maybe("success", any::<bool>().prop_map(|success| success.to_string())),
    ]);
    let as_text = object(vec![
        maybe("output", literal()),
        maybe("metadata", object(vec![maybe("exit_code", number())])),
    ]);
    let output = prop_oneof![
        3 => literal(),
        3 => said,
        2 => texts("input_text"),
        1 => as_text.prop_map(|json| quote(&json)),
        1 => held,
        1 => json(),
    ];
    object(vec![kind(name), id, maybe("output", output)])
}
