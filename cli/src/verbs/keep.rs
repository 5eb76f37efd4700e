//! `foldline keep`: keeps the raw logs too.

use std::{
    fs,
    io::{self, Write},
    path::Path,
    time::Duration,
};

use clap::{Args, ValueEnum};
use foldline_agents::Registry;
use foldline_database::sqlite::{Database, KeptTotals, SqliteError};
use foldline_render::human::number_of;
use serde_json::Value;

use crate::{
    distinct::DistinctFiles,
    error::Error,
    exit,
    homes::{DatabaseOption, existing, tilde},
    kept::KeptLogs,
    options::sentence_width,
    program::Program,
    verbs::ingest,
    wrap::wrap_lines,
};

/// The days after which Claude Code deletes logs, unless its settings state others.
const CLAUDE_DAYS: u64 = 30;

const NOTE: &str = "\
The copies are compressed files in the folder DATABASE.logs. `foldline ingest DATABASE.logs --db NEW` reads them into a \
new database.";

/// The options of `foldline keep`.
#[derive(Debug, Args)]
#[command(after_help = NOTE)]
pub(crate) struct KeepArgs {
    /// Whether each update of the database keeps a copy of new logs
    #[arg(value_enum, value_name = "on|off|status", default_value_t)]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    action: Action,

    #[command(flatten)]
    database: DatabaseOption,

    /// Seconds to wait while another program writes to the database
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    wait: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Action {
    On,
    Off,
    #[default]
    Status,
}

pub(crate) fn run(program: &Program, args: &KeepArgs) -> Result<u8, Error> {
    let db = args.database.path()?;
    DistinctFiles::of_database(&db)?;
    let mut code = exit::SUCCESS;
    if args.action == Action::On && args.database.is_default() {
        code = ingest::refresh(program, &db)?;
    }
    let wait = Duration::from_secs(args.wait.into());
    let kept = KeptLogs::of(&db);
    let (is_on, totals) = match args.action {
        Action::Status if args.database.is_default() && !db.exists() => Default::default(),
        // Opening for writing would create a missing database.
        _ if !db.exists() => return Err(SqliteError::Missing(db).into()),
        Action::Status => {
            let database = Database::open_read_only(&db, wait)?;
            let status = (database.keeps_logs()?, database.kept_totals()?);
            database.confirm()?;
            status
        }
        Action::On | Action::Off => {
            let mut database = Database::open_sound(&db, wait)?;
            database.set_keeps_logs(args.action == Action::On)?;
            let updated = kept.update(program, &mut database);
            let status = (database.keeps_logs()?, database.kept_totals()?);
            database.close()?;
            updated?;
            status
        }
    };
    let status = wrap_lines(&status(program, &kept, is_on, totals), sentence_width());
    io::stdout().write_all(status.as_bytes()).map_err(Error::Output)?;
    Ok(code)
}

fn status(program: &Program, kept: &KeptLogs, is_on: bool, totals: KeptTotals) -> String {
    let KeptTotals { logs, size, stored_size } = totals;
    let mut status = match is_on {
        true => "on: each update of the database keeps a copy of new logs\n".to_owned(),
        false => "off: `foldline keep on` keeps copies of new logs\n".to_owned(),
    };
    status += &format!("kept: {}", number_of(logs, "log"));
    if logs > 0 {
        status += &format!(
            " ({}, compressed to {}) in {}",
            number_of(size, "byte"),
            number_of(stored_size, "byte"),
            tilde(kept.folder())
        );
    }
    status.push('\n');
    if let Some(days) = claude_days(&program.registry) {
        let days = number_of(days, "day");
        let then = if is_on { "the copies stay" } else { "new ones have no copies" };
        status += &format!(
            "Claude Code deletes its logs after {days} (cleanupPeriodDays in its settings); {then}\n"
        );
    }
    status + "not kept: the databases of agents, such as that of opencode\n"
}

/// The days after which Claude Code deletes its logs, if it has any.
pub(super) fn claude_days(registry: &Registry) -> Option<u64> {
    let homes = existing(registry).into_iter();
    let home = homes.into_iter().find(|home| home.format.name == "claude-session")?;
    let settings = home.folder.parent().unwrap_or(Path::new(".")).join("settings.json");
    let settings = fs::read_to_string(settings).ok();
    let settings = settings.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    Some(settings.and_then(|all| all.get("cleanupPeriodDays")?.as_u64()).unwrap_or(CLAUDE_DAYS))
}
