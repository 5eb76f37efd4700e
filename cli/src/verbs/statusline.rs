//! `foldline statusline`: one line about costs and limits.

use std::{
    io::{self, IsTerminal, Read, Write},
    path::Path,
    time::Duration,
};

use clap::Args;
use foldline_database::{
    query::SessionFilter,
    sqlite::{Database, SqliteError},
    usage::{PricedMessage, RootSession, UsageSum},
};
use foldline_domain::{
    Limit, Timestamp as Moment,
    pricing::{Cost, CostBasis},
};
use foldline_render::terminal::neutralise_line;
use jiff::{Timestamp, tz::TimeZone};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tracing::debug;

use super::{
    blocks::{AGENT, blocks},
    limits,
    usage::Used,
};
use crate::{
    answer::{DatabaseArgs, PricesArgs, when},
    error::Error,
    program::Program,
    recipe,
};

/// The options of `foldline statusline`.
#[derive(Debug, Args)]
pub(crate) struct StatuslineArgs {
    /// Time zone of the day, such as Europe/Paris or UTC [default: the system's]
    #[arg(long, value_name = "NAME", value_parser = when::zone)]
    timezone: Option<TimeZone>,

    /// Print what to paste into the settings of Claude Code, and end
    #[arg(long, conflicts_with_all = ["logs", "prices", "no_refresh"])]
    print_config: bool,

    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    prices: PricesArgs,
}

/// The used part of the JSON that Claude Code writes to the standard input of its status line command.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Hook {
    session_id: Option<String>,
    model: Map<String, Value>,
    cost: Map<String, Value>,
    rate_limits: Value,
}

/// The largest number of bytes read from standard input.
const LONGEST: u64 = 1 << 20;

/// The most limits that are stored; Claude Code states three.
const MOST_LIMITS: usize = 16;

/// The longest name of a limit in bytes. A longer one is not a name.
const LONGEST_NAME: usize = 100;

/// The time that storing limits waits for other writers of the database. The next line states them again.
const WAIT: Duration = Duration::from_millis(50);

/// `foldline statusline`.
pub(crate) fn run(program: &Program, args: &StatuslineArgs) -> Result<u8, Error> {
    if args.print_config {
        return print_config(args);
    }
    let hook = Hook::read();
    let prices = args.prices.load()?;
    let zone = args.timezone.clone().unwrap_or_else(TimeZone::system);
    let now = Timestamp::now().as_millisecond();
    let today = when::parse("today", &zone)?.start;
    let database = args.database.open(program)?;
    let filter = SessionFilter { agent: Some(AGENT.to_owned()), ..SessionFilter::default() };
    let sessions = database.usage(&filter)?;
    let used = Used::new(&sessions, &filter, &prices);
    let known = database.limits(AGENT)?;
    let stated = newest(hook.limits(now), &known);
    let has_news = stated.iter().any(|limit| limit.is_news(&known));
    let shown = if stated.is_empty() { known } else { stated.clone() };
    let line = line(&hook, &used, &limits::current(shown, now), today, now);
    writeln!(io::stdout(), "{}", neutralise_line(&line)).map_err(Error::Output)?;
    used.report();
    let exit_code = database.exit_code();
    drop(database);
    // It is stored when the database is not in use, and sound.
    if let Some(path) = args.database.kept().filter(|_| has_news)
        && let Err(error) = store(&path, &stated)
    {
        debug!(%error, "the limits are not stored");
    }
    Ok(exit_code)
}

/// Prints the settings of Claude Code with a status line of the same options.
fn print_config(args: &StatuslineArgs) -> Result<u8, Error> {
    let mut arguments = vec!["statusline".to_owned()];
    let zone = args.timezone.as_ref().and_then(TimeZone::iana_name);
    arguments.extend(zone.into_iter().flat_map(|zone| ["--timezone".to_owned(), zone.to_owned()]));
    arguments.extend(recipe::database(args.database.named())?);
    let command = recipe::command_line(&recipe::this_program()?, &arguments);
    let settings = json!({ "statusLine": { "type": "command", "command": command } });
    recipe::print(&format!("{settings:#}\n"), "add this to ~/.claude/settings.json")
}

