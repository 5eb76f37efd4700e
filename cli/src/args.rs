//! The command line.

use clap::{Parser, Subcommand};

#[cfg(feature = "serve")]
use super::serve::ServeArgs;
use super::verbs::{
    audit_key::AuditKeyArgs,
    blocks::BlocksArgs,
    check::CheckArgs,
    doctor::DoctorArgs,
    errors::ErrorsArgs,
    export::ExportArgs,
    files::FilesArgs,
    ingest::IngestArgs,
    prune::PruneArgs,
    query::QueryArgs,
    replay::ReplayArgs,
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

/// Reads the logs of coding agents: shows, searches, adds up, converts and follows their sessions.
///
/// Run without arguments, `foldline` lists the agent logs that it finds on this machine.
#[derive(Debug, Parser)]
#[command(name = "foldline", version = version())]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Lists sessions, the latest first
    Sessions(SessionsArgs),
    /// Adds up tokens and their cost, by day, model, project and so on
    Usage(UsageArgs),
    /// Lists the five-hour windows of Claude Code's limits, with the tokens and the cost of each
    Blocks(BlocksArgs),
    /// Prints one line for a prompt or a status line: the cost of the session, of today, of the block
    ///
    /// It reads from standard input what Claude Code gives to the command of its status line. To be as quick as a
    /// prompt, it reads only logs of Claude Code that were changed today or in the last five hours; a block that
    /// older logs show may have begun earlier than the line says. `foldline blocks` reads everything.
    Statusline(StatuslineArgs),
    /// Shows a session in the terminal, as a transcript to read
    Show(ShowArgs),
    /// Finds entries by their words
    Search(SearchArgs),
    /// Lists files, or the sessions that touched a file
    Files(FilesArgs),
    /// Lists tools: how often they were called, failed, and how long they took
    Tools(ToolsArgs),
    /// Lists calls that failed and errors that were reported, the latest first
    Errors(ErrorsArgs),
    /// Lists and shows tasks: sessions that belong together
    Task(TaskArgs),
    /// Asks the database in SQL
    Query(QueryArgs),

    /// Runs an agent and shows its session while it works
    Run(RunArgs),
    /// Reads a log again from its beginning, at any speed, and converts it for other programs
    Replay(ReplayArgs),
    /// Exports a session as an HTML, Markdown or JSON file, to send or to keep
    Export(ExportArgs),
    /// Reads files and folders of logs into a database; a later run adds only what is new
    Ingest(IngestArgs),
    /// Removes the entries of old sessions
    Prune(PruneArgs),

    /// Shows sessions in the browser, while they grow
    #[cfg(feature = "serve")]
    Serve(ServeArgs),

    /// Reports the format of each log, and what was not understood
    Doctor(DoctorArgs),

    /// Checks an audit trail, and the logs that it was made from
    Verify(VerifyArgs),
    /// Checks whether a database is sound, and repairs it with --repair
    Check(CheckArgs),
    /// Creates a pair of keys to sign and verify an audit trail
    AuditKey(AuditKeyArgs),

    /// Prints a completion script for a shell
    Completions(CompletionsArgs),
    /// Prints the manual, or writes its pages
    Man(ManArgs),
}

/// The version, the commit that a release was built from, and what it was built for.
pub fn version() -> String {
    let build = option_env!("FOLDLINE_COMMIT").unwrap_or("development build");
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("{} ({build}, {os} {arch})", env!("CARGO_PKG_VERSION"))
}
