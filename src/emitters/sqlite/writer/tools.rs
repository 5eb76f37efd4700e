//! Tool calls and the paths that they touch.

use rusqlite::params;

use super::{
    super::{crc::execute_summed, row::ToolRow},
    SourceWriter, signed,
};
use crate::conversation::CorrId;

impl SourceWriter<'_> {
    /// Adds a call.
    pub(super) fn add_tool(
        &self,
        entry: i64,
        session: i64,
        corr_id: &CorrId,
        tool: &ToolRow,
    ) -> rusqlite::Result<()> {
        execute_summed(
            &mut *self.transaction.prepare_cached(
                "INSERT INTO tool_calls (session, corr_id, kind, action_name, tool_name, status,
                                         reason, duration_ms, exit_code, output_json, action,
                                         crc32, entry)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            )?,
            params![
                session,
                corr_id.as_str(),
                tool.kind,
                tool.action_name,
                tool.tool_name,
                tool.status,
                tool.reason,
                tool.duration_ms.map(signed),
                tool.exit_code,
                tool.output_json,
                tool.action,
            ],
            Some(entry),
        )?;
        for (path, change) in &tool.paths {
            self.transaction
                .prepare_cached("INSERT OR IGNORE INTO tool_paths VALUES (?1, ?2, ?3)")?
                .execute(params![entry, path, change])?;
        }
        Ok(())
    }

    /// Puts a call in the place of what was known of it.
    pub(super) fn replace_tool(
        &self,
        entry: i64,
        session: i64,
        corr_id: &CorrId,
        tool: &ToolRow,
    ) -> rusqlite::Result<()> {
        // Its paths go with it.
        self.transaction
            .prepare_cached("DELETE FROM tool_calls WHERE entry = ?1")?
            .execute([entry])?;
        self.add_tool(entry, session, corr_id, tool)
    }
}
