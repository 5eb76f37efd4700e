//! Tool calls and the paths that they touch.

use foldline_domain::{CorrId, SessionId};
use rusqlite::{Statement, params};

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
                                     reason, duration_ms, exit_code, output_json, child_session_id,
                                     action, crc32, entry)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        )?;
        let mut added = 0;
        for (entry, corr_id, tool) in tools {
            write(&mut insert, entry, session, corr_id, tool)?;
            self.add_paths(entry, tool)?;
            added += 1;
        }
        Ok(added)
    }

    fn add_paths(&self, entry: i64, tool: &ToolRow) -> rusqlite::Result<()> {
        let sql = "INSERT OR IGNORE INTO tool_paths VALUES (?1, ?2, ?3, row_crc32(?1, ?2, ?3))";
        let mut insert = self.transaction.prepare_cached(sql)?;
        let mut paths = tool.paths.iter();
        paths.try_for_each(|(path, change)| insert.execute(params![entry, path, change]).map(drop))
    }

    /// Replaces a call.
    pub(super) fn replace_tool(
        &self,
        entry: i64,
        session: i64,
        corr_id: &CorrId,
        tool: &ToolRow,
    ) -> rusqlite::Result<()> {
        let mut update = self.transaction.prepare_cached(
            "UPDATE tool_calls SET session = ?1, corr_id = ?2, kind = ?3, action_name = ?4, tool_name = ?5,
                                   status = ?6, reason = ?7, duration_ms = ?8, exit_code = ?9,
                                   output_json = ?10, child_session_id = ?11, action = ?12, crc32 = ?13
             WHERE entry = ?14",
        )?;
        if write(&mut update, entry, session, corr_id, tool)? == 0 {
            // A text became a call, whose arguments are not in the search index.
            let sql = "INSERT INTO search (search, rowid, content, arguments, output)
                       SELECT 'delete', id, content, arguments, output FROM searched WHERE id = ?1";
            run(self.transaction, sql, [entry])?;
            self.add_tools(session, [(entry, corr_id, tool)].into_iter())?;
            return self.index([entry].into_iter());
        }
        run(self.transaction, "DELETE FROM tool_paths WHERE entry = ?1", [entry])?;
        self.add_paths(entry, tool)
    }
}

/// Writes the row of a call; returns the number of written rows.
fn write(
    statement: &mut Statement<'_>,
    entry: i64,
    session: i64,
    corr_id: &CorrId,
    tool: &ToolRow,
) -> rusqlite::Result<usize> {
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
        tool.child_session_id.as_ref().map(SessionId::as_str),
        tool.action,
    ];
    execute_summed(statement, row, Some(entry))
}
