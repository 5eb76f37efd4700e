//! Everything about one task.

use std::io::{self, Write};

use foldline::emitters::sqlite::query::{
    FileRow, FoundEntry, SessionFilter, SessionOrder, TaskRow, WarningRow,
};
use serde::Serialize;

use crate::{
    answer::{Asked, Kind, Layout, Listing, OutputFormat, Printed, find, write_json},
    error::Error,
    verbs::{
        errors, sessions, tools,
        usage::{Used, by_model},
    },
};

/// Everything about one task.
#[derive(Serialize)]
pub(super) struct TaskAnswer {
    task: Listing,
    sessions: Listing,
    usage: Listing,
    tools: Listing,
    failures: Listing,
    files: Listing,
    warnings: Listing,
    timeline: Listing,
}

pub(super) fn answer(asked: &Asked<'_>, id: &str) -> Result<TaskAnswer, Error> {
    let Asked { database, filter, .. } = asked;
    find::task(database, id)?;
    // The filters choose sessions; all that they say of a file or an entry belongs to the task.
    let (period, limit) = (filter.period, filter.limit);
    let all = SessionFilter { limit, ..SessionFilter::of_task(id) };
    let task = SessionFilter { period, ..all.clone() };
    let chosen = SessionFilter { task: Some(id.to_owned()), ..filter.clone() };
    Ok(TaskAnswer {
        task: tasks(&database.tasks(&chosen)?),
        sessions: sessions::listing(&database.sessions(&chosen, SessionOrder::Latest)?),
        usage: by_model(&Used::new(&database.usage()?, &all, &asked.prices)),
        tools: tools::listing(&database.tools(&chosen)?),
        failures: errors::listing(&database.failures(&chosen)?),
        files: files(&database.files_by_calls(&task)?),
        warnings: warnings(&database.warnings(&all)?),
        timeline: timeline(&database.timeline(&task)?),
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

/// Tasks as rows.
pub(super) fn tasks(tasks: &[TaskRow]) -> Listing {
    let columns = "task sessions agents began ended duration_ms entries calls failures input_tokens \
     output_tokens cost_usd cost_basis";
    let tasks = Listing::of(columns, tasks);
    tasks.without_in_tables(&["agents", "ended", "entries", "cost_basis"])
}

fn files(files: &[FileRow]) -> Listing {
    Listing::of("path changes calls", files).with_kind(Kind::Text, &["path", "changes"])
}

fn warnings(warnings: &[WarningRow]) -> Listing {
    let columns = "kind subject count message";
    Listing::of(columns, warnings)
}

fn timeline(timeline: &[FoundEntry]) -> Listing {
    let columns = "at session index type tool status duration_ms content";
    Listing::of(columns, timeline).with_kind(Kind::Text, &["type", "tool"])
}
