//! `foldline commands`: the commands that agents ran, by program.

use std::{cmp::Reverse, collections::BTreeMap};

use clap::Args;
use foldline_database::query::{CommandRow, SessionFilter, SessionName};
use foldline_render::text::is_unconfined;

mod destructive;
mod line;

use self::{destructive::destructive, line::Line};
use crate::{
    answer::{AskArgs, Kind, Listing, Value, answer, find},
    error::Error,
    program::Program,
};

/// The options of `foldline commands`.
#[derive(Debug, Args)]
pub(crate) struct CommandsArgs {
    /// Only of this session: latest, latest~2, an id or its first characters, a number, or a part of a title
    session: Option<String>,

    /// List each command, latest first
    #[arg(long)]
    list: bool,

    /// Only commands with the rights of another user: sudo, doas
    #[arg(long, help_heading = "Filters")]
    sudo: bool,

    /// Only commands that delete or overwrite what cannot be restored, such as rm -r or git push --force
    #[arg(long, help_heading = "Filters")]
    destructive: bool,

    /// Only commands that ran outside of the agent's sandbox, as their calls state
    #[arg(long, help_heading = "Filters")]
    unsandboxed: bool,

    #[command(flatten)]
    ask: AskArgs,
}

/// A command that the options choose.
struct Chosen {
    row: CommandRow,
    program: Option<String>,
    has_sudo: bool,
    destructive: Option<&'static str>,
    is_unsandboxed: bool,
}

impl Chosen {
    fn new(row: CommandRow) -> Self {
        let line = Line::new(&row.command);
        Self {
            program: line.program().map(str::to_owned),
            has_sudo: line.has_sudo(),
            destructive: destructive(&line),
            is_unsandboxed: is_unconfined(&row.metadata),
            row,
        }
    }
}

/// `foldline commands`.
pub(crate) fn run(program: &Program, args: &CommandsArgs) -> Result<u8, Error> {
    answer(program, &args.ask, |asked| {
        let mut filter = asked.filter.clone();
        if let Some(name) = &args.session {
            let number = find::session(&*asked.database, name, asked.filters)?;
            filter = SessionFilter { name: Some(SessionName::from(number)), ..filter };
        }
        let limit = asked.filter.limit.unwrap_or(usize::MAX);
        let (mut list, mut programs) = (Vec::new(), BTreeMap::new());
        asked.database.commands(&filter, |row| {
            let chosen = Chosen::new(row);
            let is_wanted = (!args.sudo || chosen.has_sudo)
                && (!args.destructive || chosen.destructive.is_some())
                && (!args.unsandboxed || chosen.is_unsandboxed);
            match (is_wanted, args.list) {
                (false, _) => {}
                (true, true) if list.len() >= limit => {}
                (true, true) => list.push(chosen),
                (true, false) => count(&mut programs, chosen),
            }
        })?;
        Ok(if args.list { listing(list) } else { totals(programs) })
    })
}

/// The number of commands and of failures of a program, and the latest moment.
type Totals = BTreeMap<Option<String>, (i64, i64, Option<i64>)>;

fn count(programs: &mut Totals, Chosen { row, program, .. }: Chosen) {
    let (count, failures, at) = programs.entry(program).or_default();
    *count += 1;
    *failures += i64::from(row.is_failure);
    *at = (*at).max(row.at);
}

/// The programs as rows, those with the most commands first.
fn totals(programs: Totals) -> Listing {
    let mut listing = Listing::named("program count failures at")
        .with_kind(Kind::Minute, &["at"])
        .with_keys(1)
        .dropping("at");
    let mut programs: Vec<_> = programs.into_iter().collect();
    programs.sort_by_key(|(_, (count, ..))| Reverse(*count));
    listing.rows.extend(programs.into_iter().map(|(program, (count, failures, at))| {
        let program = program.as_deref().map_or(Value::Null, Value::from);
        vec![program, Value::Integer(count), Value::Integer(failures), at.into()]
    }));
    listing
}

/// The commands as rows.
fn listing(list: Vec<Chosen>) -> Listing {
    let columns = "at session session_id project index program command status exit_code duration_ms sudo \
                   destructive unsandboxed";
    let mut listing = Listing::named(columns).dropping("project").with_kind(Kind::Minute, &["at"]);
    let text = |text: Option<&str>| text.map_or(Value::Null, Value::from);
    listing.rows.extend(list.into_iter().map(|chosen| {
        let Chosen { row, program, has_sudo, destructive, is_unsandboxed } = chosen;
        vec![
            row.at.into(),
            Value::Integer(row.session),
            text(row.session_id.as_deref()),
            text(row.project.as_deref()),
            Value::Integer(row.index),
            text(program.as_deref()),
            row.command.as_str().into(),
            row.status.as_str().into(),
            row.exit_code.into(),
            row.duration_ms.into(),
            Value::Integer(has_sudo.into()),
            text(destructive),
            Value::Integer(is_unsandboxed.into()),
        ]
    }));
    listing
        .without_in_tables(
            "session index program exit_code duration_ms sudo destructive unsandboxed",
        )
        .dropping("project session_id at status")
}
