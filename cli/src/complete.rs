//! Completion in a shell: of verbs and options, which the command line knows, and of sessions, projects, models, agents
//! and tasks, which the database knows.
//!
//! The script of `foldline completions SHELL` asks the program itself at each key, by the variable `FOLDLINE_COMPLETE`.

use std::{collections::BTreeSet, ffi::OsString, time::Duration};

use clap::Command;
use clap_complete::{
    CompleteEnv,
    engine::{ArgValueCandidates, CompletionCandidate},
};
use foldline_agents::DynExecutor;
use foldline_database::query::{Grouping, SessionFilter, SessionOrder, SessionRow};
use foldline_render::terminal::neutralise_line;

use crate::{error::Error, homes::DatabaseOption, program::Program, table::clip};

/// The longest time for a database that is being written.
const WAIT: Duration = Duration::from_millis(200);

/// The largest number of sessions that are looked at, the latest.
const SESSIONS: usize = 1000;

/// The variable that names the shell which asks.
pub(crate) const VARIABLE: &str = "FOLDLINE_COMPLETE";

/// The columns of a title beside an id.
const TITLE: usize = 60;

/// Prints the completions, if a shell asks for them. Returns whether it did.
pub(crate) fn answer(program: &Program, arguments: &[OsString]) -> bool {
    let asked = CompleteEnv::with_factory(|| with_values(program, program.command()))
        .var(VARIABLE)
        .bin("foldline");
    asked.try_complete(arguments, std::env::current_dir().ok().as_deref()).unwrap_or(true)
}

/// The command line, whose arguments have the values of the database.
fn with_values(program: &Program, command: Command) -> Command {
    let agents = program.registry.iter().map(DynExecutor::format);
    let agents: BTreeSet<String> = agents.map(|format| format.agent.to_owned()).collect();
    fn walk(command: Command, agents: &BTreeSet<String>) -> Command {
        let command = command.mut_args(|argument| match argument.get_id().as_str() {
            "session" | "sessions" | "a" | "b" | "about" => {
                argument.add(ArgValueCandidates::new(sessions))
            }
            "project" => argument.add(ArgValueCandidates::new(|| names(|row| row.project.clone()))),
            "model" => argument.add(ArgValueCandidates::new(|| names(|row| row.model.clone()))),
            "task" => argument.add(ArgValueCandidates::new(|| names(|row| row.task.clone()))),
            "agent" => {
                let agents = agents.clone();
                let candidates = move || agents.iter().map(CompletionCandidate::new).collect();
                argument.add(ArgValueCandidates::new(candidates))
            }
            _ => argument,
        });
        command.mut_subcommands(|verb| walk(verb, agents))
    }
    walk(command, &agents)
}

/// The ids of sessions with their titles. A shell that cannot be answered gets nothing.
fn sessions() -> Vec<CompletionCandidate> {
    let latest = || CompletionCandidate::new("latest").help(Some("the latest session".into()));
    let rows = rows().unwrap_or_default();
    let named = rows.iter().filter_map(|row| {
        let title = row.title.as_deref().unwrap_or_default();
        let title = neutralise_line(title);
        let candidate = CompletionCandidate::new(row.session.as_ref()?);
        Some(candidate.help(Some(clip(&title, TITLE).into_owned().into())))
    });
    std::iter::once(latest()).chain(named).collect()
}

/// The different values of a column.
fn names(of: impl Fn(&SessionRow) -> Option<String>) -> Vec<CompletionCandidate> {
    let names: BTreeSet<String> = rows().unwrap_or_default().iter().filter_map(of).collect();
    names.into_iter().map(CompletionCandidate::new).collect()
}

/// The latest sessions of the default database, as it is.
fn rows() -> Result<Vec<SessionRow>, Error> {
    let database = DatabaseOption::default().place()?.open(WAIT)?;
    let filter = SessionFilter {
        limit: Some(SESSIONS),
        grouping: Grouping::Trees,
        is_listed: true,
        ..SessionFilter::default()
    };
    Ok(database.sessions(&filter, SessionOrder::Latest)?)
}
