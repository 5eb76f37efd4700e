//! `foldline statusline`: one line about costs.

use std::io::{self, IsTerminal, Read, Write};

use clap::Args;
use foldline_database::{
    query::SessionFilter,
    usage::{PricedMessage, RootSession, UsageSum},
};
use foldline_domain::pricing::{Cost, CostBasis};
use foldline_render::terminal::neutralise_line;
use jiff::{Timestamp, tz::TimeZone};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    blocks::{AGENT, blocks},
    usage::Used,
};
use crate::{
    answer::{DatabaseArgs, PricesArgs, when},
    error::Error,
    program::Program,
};

/// The options of `foldline statusline`.
#[derive(Debug, Args)]
pub(crate) struct StatuslineArgs {
    /// Time zone of the day, such as Europe/Paris or UTC [default: the system's]
    #[arg(long, value_name = "NAME", value_parser = when::zone)]
    timezone: Option<TimeZone>,

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
}

/// The largest number of bytes read from standard input.
const LONGEST: u64 = 1 << 20;

/// `foldline statusline`.
pub(crate) fn run(program: &Program, args: &StatuslineArgs) -> Result<u8, Error> {
    let hook = Hook::read();
    let prices = args.prices.load()?;
    let zone = args.timezone.clone().unwrap_or_else(TimeZone::system);
    let now = Timestamp::now().as_millisecond();
    let today = when::parse("today", &zone)?.start;
    let database = args.database.open(program)?;
    let filter = SessionFilter { agent: Some(AGENT.to_owned()), ..SessionFilter::default() };
    let sessions = database.usage(&filter)?;
    let used = Used::new(&sessions, &filter, &prices);
    let line = line(&hook, &used, today, now);
    writeln!(io::stdout(), "{}", neutralise_line(&line)).map_err(Error::Output)?;
    used.report();
    Ok(database.exit_code())
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
}

fn line(hook: &Hook, used: &Used<'_>, today: i64, now: i64) -> String {
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
