//! Strategies for `codex exec --json`.

use foldline_testkit::generate::{
    Calls, FieldsStrategy, LogBytes, calls, concat, disturbed, field, fields, json, kind, list,
    literal, maybe, number, object, quote, word,
};
use proptest::{collection::vec, prelude::*, sample::select};

use super::tools;

/// The ids of [`line`]: few, so that items share them and some end before they start.
const IDS: &[&str] = &["item_0", "item_1", "item_2", "ws_3\nx", ""];

/// Any one line: every type with every variation of its fields, the app server's variant, and types that Codex does not
/// have.
pub(crate) fn line() -> BoxedStrategy<String> {
    let phase = select(vec!["item.started", "item.updated", "item.completed"]);
    let unknown = object(vec![maybe("type", literal()), maybe("item", json()), dialect()]);
    prop_oneof![
        1 => thread(),
        2 => turn(),
        9 => phase.prop_flat_map(|phase| item_line(
            phase,
            prop_oneof![
                9 => item(maybe("id", word(IDS)), any_item()),
                1 => json(),
            ]
            .boxed(),
            dialect(),
        )),
        4 => select(vec!["item.started", "item.updated", "item.completed"])
            .prop_flat_map(|phase| item_line(phase, grown(), Just(Vec::new()).boxed())),
        1 => object(vec![kind("error"), maybe("message", literal()), dialect()]),
        1 => object(vec![kind("subagent.completed"), maybe("status", literal()), dialect()]),
        1 => unknown,
    ]
    .boxed()
}

