//! A new agent in a hundred lines: from its records to JSON Patches.
//!
//! The agent is the one of the tutorial (`foldline_agents::tutorial`), which explains the parts.

use std::borrow::Cow;

use foldline::transduce::Transducer;
use foldline_agents::prelude::*;
use foldline_domain::patch::PatchEmitter;

/// The invented agent.
struct Parrot;

/// One record of its logs.
enum Line<'a> {
    Hello { model: Option<Text>, cwd: Option<Text> },
    Say(Text),
    Do { id: Option<CorrId>, verb: Cow<'a, str>, with: Option<Raw<'a>> },
    Did { id: Option<CorrId>, ok: bool, gave: Text },
}

impl Executor for Parrot {
    const FORMAT: Format =
        Format::new("parrot", "Parrot", "parrot").with_homes(&["~/.parrot/logs"]);
    type Line<'a> = Line<'a>;
    type Result = ToolOutcome;
    type Memory = ();

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        match object.get_str("kind").as_deref() {
            Some("do" | "did") => Evidence::certain_if(object.has("nr")),
            Some("hello" | "say") => Evidence::Possible,
            _ => Evidence::None,
        }
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Line<'a>> {
        header.name = object.get_str("kind").unwrap_or_default();
        header.at = object.timestamp("at").or(header.at);
        let id = |object: &mut Object<'a>| object.u64("nr").map(|nr| nr.to_string().into());
        let line = match &*header.name {
            "hello" => Line::Hello { model: object.text("model"), cwd: object.text("cwd") },
            "say" => Line::Say(object.text("words").unwrap_or_default()),
            "do" => Line::Do {
                id: id(object),
                verb: object.str("verb").unwrap_or_default(),
                with: object.raw("with"),
            },
            "did" => Line::Did {
                id: id(object),
                ok: object.bool("ok").unwrap_or(true),
                gave: object.text("gave").unwrap_or_default(),
            },
            "tick" => {
                object.ignore(&["kind"]);
                return Parsed::Ignored;
            }
            _ => return Parsed::Unknown,
        };
        object.ignore(&["kind"]);
        Parsed::Line(line)
    }

    fn line(&self, line: Line<'_>, extra: Extra, (): &mut (), cx: &mut Context<'_, ToolOutcome>) {
        match line {
            Line::Hello { model, cwd } => {
                cx.session(Session { model, cwd, ..Session::default() });
            }
            Line::Say(words) => cx.entry(NormalizedEntryType::AssistantMessage, words, extra),
            Line::Do { id, verb, with } => {
                let call = map(&verb, with, cx.cwd().as_deref());
                cx.call(id, &verb, call, extra);
            }
            Line::Did { id, ok, gave } => {
                let status = if ok { ToolStatus::Success } else { ToolStatus::Failed };
                cx.result(id, ToolOutcome::text(status, gave).at(cx.at));
            }
        }
    }
}

/// The action of a call. Parameters without an equivalent in the action are kept with it.
fn map(verb: &str, with: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    let is_plain = || false; // every tool of the agent has an action
    MappedCall::of(verb, with, is_plain, |given| match verb {
        "shell" => Some(action::command_run(given.text("line"))),
        "peek" => {
            let path = given.str("file").unwrap_or_default();
            Some(action::file_read(files::relative_path(&path, cwd)))
        }
        _ => None,
    })
}

const LOG: &str = r#"{"kind":"hello","model":"parrot-2","cwd":"/home/ada","at":1000}
{"kind":"say","words":"Let me look.","mood":"fine","at":1500}
{"kind":"do","nr":7,"verb":"shell","with":{"line":"ls","quiet":true},"at":2000}
{"kind":"did","nr":7,"ok":true,"gave":"a.txt","at":2400}
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut patches = Vec::new();
    let mut transducer = Transducer::new(DynExecutor::new(Parrot), PatchEmitter::default());
    for line in LOG.lines() {
        foldline_agents::wire::Record::read(line, |_, record| {
            patches.extend(transducer.step(record));
        });
    }
    let (_state, _emitter, rest) = transducer.finish();
    patches.extend(rest);
    for patch in &patches {
        println!("{}", serde_json::to_string(patch)?);
    }
    Ok(())
}
