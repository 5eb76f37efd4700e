//! Parameters and results of tools.

use foldline_domain::{
    ActionType, CommandExitStatus, Conversation, FileChange, Outcome, ToolStatus, WarningKind,
};
use serde_json::Value;

use super::{calls, conversation, extra, results, session, warnings};

fn changes(conversation: &Conversation, call: usize) -> &[FileChange] {
    match &calls(conversation)[call].1.action_type {
        ActionType::FileEdit { changes, .. } => changes,
        other => panic!("not an edit: {other:?}"),
    }
}

fn diff(change: &FileChange) -> String {
    match change {
        FileChange::Edit { unified_diff, .. } => unified_diff.decode().into_owned(),
        other => panic!("not an edit: {other:?}"),
    }
}

#[test]
fn edits_become_diffs() {
    let conversation = conversation("edits");
    assert_eq!(diff(&changes(&conversation, 0)[0]), "@@ -1 +1 @@\n-let a = 1;\n+let a = 2;\n");
    let several: Vec<_> = changes(&conversation, 1).iter().map(diff).collect();
    assert_eq!(several, ["@@ -1 +1 @@\n-x\n+y\n", "@@ -1,2 +1,2 @@\n one\n-two\n+2\n"]);
    let written =
        FileChange::Write { path: "/tmp/elsewhere.txt".into(), content: "hello\n".into() };
    assert_eq!(changes(&conversation, 2), [written]);
    // An unreadable change is kept with its list.
    assert_eq!(changes(&conversation, 3).len(), 1);
    let kept = extra(calls(&conversation)[3].0, "edits").unwrap();
    assert!(kept.contains(r#""insert":"r""#), "{kept}");
    assert_eq!(extra(calls(&conversation)[1].0, "changes"), None);
    assert_eq!(warnings(&conversation), []);
}

#[test]
fn a_patch_text_becomes_its_changes() {
    let conversation = conversation("apply_patch");
    let paths: Vec<_> = changes(&conversation, 0).iter().map(FileChange::path).collect();
    assert_eq!(paths, ["sort.py", "new.py", "old.py"]);
    let results = results(&conversation);
    let json = results[0].strip_prefix("call_1=success:").unwrap();
    assert_eq!(serde_json::from_str::<Value>(json).unwrap()["success"], true);
    assert!(matches!(calls(&conversation)[1].1.action_type, ActionType::Tool { .. }));
    assert_eq!(results[1], "call_2=failed:Error: invalid patch");
}

#[test]
fn the_exit_line_says_how_a_command_ended() {
    let conversation = conversation("execute");
    let ended: Vec<_> = calls(&conversation)
        .into_iter()
        .map(|(_, tool)| match &tool.action_type {
            ActionType::CommandRun { result: Some(result), .. } => {
                let output = result.output.as_ref().unwrap().decode().into_owned();
                (tool.status.name(), result.exit_status.unwrap(), output)
            }
            other => panic!("not an ended command: {other:?}"),
        })
        .collect();
    let code = |code| CommandExitStatus::ExitCode { code };
    let success = |success| CommandExitStatus::Success { success };
    assert_eq!(
        ended,
        [
            ("success", code(0), "a.txt\nb.txt\n".to_owned()),
            ("failed", code(2), "boom".to_owned()),
            ("success", success(true), "bare".to_owned()),
            ("failed", success(false), "partial output\nError: timed out".to_owned()),
        ]
    );
    assert_eq!(extra(calls(&conversation)[0].0, "timeout"), Some("120"));
}

#[test]
fn the_risk_of_a_command_is_kept_in_both_spellings() {
    let conversation = conversation("risk_level");
    let [(object, _), (string, _)] = calls(&conversation)[..] else { panic!() };
    let risk = extra(object, "riskLevel").unwrap();
    assert_eq!(serde_json::from_str::<Value>(risk).unwrap()["reason"], "deletes files");
    assert_eq!(extra(string, "riskLevel"), Some(r#""low""#));
    assert_eq!(extra(string, "riskLevelReason"), Some(r#""only reads""#));
    assert_eq!(warnings(&conversation), [(WarningKind::UnfinishedCall, 2)]);
}

#[test]
fn todos_are_read_in_both_spellings() {
    let conversation = conversation("todos");
    let read: Vec<Vec<_>> = calls(&conversation)
        .into_iter()
        .map(|(_, tool)| match &tool.action_type {
            ActionType::TodoManagement { todos, .. } => {
                todos.iter().map(|todo| format!("{} {}", todo.status, todo.content)).collect()
            }
            other => panic!("not a to-do list: {other:?}"),
        })
        .collect();
    assert_eq!(read[0], ["completed Read the code", "in_progress Change it"]);
    assert_eq!(
        read[1],
        ["completed Read the code", "in_progress Change [all of] it", "pending Test"]
    );
}

#[test]
fn a_call_that_was_not_permitted_is_denied_and_never_ran() {
    let conversation = conversation("permission_refused");
    let tool = calls(&conversation)[0].1;
    assert_eq!(tool.status, ToolStatus::Denied { reason: None });
    let ActionType::CommandRun { result: Some(result), .. } = &tool.action_type else { panic!() };
    assert_eq!(result.exit_status, None, "it never ran");
    let session = session(&conversation);
    assert_eq!(session.outcome, Some(Outcome::Failed));
    let reason = session.outcome_reason.as_ref().unwrap().decode();
    assert!(reason.starts_with("Exec ended early: insufficient permission"), "{reason}");
}

#[test]
fn an_mcp_tool_is_no_unknown_tool() {
    let conversation = conversation("mcp_tool");
    let tool = calls(&conversation)[0].1;
    assert_eq!(tool.tool_name, "linear___get_issue");
    let ActionType::Tool { arguments: Some(arguments), .. } = &tool.action_type else { panic!() };
    assert!(arguments.get().contains("12345678901234567890123"), "every digit is kept");
    assert_eq!(warnings(&conversation), []);
}

#[test]
fn a_sub_agent_is_a_task_with_its_answer() {
    let conversation = conversation("task");
    let (call, tool) = calls(&conversation)[0];
    assert_eq!(call.content, "Count the files");
    let ActionType::TaskCreate { prompt, subagent_type, .. } = &tool.action_type else { panic!() };
    assert_eq!(*prompt, Some("Count all files below src.".into()));
    assert_eq!(*subagent_type, Some("worker".into()));
    assert_eq!(results(&conversation), ["toolu_1=success:session_id: s-child\nThere are 12."]);
}
