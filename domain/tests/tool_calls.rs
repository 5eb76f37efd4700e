//! Calls and results, in every order.

use foldline::transduce::Batch;
use foldline_domain::{
    ActionType, CommandExitStatus, CommandRunResult, CorrId, DomainEvent, FileChange, Image,
    NormalizedEntry, NormalizedEntryType, Text, Timestamp, ToolCalls, ToolResult, ToolStatus,
    ToolUse,
    tool_calls::{CallResult, Limits, ResultKey, ResultParser, ToolOutcome},
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Answer(String);

impl CallResult for Answer {
    fn complete(self, call: &mut NormalizedEntry) {
        if let Some(tool) = call.tool_mut() {
            tool.status = ToolStatus::Success;
            tool.action_type.set_result(ToolResult::Text(self.0.into()));
        }
    }

    fn timestamp(&self) -> Option<Timestamp> {
        Some(Timestamp::from_millis(30))
    }

    fn content(&self) -> Text {
        self.0.as_str().into()
    }
}

struct Machine {
    calls: ToolCalls<Answer>,
    limits: Limits,
    events: Batch<DomainEvent>,
}

impl Machine {
    fn new() -> Self {
        Self { calls: ToolCalls::default(), limits: Limits::DEFAULT, events: Batch::EMPTY }
    }

    fn call(&mut self, id: &str, tool: &str, message_id: &str) {
        let action = ActionType::Tool { tool_name: tool.into(), arguments: None, result: None };
        let mut entry =
            NormalizedEntry::new(NormalizedEntryType::ToolUse(ToolUse::new(tool, action)), tool)
                .at(Some(Timestamp::from_millis(10)));
        entry.metadata_mut().message_id = Some(message_id.into());
        let id = (!id.is_empty()).then(|| CorrId::from(id));
        self.calls.call(id, entry, &self.limits, &mut self.events);
    }

    fn result(&mut self, id: &str, text: &str) {
        let key = ResultKey::from(CorrId::from(id));
        self.calls.result(key, Answer(text.into()), &self.limits, &mut self.events);
    }

    fn answer(&mut self, key: ResultKey, text: &str) {
        self.calls.result(key, Answer(text.into()), &self.limits, &mut self.events);
    }

    /// The ended calls as `id=status:result`, and the warnings by kind.
    fn ended(&mut self) -> Vec<String> {
        let events = std::mem::take(&mut self.events);
        events
            .into_iter()
            .filter_map(|event| match event {
                DomainEvent::UpdateToolCall { corr_id, entry } => {
                    let tool = entry.tool()?;
                    let result = tool.action_type.result_text().unwrap_or_default();
                    Some(format!("{corr_id}={}:{result}", tool.status.name()))
                }
                DomainEvent::Warning(warning) => Some(warning.kind.as_str().to_owned()),
                _ => None,
            })
            .collect()
    }
}

#[test]
fn results_go_to_their_calls_in_any_order() {
    let mut machine = Machine::new();
    for id in ["a", "b", "c"] {
        machine.call(id, "Read", "m");
    }
    for id in ["c", "a", "b"] {
        machine.result(id, id);
    }
    assert_eq!(machine.ended(), ["c=success:c", "a=success:a", "b=success:b"]);
    assert_eq!(machine.calls.open_calls(), 0);
}

#[test]
fn a_result_waits_for_its_call() {
    let mut machine = Machine::new();
    machine.result("a", "early");
    assert_eq!(machine.calls.held_results(), 1);
    machine.call("a", "Read", "m");
    assert_eq!(machine.ended(), ["a=success:early"]);
    assert_eq!(machine.calls.held_results(), 0);
}

#[test]
fn the_first_of_two_results_waits_for_the_call() {
    let mut machine = Machine::new();
    machine.result("a", "early");
    machine.result("a", "again");
    assert_eq!(machine.ended(), ["duplicate_result"]);
    machine.call("a", "Read", "m");
    assert_eq!(machine.ended(), ["a=success:early"]);
}

#[test]
fn open_calls_and_held_results_have_bytes() {
    let mut machine = Machine::new();
    machine.call("a", "Read", "m");
    let open = machine.calls.bytes();
    assert!(open > 0);
    machine.result("b", "four");
    assert_eq!(machine.calls.bytes(), open + 4);
    machine.result("a", "x");
    machine.call("b", "Read", "m");
    assert_eq!(machine.calls.bytes(), 0);
    assert_eq!(&*ToolOutcome::<()>::text(ToolStatus::Success, "said").content().decode(), "said");
}

#[test]
fn durations_follow_from_the_timestamps() {
    let mut machine = Machine::new();
    machine.call("a", "Read", "m");
    machine.result("a", "x");
    let DomainEvent::UpdateToolCall { entry, .. } = &machine.events.as_slice()[1] else {
        panic!("{:?}", machine.events)
    };
    assert_eq!(entry.tool().unwrap().duration_ms, Some(20));
}

#[test]
fn the_first_of_two_wins_and_the_second_is_kept() {
    let mut machine = Machine::new();
    machine.call("a", "Read", "m");
    machine.call("a", "Edit", "another message");
    machine.result("a", "one");
    machine.result("a", "two");
    machine.call("a", "Edit", "m");
    let kept: Vec<_> = machine
        .events
        .as_slice()
        .iter()
        .filter_map(|event| match event {
            DomainEvent::NewEntry { entry } => Some(entry.content.decode().into_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(kept.len(), 3);
    assert!(kept[0].contains("Edit") && kept[0].contains("another message"));
    assert_eq!(kept[1], "two");
    assert_eq!(
        machine.ended(),
        ["duplicate_call", "a=success:one", "duplicate_result", "duplicate_call"]
    );
}

#[test]
fn a_result_without_an_id_goes_to_the_best_fit() {
    let mut machine = Machine::new();
    machine.call("a", "Read", "m1");
    machine.call("b", "Grep", "m2");
    machine.call("c", "Grep", "m3");
    machine.call("d", "Read", "m3");
    machine.answer(ResultKey::default().with_tool("Grep"), "1");
    machine.answer(ResultKey::default().with_message("m3"), "2");
    machine.answer(ResultKey::default().with_message("other"), "3");
    machine.answer(ResultKey::default(), "4");
    machine.answer(ResultKey::default(), "5");
    let ended = machine.ended();
    let pairs: Vec<_> = ended.iter().filter(|ended| *ended != "inferred_result").collect();
    assert_eq!(
        pairs,
        ["b=success:1", "c=success:2", "a=success:3", "d=success:4", "unclaimed_result"]
    );
}

#[test]
fn completion_ends_what_is_open_and_reports_what_is_held() {
    let mut machine = Machine::new();
    machine.call("a", "Read", "m");
    machine.call("", "Read", "m");
    machine.result("z", "nobody's");
    machine.calls.finish(&mut machine.events);
    assert_eq!(
        machine.ended(),
        [
            "unfinished_call",
            "a=unfinished:",
            "unfinished_call",
            "call-1=unfinished:",
            "unclaimed_result"
        ]
    );
}

#[test]
fn what_is_held_is_bounded() {
    let mut machine = Machine::new();
    machine.limits = Limits {
        open_calls: 2,
        held_results: 2,
        held_bytes: 20,
        ended_calls: 1,
        ..Limits::DEFAULT
    };
    for id in ["a", "b", "c"] {
        machine.result(id, "1");
    }
    machine.result("long", "a result of more than 20 bytes");
    for id in ["p", "q", "r"] {
        machine.call(id, "Read", "m");
    }
    assert_eq!(
        machine.ended(),
        [
            "unclaimed_result",
            "unclaimed_result",
            "unclaimed_result",
            "unclaimed_result",
            "unfinished_call",
            "p=unfinished:"
        ]
    );
    assert_eq!(machine.calls.open_calls(), 2);
}

/// What was taken or had to make room no longer counts, and is known no longer.
#[test]
fn a_result_that_is_held_no_longer_leaves_nothing_behind() {
    let mut machine = Machine::new();
    machine.limits = Limits { held_results: 2, held_bytes: 20, ..Limits::DEFAULT };
    for id in ["a", "b", "c", "d", "e"] {
        machine.result(id, "ten bytes!");
        machine.call(id, "Read", "m");
        assert_eq!(machine.ended(), [format!("{id}=success:ten bytes!")]);
    }
    for id in ["p", "q", "r"] {
        machine.result(id, "1");
    }
    assert_eq!(machine.ended(), ["unclaimed_result"]);
    // The result that made room may come again.
    machine.result("p", "2");
    assert_eq!(machine.ended(), ["unclaimed_result"]);
    machine.call("p", "Read", "m");
    assert_eq!(machine.ended(), ["p=success:2"]);
}

#[test]
fn the_bytes_of_open_calls_are_bounded() {
    let mut machine = Machine::new();
    machine.limits.open_bytes = 10_000;
    let long = "x".repeat(4_000);
    for id in ["a", "b", "c"] {
        machine.call(id, &long, "m");
    }
    // Two calls exceed the limit, since each contains its tool's name three times; the last one remains.
    let unfinished = |ended: &[String]| ended.iter().filter(|it| it.contains("=unfin")).count();
    let ended = machine.ended();
    assert_eq!(unfinished(&ended), 2, "{ended:?}");
    assert_eq!(machine.calls.open_calls(), 1);
    machine.result("c", "came");
    // A late result is kept, with a warning.
    machine.result("a", "late");
    assert_eq!(machine.ended(), ["c=success:came", "duplicate_result"]);

    // Short calls are bounded as well, and one that grows beyond the limit is evicted itself.
    for n in 0..100 {
        machine.call(&format!("short-{n}"), "Read", "m");
    }
    let few = machine.calls.open_calls();
    assert!(few > 1 && few < 10, "{few}");
    let Machine { calls, limits, events } = &mut machine;
    let grow = |call: &mut NormalizedEntry| call.content = "y".repeat(20_000).into();
    assert!(calls.update(&"short-99".into(), grow, limits, events));
    assert_eq!(machine.calls.open_calls(), few - 1);
    assert!(machine.calls.get(&"short-99".into()).is_none());
    machine.calls.finish(&mut machine.events);
    assert_eq!((machine.calls.open_calls(), machine.calls.bytes()), (0, 0));
}

#[test]
fn the_machine_survives_serde() {
    let mut machine = Machine::new();
    machine.call("a", "Read", "m");
    machine.result("z", "held");
    let json = serde_json::to_string(&machine.calls).unwrap();
    assert_eq!(serde_json::from_str::<ToolCalls<Answer>>(&json).unwrap(), machine.calls);
}

/// A stored and restored text may have other escapes than in the log.
#[test]
fn the_size_of_an_open_call_does_not_depend_on_how_its_texts_are_spelt() {
    let content = serde_json::from_str(r#""x\u2028\/""#).unwrap();
    let change = FileChange::Write { path: "a".into(), content };
    let action = ActionType::FileEdit { path: "a".into(), changes: vec![change], result: None };
    let tool = NormalizedEntryType::ToolUse(ToolUse::new("Write", action));
    let mut machine = Machine::new();
    let entry = NormalizedEntry::new(tool, "a");
    machine.calls.call(Some("1".into()), entry, &machine.limits, &mut machine.events);
    let stored = serde_json::to_string(&machine.calls).unwrap();
    let mut restored: ToolCalls<Answer> = serde_json::from_str(&stored).unwrap();
    for calls in [&mut machine.calls, &mut restored] {
        let running = |entry: &mut NormalizedEntry| {
            entry.tool_mut().unwrap().status = ToolStatus::InProgress;
        };
        calls.update(&"1".into(), running, &machine.limits, &mut machine.events);
    }
    assert_eq!(machine.calls, restored);
}

#[test]
fn a_command_succeeds_or_fails_as_its_status_says() {
    let exit = |status: ToolStatus, known: Option<CommandExitStatus>| {
        let run = known.map(|known| CommandRunResult {
            exit_status: Some(known),
            ..CommandRunResult::default()
        });
        let action = ActionType::CommandRun { command: "ls".into(), result: run };
        let mut tool = ToolUse::new("shell", action);
        tool.complete(status, "out");
        let ActionType::CommandRun { result: Some(result), .. } = tool.action_type else {
            return None;
        };
        assert_eq!(result.output, Some("out".into()));
        result.exit_status
    };
    let success = |success| Some(CommandExitStatus::Success { success });
    assert_eq!(exit(ToolStatus::Success, None), success(true));
    assert_eq!(exit(ToolStatus::Failed, None), success(false));
    assert_eq!(exit(ToolStatus::Cancelled, None), None);
    let code = CommandExitStatus::ExitCode { code: 2 };
    assert_eq!(exit(ToolStatus::Failed, Some(code)), Some(code));
}

#[test]
fn a_result_of_text_is_the_same_after_it_was_stored() {
    let result = ToolOutcome::<()>::text(ToolStatus::Failed, "a \"quote\" \u{2028}")
        .at(Some(Timestamp::from_millis(30)));
    let stored = serde_json::to_string(&result).unwrap();
    let read: ToolOutcome = serde_json::from_str(&stored).unwrap();
    assert_eq!(read.length(), result.length());
    assert_eq!(read, result);
    let key = ResultKey::from("c").with_message("m").with_tool("Read");
    let (mut calls, mut events) = (ToolCalls::default(), Batch::EMPTY);
    calls.result(key, read, &Limits::DEFAULT, &mut events);
    let action = ActionType::Tool { tool_name: "Read".into(), arguments: None, result: None };
    let call = NormalizedEntryType::ToolUse(ToolUse::new("Read", action));
    let call = NormalizedEntry::new(call, "x").at(Some(Timestamp::from_millis(10)));
    calls.call(Some("c".into()), call, &Limits::DEFAULT, &mut events);
    let Some(DomainEvent::UpdateToolCall { entry, .. }) = events.as_slice().last() else {
        panic!("the call ends");
    };
    let tool = entry.tool().unwrap();
    assert_eq!((&tool.status, tool.duration_ms), (&ToolStatus::Failed, Some(20)));
}

#[test]
fn the_exit_code_of_another_call_is_kept() {
    let action = ActionType::FileRead { path: "x".into(), result: None };
    let tool = NormalizedEntryType::ToolUse(ToolUse::new("read", action));
    let mut call = NormalizedEntry::new(tool, "x");
    let exit_status = Some(CommandExitStatus::ExitCode { code: 3 });
    let mut result = ToolOutcome::<()>::new(ToolStatus::Failed, None);
    result.exit_status = exit_status;
    result.complete(&mut call);
    let extra = &call.metadata.as_ref().unwrap().extra;
    let (name, value) = &extra.iter().next().unwrap();
    assert_eq!(*name, "result.exit_status");
    assert!(value.get().contains('3'), "{value:?}");
}

/// The first line is the exit code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct FirstLine;

impl ResultParser for FirstLine {
    fn read(outcome: &mut ToolOutcome<Self>, _: &mut ActionType) {
        let text = outcome.body.take().map(ToolResult::into_text).unwrap_or_default();
        let text = text.decode().into_owned();
        let (code, rest) = text.split_once('\n').unwrap();
        let code = code.parse().ok();
        outcome.exit_status = code.map(|code| CommandExitStatus::ExitCode { code });
        outcome.body = Some(ToolResult::Text(rest.into()));
    }
}

#[test]
fn a_picture_moves_with_the_text_that_stands_for_it_and_goes_with_the_result() {
    let action = ActionType::CommandRun { command: "draw".into(), result: None };
    let tool = NormalizedEntryType::ToolUse(ToolUse::new("shell", action));
    let mut call = NormalizedEntry::new(tool, "draw");
    let picture = Image::from_base64("R0lGODlhAQABAAAAACwAAAAAAQABAAA=").unwrap();
    let drawn = ToolOutcome::<FirstLine> {
        images: vec![Image { placeholder: Some(2..11), ..picture.clone() }],
        ..ToolOutcome::new(ToolStatus::Success, None).with_body(Text::from("7\n[picture]"))
    };
    drawn.complete(&mut call);
    let ActionType::CommandRun { result: Some(result), .. } = &call.tool().unwrap().action_type
    else {
        panic!("a command with a result")
    };
    assert_eq!(result.exit_status, Some(CommandExitStatus::ExitCode { code: 7 }));
    let images = |call: &NormalizedEntry| call.metadata.as_ref().unwrap().images.clone();
    assert_eq!(images(&call), [Image { placeholder: Some(0..9), ..picture }]);

    // A result that states nothing new leaves it, and one with another text replaces it.
    ToolOutcome::<()>::new(ToolStatus::Success, None).complete(&mut call);
    assert_eq!(images(&call).len(), 1);
    ToolOutcome::<()>::text(ToolStatus::Success, "no picture").complete(&mut call);
    assert_eq!(images(&call), []);
}

#[test]
fn the_exit_code_of_a_command_decides() {
    let (code, word) = (
        |code| Some(CommandExitStatus::ExitCode { code }),
        |success| Some(CommandExitStatus::Success { success }),
    );
    let (success, failed, cancelled) =
        (ToolStatus::Success, ToolStatus::Failed, ToolStatus::Cancelled);
    for (status, exit_status, ends, stated) in [
        (&success, code(0), &success, code(0)),
        (&success, code(2), &failed, code(2)),
        (&success, word(false), &failed, word(false)),
        (&success, None, &success, None),
        (&failed, None, &failed, word(false)),
        (&failed, code(0), &failed, code(0)),
        (&cancelled, code(130), &cancelled, code(130)),
    ] {
        let action = ActionType::CommandRun { command: "x".into(), result: None };
        let tool = NormalizedEntryType::ToolUse(ToolUse::new("shell", action));
        let mut call = NormalizedEntry::new(tool, "x");
        let mut result = ToolOutcome::<()>::new(status.clone(), None);
        result.exit_status = exit_status;
        result.complete(&mut call);
        let Some(ToolUse { status, action_type, .. }) = call.tool() else { panic!("a call") };
        let ActionType::CommandRun { result: Some(result), .. } = action_type else {
            panic!("a command with a result")
        };
        assert_eq!((status, result.exit_status), (ends, stated));
    }
}
