//! The command line.

use clap::{Parser, Subcommand};

#[cfg(feature = "mcp")]
use super::mcp::McpArgs;
use super::terminal::Terminal;
#[cfg(feature = "otlp")]
use super::verbs::push::PushArgs;
use super::verbs::{
    allowed::AllowedArgs,
    audit_key::AuditKeyArgs,
    blocks::BlocksArgs,
    check::CheckArgs,
    commands::CommandsArgs,
    compare::CompareArgs,
    diff::DiffArgs,
    doctor::DoctorArgs,
    errors::ErrorsArgs,
    export::ExportArgs,
    files::FilesArgs,
    forget::ForgetArgs,
    ingest::IngestArgs,
    keep::KeepArgs,
    pick::PickArgs,
    prompts::PromptsArgs,
    prune::PruneArgs,
    query::QueryArgs,
    replay::ReplayArgs,
    report::ReportArgs,
    resume::ResumeArgs,
    run::RunArgs,
    search::SearchArgs,
    sessions::SessionsArgs,
    shell::{CompletionsArgs, ManArgs},
    show::ShowArgs,
    statusline::StatuslineArgs,
    task::TaskArgs,
    tools::ToolsArgs,
    usage::UsageArgs,
    verify::VerifyArgs,
};
#[cfg(feature = "serve")]
use super::{serve::ServeArgs, verbs::schema::SchemaArgs};

/// Show, search, total, convert and follow the sessions of coding agents, from their logs
///
/// Without a command, `foldline` shows what runs and what was done today.
#[derive(Debug, Parser)]
#[command(name = "foldline", version = version())]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Option<Command>,

    #[command(flatten)]
    pub(super) terminal: Terminal,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show what runs and waits, what today and this week used, and the last sessions
    Today,
    /// List sessions, latest first
    Sessions(SessionsArgs),
    /// Choose a session from a list on the whole screen, to show, resume or export it
    ///
    /// What is typed filters the list by words of the title, the project, the agent and the id. F1 lists the keys.
    Pick(PickArgs),
    /// Total tokens and costs by day, model, project and other keys
    Usage(UsageArgs),
    /// Show the limits of the account that are stated, and list five-hour windows with their use
    Blocks(BlocksArgs),
    /// Print the costs of the session, the day and the window on one line
    ///
    /// For the status line of Claude Code, which passes a JSON object on standard input. Limits in it are shown instead
    /// of the window, and kept for `foldline blocks`.
    Statusline(StatuslineArgs),
    /// Print a session as a transcript, to read in the terminal
    Show(ShowArgs),
    /// Resume a session with the command of its agent, in its folder
    ///
    /// The session of a sub-agent is the one that called it.
    Resume(ResumeArgs),
    /// Write a session or a task as a text for a pull request
    Report(ReportArgs),
    /// Print the changes that a session made to files, as a unified diff
    ///
    /// Only changes by calls that succeeded, also of sub-agents; those of a file follow each other. Where the log does
    /// not state the line numbers of the file, they are those of the excerpt in the log.
    Diff(DiffArgs),
    /// List what a person wrote, over all sessions, latest first
    Prompts(PromptsArgs),
    /// Search the entries of all sessions
    Search(SearchArgs),
    /// List touched files, or the sessions that touched a file
    Files(FilesArgs),
    /// List tools with their calls, failures and durations
    Tools(ToolsArgs),
    /// List the programs that agents ran, or each command
    ///
    /// The program of a command line is the first that does more than change the folder or a variable.
    Commands(CommandsArgs),
    /// List failed calls and reported errors, latest first
    Errors(ErrorsArgs),
    /// List what agents were allowed to do without asking, and since when
    ///
    /// With a level, the sessions that were allowed it. Each has its own words for the levels: they are the modes.
    Allowed(AllowedArgs),
    /// Compare two sessions: their models, calls, costs and changed files
    Compare(CompareArgs),
    /// List, show and set tasks, which group sessions
    Task(TaskArgs),
    /// Query the database in SQL
    Query(QueryArgs),

    /// Run an agent and print its session while it works
    Run(RunArgs),
    /// Read a log from its beginning, at any speed, and convert it for other programs
    Replay(ReplayArgs),
    /// Export a session as an HTML, Markdown or JSON document, to share or archive
    Export(ExportArgs),
    /// Read logs into a database; later runs add only new content
    Ingest(IngestArgs),
    /// Delete the entries of old sessions
    Prune(PruneArgs),
    /// Remove sessions for good: they do not come back when their logs are read again
    Forget(ForgetArgs),
    /// Keep a copy of each log beside the database, for the time after the agent deletes it
    Keep(KeepArgs),

    /// Send logs to a server on another machine, which started with foldline serve --receive
    ///
    /// Only what the server does not have is sent, so that it can be stopped and run again at any time. A log that was
    /// rewritten replaces the earlier one. The server reads the logs as if they were its own, with the machine and the
    /// user as their origin.
    #[cfg(feature = "otlp")]
    Push(PushArgs),
    /// Serve sessions to the browser while they grow
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    /// Print the types of documents, patches and the list of sessions, as a JSON Schema or for TypeScript
    #[cfg(feature = "serve")]
    Schema(SchemaArgs),
    /// Answer agents about past sessions, by the Model Context Protocol
    ///
    /// The agent starts it and asks it over standard input and output: --print-config shows how to add it to Claude Code,
    /// Codex, Cursor or Gemini CLI. It only reads. Questions are about the project that the agent works in, unless it
    /// asks about all projects.
    #[cfg(feature = "mcp")]
    Mcp(McpArgs),
    /// Say that this build does not answer agents
    #[cfg(not(feature = "mcp"))]
    #[command(hide = true, disable_help_flag = true)]
    Mcp(AnyArgs),

    /// List the folders of agents with logs
    Homes,
    /// Report the format of each log and its unknown parts
    Doctor(DoctorArgs),

    /// Verify an audit trail, and compare logs with it
    Verify(VerifyArgs),
    /// Check the integrity of a database, or repair it
    Check(CheckArgs),
    /// Create a key pair to sign and verify audit trails
    AuditKey(AuditKeyArgs),

    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual, or write its pages
    Man(ManArgs),
}

impl Command {
    /// Whether it answers with rows.
    pub(super) fn has_rows(&self) -> bool {
        matches!(
            self,
            Self::Sessions(_)
                | Self::Usage(_)
                | Self::Blocks(_)
                | Self::Prompts(_)
                | Self::Search(_)
                | Self::Files(_)
                | Self::Tools(_)
                | Self::Commands(_)
                | Self::Errors(_)
                | Self::Allowed(_)
                | Self::Compare(_)
        ) || matches!(self, Self::Query(query) if query.has_rows())
    }
}

/// Any arguments of a command that this build does not have.
#[cfg(not(feature = "mcp"))]
#[derive(Debug, clap::Args)]
pub(super) struct AnyArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    any: Vec<std::ffi::OsString>,
}

/// The version, the commit that a release was built from, and what it was built for.
pub fn version() -> String {
    let build = option_env!("FOLDLINE_COMMIT").unwrap_or("development build");
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("{} ({build}, {os} {arch})", env!("CARGO_PKG_VERSION"))
}
