//! Everything about one task.

use std::io::{self, Write};

use foldline_database::query::{SessionFilter, SessionOrder, TaskRow};
use serde::{Serialize, Serializer};

use crate::{
    answer::{Asked, Kind, Layout, Listing, OutputFormat, Printed, find, write_json},
    error::Error,
    verbs::{
        errors, sessions, tools,
        usage::{Used, by_model},
    },
};

/// Everything about one task: the names of its parts, their headings, and their rows.
pub(super) struct TaskAnswer([(&'static str, &'static str, Listing); 8]);

pub(super) fn answer(asked: &Asked<'_>, id: &str) -> Result<TaskAnswer, Error> {
    let Asked { database, filter, .. } = asked;
    let id = &*find::task(&**database, id)?;
    // The filters select sessions; all files and entries of these sessions belong to the task.
    let (period, limit) = (filter.period, filter.limit);
    let all = SessionFilter { limit, ..SessionFilter::of_task(id) };
    let task = SessionFilter { period, ..all.clone() };
    let chosen = SessionFilter { task: Some(id.to_owned()), ..filter.clone() };
    let sessions = database.sessions(&chosen, SessionOrder::Latest)?;
    let usage = database.usage(&all)?;
    let files = Listing::of("path project changes calls", &database.files_by_calls(&task)?);
    let warnings = Listing::of("kind subject count message", &database.warnings(&all)?);
    let timeline = "at session index type tool status duration_ms content";
    let timeline = Listing::of(timeline, &database.timeline(&task)?)
        .with_kind(Kind::Text, &["type", "tool"])
        .dropping("session duration_ms status at type tool");
    Ok(TaskAnswer([
        ("task", "TASK", tasks(&database.tasks(&chosen)?)),
        ("sessions", "SESSIONS", sessions::listing(&sessions)),
        ("usage", "TOKENS", by_model(&Used::new(&usage, &all, &asked.prices))),
        ("tools", "TOOLS", tools::listing(&database.tools(&chosen)?)),
        ("failures", "FAILURES", errors::listing(&database.failures(&chosen)?)),
        ("files", "FILES", files.with_kind(Kind::Text, &["path", "changes"]).dropping("project")),
        ("warnings", "WARNINGS", warnings),
        ("timeline", "TIMELINE", timeline),
    ]))
}

impl Serialize for TaskAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, _, listing)| (name, listing)))
    }
}

impl Printed for TaskAnswer {
    fn limit(&mut self, limit: usize) -> bool {
        self.0.each_mut().map(|(_, _, listing)| listing.limit(limit)).contains(&true)
    }

    fn write(&self, out: &mut dyn Write, layout: Layout<'_>) -> io::Result<()> {
        let [(_, _, task), .., (_, _, timeline)] = &self.0;
        match layout.format {
            OutputFormat::Json => write_json(out, self),
            OutputFormat::Csv => timeline.write_csv(out),
            OutputFormat::Table => {
                task.write_table(out, layout)?;
                let parts = self.0.iter().skip(1);
                for (_, heading, listing) in parts.filter(|(_, _, part)| !part.rows.is_empty()) {
                    writeln!(out, "\n{heading}")?;
                    listing.write_table(out, layout)?;
                }
                Ok(())
            }
        }
    }
}

/// Tasks as rows.
pub(super) fn tasks(tasks: &[TaskRow]) -> Listing {
    let columns = "task sessions agents began ended duration_ms entries calls failures input_tokens \
     output_tokens cost_usd cost_basis";
    let tasks = Listing::of(columns, tasks);
    let tasks = tasks.without_in_tables("agents ended entries cost_basis");
    tasks.dropping("duration_ms calls output_tokens input_tokens failures began")
}
