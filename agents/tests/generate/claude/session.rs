//! Strategies for Claude Code's session files.

mod notice;

use foldline_testkit::generate::{
    Calls, FieldsStrategy, LogBytes, array, calls, concat, disturbed, field, fields, json, kind,
    list, literal, maybe, object, quote, time, word,
};
use proptest::{collection::vec, prelude::*};

use self::notice::{attachment, bookkeeping, progress, system};
use super::blocks;

/// The ids of [`line`]: few, so that some repeat and some results precede their calls.
const IDS: &[&str] = &["toolu_1", "toolu_2", "srvtoolu_3", "toolu_4\nx", ""];

/// Any one line: every type of record with every variation of its fields, side chains with and
/// without the name of their agent, and types that Claude Code does not have.
pub(crate) fn line() -> BoxedStrategy<String> {
    let author = || {
        fields(vec![
            maybe("uuid", word(&["u1", "u2", "u3", "u4"])),
            maybe("sessionId", word(&["s1", "s1", "s2"])),
            maybe("cwd", word(&["/home/me/project", "/", "/tmp"])),
            maybe("version", word(&["1.0.111", "2.1.209"])),
            maybe("isSidechain", word(&["true"]).prop_map(|_| "true".to_owned())),
            prop_oneof![3 => Just(Vec::new()), 1 => field("agentId", word(&["a1", "a2"]))].boxed(),
            common(),
        ])
    };
    let id = maybe("id", word(&["msg_1", "msg_2"]));
    let flags = fields(vec![
        prop_oneof![4 => Just(Vec::new()), 1 => field("isMeta", Just("true".to_owned()))].boxed(),
        maybe("toolUseResult", blocks::detail()),
        maybe("toolResultMeta", blocks::meta(quote("toolu_1"))),
        maybe("promptSource", word(&["user", "system"])),
    ]);
    let failed = prop_oneof![6 => Just(Vec::new()), 1 => blocks::api_error()].boxed();
    let unknown = object(vec![maybe("type", literal()), maybe("message", json()), author()]);
    let call = || maybe("parentToolUseID", word(IDS));
    let in_agent = prop_oneof![
        object(vec![
            kind("assistant"),
            field("message", blocks::assistant(id.clone(), blocks::any_content(IDS))),
        ]),
        object(vec![kind("user"), field("message", blocks::user(blocks::any_content(IDS)))]),
        json(),
    ];
    prop_oneof![
        4 => object(vec![
            kind("assistant"),
            field("message", blocks::assistant(id, blocks::any_content(IDS))),
            failed,
            author(),
        ]),
        4 => object(vec![
            kind("user"),
            field("message", blocks::user(blocks::any_content(IDS))),
            flags,
            author(),
        ]),
        2 => system(author()),
        3 => progress(in_agent.boxed(), call(), author()),
        2 => attachment(author()),
        2 => bookkeeping(),
        1 => unknown,
    ]
    .boxed()
}

