//! Which tools were called, which fail, and how long they take.

use clap::Args;
#[cfg(feature = "serve")]
use foldline::emitters::sqlite::Database;
use rusqlite::Connection;
use tracing::debug;

use super::sessions::{FAILURES, is_chosen};
use crate::answer::{
    AskArgs, Asked, answer,
    listing::{Kind, Listing, Value},
};
use crate::{error::Error, options::EXIT_CODES, program::Program};

/// The options of `foldline tools`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ToolsArgs {
    #[command(flatten)]
    ask: AskArgs,
}

/// `foldline tools`.
pub(crate) fn run(program: &Program, args: &ToolsArgs) -> Result<u8, Error> {
    answer(program, &args.ask, |asked| tools(asked, None))
}

/// One tool.
#[derive(Default)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) calls: i64,
    open: i64,
    pub(crate) failures: i64,
    /// Ascending.
    durations: Vec<i64>,
}

/// The tools, of one task or of all, the most used first.
pub(super) fn tools(asked: &Asked<'_>, task: Option<&str>) -> Result<Listing, Error> {
    let (time, is_chosen) = (asked.within("timestamp"), is_chosen(asked));
    let read = read(asked.database.connection(), task, &time, &is_chosen);
    let mut tools = read.map_err(|error| asked.failed(&error))?;
    tools.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.name.cmp(&b.name)));
    let mut listing = Listing::new(&[
        ("tool", Kind::Id),
        ("calls", Kind::Number),
        ("open", Kind::Number),
        ("failures", Kind::Number),
        ("failure_rate", Kind::Rate),
        ("p50_ms", Kind::Duration),
        ("p95_ms", Kind::Duration),
    ]);
    listing.rows.extend(tools.into_iter().map(Tool::into_row));
    Ok(listing)
}

/// The tools of all calls since a moment, in milliseconds since 1970.
#[cfg(feature = "serve")]
pub(crate) fn since(database: &Database, start: i64) -> Result<Vec<Tool>, Error> {
    let time = if start == i64::MIN { "true".to_owned() } else { format!("timestamp >= {start}") };
    let read = read(database.connection(), None, &time, "true");
    read.map_err(|error| Error::Database(database.error(&error)))
}

/// Reads the calls, of one task or of all, that fulfil the conditions on their time and their session. They are read
/// in the order of the index that holds all of these columns.
fn read(
    connection: &Connection,
    task: Option<&str>,
    time: &str,
    is_chosen: &str,
) -> rusqlite::Result<Vec<Tool>> {
    let join = match (task, time, is_chosen) {
        (None, "true", "true") => "",
        _ => {
            "JOIN entries ON entries.id = tool_calls.entry
             JOIN sessions ON sessions.id = entries.session"
        }
    };
    let of_task = if task.is_some() { "sessions.task = ?1" } else { "?1 IS NULL" };
    let sql = format!(
        "SELECT tool_name, status IN ('created', 'in_progress', 'pending_approval'), {FAILURES},
                tool_calls.duration_ms
         FROM tool_calls {join} WHERE {of_task} AND {time} AND {is_chosen} ORDER BY tool_name"
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([task])?;
    let mut tools: Vec<Tool> = Vec::new();
    while let Some(row) = rows.next()? {
        let name = row.get_ref(0)?.as_str()?;
        if tools.last().is_none_or(|tool| tool.name != name) {
            tools.push(Tool { name: name.to_owned(), ..Tool::default() });
        }
        let Some(tool) = tools.last_mut() else { continue };
        tool.calls += 1;
        tool.open += row.get::<_, i64>(1)?;
        tool.failures += row.get::<_, i64>(2)?;
        tool.durations.extend(row.get::<_, Option<i64>>(3)?);
    }
    drop(rows);
    debug!(sql = statement.expanded_sql(), "asked");
    tools.iter_mut().for_each(|tool| tool.durations.sort_unstable());
    Ok(tools)
}

impl Tool {
    /// The part of the calls that ended which failed.
    pub(crate) fn failure_rate(&self) -> Option<f64> {
        let ended = self.calls - self.open;
        (ended != 0).then(|| self.failures as f64 / ended as f64)
    }

    /// The milliseconds that so many percent of the calls do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Option<i64> {
        percentile(&self.durations, percent)
    }

    fn into_row(self) -> Vec<Value> {
        let (p50, p95) = (self.percentile(50), self.percentile(95));
        let rate = self.failure_rate().map_or(Value::Null, Value::Real);
        vec![
            Value::Text(self.name),
            Value::Integer(self.calls),
            Value::Integer(self.open),
            Value::Integer(self.failures),
            rate,
            p50.into(),
            p95.into(),
        ]
    }
}

/// The smallest of the sorted values that at least `percent` of them do not exceed.
fn percentile(sorted: &[i64], percent: usize) -> Option<i64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let values: Vec<i64> = (1..=20).collect();
        assert_eq!(percentile(&values, 50), Some(10));
        assert_eq!(percentile(&values, 95), Some(19));
        assert_eq!(percentile(&[7], 95), Some(7));
        assert_eq!(percentile(&[], 50), None);
    }
}
