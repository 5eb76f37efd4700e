//! Everything about one task.

use std::io::{self, Write};

use serde::Serialize;

use crate::answer::{
    Asked, find,
    listing::{Kind, Listing, write_json},
    print::{Layout, OutputFormat, Printed},
};
use crate::error::Error;
use crate::verbs::{
    errors::errors,
    sessions::{COSTS, Sort, Which, cost_basis, sessions, tasks},
    tools::tools,
};

/// Everything about one task.
#[derive(Serialize)]
pub(crate) struct TaskAnswer {
    task: Listing,
    sessions: Listing,
    usage: Listing,
    tools: Listing,
    failures: Listing,
    files: Listing,
    warnings: Listing,
    timeline: Listing,
}

pub(crate) fn answer(asked: &Asked<'_>, id: &str) -> Result<TaskAnswer, Error> {
    find::task(&asked.database, id)?;
    Ok(TaskAnswer {
        task: tasks(asked, Some(id))?,
        sessions: sessions(asked, Some(Which::OfTask(id)), Sort::Latest)?,
        usage: usage(asked, id)?,
        tools: tools(asked, Some(id))?,
        failures: errors(asked, Some(id))?,
        files: files(asked, id)?,
        warnings: warnings(asked, id)?,
        timeline: timeline(asked, id)?,
    })
}

impl Printed for TaskAnswer {
    fn limit(&mut self, limit: usize) -> bool {
        let parts = self.parts_mut().map(|listing| listing.limit(limit));
        parts.contains(&true)
    }

    fn write(&self, out: &mut dyn Write, layout: Layout<'_>) -> io::Result<()> {
        match layout.format {
            OutputFormat::Json => write_json(out, self),
            OutputFormat::Csv => self.timeline.write_csv(out),
            OutputFormat::Table => {
                self.task.write_table(out, layout)?;
                let parts = [
                    ("SESSIONS", &self.sessions),
                    ("TOKENS", &self.usage),
                    ("TOOLS", &self.tools),
                    ("FAILURES", &self.failures),
                    ("FILES", &self.files),
                    ("WARNINGS", &self.warnings),
                    ("TIMELINE", &self.timeline),
                ];
                for (title, listing) in parts.iter().filter(|(_, part)| !part.rows.is_empty()) {
                    writeln!(out, "\n{title}")?;
                    listing.write_table(out, layout)?;
                }
                Ok(())
            }
        }
    }
}

impl TaskAnswer {
    fn parts_mut(&mut self) -> [&mut Listing; 8] {
        let Self { task, sessions, usage, tools, failures, files, warnings, timeline } = self;
        [task, sessions, usage, tools, failures, files, warnings, timeline]
    }
}

fn usage(asked: &Asked<'_>, id: &str) -> Result<Listing, Error> {
    let columns = [
        ("model", Kind::Id),
        ("input_tokens", Kind::Tokens),
        ("output_tokens", Kind::Tokens),
        ("cache_read_tokens", Kind::Tokens),
        ("cache_write_tokens", Kind::Tokens),
        ("reasoning_tokens", Kind::Tokens),
        ("cost_usd", Kind::Money),
        ("cost_basis", Kind::Id),
    ];
    let sql = format!(
        "SELECT nullif(used.model, ''), sum(input_tokens), sum(output_tokens),
                sum(cache_read_tokens), sum(cache_write_tokens), sum(reasoning_tokens),
                sum(cost), {}
         FROM ({COSTS}) AS used JOIN sessions ON sessions.id = used.session
         WHERE task = ?1 GROUP BY used.model ORDER BY sum(input_tokens) DESC LIMIT ?2",
        cost_basis("count(logged)", "count(estimated)")
    );
    Ok(select(asked, &columns, &sql, id)?.without_in_tables(&["cost_basis"]))
}

fn files(asked: &Asked<'_>, id: &str) -> Result<Listing, Error> {
    let columns = [("path", Kind::Text), ("changes", Kind::Text), ("calls", Kind::Number)];
    let sql = format!(
        "SELECT path, group_concat(DISTINCT change), count(DISTINCT tool_paths.entry)
         FROM tool_paths JOIN entries ON entries.id = tool_paths.entry
         JOIN sessions ON sessions.id = entries.session
         WHERE task = ?1 AND {} GROUP BY path ORDER BY 3 DESC, path LIMIT ?2",
        asked.within("timestamp")
    );
    select(asked, &columns, &sql, id)
}

fn warnings(asked: &Asked<'_>, id: &str) -> Result<Listing, Error> {
    let columns = [
        ("kind", Kind::Id),
        ("subject", Kind::Text),
        ("count", Kind::Number),
        ("message", Kind::Text),
    ];
    let sql = "SELECT kind, nullif(subject, ''), sum(count), min(message)
               FROM warnings JOIN sessions ON sessions.id = warnings.session
               WHERE task = ?1 GROUP BY kind, subject ORDER BY sum(count) DESC, kind LIMIT ?2";
    select(asked, &columns, sql, id)
}

fn timeline(asked: &Asked<'_>, id: &str) -> Result<Listing, Error> {
    let columns = [
        ("at", Kind::Moment),
        ("session", Kind::Number),
        ("index", Kind::Number),
        ("type", Kind::Text),
        ("tool", Kind::Text),
        ("status", Kind::Id),
        ("duration_ms", Kind::Duration),
        ("content", Kind::Text),
    ];
    let sql = format!(
        "SELECT timestamp, sessions.id, idx, type, tool_name, status, tool_calls.duration_ms,
                content
         FROM sessions JOIN entries ON entries.session = sessions.id
         LEFT JOIN tool_calls ON tool_calls.entry = entries.id
         WHERE task = ?1 AND {} ORDER BY timestamp, entries.id LIMIT ?2",
        asked.within("timestamp")
    );
    select(asked, &columns, &sql, id)
}

fn select(
    asked: &Asked<'_>,
    columns: &[(&str, Kind)],
    sql: &str,
    id: &str,
) -> Result<Listing, Error> {
    Listing::select(asked.database.connection(), columns, sql, (id, asked.rows()))
        .map_err(|error| asked.failed(&error))
}
