//! The rows of invented events, and their lines.

use foldline::transduce::Emitter;
use foldline_domain::{
    ActionType, CommandExitStatus, CommandRunResult, DomainEvent, NormalizedEntry,
    NormalizedEntryType, Parent, Session, Timestamp, TokenUsage, ToolStatus, ToolUse,
};
use foldline_tables::{Row, SessionRows, Table, Value, json};
use serde_json::{Value as Json, json};

/// A question, a command and an answer that grows.
pub(crate) fn events() -> Vec<DomainEvent> {
    let entry = |kind, text: &str| NormalizedEntry::new(kind, text);
    let asked = entry(NormalizedEntryType::UserMessage, "Why?").at(Some(Timestamp::from_millis(1)));
    let run = ActionType::CommandRun { command: "ls".into(), result: None };
    let mut call = entry(NormalizedEntryType::ToolUse(ToolUse::new("Bash", run)), "ls");
    call.metadata_mut().corr_id = Some("c1".into());
    let mut done = call.clone();
    let tool = done.tool_mut().unwrap();
    let exit =
        CommandRunResult::new(Some(CommandExitStatus::ExitCode { code: 2 }), Some("a".into()));
    tool.action_type = ActionType::CommandRun { command: "ls".into(), result: Some(exit) };
    (tool.status, tool.duration_ms) = (ToolStatus::Failed, Some(7));
    let usage = TokenUsage {
        input_tokens: Some(10),
        output_tokens: Some(u64::MAX),
        cost_usd: Some(0.5),
        ..TokenUsage::default()
    };
    let answer = entry(NormalizedEntryType::AssistantMessage, "Be");
    vec![
        DomainEvent::Session(Box::new(Session {
            session_id: Some("s-1".into()),
            agent: Some("droid".into()),
            parent: Some(Box::new(Parent::of_fork("s-0"))),
            ..Session::default()
        })),
        DomainEvent::entry(asked),
        DomainEvent::NewToolCall { corr_id: "c1".into(), entry: call.into() },
        DomainEvent::OpenEntry { corr_id: "t1".into(), entry: answer.into() },
        DomainEvent::GrowEntry { corr_id: "t1".into(), text: "cause".into() },
        DomainEvent::CloseEntry { corr_id: "t1".into(), entry: None },
        DomainEvent::UpdateToolCall { corr_id: "c1".into(), entry: done.into() },
        DomainEvent::Usage {
            usage: Box::new(usage),
            model: Some("large".into()),
            message_id: None,
            timestamp: Some(Timestamp::from_millis(-1)),
        },
    ]
}

pub(crate) fn rows(events: &[DomainEvent]) -> Vec<Row> {
    let mut emitter = SessionRows::default();
    let mut rows: Vec<Row> = Vec::new();
    events.iter().for_each(|event| rows.extend(emitter.emit(event).iter().cloned()));
    rows.extend(emitter.finish().iter().cloned());
    rows
}

/// The lines of a table, without the values that are absent.
fn lines(rows: &[Row], table: Table) -> Vec<Json> {
    let of_table = rows.iter().filter(|row| row.table == table);
    let lines = of_table.map(|row| {
        let mut line: Json = serde_json::from_str(&json::line(row).unwrap()).unwrap();
        line.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        line
    });
    lines.collect()
}

#[test]
fn a_row_comes_when_it_is_complete() {
    let rows = rows(&events());
    let tables: Vec<_> = rows.iter().map(|row| row.table.name()).collect();
    assert_eq!(tables, ["entries", "entries", "entries", "calls", "usage", "sessions"]);
    let entries = json!([
        {"table": "entries", "session": "s-1", "entry": 0, "timestamp": "1970-01-01T00:00:00.001Z", "type": "user_message", "content": "Why?"},
        {"table": "entries", "session": "s-1", "entry": 2, "type": "assistant_message", "content": "Because"},
        {"table": "entries", "session": "s-1", "entry": 1, "type": "tool_use", "content": "ls", "corr_id": "c1"},
    ]);
    assert_eq!(Json::from(lines(&rows, Table::Entries)), entries);
    let calls = json!([{
        "table": "calls", "session": "s-1", "entry": 1, "corr_id": "c1", "tool": "Bash", "action": "command_run", "title": "ls",
        "status": "failed", "action_json": "{\"action\":\"command_run\",\"command\":\"ls\"}", "result": "a", "exit_code": 2,
        "duration_ms": 7,
    }]);
    assert_eq!(Json::from(lines(&rows, Table::Calls)), calls);
    let usage = json!([{
        "table": "usage", "session": "s-1", "timestamp": "1969-12-31T23:59:59.999Z", "model": "large", "input_tokens": 10,
        "output_tokens": i64::MAX, "cost_usd": 0.5, "cost_basis": "logged",
    }]);
    assert_eq!(Json::from(lines(&rows, Table::Usage)), usage);
    let sessions = json!([{
        "table": "sessions", "session": "s-1", "agent": "droid", "parent_session": "s-0", "relation": "fork", "entries": 3,
        "calls": 1, "warnings": 0,
    }]);
    assert_eq!(Json::from(lines(&rows, Table::Sessions)), sessions);
}

#[test]
fn an_entry_that_stays_open_is_a_row_at_the_end() {
    let rows = rows(&events()[..5]);
    let last: Vec<_> = rows.iter().rev().take(4).map(|row| row.table.name()).collect();
    assert_eq!(last, ["sessions", "entries", "calls", "entries"]);
    assert_eq!(lines(&rows, Table::Calls)[0]["status"], "created");
}

#[test]
fn every_row_has_the_columns_that_the_first_line_states() {
    let header: Json = serde_json::from_str(&json::header().unwrap()).unwrap();
    assert_eq!(header["schema_version"], 1);
    for row in rows(&events()) {
        let columns = row.table.columns();
        assert_eq!(row.values.len(), columns.len(), "{}", row.table.name());
        assert_eq!(header["tables"][row.table.name()].as_object().unwrap().len(), columns.len());
        for (column, value) in columns.iter().zip(&row.values) {
            let kind = match value {
                Value::Null => continue,
                Value::Text(_) => "text",
                Value::Integer(_) => "integer",
                Value::Number(_) => "number",
                Value::Time(_) => "time",
            };
            assert_eq!(header["tables"][row.table.name()][column.name], kind, "{}", column.name);
        }
    }
}