/// The lines of a regular log: records with unique ids, by one author in one directory, as in real logs; parallel calls
/// with results in any order, progress in between, and messages of sub-agents in the progress; compaction, failed
/// requests, bookkeeping.
///
/// A side chain names its agent here: side chains of old releases belong to the oldest open call, so that the order of
/// results matters.
pub(crate) fn conversation() -> BoxedStrategy<Vec<String>> {
    vec(part(), 0..8)
        .prop_flat_map(|parts| {
            let lines = parts.into_iter().enumerate().map(|(n, part)| part.lines(n));
            concat(std::iter::once(one(prompt("start"))).chain(lines).collect())
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
    Message,
    Prompt,
    SideChain,
    System,
    Attachment,
    Bookkeeping,
    Calls { calls: Calls, work: Work },
}

/// The lines of a call before its result.
#[derive(Clone, Copy, Debug)]
enum Work {
    Nothing,
    Progress,
    Agents,
}

fn part() -> BoxedStrategy<Part> {
    let work = prop_oneof![Just(Work::Nothing), Just(Work::Progress), Just(Work::Agents)];
    prop_oneof![
        3 => Just(Part::Message),
        1 => Just(Part::Prompt),
        1 => Just(Part::SideChain),
        1 => Just(Part::System),
        1 => Just(Part::Attachment),
        1 => Just(Part::Bookkeeping),
        5 => (calls(), work).prop_map(|(calls, work)| Part::Calls { calls, work }),
    ]
    .boxed()
}

impl Part {
    fn lines(self, part: usize) -> BoxedStrategy<Vec<String>> {
        let name = part.to_string();
        match self {
            Self::Message => {
                let said = prop_oneof![blocks::text(), blocks::thinking(), blocks::odd()].boxed();
                one(assistant(&name, said, author(&name)))
            }
            Self::Prompt => one(prompt(&name)),
            Self::SideChain => {
                let author = fields(vec![
                    field("isSidechain", Just("true".to_owned())),
                    field("agentId", Just(quote("a1"))),
                    author(&name),
                ]);
                one(assistant(&name, blocks::text(), author))
            }
            Self::System => one(system(author(&name))),
            Self::Attachment => one(attachment(author(&name))),
            Self::Bookkeeping => one(bookkeeping()),
            Self::Calls { calls, work } => {
                let ids = calls.ids(&format!("toolu_{part}"));
                let mut lines = Vec::new();
                for (n, id) in ids.iter().enumerate() {
                    let call = match work {
                        Work::Agents => blocks::agent_use(field("id", Just(id.clone()))),
                        _ => blocks::tool_use(field("id", Just(id.clone()))),
                    };
                    let uuid = format!("{part}_call_{n}");
                    lines.push(one(assistant(&name, call, author(&uuid))));
                }
                for (n, id) in ids.iter().enumerate() {
                    let name = format!("{part}_{n}");
                    match work {
                        Work::Nothing => {}
                        Work::Progress => lines.push(at_work(&name, id)),
                        Work::Agents => lines.push(sub_agent(&name, id)),
                    }
                }
                let answers = calls.answered(ids).into_iter();
                lines.extend(answers.map(|id| one(answer(id))));
                concat(lines)
            }
        }
    }
}

/// A few lines on the progress of a call.
fn at_work(name: &str, id: &str) -> BoxedStrategy<Vec<String>> {
    let (name, id) = (name.to_owned(), id.to_owned());
    (0..3_usize)
        .prop_flat_map(move |count| {
            let line = |n| {
                let call = field("parentToolUseID", Just(id.clone()));
                // A message of an agent would belong to another call.
                let nobody = Just("{}".to_owned()).boxed();
                one(progress(nobody, call, author(&format!("{name}_progress_{n}"))))
            };
            concat((0..count).map(line).collect())
        })
        .boxed()
}

/// The messages of a sub-agent, as copies in the progress of its call.
fn sub_agent(name: &str, parent: &str) -> BoxedStrategy<Vec<String>> {
    let id = quote(&format!("toolu_child_{name}"));
    let call = blocks::tool_use(field("id", Just(id.clone())));
    let result = blocks::tool_result(field("tool_use_id", Just(id)));
    let said = [
        (kind("user"), blocks::user(array(vec![blocks::text()]))),
        (kind("assistant"), blocks::assistant(maybe("id", literal()), array(vec![call]))),
        (kind("user"), blocks::user(array(vec![result]))),
    ];
    let lines = said.into_iter().enumerate().map(|(n, (said_by, message))| {
        let uuid = format!("{name}_agent_{n}");
        let record = object(vec![
            said_by,
            field("message", message),
            field("uuid", Just(quote(&format!("{uuid}_copy")))),
            maybe("timestamp", time()),
        ]);
        let data = object(vec![
            kind("agent_progress"),
            field("message", record),
            maybe("prompt", literal()),
        ]);
        one(object(vec![
            kind("progress"),
            field("data", data),
            field("parentToolUseID", Just(parent.to_owned())),
            author(&uuid),
        ]))
    });
    concat(lines.collect())
}

fn assistant(
    message: &str,
    block: BoxedStrategy<String>,
    author: FieldsStrategy,
) -> BoxedStrategy<String> {
    let id = field("id", Just(quote(&format!("msg_{message}"))));
    object(vec![
        kind("assistant"),
        field("message", blocks::assistant(id, array(vec![block]))),
        author,
    ])
}

fn prompt(name: &str) -> BoxedStrategy<String> {
    let content = prop_oneof![list(blocks::text()), literal()].boxed();
    let is_summary = field("isCompactSummary", Just("true".to_owned()));
    object(vec![
        kind("user"),
        field("message", blocks::user(content)),
        prop_oneof![4 => Just(Vec::new()), 1 => is_summary].boxed(),
        author(&format!("{name}_prompt")),
    ])
}

/// The result of a call.
fn answer(id: String) -> BoxedStrategy<String> {
    let result = blocks::tool_result(field("tool_use_id", Just(id.clone())));
    let uuid = format!("answer {id}").replace('"', "");
    object(vec![
        kind("user"),
        field("message", blocks::user(array(vec![result]))),
        maybe("toolUseResult", blocks::detail()),
        maybe("toolResultMeta", blocks::meta(id)),
        author(&uuid),
    ])
}

/// The author fields of a record.
fn author(uuid: &str) -> FieldsStrategy {
    fields(vec![
        field("uuid", Just(quote(uuid))),
        field("sessionId", Just(quote("7f0c5c1e-0000-4000-8000-000000000001"))),
        field("cwd", Just(quote("/home/me/project"))),
        field("version", Just(quote("2.1.209"))),
        common(),
    ])
}

fn common() -> FieldsStrategy {
    fields(vec![
        maybe("parentUuid", prop_oneof![literal(), Just("null".to_owned())]),
        maybe("timestamp", time()),
        maybe("gitBranch", literal()),
        maybe("userType", word(&["external"])),
    ])
}
