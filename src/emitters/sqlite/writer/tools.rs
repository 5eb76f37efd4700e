//! Tool calls and the paths that they touch.

use rusqlite::params;

use super::{SourceWriter, row::EntryRow, signed};
use crate::conversation::{CorrId, Text};

impl SourceWriter<'_> {
    pub(super) fn write_tool(
        &self,
        entry: i64,
        session: i64,
        corr_id: &CorrId,
        row: &EntryRow,
    ) -> rusqlite::Result<()> {
        let Some(tool) = &row.tool else { return Ok(()) };
        self.transaction
            .prepare_cached(
                "INSERT INTO tool_calls (entry, session, corr_id, kind, action_name, tool_name,
                                         status, reason, duration_ms, exit_code, output_json,
                                         action)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
                 ON CONFLICT (entry) DO UPDATE SET
                     kind = excluded.kind, action_name = excluded.action_name,
                     tool_name = excluded.tool_name, status = excluded.status,
                     reason = excluded.reason, duration_ms = excluded.duration_ms,
                     exit_code = excluded.exit_code, output_json = excluded.output_json,
                     action = excluded.action",
            )?
            .execute(params![
                entry,
                session,
                corr_id.as_str(),
                tool.kind,
                tool.action_name,
                tool.tool_name.decode(),
                tool.status,
                tool.reason.as_ref().map(Text::decode),
                tool.duration_ms.map(signed),
                tool.exit_code,
                tool.output_json,
                tool.action,
            ])?;
        for (path, change) in &tool.paths {
            self.transaction
                .prepare_cached("INSERT OR IGNORE INTO tool_paths VALUES (?1, ?2, ?3)")?
                .execute(params![entry, path.decode(), change])?;
        }
        Ok(())
    }
}
