//! The session filters of an answer.

use std::collections::BTreeSet;

use clap::{Args, builder::PossibleValuesParser};
use foldline_database::{
    Store,
    query::{Grouping, SessionFilter},
};
use foldline_domain::Allowed;
use jiff::tz::TimeZone;

use super::when;
use crate::{error::Error, program::Program, project};

/// The options that choose sessions.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Filters {
    /// Activity since a time: today, yesterday, monday, "this week", "last week", "this month", "last month", a day
    /// (2026-01-31), a month (2026-01), a year (2026), an age (3d, 12h, 30m), or an RFC 3339 time
    #[arg(long, value_name = "WHEN", value_parser = when::check, allow_hyphen_values = true)]
    #[arg(help_heading = "Filters", global = true)]
    pub(crate) since: Option<String>,

    /// Activity until a time, in the same forms; a day, week, month or year is included as a whole
    #[arg(long, value_name = "WHEN", value_parser = when::check, allow_hyphen_values = true)]
    #[arg(help_heading = "Filters", global = true)]
    pub(crate) until: Option<String>,

    /// Time zone of days and printed times, such as Europe/Paris or UTC [default: the system's]
    #[arg(long, value_name = "NAME", value_parser = when::zone, help_heading = "Filters", global = true)]
    pub(crate) timezone: Option<TimeZone>,

    /// Agent, such as claude-code, codex or droid; a prefix is enough
    #[arg(long, value_name = "NAME", help_heading = "Filters", global = true)]
    pub(crate) agent: Option<String>,

    /// Project: its name, a path in it, or . for the project of this folder
    #[arg(long, value_name = "NAME|PATH", help_heading = "Filters", global = true)]
    pub(crate) project: Option<String>,

    /// Part of a model name
    #[arg(long, value_name = "NAME", help_heading = "Filters", global = true)]
    pub(crate) model: Option<String>,

    /// Branch in version control
    #[arg(long, value_name = "NAME", help_heading = "Filters", global = true)]
    pub(crate) branch: Option<String>,

    /// Task id
    #[arg(long, value_name = "ID", help_heading = "Filters", global = true)]
    pub(crate) task: Option<String>,

    /// Machine of the log
    #[arg(long, value_name = "NAME", help_heading = "Filters", global = true)]
    pub(crate) host: Option<String>,

    /// User whose log it is
    #[arg(long, value_name = "NAME", help_heading = "Filters", global = true)]
    pub(crate) user: Option<String>,

    /// What the agent was allowed to do without asking, at some time
    #[arg(long, value_name = "LEVEL", value_parser = PossibleValuesParser::new(Allowed::NAMES))]
    #[arg(help_heading = "Filters", global = true)]
    pub(crate) allowed: Option<String>,
}

impl Filters {
    /// The time zone.
    pub(crate) fn zone(&self) -> TimeZone {
        self.timezone.clone().unwrap_or_else(TimeZone::system)
    }

    /// Whether any option excludes sessions.
    pub(crate) fn is_choice(&self) -> bool {
        let Self { since, until, timezone: _, agent, project, model, branch, task, .. } = self;
        [since, until, agent, project, model, branch, task, &self.host, &self.user, &self.allowed]
            .into_iter()
            .any(Option::is_some)
    }

    /// Rejects an agent that is neither supported nor in the database.
    pub(crate) fn check_agent(
        &self,
        program: &Program,
        database: Option<&dyn Store>,
    ) -> Result<(), Error> {
        let Some(agent) = self.agent.as_deref().map(str::to_lowercase) else { return Ok(()) };
        let supported = program.registry.iter().map(|executor| executor.format().agent.to_owned());
        let mut known: BTreeSet<String> = supported.collect();
        known.extend(database.map(<dyn Store>::agents).transpose()?.unwrap_or_default());
        match known.iter().any(|known| known.to_lowercase().starts_with(&agent)) {
            true => Ok(()),
            false => {
                let known = known.into_iter().collect::<Vec<_>>().join(", ");
                Err(Error::WrongUse(format!("there is no agent {agent:?} (known: {known})")))
            }
        }
    }

    /// Rejects session filters for a command without them; `why` is the reason.
    pub(crate) fn refuse_choice(&self, why: &str) -> Result<(), Error> {
        let given = [
            ("--agent", &self.agent),
            ("--project", &self.project),
            ("--model", &self.model),
            ("--branch", &self.branch),
            ("--task", &self.task),
            ("--host", &self.host),
            ("--user", &self.user),
            ("--allowed", &self.allowed),
        ];
        refuse(&given, why)
    }

    /// Rejects all options except the time zone.
    pub(crate) fn refuse(&self, why: &str) -> Result<(), Error> {
        refuse(&[("--since", &self.since), ("--until", &self.until)], why)?;
        self.refuse_choice(why)
    }

    /// The filter of sessions and of the time.
    pub(crate) fn chosen(&self) -> Result<SessionFilter, Error> {
        let period = when::period(self.since.as_deref(), self.until.as_deref(), &self.zone())?;
        let Self { agent, project, model, branch, task, host, user, allowed, .. } = self.clone();
        Ok(SessionFilter {
            agent,
            project: project.as_deref().map(project::named),
            model,
            branch,
            task,
            host,
            user,
            allowed: allowed.and_then(|allowed| allowed.parse().ok()),
            period,
            grouping: Grouping::Trees,
            ..SessionFilter::default()
        })
    }
}

fn refuse(given: &[(&str, &Option<String>)], why: &str) -> Result<(), Error> {
    match given.iter().find(|(_, value)| value.is_some()) {
        Some((option, _)) => Err(Error::WrongUse(format!("{option} chooses sessions: {why}"))),
        None => Ok(()),
    }
}
