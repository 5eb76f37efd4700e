//! Transcripts of Antigravity, whose steps are written again while they run.

use std::fs;

use foldline_domain::Conversation;
use serde_json::{Value, json};

use crate::opened::{conversation, lines, number};

fn said(said: &Conversation, kind: &str) -> Vec<String> {
    let of_kind = said.entries.iter().filter(|entry| entry.entry_type.name() == kind);
    of_kind.map(|entry| entry.content.decode().into_owned()).collect()
}

fn step(index: u64, kind: &str, status: &str, more: &Value) -> String {
    let mut step = json!({"step_index": index, "type": kind, "source": "MODEL", "status": status,
        "created_at": format!("2026-10-02T07:20:0{index}Z")});
    step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    format!("{step}\n")
}

#[test]
fn a_step_counts_as_it_was_written_last_and_in_its_place() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().join("antigravity-cli");
    let logs = home.join("brain/01a3/.system_generated/logs");
    fs::create_dir_all(&logs).unwrap();
    let calls = json!({"tool_calls": [{"name": "run_command", "args": {"CommandLine": "ls"}},
        {"name": "view_file", "args": {"AbsolutePath": "/srv/a"}}]});
    let full = [
        step(3, "RUN_COMMAND", "DONE", &json!({"content": "turnip-1", "exit_code": 0})),
        step(0, "USER_INPUT", "DONE", &json!({"content": "<USER_REQUEST>\nDig.\n</USER_REQUEST>"})),
        step(2, "PLANNER_RESPONSE", "RUNNING", &json!({"content": "I"})),
        step(2, "PLANNER_RESPONSE", "DONE", &calls),
        step(1, "EPHEMERAL_MESSAGE", "DONE", &json!({"content": "repeated"})),
        step(5, "VIEW_FILE", "ERROR", &json!({"error": "no file"})),
        step(6, "GENERIC", "DONE", &json!({"content": "of no call"})),
        step(7, "CHECKPOINT", "DONE", &json!({"content": ""})),
        step(7, "CHECKPOINT", "DONE", &json!({"content": "Truncated."})),
        step(8, "PLANNER_RESPONSE", "DONE", &json!({"content": "Dug."})),
        step(8, "PLANNER_RESPONSE", "ERROR", &json!({"content": "Again.", "error": "quota"})),
    ];
    let [whole, short] = ["transcript_full.jsonl", "transcript.jsonl"].map(|name| logs.join(name));
    fs::write(&whole, full.concat() + "{\"step_ind").unwrap();
    fs::write(&short, step(2, "PLANNER_RESPONSE", "DONE", &calls)).unwrap();
    let log = lines(&whole);
    assert_eq!((lines(&short), number(&short)), (log.clone(), number(&whole)));
    assert!(log.ends_with("\n{\"step_ind"));
    let of_log = conversation("antigravity", log.trim_end_matches("{\"step_ind"));
    assert_eq!(said(&of_log, "user_message"), ["Dig."]);
    assert_eq!(said(&of_log, "assistant_message"), ["Dug.", "Again."]);
    let tools = of_log.entries.iter().filter_map(|entry| entry.tool());
    let calls: Vec<_> = tools.map(|tool| (tool.status.name(), tool.action_type.name())).collect();
    assert_eq!(calls, [("success", "command_run"), ("failed", "file_read")]);
    assert_eq!(said(&of_log, "system_message"), ["of no call"]);
    assert_eq!(said(&of_log, "compaction"), ["Truncated."]);
    assert_eq!(said(&of_log, "error_message"), ["quota"]);
    let facts = || *conversation("antigravity", &lines(&short)).summary.session.unwrap();
    assert_eq!(facts().session_id.unwrap().as_str(), "01a3");
    assert_eq!(facts().cwd, None);

    // The folder is in a list beside the conversations.
    fs::create_dir_all(home.join("cache")).unwrap();
    fs::write(home.join("cache/last_conversations.json"), r#"{"/srv/beets": "01a3"}"#).unwrap();
    assert_eq!(facts().cwd.unwrap(), "/srv/beets");
    let prompts = r#"{"display": "a", "workspace": "/srv/a", "conversationId": ""}
{"display": "b", "workspace": "/srv/turnips", "conversationId": "01a3"}
"#;
    fs::write(home.join("history.jsonl"), prompts).unwrap();
    assert_eq!(facts().cwd.unwrap(), "/srv/turnips");

    // The shorter form has no types, and states the folder among what the program adds.
    fs::remove_file(&whole).unwrap();
    fs::remove_dir_all(home.join("cache")).unwrap();
    fs::remove_file(home.join("history.jsonl")).unwrap();
    let prompt = "<USER_REQUEST>Dig<ADDITIONAL_METADATA>{\"cwd\":\"/srv/beets\"}</ADDITIONAL_METADATA></USER_REQUEST>";
    let steps = [
        json!({"source": "USER_EXPLICIT", "created_at": "2026-10-02T07:20:00Z", "content": prompt}),
        json!({"source": "MODEL", "created_at": "2026-10-02T07:20:05Z", "content": "Dug."}),
    ];
    fs::write(&short, steps.map(|step| format!("{step}\n")).concat()).unwrap();
    let alone = conversation("antigravity", &lines(&short));
    assert_eq!(said(&alone, "user_message"), ["Dig"]);
    assert_eq!(said(&alone, "assistant_message"), ["Dug."]);
    assert_eq!(facts().cwd.unwrap(), "/srv/beets");
}
