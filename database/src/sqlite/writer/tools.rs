//! Tool calls and the paths that they touch.

use foldline_domain::CorrId;
use rusqlite::params;

use super::super::{crc::execute_summed, statements::run};
use super::{SourceWriter, signed};
use crate::ToolRow;

impl SourceWriter<'_> {
    /// Adds calls, each with the number and the id of its entry; returns the number of calls.
    pub(super) fn add_tools<'t>(
        &self,
        session: i64,
        tools: impl Iterator<Item = (i64, &'t CorrId, &'t ToolRow)>,
    ) -> rusqlite::Result<u64> {
        let mut insert = self.transaction.prepare_cached(
            "INSERT INTO tool_calls (session, corr_id, kind, action_name, tool_name, status,
                                     reason, duration_ms, exit_code, output_json, action,
                                     crc32, entry)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?;
        let mut insert_path = self
            .transaction
            .prepare_cached("INSERT OR IGNORE INTO tool_paths VALUES (?1, ?2, ?3)")?;
        let mut added = 0;
        for (entry, corr_id, tool) in tools {
            let row = params![
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
            ];
            execute_summed(&mut insert, row, Some(entry))?;
            for (path, change) in &tool.paths {
                insert_path.execute(params![entry, path, change])?;
            }
            added += 1;
        }
        Ok(added)
    }

    /// Replaces a call.
    pub(super) fn replace_tool(
        &self,
        entry: i64,
        session: i64,
        corr_id: &CorrId,
        tool: &ToolRow,
    ) -> rusqlite::Result<()> {
        for sql in
            ["DELETE FROM tool_paths WHERE entry = ?1", "DELETE FROM tool_calls WHERE entry = ?1"]
        {
            run(self.transaction, sql, [entry])?;
        }
        self.add_tools(session, [(entry, corr_id, tool)].into_iter()).map(drop)
    }
}
