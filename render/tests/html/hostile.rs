//! All known injection vectors, in every field of an entry.

use std::sync::Arc;

use foldline_domain::{
    ActionType, CommandExitStatus, CommandRunResult, CorrId, DomainEvent, FileChange, Json,
    NormalizedEntry,
    NormalizedEntryType::{self, *},
    Outcome, Session, Text, Timestamp, TodoItem, TokenUsage, ToolResult, ToolStatus, ToolUse,
    Warning, WarningKind,
};
use foldline_render::html::Page;

/// The vectors: one JSON string per line.
pub(crate) fn vectors() -> Vec<String> {
    let lines = include_str!("../../../tests/fixtures/hostile-markup.txt").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A page of a session with each vector in every possible place.
pub(crate) fn page_of(vectors: &[String]) -> (Page, usize) {
    let mut page = Page::default();
    let mut entries = 0;
    for (n, vector) in vectors.iter().enumerate() {
        for event in events(n, vector) {
            page.apply(&event);
            entries += usize::from(matches!(
                event,
                DomainEvent::NewEntry { .. }
                    | DomainEvent::OpenEntry { .. }
                    | DomainEvent::NewToolCall { .. }
            ));
        }
    }
    page.set_note(vectors.concat());
    page.end();
    (page, entries)
}

/// The events of a session with the vector in each place.
pub(crate) fn events(n: usize, vector: &str) -> Vec<DomainEvent> {
    let text = || Text::from(vector);
    let mut events = vec![session(n, vector)];
    let said = [
        UserMessage,
        AssistantMessage,
        SystemMessage,
        ModelChange { model: "m-1".into() },
        ModelChange { model: text() },
        Compaction,
        Continuation,
        ErrorMessage,
        Thinking,
        Diagnostic { code: WarningKind::UnknownField },
    ];
    events.extend(said.map(|kind| DomainEvent::entry(entry(kind, vector, None))));
    // Growing text, split in the middle of a vector.
    let half = vector.chars().count() / 2;
    let cut = vector.char_indices().nth(half).map_or(0, |(at, _)| at);
    let id = CorrId::from(vector);
    let (first, rest) = vector.split_at(cut);
    let first = Arc::new(entry(AssistantMessage, first, None));
    events.push(DomainEvent::OpenEntry { corr_id: id.clone(), entry: first });
    events.push(DomainEvent::GrowEntry { corr_id: id.clone(), text: rest.into() });
    if n.is_multiple_of(2) {
        events.push(DomainEvent::CloseEntry { corr_id: id, entry: None });
    }
    let mut parent = None;
    for (kind, action) in actions(vector).into_iter().enumerate() {
        let id = CorrId::from(format!("{vector}{kind}"));
        let mut tool = ToolUse::new(text(), action);
        let call = Arc::new(entry(ToolUse(tool.clone()), vector, parent.clone()));
        events.push(DomainEvent::NewToolCall { corr_id: id.clone(), entry: call });
        tool.status = match kind % 3 {
            0 => ToolStatus::Success,
            1 => ToolStatus::Failed,
            _ => ToolStatus::Denied { reason: Some(text()) },
        };
        // The first call starts a sub-agent, which makes the other calls.
        if kind > 0 {
            let call = Arc::new(entry(ToolUse(tool), vector, parent.clone()));
            events.push(DomainEvent::UpdateToolCall { corr_id: id.clone(), entry: call });
        }
        parent.get_or_insert(id);
    }
    let warning = Warning::new(WarningKind::Malformed, vector).about(vector);
    events.push(DomainEvent::from(warning));
    let usage = TokenUsage { input_tokens: Some(1), cost_usd: Some(1.0), ..TokenUsage::default() };
    events.push(DomainEvent::Usage {
        usage: Box::new(usage),
        model: Some(text()),
        message_id: None,
        timestamp: None,
    });
    events
}

fn session(n: usize, vector: &str) -> DomainEvent {
    let text = || Some(Text::from(vector));
    DomainEvent::Session(Box::new(Session {
        session_id: Some(vector.into()),
        agent: text(),
        version: text(),
        model: text(),
        reasoning_effort: text(),
        cwd: text(),
        branch: text(),
        title: text(),
        outcome: Some(Outcome::Failed),
        outcome_reason: text(),
        started_at: i64::try_from(n).ok().map(Timestamp::from_millis),
        ..Session::default()
    }))
}

fn entry(kind: NormalizedEntryType, content: &str, parent: Option<CorrId>) -> NormalizedEntry {
    let mut entry = NormalizedEntry::new(kind, content);
    entry.metadata_mut().parent_corr_id = parent;
    entry.metadata_mut().model = Some(content.into());
    entry
}

fn actions(vector: &str) -> Vec<ActionType> {
    let text = || Text::from(vector);
    let result = || Some(ToolResult::Text(text()));
    let json = || Json::of(&[vector]).unwrap();
    let todo = |status: &str| TodoItem::new(vector, status).with_priority(vector);
    vec![
        ActionType::TaskCreate {
            description: text(),
            prompt: Some(text()),
            subagent_type: Some(text()),
            result: result(),
        },
        ActionType::FileRead { path: text(), result: result() },
        ActionType::FileRead {
            path: text(),
            result: Some(ToolResult::Text(format!("1→{}", vector.replace('\n', "")).into())),
        },
        ActionType::FileEdit { path: text(), changes: changes(vector), result: result() },
        ActionType::CommandRun {
            command: text(),
            result: Some(CommandRunResult::new(
                Some(CommandExitStatus::ExitCode { code: 1 }),
                Some(format!("\u{1b}[31m{vector}\u{1b}[{vector}m{vector}").into()),
            )),
        },
        ActionType::Search { query: text(), result: result() },
        ActionType::Search {
            query: text(),
            result: Some(ToolResult::Text(
                format!("{vector}\nsrc/a.rs:1:{vector}\nb-2-{vector}").into(),
            )),
        },
        ActionType::WebFetch { url: text(), result: Some(ToolResult::Json(json())) },
        ActionType::TodoManagement {
            todos: vec![todo("pending"), todo("completed"), todo("in_progress"), todo(vector)],
            operation: text(),
            result: result(),
        },
        ActionType::PlanPresentation { plan: text(), result: result() },
        ActionType::Question { questions: vec![text(), text()], result: result() },
        ActionType::Tool { tool_name: text(), arguments: Some(json()), result: result() },
        ActionType::Tool { tool_name: text(), arguments: None, result: None },
    ]
}

fn changes(vector: &str) -> Vec<FileChange> {
    let path = || Text::from(vector);
    let diff = |diff: String| FileChange::Edit {
        path: path(),
        unified_diff: diff.into(),
        has_line_numbers: true,
    };
    vec![
        diff(format!("@@ -1,1 +1,1 @@ {vector}\n-{vector} a\n+{vector} b\n {vector}\n")),
        diff(vector.to_owned()),
        FileChange::Write { path: path(), content: path() },
        FileChange::Rename { path: path(), new_path: path() },
        FileChange::Delete { path: path() },
    ]
}
