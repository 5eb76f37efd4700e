//! Tasks of Cline and its relatives, whose files are one log.

use std::{fs, path::Path};

use foldline_domain::{Conversation, Session, TokenUsage};
use serde_json::{Value, json};

use crate::opened::{self, lines, number};

fn conversation(lines: &str) -> Conversation {
    opened::conversation("cline", lines)
}

fn fixture(name: &str) -> Conversation {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/cline");
    conversation(&fs::read_to_string(folder.join(name).with_extension("jsonl")).unwrap())
}

fn facts(said: &Conversation) -> Session {
    *said.summary.session.clone().unwrap()
}

fn used(said: &Conversation) -> (Option<u64>, Option<u64>, Option<f64>) {
    let TokenUsage { input_tokens, output_tokens, cost_usd, .. } = said.summary.usage.unwrap();
    (input_tokens, output_tokens, cost_usd)
}

/// The calls with their statuses.
fn calls(said: &Conversation) -> Vec<(String, &'static str)> {
    let calls = said.entries.iter().filter_map(|entry| {
        Some((entry.content.decode().into_owned(), entry.tool()?.status.name()))
    });
    calls.collect()
}

fn said(said: &Conversation, kind: &str) -> Vec<String> {
    let of_kind = said.entries.iter().filter(|entry| entry.entry_type.name() == kind);
    of_kind.map(|entry| entry.content.decode().into_owned()).collect()
}

const AT: u64 = 1_780_000_000_000;

