//! The rendered transcript of a conversation with every kind of content.

mod hostile;

use foldline::transduce::Emitter;
use foldline_domain::{
    ActionType, CommandExitStatus, CommandRunResult, CorrId, DomainEvent, FileChange, Json,
    NormalizedEntry,
    NormalizedEntryType::{self, *},
    Outcome, Session, TodoItem, TokenUsage, ToolResult, ToolStatus, Warning, WarningKind,
};
use foldline_render::transcript::{Transcript, TranscriptStyle};
use serde_json::json;

/// The recorded events of a conversation.
#[derive(Default)]
struct Script(Vec<DomainEvent>);

impl Script {
    fn session(&mut self, session: Session) {
        self.0.push(DomainEvent::Session(Box::new(session)));
    }

    fn say(&mut self, who: NormalizedEntryType, text: &str) {
        self.0.push(DomainEvent::entry(NormalizedEntry::new(who, text)));
    }

    fn call(&mut self, id: &str, tool: &str, title: &str, action: ActionType) -> Call {
        self.call_of(None, id, tool, title, action)
    }

    fn call_of(
        &mut self,
        parent: Option<&Call>,
        id: &str,
        tool: &str,
        title: &str,
        action: ActionType,
    ) -> Call {
        let mut entry =
            NormalizedEntry::new(ToolUse(foldline_domain::ToolUse::new(tool, action)), title);
        if let Some(parent) = parent {
            entry.metadata_mut().parent_corr_id = Some(parent.id.clone());
        }
        let call = Call { id: CorrId::from(id), entry };
        let Call { id, entry } = call.clone();
        self.0.push(DomainEvent::NewToolCall { corr_id: id, entry: entry.into() });
        call
    }

    fn end(&mut self, mut call: Call, status: ToolStatus, millis: u64, result: &str) {
        let Some(tool) = call.entry.tool_mut() else { return };
        tool.duration_ms = Some(millis);
        if let ActionType::CommandRun { result: end, .. } = &mut tool.action_type {
            let exit_status = match status {
                ToolStatus::Success => Some(CommandExitStatus::ExitCode { code: 0 }),
                ToolStatus::Failed => Some(CommandExitStatus::ExitCode { code: 101 }),
                _ => None,
            };
            *end = Some(CommandRunResult::new(exit_status, Some(result.into())));
        } else if !result.is_empty() {
            tool.action_type.set_result(ToolResult::Text(result.into()));
        }
        tool.status = status;
        self.0.push(DomainEvent::UpdateToolCall { corr_id: call.id, entry: call.entry.into() });
    }

    fn print(&self, style: TranscriptStyle) -> String {
        let mut transcript = Transcript::new(style);
        let mut texts: Vec<_> = self.0.iter().flat_map(|event| transcript.emit(event)).collect();
        texts.extend(transcript.finish());
        texts.join("\n")
    }
}

#[derive(Clone)]
struct Call {
    id: CorrId,
    entry: NormalizedEntry,
}

fn command(command: &str) -> ActionType {
    ActionType::CommandRun { command: command.into(), result: None }
}

fn read(path: &str) -> ActionType {
    ActionType::FileRead { path: path.into(), result: None }
}

fn search(query: &str) -> ActionType {
    ActionType::Search { query: query.into(), result: None }
}

fn todo(status: &str, content: &str) -> TodoItem {
    TodoItem::new(content, status)
}

fn talk() -> Script {
    let mut script = Script::default();
    script.session(Session {
        agent: Some("droid".into()),
        session_id: Some("5e55-10".into()),
        ..Session::default()
    });
    script.session(Session {
        version: Some("0.164.0".into()),
        model: Some("model-a".into()),
        reasoning_effort: Some("high".into()),
        cwd: Some("/home/ada/engine".into()),
        title: Some("Teach the engine to count".into()),
        ..Session::default()
    });
    script.say(ModelChange { model: "model-a".into() }, "model: model-a");
    script.say(UserMessage, "Make `count` return the number of cogs, please. It returns one too many, as the test says:\n\n    assert_eq!(count(&[]), 0);");
    script.say(Thinking, "An off-by-one error. I should look at the loop, and at how the tests use it, before I change anything.");
    let id = CorrId::from("m1/0");
    let entry = NormalizedEntry::new(AssistantMessage, "I will look at the code");
    script.0.push(DomainEvent::OpenEntry { corr_id: id.clone(), entry: entry.into() });
    for more in [
        " first:\n\n",
        "1. the function, which is in `src/lib.rs` as far as",
        " I can tell;\n2. its tests.\n\n```rust\nfn count(cogs: &[Cog]) -> usize { cogs.iter().map(|_| 1).sum::<usize>() + 1 }\n```",
    ] {
        script.0.push(DomainEvent::GrowEntry { corr_id: id.clone(), text: more.into() });
    }
    script.0.push(DomainEvent::CloseEntry { corr_id: id, entry: None });
    script
}

