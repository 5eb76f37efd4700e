//! A new agent in under a hundred lines: wire type, reducer, and out come JSON Patches.
//!
//! The invented agent prints `{"say": ".."}`, `{"run": "ls", "id": 1}` and `{"done": 1, "out": ".."}`.

use foldline::{
    conversation::{
        ActionType, DomainEvent, NormalizedEntry, NormalizedEntryType, Text, ToolCalls, ToolStatus,
        ToolUse,
        tool_calls::{Limits, ResultKey, TextResult},
    },
    emitters::patch::PatchEmitter,
    transduce::{Batch, Reducer, Transducer},
};
use serde::Deserialize;

/// One line of the agent's log.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Say { say: Text },
    Run { run: Text, id: u64 },
    Done { done: u64, out: Text },
}

/// The pure core. Pairing, waiting, duplicates and completion are the work of `ToolCalls`.
struct InventedAgent;

impl Reducer<Line, ToolCalls<TextResult>, DomainEvent> for InventedAgent {
    fn init(&self) -> ToolCalls<TextResult> {
        ToolCalls::default()
    }

    fn reduce(
        &self,
        mut calls: ToolCalls<TextResult>,
        line: Line,
    ) -> (ToolCalls<TextResult>, Batch<DomainEvent>) {
        let (limits, mut events) = (Limits::DEFAULT, Batch::EMPTY);
        match line {
            Line::Say { say } => events.push(DomainEvent::entry(NormalizedEntry::new(
                NormalizedEntryType::AssistantMessage,
                say,
            ))),
            Line::Run { run, id } => {
                let action = ActionType::CommandRun { command: run.clone(), result: None };
                let tool = NormalizedEntryType::ToolUse(ToolUse::new("run", action));
                let id = Some(format!("run-{id}").into());
                calls.call(id, NormalizedEntry::new(tool, run), &limits, &mut events);
            }
            Line::Done { done, out } => {
                let key = ResultKey::from(format!("run-{done}").as_str());
                calls.result(key, TextResult::new(ToolStatus::Success, out), &limits, &mut events);
            }
        }
        (calls, events)
    }

    fn finish(
        &self,
        mut calls: ToolCalls<TextResult>,
    ) -> (ToolCalls<TextResult>, Batch<DomainEvent>) {
        let mut events = Batch::EMPTY;
        calls.finish(&mut events);
        (calls, events)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let log =
        [r#"{"run":"ls","id":1}"#, r#"{"say":"one moment"}"#, r#"{"done":1,"out":"a.txt\n"}"#];
    let mut transducer = Transducer::new(InventedAgent, PatchEmitter::default());
    for line in log {
        for patch in transducer.step(serde_json::from_str::<Line>(line)?) {
            println!("{}", serde_json::to_string(&patch)?);
        }
    }
    let (_state, _emitter, rest) = transducer.finish();
    assert!(rest.is_empty(), "every call was answered");
    Ok(())
}