/// The files of a task of two requests, of which the first answer states times only if `is_timed`.
fn task(folder: &Path, is_timed: bool) {
    fs::create_dir_all(folder).unwrap();
    let said = |at: u64, say: &str, text: &str| json!({"ts": AT + at, "type": "say", "say": say, "text": text});
    let request = |at: u64, input: u64| {
        let tokens = json!({"tokensIn": input, "tokensOut": 10, "cacheReads": 50, "cacheWrites": 5, "cost": 0.25});
        said(at, "api_req_started", &tokens.to_string())
    };
    let shown = [
        said(0, "text", "Feed the geese."),
        request(10, 1),
        // A later state of a message has its time.
        said(20, "text", "I lo"),
        said(20, "text", "I look."),
        said(30, "command", "ls pen"),
        said(40, "command_output", "goose"),
        request(50, 2),
        said(60, "completion_result", "Fed."),
    ];
    let message = |at: u64, role: &str, content: Value| match is_timed {
        true => json!({"ts": AT + at, "role": role, "content": content}),
        false => json!({"role": role, "content": content}),
    };
    let environment = "<environment_details>\n# Current Workspace Directory (/srv/pen) Files\n</environment_details>";
    let call = json!([{"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "g1", "name": "execute_command", "input": {"command": "ls pen"}}]);
    let messages = [
        message(
            5,
            "user",
            json!([{"type": "text", "text": "<task>\nFeed the geese.\n</task>"}, {"type": "text", "text": environment}]),
        ),
        message(25, "assistant", call),
        message(
            45,
            "user",
            json!([{"type": "tool_result", "tool_use_id": "g1", "content": "goose"}]),
        ),
        message(65, "assistant", json!([{"type": "text", "text": "Fed."}])),
    ];
    let write = |name: &str, value: Value| {
        fs::write(folder.join(name), serde_json::to_string_pretty(&value).unwrap()).unwrap();
    };
    write("ui_messages.json", shown.to_vec().into());
    write("api_conversation_history.json", messages.to_vec().into());
    write("task_metadata.json", json!({"files_in_context": []}));
}

#[test]
fn the_files_of_a_task_are_one_log() {
    let home = tempfile::tempdir().unwrap();
    for (extension, agent) in
        [("rooveterinaryinc.roo-cline", "roo-code"), ("kilocode.kilo-code", "kilo")]
    {
        for is_timed in [true, false] {
            let folder = home.path().join(extension).join("tasks/0199");
            task(&folder, is_timed);
            let log = lines(&folder.join("ui_messages.json"));
            for name in ["api_conversation_history.json", "task_metadata.json"] {
                assert_eq!(lines(&folder.join(name)), log, "{name}");
            }
            let [messages, shown] = ["api_conversation_history.json", "ui_messages.json"]
                .map(|name| number(&folder.join(name)));
            assert_eq!(messages, shown);
            let whole = conversation(&log);
            assert_eq!(used(&whole), (Some(1 + 2 + 2 * 55), Some(20), Some(0.5)));
            assert_eq!(calls(&whole), [("ls pen".to_owned(), "success")]);
            assert_eq!(said(&whole, "user_message"), ["Feed the geese."]);
            assert_eq!(said(&whole, "assistant_message"), ["I look.", "Fed."]);
            let Session { session_id, agent: named, cwd, .. } = facts(&whole);
            assert_eq!(session_id.unwrap().as_str(), "0199");
            assert_eq!([named.unwrap(), cwd.unwrap()], [agent, "/srv/pen"]);
            assert_eq!(whole.summary.warnings.len(), 0);
        }
    }
}

#[test]
fn a_task_has_its_folder_and_its_parent_from_the_files_beside() {
    let home = tempfile::tempdir().unwrap();
    let roo = home.path().join("rooveterinaryinc.roo-cline/tasks/0199");
    task(&roo, true);
    let item = json!({"id": "0199", "parentTaskId": "0198", "workspace": "/srv/geese", "status": "completed"});
    fs::write(roo.join("history_item.json"), item.to_string()).unwrap();
    let of_roo = facts(&conversation(&lines(&roo.join("history_item.json"))));
    assert_eq!(of_roo.parent_session_id().unwrap().as_str(), "0198");
    assert_eq!(of_roo.cwd.unwrap(), *"/srv/geese");

    let cline = home.path().join("saoudrizwan.claude-dev/tasks/1780000000000");
    task(&cline, true);
    let state = home.path().join("saoudrizwan.claude-dev/state");
    fs::create_dir_all(&state).unwrap();
    let list = json!([{"id": "1", "cwdOnTaskInitialization": "/no"},
        {"id": "1780000000000", "cwdOnTaskInitialization": "/srv/ganders"}]);
    fs::write(state.join("taskHistory.json"), list.to_string()).unwrap();
    let of_cline = facts(&conversation(&lines(&cline.join("ui_messages.json"))));
    assert_eq!(of_cline.cwd.unwrap(), *"/srv/ganders");
}

#[test]
fn messages_without_what_the_person_saw_are_a_log() {
    let home = tempfile::tempdir().unwrap();
    task(home.path(), true);
    fs::remove_file(home.path().join("ui_messages.json")).unwrap();
    let alone = conversation(&lines(&home.path().join("api_conversation_history.json")));
    assert_eq!(said(&alone, "user_message"), ["Feed the geese."]);
    assert_eq!(said(&alone, "assistant_message"), ["I look.", "Fed."]);
    assert_eq!(calls(&alone), [("ls pen".to_owned(), "success")]);
    let damaged = home.path().join("api_conversation_history.json");
    fs::write(&damaged, "[{\"role\"").unwrap();
    assert_eq!(lines(&damaged), "[{\"role\"");
}

#[test]
fn a_session_of_the_command_line_counts_its_manifest_only_without_tokens_of_messages() {
    let home = tempfile::tempdir().unwrap();
    let usage =
        json!({"inputTokens": 70, "outputTokens": 7, "cacheReadTokens": 60, "totalCost": 0.5});
    let manifest = json!({"session_id": "1_ab", "cwd": "/srv/pen", "model": "large-1",
        "metadata": {"title": "Geese", "usage": usage}});
    fs::write(home.path().join("1_ab.json"), manifest.to_string()).unwrap();
    let path = home.path().join("1_ab.messages.json");
    let write = |metrics: Value| {
        let mut answer =
            json!({"id": "m2", "role": "assistant", "content": [{"type": "text", "text": "Fed."}]});
        if !metrics.is_null() {
            answer["metrics"] = metrics;
        }
        let messages = json!([{"id": "m1", "role": "user", "content": "Feed."}, answer]);
        let document =
            json!({"version": 1, "agent": "lead", "sessionId": "1_ab", "messages": messages});
        fs::write(&path, document.to_string()).unwrap();
        assert_eq!(lines(&home.path().join("1_ab.json")), lines(&path));
        conversation(&lines(&path))
    };
    let of_manifest = write(Value::Null);
    assert_eq!(used(&of_manifest), (Some(70), Some(7), Some(0.5)));
    assert_eq!(facts(&of_manifest).title.unwrap(), *"Geese");
    let of_messages = write(json!({"inputTokens": 9, "outputTokens": 2, "cacheReadTokens": 8}));
    assert_eq!(used(&of_messages), (Some(9), Some(2), None));
}

#[test]
fn calls_that_only_the_person_saw_are_calls() {
    let shown = fixture("shown");
    let [(title, status), ..] = &calls(&shown)[..] else { panic!("no call") };
    assert_eq!((title.as_str(), *status), ("sweep", "unknown"));
    assert_eq!(calls(&shown).len(), 12);
    let session = fixture("session");
    assert_eq!(calls(&session).len(), 4);
    assert!(calls(&session).iter().all(|(_, status)| *status == "success"));
    assert_eq!(used(&session), (Some(130 + 150), Some(50), Some(0.03)));
}
