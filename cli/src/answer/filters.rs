//! Which sessions an answer is about.

use clap::Args;
use foldline::{conversation::Text, emitters::usage::SessionUsage};
use jiff::tz::TimeZone;

use super::when::{self, Span};
use crate::error::Error;

/// The options that choose sessions.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Filters {
    /// Only what happened since then: `today`, `yesterday`, `monday`, a day such as 2026-01-31, an age such as 3d
    /// or 12h, or an RFC 3339 time
    #[arg(long, value_name = "WHEN", value_parser = when::check, global = true, allow_hyphen_values = true)]
    pub(crate) since: Option<String>,

    /// Only what happened until then; a day counts to its end
    #[arg(long, value_name = "WHEN", value_parser = when::check, global = true, allow_hyphen_values = true)]
    pub(crate) until: Option<String>,

    /// The time zone of days and of printed times, such as Europe/Paris or UTC [default: the system's]
    #[arg(long, value_name = "NAME", value_parser = when::zone, global = true)]
    pub(crate) timezone: Option<TimeZone>,

    /// Only of this agent: claude-code, codex, droid, ..
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) agent: Option<String>,

    /// Only in this project: a folder, or the last part of its path
    #[arg(long, value_name = "FOLDER", global = true)]
    pub(crate) project: Option<String>,

    /// Only with a model whose name has this part
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) model: Option<String>,

    /// Only on this branch of the version control
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) branch: Option<String>,

    /// Only of this task
    #[arg(long, value_name = "ID", global = true)]
    pub(crate) task: Option<String>,
}

impl Filters {
    /// The time zone.
    pub(crate) fn zone(&self) -> TimeZone {
        self.timezone.clone().unwrap_or_else(TimeZone::system)
    }

    /// The requested time.
    pub(crate) fn span(&self) -> Result<Span, Error> {
        when::span(self.since.as_deref(), self.until.as_deref(), &self.zone())
    }

    /// Refuses what would choose sessions, where `why` says that none are chosen.
    pub(crate) fn refuse_choice(&self, why: &str) -> Result<(), Error> {
        let given = [
            ("--agent", &self.agent),
            ("--project", &self.project),
            ("--model", &self.model),
            ("--branch", &self.branch),
            ("--task", &self.task),
        ];
        refuse(&given, why)
    }

    /// Refuses everything but the time zone.
    pub(crate) fn refuse(&self, why: &str) -> Result<(), Error> {
        refuse(&[("--since", &self.since), ("--until", &self.until)], why)?;
        self.refuse_choice(why)
    }

    /// A condition in SQL on a row of `sessions`, apart from the time.
    pub(crate) fn condition(&self) -> String {
        let mut conditions = Vec::new();
        if let Some(agent) = &self.agent {
            conditions.push(format!("instr(lower(agent), lower({})) = 1", quoted(agent)));
        }
        if let Some(project) = &self.project {
            let project = quoted(&format!("/{}/", project.trim_matches('/')));
            conditions.push(format!("instr('/' || trim(cwd, '/') || '/', {project}) > 0"));
        }
        if let Some(model) = &self.model {
            let model = quoted(model);
            conditions.push(format!(
                "(instr(lower(sessions.model), lower({model})) > 0 OR EXISTS (
                     SELECT 1 FROM message_usage AS used
                     WHERE used.session = sessions.id AND instr(lower(used.model), lower({model})) > 0))"
            ));
        }
        if let Some(branch) = &self.branch {
            conditions.push(format!("branch = {}", quoted(branch)));
        }
        if let Some(task) = &self.task {
            conditions.push(format!("task = {}", quoted(task)));
        }
        match conditions.is_empty() {
            true => "true".to_owned(),
            false => conditions.join(" AND "),
        }
    }
}

impl Filters {
    /// The same condition on what was used in a session, apart from the model.
    pub(crate) fn admit(&self, session: &SessionUsage, task: Option<&str>) -> bool {
        let lower = |text: &Option<Text>| text.as_ref().map(|text| text.decode().to_lowercase());
        let is = |filter: &Option<String>, stated: Option<&str>| {
            filter.is_none() || filter.as_deref() == stated
        };
        let is_of_agent = self.agent.as_ref().is_none_or(|agent| {
            lower(&session.agent).is_some_and(|stated| stated.starts_with(&agent.to_lowercase()))
        });
        let is_in_project = self.project.as_ref().is_none_or(|project| {
            let project = format!("/{}/", project.trim_matches('/'));
            let cwd = session.cwd.as_ref().map(Text::decode);
            cwd.is_some_and(|cwd| format!("/{}/", cwd.trim_matches('/')).contains(&project))
        });
        let branch = session.branch.as_ref().map(Text::decode);
        is_of_agent && is_in_project && is(&self.branch, branch.as_deref()) && is(&self.task, task)
    }

    /// Whether the model is one that is asked for.
    pub(crate) fn admits_model(&self, model: Option<&str>) -> bool {
        self.model.as_ref().is_none_or(|asked| {
            model.is_some_and(|model| model.to_lowercase().contains(&asked.to_lowercase()))
        })
    }
}

fn refuse(given: &[(&str, &Option<String>)], why: &str) -> Result<(), Error> {
    match given.iter().find(|(_, value)| value.is_some()) {
        Some((option, _)) => Err(Error::WrongUse(format!("{option} chooses sessions: {why}"))),
        None => Ok(()),
    }
}

/// The text as a string of SQL. SQLite's strings have no escapes but the doubled quote, and end at a NUL.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\0', "").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_string() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        for text in ["", "it's", "''", "a\\'b", "x' OR 1 --", "\"\u{1F600}"] {
            let sql = format!("SELECT {}", quoted(text));
            let read: String = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
            assert_eq!(read, text);
        }
    }
}
