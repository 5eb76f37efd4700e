//! Which files were touched, and by which sessions.

use clap::Args;

use super::sessions::{is_chosen, title};
use crate::answer::{
    AskArgs, Asked, answer,
    filters::quoted,
    listing::{Kind, Listing, Value},
};
use crate::{error::Error, options::EXIT_CODES, program::Program};

/// The options of `foldline files`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct FilesArgs {
    /// A file or a folder, or the last parts of its path: which sessions touched it, and how
    path: Option<String>,

    /// Only files that were changed
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

/// The whole path of a file, where the log states it below the session's folder.
const WHOLE: &str =
    "iif(substr(path, 1, 1) = '/' OR cwd IS NULL, path, rtrim(cwd, '/') || '/' || path)";

const CALLS: &str = "FROM tool_paths JOIN entries ON entries.id = tool_paths.entry
         JOIN sessions ON sessions.id = entries.session";

fn condition(asked: &Asked<'_>, changed: bool) -> String {
    let is_change = if changed { "change <> 'read'" } else { "true" };
    format!("{is_change} AND {} AND {}", asked.within("timestamp"), is_chosen(asked))
}

/// The files, the latest touched first.
fn files(asked: &Asked<'_>, changed: bool) -> Result<Listing, Error> {
    let columns = [
        ("path", Kind::Path),
        ("changes", Kind::Id),
        ("calls", Kind::Number),
        ("sessions", Kind::Number),
        ("at", Kind::Minute),
    ];
    let sql = format!(
        "SELECT path, group_concat(DISTINCT change), count(DISTINCT tool_paths.entry),
                count(DISTINCT sessions.id), max(timestamp)
         {CALLS} WHERE {} GROUP BY path ORDER BY max(timestamp) DESC, path LIMIT ?1",
        condition(asked, changed)
    );
    Listing::select(asked.database.connection(), &columns, &sql, [asked.rows()])
        .map_err(|error| asked.failed(&error))
}

/// The sessions that touched a file or something in a folder, the latest first.
fn sessions_of(asked: &Asked<'_>, path: &str, changed: bool) -> Result<Listing, Error> {
    let columns = [
        ("at", Kind::Minute),
        ("session", Kind::Number),
        ("session_id", Kind::Short),
        ("title", Kind::Text),
        ("path", Kind::Path),
        ("changes", Kind::Id),
        ("calls", Kind::Number),
    ];
    let part = path.trim_start_matches("./").trim_matches('/');
    let sql = format!(
        "SELECT max(timestamp), sessions.id, session_id, {}, path,
                group_concat(DISTINCT change), count(DISTINCT tool_paths.entry)
         {CALLS} WHERE instr('/' || {WHOLE} || '/', {}) > 0 AND {}
         GROUP BY sessions.id, path ORDER BY max(timestamp) DESC, sessions.id, path LIMIT ?1",
        title("sessions"),
        quoted(&format!("/{part}/")),
        condition(asked, changed)
    );
    let mut found = Listing::select(asked.database.connection(), &columns, &sql, [asked.rows()])
        .map_err(|error| asked.failed(&error))?;
    let titles = found.rows.iter_mut().filter_map(|row| row.get_mut(3));
    titles.for_each(Value::keep_first_line);
    Ok(found.without_in_tables(&["session"]).dropping(&["calls", "at"]))
}
