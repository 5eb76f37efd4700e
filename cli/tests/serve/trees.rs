//! A session with the sub-agents that it started.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::client::{Server, append, folder, until};

/// A line of a session of Claude Code, or of the sub-agent of this id.
fn line(agent: Option<&str>, kind: &str, id: &str, content: &Value) -> String {
    let key = format!("{}{id}", agent.unwrap_or("s"));
    let mut line = json!({"type": kind, "sessionId": "s", "uuid": key, "version": "2.1.62", "cwd": "/srv/x",
        "timestamp": jiff::Timestamp::now().to_string(),
        "message": {"role": kind, "id": format!("msg-{key}"), "model": "claude-opus-4-6", "content": content,
            "usage": {"input_tokens": 1000, "output_tokens": 10}}});
    if let Some(agent) = agent {
        line["isSidechain"] = true.into();
        line["agentId"] = agent.into();
    }
    format!("{line}\n")
}

/// A call of a tool.
fn call(agent: Option<&str>, id: &str, tool: &str, input: &Value) -> String {
    let content = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
    line(agent, "assistant", id, &content)
}

/// The result of a call, which names the sub-agent that the call started.
fn result(agent: Option<&str>, id: &str, started: Option<&str>, is_error: bool) -> String {
    let content =
        json!([{"type": "tool_result", "tool_use_id": id, "content": "ok", "is_error": is_error}]);
    let mut line: Value =
        serde_json::from_str(&line(agent, "user", &format!("{id}-end"), &content)).unwrap();
    if let Some(started) = started {
        line["toolUseResult"] = json!({"agentId": started, "status": "completed"});
    }
    format!("{line}\n")
}

/// The log of a session that starts the sub-agent `a1` by a call.
fn whole() -> String {
    line(None, "user", "1", &json!("Mend the harbour"))
        + &call(None, "c1", "Task", &json!({"description": "Look for holes", "prompt": "Look"}))
        + &result(None, "c1", Some("a1"), false)
        + &line(None, "assistant", "2", &json!([{"type": "text", "text": "It is mended."}]))
}

/// The log of a sub-agent, one of whose calls failed.
fn part(agent: &str) -> String {
    let agent = Some(agent);
    line(agent, "user", "1", &json!("Count the holes"))
        + &call(agent, "p1", "Bash", &json!({"command": "ls holes"}))
        + &result(agent, "p1", None, true)
        + &line(agent, "assistant", "2", &json!([{"type": "text", "text": "Three holes."}]))
}

fn listed(server: &Server) -> Vec<Value> {
    serde_json::from_str(&server.body("/api/sessions")).unwrap()
}

fn write(logs: &Path, name: &str, log: &str) {
    fs::write(logs.join(name), log).unwrap();
}

#[test]
fn a_row_states_its_agents_and_what_a_part_asks() {
    let (_folder, logs) = folder();
    write(&logs, "s.jsonl", &whole());
    write(&logs, "agent-a1.jsonl", &part("a1"));
    let server = Server::start(&logs, &[]);
    until("the part belongs to it", || {
        server.body("/rows").contains("<small class=\"agents\">1 agent</small>")
    });
    let rows = listed(&server);
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["agents"], &rows[0]["whole"]), (&json!(1), &Value::Null));
    assert_eq!((&rows[0]["failures"], &rows[0]["status"]), (&json!(1), &json!("running")));
    let asked =
        json!({"questions": [{"question": "Which hole?", "header": "Hole", "options": []}]});
    append(&logs.join("agent-a1.jsonl"), &call(Some("a1"), "q", "AskUserQuestion", &asked));
    until("it asks", || {
        server
            .body("/rows")
            .contains("<span class=\"sub ask\">AskUserQuestion asks: Which hole?</span>")
    });
    assert_eq!(listed(&server)[0]["status"], "waiting");
}

#[test]
fn a_part_is_in_the_call_that_started_it_and_its_facts_are_those_of_the_whole() {
    let (_folder, logs) = folder();
    // The log of the sub-agent is there first.
    write(&logs, "agent-a1.jsonl", &part("a1"));
    write(&logs, "agent-a2.jsonl", &part("a2"));
    let server = Server::start(&logs, &[]);
    until("the parts are there", || listed(&server).len() == 2);
    let alone = server.body("/sessions/a1");
    assert!(!alone.contains("part of <a"), "{alone}");
    let mut events = server.events("/sessions/a1/fragments", None);
    write(&logs, "s.jsonl", &whole());
    // Its page states the whole as soon as that is known.
    assert!(events.next_named("parts").data.contains("Mend the harbour"));
    until("the parts belong to it", || listed(&server).len() == 1);
    let row = &listed(&server)[0];
    let page = server.body("/sessions/s");
    let (_, call) = page.split_once("data-tool=\"Task\"").unwrap();
    let (call, _) = call.split_once("</article>").unwrap();
    assert!(call.contains("<div class=\"part\"") && call.contains("Count the holes"), "{call}");
    assert!(call.contains("<span>1 call</span>") && call.contains("1 failed"), "{call}");
    // No call started the other one.
    let (_, others) = page.split_once("<h2>Agents</h2>").unwrap();
    assert!(others.contains("<div class=\"part\""), "{others}");
    assert_eq!(page.matches("<div class=\"part\"").count(), 2);
    // The session has a call, and each of its parts has one that failed.
    assert!(page.contains("<dt>Calls</dt><dd>3</dd><dd><span class=\"bad\">2 failed"), "{page}");
    assert_eq!((&row["failures"], &row["agents"]), (&json!(2), &json!(2)));
    assert!(page.contains("with 2 agents"), "{page}");
    let part = server.body("/sessions/a1");
    assert!(part.contains("part of <a") && part.contains("claude --resume s<"), "{part}");
    assert!(part.contains("<dt>Calls</dt><dd>1</dd>"), "{part}");
    // What is loaded when a part is opened.
    let entries = server.body("/sessions/a1/entries?first=0&last=4294967295&at=last");
    assert!(entries.contains("Three holes."), "{entries}");
}