/// The lines of a regular log: items with unique ids; messages, thoughts and file changes, complete or growing;
/// parallel tools that end in any order, with or without updates; a to-do list that ends with the turn.
pub(crate) fn conversation() -> BoxedStrategy<Vec<String>> {
    let end = prop_oneof![
        3 => turn_completed().prop_map(|line| vec![line]),
        1 => literal().prop_map(|message| vec![
            format!(r#"{{"type":"error","message":{message}}}"#),
            format!(r#"{{"type":"turn.failed","error":{{"message":{message}}}}}"#),
        ]),
        1 => Just(Vec::new()),
    ];
    vec(part(), 0..8)
        .prop_flat_map(move |parts| {
            let start = [
                r#"{"type":"thread.started","thread_id":"t1"}"#.to_owned(),
                r#"{"type":"turn.started"}"#.to_owned(),
            ];
            let mut lines = vec![Just(start.to_vec()).boxed()];
            lines.extend(parts.into_iter().enumerate().map(|(n, part)| part.lines(n)));
            lines.push(end.clone().boxed());
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
    Complete,
    Growing { kind: &'static str },
    Calls { calls: Calls, updated: bool },
}

fn part() -> BoxedStrategy<Part> {
    let grows = select(vec!["agent_message", "reasoning"]);
    prop_oneof![
        3 => Just(Part::Complete),
        1 => grows.prop_map(|kind| Part::Growing { kind }),
        4 => (calls(), any::<bool>()).prop_map(|(calls, updated)| Part::Calls { calls, updated }),
    ]
    .boxed()
}

impl Part {
    fn lines(self, part: usize) -> BoxedStrategy<Vec<String>> {
        let id = quote(&format!("item_{part}"));
        match self {
            Self::Complete => {
                let item = item(field("id", Just(id)), said());
                item_line("item.completed", item, Just(Vec::new()).boxed())
                    .prop_map(|line| vec![line])
                    .boxed()
            }
            Self::Growing { kind } => vec("[a-z ]{0,12}", 1..5)
                .prop_map(move |pieces| {
                    let last = pieces.len() - 1;
                    let line = |n: usize| {
                        let phase = match n {
                            _ if n == last => "completed",
                            0 => "started",
                            _ => "updated",
                        };
                        let text: String = pieces.iter().take(n + 1).map(String::as_str).collect();
                        format!(
                            r#"{{"type":"item.{phase}","item":{{"id":{id},"type":"{kind}","text":"{text}"}}}}"#
                        )
                    };
                    (0..=last).map(line).collect()
                })
                .boxed(),
            Self::Calls { calls, updated } => {
                let ids = calls.ids(&format!("item_{part}"));
                // The type of an item does not change.
                vec(any::<u8>(), ids.len())
                    .prop_flat_map(move |kinds| {
                        let ids = ids.iter().cloned().zip(kinds).collect::<Vec<_>>();
                        let line = |phase, (id, kind): (String, u8)| {
                            let item = item(field("id", Just(id)), call(kind));
                            item_line(phase, item, Just(Vec::new()).boxed())
                        };
                        let mut lines: Vec<_> =
                            ids.iter().cloned().map(|call| line("item.started", call)).collect();
                        if updated {
                            lines.extend(
                                ids.iter().cloned().map(|call| line("item.updated", call)),
                            );
                        }
                        let ended = calls.answered(ids).into_iter();
                        lines.extend(ended.map(|call| line("item.completed", call)));
                        lines
                    })
                    .boxed()
            }
        }
    }
}

/// A message that may begin, grow and end repeatedly, since there are only two ids.
fn grown() -> BoxedStrategy<String> {
    let id = field("id", word(&["item_0", "item_1"]));
    item(id, fields(vec![kind("agent_message"), field("text", word(&["a", "ab", "abc"]))]))
}

/// The type of an item and its fields.
fn any_item() -> FieldsStrategy {
    prop_oneof![2 => said(), 5 => any::<u8>().prop_flat_map(call)].boxed()
}

/// Complete items.
fn said() -> FieldsStrategy {
    prop_oneof![
        4 => fields(vec![kind("agent_message"), maybe("text", literal())]),
        2 => fields(vec![kind("reasoning"), maybe("text", literal())]),
        1 => fields(vec![kind("reasoning"), maybe("summary", list(literal()))]),
        2 => fields(vec![kind("file_change"), tools::kinds()]),
        1 => fields(vec![kind("error"), maybe("message", literal())]),
        1 => fields(vec![kind("novel"), maybe("text", json())]),
    ]
    .boxed()
}

/// Items that start and end.
fn call(which: u8) -> FieldsStrategy {
    let (name, given) = match which % 8 {
        0..=2 => ("command_execution", tools::command()),
        3 => ("mcp_tool_call", tools::mcp()),
        4 => ("web_search", tools::search()),
        5 => ("todo_list", tools::todos()),
        6 => ("collab_tool_call", tools::agents()),
        _ => ("commandExecution", tools::command()),
    };
    fields(vec![kind(name), given])
}

fn item(id: FieldsStrategy, what: FieldsStrategy) -> BoxedStrategy<String> {
    object(vec![id, what])
}

fn item_line(
    phase: &'static str,
    item: BoxedStrategy<String>,
    dialect: FieldsStrategy,
) -> BoxedStrategy<String> {
    object(vec![kind(phase), field("item", item), dialect])
}

/// The fields of every line in the app server's variant.
fn dialect() -> FieldsStrategy {
    let stated = fields(vec![
        maybe(
            "timestamp",
            (1_760_806_427_595_u64..1_760_806_927_595).prop_map(|at| at.to_string()),
        ),
        maybe("thread_id", word(&["t1", "t2"])),
    ]);
    prop_oneof![2 => Just(Vec::new()), 1 => stated].boxed()
}

fn thread() -> BoxedStrategy<String> {
    object(vec![
        kind("thread.started"),
        maybe("thread_id", word(&["t1", "t2"])),
        maybe("model", word(&["gpt-5-codex"])),
    ])
}

fn turn() -> BoxedStrategy<String> {
    let error = object(vec![maybe("message", literal())]);
    prop_oneof![
        object(vec![kind("turn.started"), maybe("turn_id", number()), dialect()]),
        turn_completed(),
        object(vec![kind("turn.failed"), maybe("error", error), dialect()]),
    ]
    .boxed()
}

fn turn_completed() -> BoxedStrategy<String> {
    object(vec![kind("turn.completed"), maybe("usage", tools::usage()), dialect()])
}
