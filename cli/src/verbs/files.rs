//! `foldline files`: lists touched files, and the sessions that touched a file.

use clap::Args;

use crate::{
    answer::{AskArgs, Asked, Kind, Listing, answer},
    error::Error,
    program::Program,
};

/// The options of `foldline files`.
#[derive(Debug, Args)]
pub(crate) struct FilesArgs {
    /// File or folder, or the last parts of its path: lists the sessions that touched it
    path: Option<String>,

    /// Only changed files
    #[arg(long)]
    changed: bool,

    #[command(flatten)]
    ask: AskArgs,
}

/// `foldline files`.
pub(crate) fn run(program: &Program, args: &FilesArgs) -> Result<u8, Error> {
    answer(program, &args.ask, |asked| match &args.path {
        Some(path) => sessions_of(asked, path, args.changed),
        None => files(asked, args.changed),
    })
}

/// The files, the latest touched first.
fn files(asked: &Asked<'_>, changed: bool) -> Result<Listing, Error> {
    let files = asked.database.files(&asked.filter, changed)?;
    Ok(Listing::of("path project changes calls sessions at", &files)
        .with_kind(Kind::Minute, &["at"])
        .dropping("project sessions calls at changes"))
}

/// The sessions that touched a file, or any file in a folder, the latest first.
fn sessions_of(asked: &Asked<'_>, path: &str, changed: bool) -> Result<Listing, Error> {
    let found = asked.database.sessions_of_file(path, &asked.filter, changed)?;
    let found = Listing::of("at session session_id title path project changes calls", &found)
        .with_kind(Kind::Minute, &["at"]);
    Ok(found.without_in_tables("session").dropping("project calls at changes title"))
}
