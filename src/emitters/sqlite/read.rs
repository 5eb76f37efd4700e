//! Reads stored entries back as domain types.

use std::ops::Range;

use rusqlite::{Row, params};
use serde::Serialize;
use tracing::debug;

use super::{
    Database, SqliteError,
    statements::{count, moment, position, text},
};
use crate::conversation::{
    ActionType, EntryIdx, Json, Metadata, NormalizedEntry, NormalizedEntryType, Position, Text,
    ToolResult, ToolStatus, ToolUse, WarningKind,
};

/// An entry with its place in the session and in the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StoredEntry {
    /// Its place in the session, counted from 0.
    pub index: EntryIdx,
    /// The log record that began the entry.
    pub position: Position,
    /// The entry after all events.
    pub entry: NormalizedEntry,
}

impl Database {
    /// The entries of a session (by its row id) at these indices, in order, each handed to `each`.
    /// The cost depends on the number of entries in the range, not on the length of the session.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn entries(
        &self,
        session: i64,
        indices: Range<i64>,
        mut each: impl FnMut(StoredEntry),
    ) -> Result<(), SqliteError> {
        let sql =
            "SELECT idx, line, offset, timestamp, type, code, content, output, parent_corr_id,
                          metadata, corr_id, tool_name, status, reason, duration_ms, output_json,
                          action
                   FROM entries LEFT JOIN tool_calls ON tool_calls.entry = entries.id
                   WHERE entries.session = ?1 AND idx >= ?2 AND idx < ?3
                   ORDER BY idx";
        self.with(|connection| {
            let mut query = connection.prepare_cached(sql)?;
            let mut rows = query.query(params![session, indices.start, indices.end])?;
            while let Some(row) = rows.next()? {
                each(stored_entry(row)?);
            }
            drop(rows);
            debug!(sql = query.expanded_sql(), "asked");
            Ok(())
        })
    }
}

fn stored_entry(row: &Row<'_>) -> rusqlite::Result<StoredEntry> {
    let type_name: String = row.get(4)?;
    let entry = NormalizedEntry {
        timestamp: moment(row, 3)?,
        entry_type: entry_type(&type_name, row)?,
        content: row.get::<_, String>(6)?.into(),
        metadata: metadata(row)?,
    };
    Ok(StoredEntry { index: index(row, 0)?, position: position(row, 1)?, entry })
}

/// The place of an entry in its session.
pub(super) fn index(row: &Row<'_>, column: usize) -> rusqlite::Result<EntryIdx> {
    let index = row.get::<_, i64>(column)?;
    Ok(EntryIdx::new(usize::try_from(index).unwrap_or(usize::MAX)))
}

fn entry_type(name: &str, row: &Row<'_>) -> rusqlite::Result<NormalizedEntryType> {
    Ok(match name {
        "user_message" => NormalizedEntryType::UserMessage,
        "assistant_message" => NormalizedEntryType::AssistantMessage,
        "error_message" => NormalizedEntryType::ErrorMessage,
        "thinking" => NormalizedEntryType::Thinking,
        "tool_use" => NormalizedEntryType::ToolUse(tool(row)?),
        "diagnostic" => NormalizedEntryType::Diagnostic { code: code(row)? },
        _ => NormalizedEntryType::SystemMessage,
    })
}

fn code(row: &Row<'_>) -> rusqlite::Result<WarningKind> {
    let code: Option<String> = row.get(5)?;
    let kind = code.and_then(|code| serde_json::from_value(code.into()).ok());
    Ok(kind.unwrap_or(WarningKind::UnexpectedValue))
}

fn tool(row: &Row<'_>) -> rusqlite::Result<ToolUse> {
    let tool_name = Text::from(row.get::<_, String>(11)?);
    let status: String = row.get(12)?;
    let action: String = row.get(16)?;
    // An action that a later version wrote becomes a plain tool with its name.
    let mut action_type = serde_json::from_str(&action).unwrap_or_else(|_| ActionType::Tool {
        tool_name: tool_name.clone(),
        arguments: None,
        result: None,
    });
    if let Some(output) = row.get::<_, Option<String>>(7)? {
        let is_json: bool = row.get(15)?;
        let json = is_json.then(|| serde_json::from_str::<Json>(&output).ok()).flatten();
        action_type.set_result(json.map_or_else(|| Text::from(output).into(), ToolResult::Json));
    }
    Ok(ToolUse {
        tool_name,
        action_type,
        status: status_named(&status, text(row, 13)?),
        duration_ms: count(row, 14)?,
    })
}

fn status_named(name: &str, reason: Option<Text>) -> ToolStatus {
    match name {
        "in_progress" => ToolStatus::InProgress,
        "pending_approval" => ToolStatus::PendingApproval,
        "success" => ToolStatus::Success,
        "failed" => ToolStatus::Failed,
        "denied" => ToolStatus::Denied { reason },
        "cancelled" => ToolStatus::Cancelled,
        "unfinished" => ToolStatus::Unfinished,
        _ => ToolStatus::Created,
    }
}

fn metadata(row: &Row<'_>) -> rusqlite::Result<Option<Box<Metadata>>> {
    let metadata: Option<String> = row.get(9)?;
    let mut metadata: Option<Box<Metadata>> =
        metadata.map(|json| serde_json::from_str(&json).unwrap_or_default());
    if let Some(parent) = row.get::<_, Option<String>>(8)? {
        metadata.get_or_insert_default().parent_corr_id = Some(parent.into());
    }
    if let Some(corr_id) = row.get::<_, Option<String>>(10)? {
        metadata.get_or_insert_default().corr_id.get_or_insert_with(|| corr_id.into());
    }
    Ok(metadata)
}