fn tools(script: &mut Script) {
    // Three calls at once, answered in another order.
    let first = script.call("c1", "Read", "src/lib.rs", read("src/lib.rs"));
    let second = script.call("c2", "Grep", r"count\(", search(r"count\("));
    let third = script.call("c3", "Glob", "tests/*.rs", search("tests/*.rs"));
    script.end(third, ToolStatus::Success, 41, "No files found");
    script.end(first, ToolStatus::Success, 340, "one\ntwo\nthree");
    script.end(second, ToolStatus::Failed, 2_149, "grep: unbalanced parenthesis\n");

    let todos = vec![
        todo("completed", "Read the function and its tests"),
        todo(
            "in_progress",
            "Correct the sum, and say in the documentation what is counted, so that nobody adds one again",
        ),
        todo("pending", "Run the tests"),
        todo("blocked", "Publish"),
    ];
    let action = ActionType::TodoManagement { todos, operation: "write".into(), result: None };
    let call = script.call("c4", "TodoWrite", "todo list", action);
    script.end(call, ToolStatus::Success, 1, "Todos were written");

    let unified_diff = "@@ -1,3 +1,3 @@\n fn count(cogs: &[Cog]) -> usize {\n-    cogs.iter().map(|_| 1).sum::<usize>() + 1\n+\tcogs.len()\n }\n";
    let changes = vec![
        FileChange::Edit {
            path: "src/lib.rs".into(),
            unified_diff: unified_diff.into(),
            has_line_numbers: false,
        },
        FileChange::Write { path: "NEWS.md".into(), content: "# News\n\n- counts right".into() },
        FileChange::Rename { path: "a.txt".into(), new_path: "b.txt".into() },
    ];
    let action = ActionType::FileEdit { path: "src/lib.rs".into(), changes, result: None };
    let call = script.call("c5", "ApplyPatch", "src/lib.rs", action);
    script.end(call, ToolStatus::Success, 8, "3 files were changed");

    let call = script.call("c6", "Execute", "cargo test", command("cd engine\ncargo test --workspace --all-features -- --nocapture --test-threads 1 count"));
    let lines: String =
        (1..=60).map(|n| format!("test number_{n:02} ... \x1b[32mok\x1b[0m\n")).collect();
    script.end(call, ToolStatus::Failed, 65_432, &format!("{lines}\nerror: test failed"));
    script.0.push(DomainEvent::Session(Box::new(Session {
        model: Some("model-b".into()),
        ..Session::default()
    })));

    let call = script.call("c7", "Execute", "rm -rf target", command("rm -rf target"));
    script.end(call, ToolStatus::Denied { reason: Some("Not on a Friday.".into()) }, 9, "");

    let questions = vec!["Shall I publish?".into(), "Under which name?".into()];
    let action = ActionType::Question { questions, result: None };
    let call = script.call("c8", "AskUser", "Shall I publish?", action);
    script.end(call, ToolStatus::Success, 5_000, "Yes, as `engine`.");

    let action =
        ActionType::PlanPresentation { plan: "# Plan\n\n- publish\n- rest".into(), result: None };
    let call = script.call("c9", "ExitSpecMode", "plan", action);
    script.end(call, ToolStatus::Success, 7_300_000, "Approved");

    let arguments = json!({"channel": "#engine", "text": "It counts."});
    let action = ActionType::Tool {
        tool_name: "chat___post".into(),
        arguments: Some(Json::from(&arguments)),
        result: None,
    };
    let mut call = script.call("c10", "chat___post", "chat___post", action);
    let json = json!({"ok": true, "id": 12345678901234567890_u64});
    if let Some(tool) = call.entry.tool_mut() {
        tool.action_type.set_result(ToolResult::Json(Json::from(&json)));
    }
    script.end(call, ToolStatus::Success, 120, "");
}

