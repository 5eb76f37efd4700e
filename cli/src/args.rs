//! The command line.

use clap::{Parser, Subcommand};

#[cfg(feature = "serve")]
use super::serve::ServeArgs;
use super::{
    options::EXIT_CODES,
    verbs::{
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
    },
};

/// Reads the logs of coding agents: shows, searches, adds up, converts and follows their sessions. Alone, it says
/// which logs there are.
#[derive(Debug, Parser)]
#[command(name = "foldline", version = version(), after_help = EXIT_CODES)]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Lists sessions, the latest first
    Sessions(SessionsArgs),
    /// Adds up tokens and what they cost, by day, model, project and so on
    Usage(UsageArgs),
    /// Lists the five-hour windows of Claude Code's limits, with what was used in each
    Blocks(BlocksArgs),
    /// Prints one line for a prompt or a status line: the cost of the session, of today, of the block
    ///
    /// On standard input it takes what Claude Code gives to the command of its status line. So that it takes no longer
    /// than a prompt may, only those logs of Claude Code are read that were changed today or in the last five hours.
    /// Use that only older files state is left out: by it the block may have begun earlier than the line says.
    /// `foldline blocks` reads everything.
    Statusline(StatuslineArgs),
    /// Shows a session
    Show(ShowArgs),
    /// Finds entries by their words
    Search(SearchArgs),
    /// Lists files, or the sessions that touched a file
    Files(FilesArgs),
    /// Lists tools: how often they were called, failed, and how long they took
    Tools(ToolsArgs),
    /// Lists calls that failed and errors that were reported, the latest first
    Errors(ErrorsArgs),
    /// Sessions that belong together
    Task(TaskArgs),
    /// Asks the database in SQL
    Query(QueryArgs),

    /// Runs an agent and shows its session while it works
    Run(RunArgs),
    /// Reads a log from its beginning and shows the session, or converts it
    Replay(ReplayArgs),
    /// Makes a document of a session: a page, Markdown, or JSON
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
    /// Checks whether a database is sound, and makes anew what can be
    Check(CheckArgs),
    /// Makes a pair of keys to sign an audit trail and to check it
    AuditKey(AuditKeyArgs),

    /// Prints a script by which a shell completes arguments
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
