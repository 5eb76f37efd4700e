//! The whole program for an agent and a consumer of another crate.
//!
//! The invented agent prints `{"parrot":"said","text":".."}`, `{"parrot":"runs","id":"1","command":".."}` and
//! `{"parrot":"ran","id":"1","output":".."}`. The consumer names calls that took more than a second.
//!
//! ```sh
//! cargo run --example own_agent -- replay cli/examples/parrot.jsonl --sink slow-calls
//! ```

use std::{convert::Infallible, process::ExitCode};

use foldline::{
    position::Located,
    transduce::{Batch, memoryless},
};
use foldline_agents::prelude::*;
use foldline_cli::Program;
use foldline_domain::{ActionType, DomainEvent};

/// The invented agent.
struct Parrot;

/// One record of its logs.
enum Line {
    Said { text: Text },
    Runs { id: Option<CorrId>, command: Text },
    Ran { id: Option<CorrId>, output: Text },
}

impl Executor for Parrot {
    const FORMAT: Format = Format::new("parrot", "Parrot, an invented agent", "parrot")
        .with_homes(&["~/.parrot/logs"]);
    type Line<'a> = Line;
    type Result = ToolOutcome;
    type Memory = ();

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        Evidence::certain_if(object.has("parrot"))
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Line> {
        header.name = object.get_str("parrot").unwrap_or_default();
        header.at = object.timestamp("at").or(header.at);
        let mut text = |field| object.text(field).unwrap_or_default();
        let line = match &*header.name {
            "said" => Line::Said { text: text("text") },
            "runs" => {
                let command = text("command");
                Line::Runs { id: object.corr_id("id"), command }
            }
            "ran" => {
                let output = text("output");
                Line::Ran { id: object.corr_id("id"), output }
            }
            _ => return Parsed::Unknown,
        };
        // What is taken of an unknown record would be lost to its report.
        object.ignore(&["parrot"]);
        Parsed::Line(line)
    }

    fn line(&self, line: Line, extra: Extra, (): &mut (), cx: &mut Context<'_, ToolOutcome>) {
        match line {
            Line::Said { text } => cx.entry(NormalizedEntryType::AssistantMessage, text, extra),
            Line::Runs { id, command } => {
                let action = ActionType::CommandRun { command: command.clone(), result: None };
                cx.call(id, "run", MappedCall::new(action, command), extra);
            }
            Line::Ran { id, output } => {
                let result = ToolOutcome::text(ToolStatus::Success, output).at(cx.at);
                cx.result(id, result);
            }
        }
    }
}

/// Names the calls that took more than a second.
fn slow_calls(event: &Located<DomainEvent>) -> Batch<Result<String, Infallible>> {
    let DomainEvent::UpdateToolCall { corr_id, entry } = &event.item else {
        return Batch::EMPTY;
    };
    let took = entry.tool().and_then(|tool| tool.duration_ms).filter(|took| *took > 1000);
    Batch::from(took.map(|took| Ok(format!("call {corr_id} took {took} ms"))))
}

/// The program with both.
pub(crate) fn program() -> Program {
    Program::builtin().executor(Parrot).sink("slow-calls", || memoryless(slow_calls))
}

fn main() -> ExitCode {
    program().run()
}