impl Hook {
    /// Reads standard input, unless it is a terminal. Any input other than such an object is ignored.
    fn read() -> Self {
        let mut text = Vec::new();
        if io::stdin().is_terminal() || io::stdin().take(LONGEST).read_to_end(&mut text).is_err() {
            return Self::default();
        }
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// The limits of the account that it states.
    fn limits(&self, now: i64) -> Vec<Limit> {
        let windows = self.rate_limits.as_object().into_iter().flatten();
        let windows = windows.filter(|(name, _)| name.len() <= LONGEST_NAME);
        let limits = windows.filter_map(|(name, window)| {
            let end = window.get("resets_at").and_then(Value::as_f64);
            Some(Limit {
                name: name.as_str().into(),
                used_percent: window.get("used_percentage")?.as_f64()?,
                window_minutes: Limit::minutes_of(name),
                resets_at: end.map(|seconds| Moment::from_millis((seconds * 1000.0) as i64)),
                at: Some(Moment::from_millis(now)),
            })
        });
        limits.take(MOST_LIMITS).collect()
    }
}

/// The limits with what other sessions stated about the same windows. A session that is idle repeats what it was told at
/// its last request; use only grows until the window ends.
fn newest(mut stated: Vec<Limit>, known: &[Limit]) -> Vec<Limit> {
    for limit in &mut stated {
        let is_same =
            |known: &&Limit| known.name == limit.name && known.resets_at == limit.resets_at;
        let known = known.iter().filter(|_| limit.resets_at.is_some()).find(is_same);
        if let Some(known) = known.filter(|known| known.used_percent > limit.used_percent) {
            limit.clone_from(known);
        }
    }
    stated
}

fn store(path: &Path, limits: &[Limit]) -> Result<(), SqliteError> {
    let mut database = Database::open_sound(path, WAIT)?;
    database.set_limits(AGENT, limits)?;
    database.close()
}

fn line(hook: &Hook, used: &Used<'_>, limits: &[Limit], today: i64, now: i64) -> String {
    let mut parts = Vec::new();
    let name = hook.model.get("display_name").and_then(Value::as_str);
    parts.extend(name.map(str::to_owned));
    let logged = hook.cost.get("total_cost_usd").and_then(Value::as_f64);
    let session = match (logged, &hook.session_id) {
        (Some(usd), _) => Some(Cost { usd, basis: CostBasis::Logged }),
        (None, Some(id)) => cost_of(used, |row| row.root == RootSession::Named(id)),
        (None, None) => None,
    };
    parts.extend(session.map(|cost| format!("session {}", dollars(cost))));
    let is_of_today =
        |row: &PricedMessage<'_>| row.message.of.at.is_some_and(|at| at.as_millis() >= today);
    match cost_of(used, is_of_today) {
        Some(cost) => parts.push(format!("today {}", dollars(cost))),
        None => parts.push("today $0.00".to_owned()),
    }
    parts.extend(limits.iter().map(limits::short));
    // The limits tell more than the estimate.
    if !limits.is_empty() {
        return parts.join(" · ");
    }
    if let Some(block) = blocks(used).last().filter(|block| block.is_active(now)) {
        let minutes = block.end().saturating_sub(now) / 60_000;
        let cost = block.sum.cost.map_or_else(|| "$?".to_owned(), dollars);
        parts.push(format!("block {cost}, {}h {:02}m left", minutes / 60, minutes % 60));
    }
    parts.join(" · ")
}

fn cost_of<'s>(used: &Used<'s>, is_asked_for: impl Fn(&PricedMessage<'s>) -> bool) -> Option<Cost> {
    used.rows.iter().filter(|row| is_asked_for(row)).collect::<UsageSum<'_>>().cost
}

fn dollars(cost: Cost) -> String {
    let about = if cost.basis == CostBasis::Logged { "" } else { "≈" };
    format!("{about}${:.2}", cost.usd)
}