fn sub_agents(script: &mut Script) {
    let task = |what: &str| ActionType::TaskCreate {
        description: what.into(),
        prompt: Some("Look at everything.\nReport in one sentence.".into()),
        subagent_type: Some("explore".into()),
        result: None,
    };
    let one = script.call("t1", "Task", "Explore the engine", task("Explore the engine"));
    let inner = script.call_of(Some(&one), "t1a", "Read", "a.rs", read("a.rs"));
    script.end(inner, ToolStatus::Success, 3, "a\nb");
    let two = script.call("t2", "Task", "Explore the tests", task("Explore the tests"));
    let inner = script.call_of(Some(&two), "t2a", "Bash", "ls", command("ls"));
    let deep = script.call_of(Some(&one), "t1b", "Task", "Count", task("Count"));
    let deeper = script.call_of(Some(&deep), "t1b1", "Bash", "wc -l", command("wc -l"));
    script.end(deeper, ToolStatus::Success, 4, "12");
    script.end(deep, ToolStatus::Success, 50, "There are twelve.");
    script.end(inner, ToolStatus::Success, 3, "");
    let mut entry = NormalizedEntry::new(AssistantMessage, "The engine is sound.");
    entry.metadata_mut().parent_corr_id = Some(one.id.clone());
    script.0.push(DomainEvent::entry(entry));
    script.end(one, ToolStatus::Success, 12_000, "The engine is sound.");
    script.end(two, ToolStatus::Cancelled, 12_500, "");
}

fn odds_and_ends(script: &mut Script) {
    let raw = r#"{"type":"quantum_leap","payload":{"to":"1999"}}"#;
    let warning =
        Warning::new(WarningKind::UnknownEvent, "an event of the unknown type quantum_leap");
    script.0.extend(warning.keeping(raw, None));
    script
        .0
        .push(DomainEvent::warning(WarningKind::UnknownField, "the unknown field tool_call.mood"));
    script
        .0
        .push(DomainEvent::warning(WarningKind::UnknownField, "the unknown field tool_call.hue"));
    script.say(ErrorMessage, "The model is overloaded.");
    script.say(AssistantMessage, "\x1b]0;owned\x07\x1b[2J\x1b[1;1HNothing to see,\rreally: \u{202e}exe.txt\u{2066}\u{200b} 中文 👩‍🔧 \u{9b}31m");
    script.call("c\x1b[0m", "Bash\x07", "x", command("printf '\x1b[?25l'"));
    script.0.push(DomainEvent::Usage {
        usage: Box::new(TokenUsage {
            input_tokens: Some(1_234_567),
            output_tokens: Some(8_901),
            cache_read_tokens: Some(1_200_000),
            reasoning_tokens: Some(512),
            cost_usd: Some(1.25),
            ..TokenUsage::default()
        }),
        model: None,
        message_id: None,
        timestamp: None,
    });
    script.session(Session {
        outcome: Some(Outcome::Failed),
        outcome_reason: Some("the model is overloaded".into()),
        turns: Some(3),
        duration_ms: Some(7_400_000),
        ..Session::default()
    });
}

fn everything() -> Script {
    let mut script = talk();
    tools(&mut script);
    sub_agents(&mut script);
    odds_and_ends(&mut script);
    script
}

#[test]
fn a_conversation() {
    let style = TranscriptStyle::new(80);
    insta::assert_snapshot!(everything().print(style));
}

#[test]
fn a_narrow_terminal() {
    let style = TranscriptStyle::new(32);
    let mut script = talk();
    sub_agents(&mut script);
    insta::assert_snapshot!(script.print(style));
}

#[test]
fn colours() {
    let style = TranscriptStyle::new(80).with_color(true);
    let mut script = Script::default();
    script.say(UserMessage, "Go on.");
    tools(&mut script);
    let colored = script.print(style);
    // Escape characters are replaced, so that the snapshot is text.
    insta::assert_snapshot!(colored.replace('\x1b', "ESC"));
}

#[test]
fn growing_entries_look_like_complete_ones() {
    let text = |parts: &[&str]| {
        let mut script = Script::default();
        let id = CorrId::from("m");
        let entry = NormalizedEntry::new(AssistantMessage, "");
        script.0.push(DomainEvent::OpenEntry { corr_id: id.clone(), entry: entry.into() });
        script.0.extend(
            parts
                .iter()
                .map(|&part| DomainEvent::GrowEntry { corr_id: id.clone(), text: part.into() }),
        );
        script
    };
    let style = TranscriptStyle::new(40);
    let whole = "A sentence that is long enough for two rows.\n\n- and a list";
    let mut complete = Script::default();
    complete.say(AssistantMessage, whole);
    let complete = complete.print(style);

    let (a, b) = whole.split_at(17);
    let mut closed = text(&[a, b]);
    closed.0.push(DomainEvent::CloseEntry { corr_id: "m".into(), entry: None });
    assert_eq!(closed.print(style), complete);
    // Unclosed entries are printed at the end.
    assert_eq!(text(&[a, b]).print(style), complete);
}
