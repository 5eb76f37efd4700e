//! Sessions of Grok Build, whose files are one log.

use std::{fs, path::Path};

use foldline_domain::{Conversation, Session};
use serde_json::{Value, json};

use crate::opened::{self, lines};

fn conversation(lines: &str) -> Conversation {
    opened::conversation("grok", lines)
}

fn update(at: u64, kind: &str, mut fields: Value) -> Value {
    fields["sessionUpdate"] = kind.into();
    json!({"timestamp": 1_780_000_000 + at, "params": {"update": fields, "_meta": {"promptId": "p1"}}})
}

fn updates() -> Vec<Value> {
    let text = |text: &str| json!({"content": {"type": "text", "text": text}});
    let turn = |input: u64| json!({"prompt_id": "p1", "usage": {"inputTokens": input, "outputTokens": 9, "cachedReadTokens": 50, "costUsdTicks": 5_000_000_000_u64}});
    let mut prompt = text("Pick.");
    prompt["_meta"] = json!({"promptIndex": 0});
    vec![
        update(0, "user_message_chunk", prompt),
        update(1, "agent_thought_chunk", text("hm")),
        update(
            2,
            "tool_call",
            json!({"toolCallId": "c1", "title": "bash", "rawInput": {"command": "ls"}}),
        ),
        update(3, "tool_call_update", json!({"toolCallId": "c1", "status": "in_progress"})),
        update(4, "tool_call_update", json!({"toolCallId": "c1", "status": "failed"})),
        update(5, "agent_message_chunk", text("Pick")),
        update(6, "agent_message_chunk", text("ed.")),
        // The last statement of a turn counts.
        update(7, "turn_completed", turn(70)),
        update(8, "turn_completed", turn(80)),
    ]
}

fn history() -> Vec<Value> {
    let call = json!({"id": "c1", "name": "bash", "arguments": "{\"command\":\"ls\"}"});
    vec![
        json!({"type": "user", "content": [{"type": "text", "text": "Pick."}], "prompt_index": 0}),
        json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}),
        json!({"type": "assistant", "content": "", "tool_calls": [call], "model_id": "grok-large"}),
        json!({"type": "tool_result", "tool_call_id": "c1", "content": "no berries"}),
        json!({"type": "assistant", "content": "Picked.", "model_id": "grok-large"}),
    ]
}

fn write(path: &Path, lines: &[Value]) {
    fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
}

/// What was said, the times in seconds, the status of the call, and the tokens and the cost.
fn summary(said: &Conversation) -> (Vec<String>, Vec<i64>, &'static str, [u64; 2], f64) {
    let usage = said.summary.usage.unwrap();
    let tool = said.entries.iter().find_map(|entry| entry.tool()).unwrap();
    let entries = || said.entries.iter().filter(|entry| entry.entry_type.name() != "model_change");
    let times = entries().map(|entry| entry.timestamp.unwrap().as_millis() / 1000 - 1_780_000_000);
    (
        entries().map(|entry| entry.content.decode().into_owned()).collect(),
        times.collect(),
        tool.status.name(),
        [usage.input_tokens.unwrap(), usage.output_tokens.unwrap()],
        usage.cost_usd.unwrap(),
    )
}

#[test]
fn the_files_of_a_session_are_one_log() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("sessions/%2Fsrv%2Fberries/01a2");
    fs::create_dir_all(&folder).unwrap();
    let [chat, other, facts] =
        ["chat_history.jsonl", "updates.jsonl", "summary.json"].map(|name| folder.join(name));
    write(&chat, &history());
    write(&other, &updates());
    fs::write(
        &facts,
        r#"{"info": {"id": "01a2"}, "session_summary": "Berries", "parent_session_id": "01a1"}"#,
    )
    .unwrap();
    let log = lines(&chat);
    assert_eq!([&other, &facts].map(|path| lines(path)), [log.clone(), log.clone()]);
    let whole = conversation(&log);
    let words = ["Pick.", "hm", "ls", "Picked."].map(str::to_owned).to_vec();
    // A thought of the history has the time of the line before it.
    assert_eq!(summary(&whole), (words.clone(), vec![0, 0, 2, 5], "failed", [80, 9], 0.5));
    let Session { session_id, parent, title, cwd, model, .. } =
        *whole.summary.session.clone().unwrap();
    let ids = [session_id, parent.map(|parent| parent.session_id)]
        .map(|id| id.unwrap().as_str().to_owned());
    assert_eq!(ids, ["01a2", "01a1"]);
    let facts_of = [title, cwd, model].map(|fact| fact.unwrap().decode().into_owned());
    assert_eq!(facts_of, ["Berries", "/srv/berries", "grok-large"]);

    // A line that is being written is read as it is.
    fs::write(&chat, format!("{}{{\"type\":\"assi", fs::read_to_string(&chat).unwrap())).unwrap();
    assert!(lines(&chat).ends_with("\n{\"type\":\"assi"));

    // Without its history, the updates are the session.
    fs::remove_file(&chat).unwrap();
    let alone = conversation(&lines(&other));
    assert_eq!(summary(&alone), (words, vec![0, 1, 2, 5], "failed", [80, 9], 0.5));
}
