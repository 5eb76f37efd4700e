//! Reads stored entries back as domain types.

use std::ops::Range;

use foldline_domain::{
    ActionType, EntryIdx, Json, Metadata, NormalizedEntry, NormalizedEntryType, Position, Text,
    ToolResult, ToolStatus, ToolUse, WarningKind,
};
use serde::Serialize;

use super::{Parameter, Row, Store, StoreError};

/// An entry with its place in the session and in the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StoredEntry {
    /// Its place in the session, counted from 0.
    pub index: EntryIdx,
    /// The log record that began the entry.
    pub position: Position,
    /// The entry after all events.
    pub entry: NormalizedEntry,
}

impl dyn Store + '_ {
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
    ) -> Result<(), StoreError> {
        let parameter = |number| self.dialect().parameter(number);
        let sql = format!(
            "SELECT idx, line, \"offset\", timestamp, type, code, content, output, parent_corr_id, metadata, corr_id,
                    tool_name, status, reason, duration_ms, output_json, action, child_session_id
             FROM entries LEFT JOIN tool_calls ON tool_calls.entry = entries.id
             WHERE entries.session = {} AND idx >= {} AND idx < {} ORDER BY idx",
            parameter(1),
            parameter(2),
            parameter(3)
        );
        let parameters = [session, indices.start, indices.end].map(Parameter::from);
        self.rows(&sql, &parameters, &mut |row| {
            each(stored_entry(row)?);
            Ok(())
        })
    }
}

fn stored_entry(row: &dyn Row) -> Result<StoredEntry, StoreError> {
    let type_name: String = row.get(4)?;
    let entry = NormalizedEntry {
        timestamp: row.moment(3)?,
        entry_type: entry_type(&type_name, row)?,
        content: row.get::<String>(6)?.into(),
        metadata: metadata(row)?,
    };
    Ok(StoredEntry { index: row.index(0)?, position: row.position(1)?, entry })
}

fn entry_type(name: &str, row: &dyn Row) -> Result<NormalizedEntryType, StoreError> {
    Ok(match name {
        "user_message" => NormalizedEntryType::UserMessage,
        "assistant_message" => NormalizedEntryType::AssistantMessage,
        "error_message" => NormalizedEntryType::ErrorMessage,
        "thinking" => NormalizedEntryType::Thinking,
        "tool_use" => NormalizedEntryType::ToolUse(tool(row)?),
        "diagnostic" => NormalizedEntryType::Diagnostic { code: code(row)? },
        "model_change" => {
            NormalizedEntryType::ModelChange { model: row.text(5)?.unwrap_or_default() }
        }
        "compaction" => NormalizedEntryType::Compaction,
        "continuation" => NormalizedEntryType::Continuation,
        _ => NormalizedEntryType::SystemMessage,
    })
}

fn code(row: &dyn Row) -> Result<WarningKind, StoreError> {
    Ok(warning_kind(&row.get::<Option<String>>(5)?.unwrap_or_default()))
}

/// The kind with this name. A kind that a later version wrote becomes an unexpected value.
pub(super) fn warning_kind(name: &str) -> WarningKind {
    serde_json::from_value(name.into()).unwrap_or(WarningKind::UnexpectedValue)
}

fn tool(row: &dyn Row) -> Result<ToolUse, StoreError> {
    let tool_name = Text::from(row.get::<String>(11)?);
    let status: String = row.get(12)?;
    let action: String = row.get(16)?;
    // An action that a later version wrote becomes a plain tool with its name.
    let mut action_type = serde_json::from_str(&action).unwrap_or_else(|_| ActionType::Tool {
        tool_name: tool_name.clone(),
        arguments: None,
        result: None,
    });
    if let Some(output) = row.get::<Option<String>>(7)? {
        let is_json: bool = row.get(15)?;
        let json = is_json.then(|| serde_json::from_str::<Json>(&output).ok()).flatten();
        action_type.set_result(json.map_or_else(|| Text::from(output).into(), ToolResult::Json));
    }
    Ok(ToolUse {
        tool_name,
        action_type,
        status: status_named(&status, row.text(13)?),
        duration_ms: row.count(14)?,
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
        "unknown" => ToolStatus::Unknown,
        _ => ToolStatus::Created,
    }
}

fn metadata(row: &dyn Row) -> Result<Option<Box<Metadata>>, StoreError> {
    let metadata: Option<String> = row.get(9)?;
    let mut metadata: Option<Box<Metadata>> =
        metadata.map(|json| serde_json::from_str(&json).unwrap_or_default());
    if let Some(parent) = row.get::<Option<String>>(8)? {
        metadata.get_or_insert_default().parent_corr_id = Some(parent.into());
    }
    if let Some(corr_id) = row.get::<Option<String>>(10)? {
        metadata.get_or_insert_default().corr_id.get_or_insert_with(|| corr_id.into());
    }
    if let Some(child) = row.get::<Option<String>>(17)? {
        metadata.get_or_insert_default().child_session_id = Some(child.into());
    }
    Ok(metadata)
}
