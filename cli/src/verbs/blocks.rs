//! `foldline blocks`: the stated limits of the account, and the five-hour windows in which Claude Code counts use.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use foldline_database::usage::{UsageSum, all_tokens};
use foldline_domain::{
    TokenUsage,
    pricing::{Cost, CostBasis},
};
use foldline_render::human;
use jiff::{Timestamp, tz::TimeZone};

use super::{limits, usage::Used};
use crate::{
    answer::{AskArgs, Kind, Layout, Listing, OutputFormat, Printed, Value},
    error::Error,
    program::Program,
    say::say,
    wrap::wrap,
};

/// The agent whose use is counted in such windows.
pub(super) const AGENT: &str = "claude-code";

const HOUR: i64 = 60 * 60 * 1000;

/// The length of a window in milliseconds.
pub(super) const WINDOW: i64 = 5 * HOUR;

/// The options of `foldline blocks`.
#[derive(Debug, Args)]
pub(crate) struct BlocksArgs {
    /// Logs, or folders of logs, to ask instead of the database
    #[arg(value_name = "PATH")]
    named: Vec<PathBuf>,

    /// Only the active window
    #[arg(long)]
    active: bool,

    /// Token limit to compare with: a number, or max for the largest past window
    #[arg(long, value_name = "N|max", value_parser = TokenLimit::parse)]
    token_limit: Option<TokenLimit>,

    /// Cost limit in US dollars to compare with
    #[arg(long, value_name = "USD", value_parser = parse_dollars)]
    cost_limit: Option<f64>,

    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Clone, Copy, Debug)]
enum TokenLimit {
    Tokens(u64),
    /// The largest usage of a past window.
    Max,
}

impl TokenLimit {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "give a number of tokens greater than 0, or max".to_owned();
        match text {
            "max" => Ok(Self::Max),
            number => match number.parse() {
                Ok(tokens) if tokens > 0 => Ok(Self::Tokens(tokens)),
                _ => Err(wrong()),
            },
        }
    }
}

fn parse_dollars(text: &str) -> Result<f64, String> {
    let dollars = text.trim_start_matches('$').parse().ok();
    let dollars = dollars.filter(|dollars: &f64| dollars.is_finite() && *dollars > 0.0);
    dollars.ok_or_else(|| "give an amount of US dollars greater than 0, such as 50".to_owned())
}

/// The limits that windows are compared with.
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    tokens: Option<u64>,
    usd: Option<f64>,
}

/// A five-hour window with usage.
pub(super) struct Block<'s> {
    /// The full hour (in UTC) of the first use, in milliseconds since 1970.
    pub(super) began: i64,
    first: i64,
    last: i64,
    models: BTreeSet<&'s str>,
    pub(super) sum: UsageSum<'s>,
}

/// The burn rate.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rate {
    minutes: f64,
    tokens_per_minute: f64,
    usd_per_hour: Option<f64>,
}

/// `foldline blocks`.
pub(crate) fn run(program: &Program, args: &BlocksArgs) -> Result<u8, Error> {
    let AskArgs { database, filters, prices, print } = &args.ask;
    let prices = prices.load()?;
    let (mut filter, zone) = (filters.chosen()?, filters.zone());
    let agent = filter.agent.get_or_insert_with(|| AGENT.to_owned()).clone();
    let database = database.or_logs(&args.named).open(program)?;
    filters.check_agent(program, Some(&*database))?;
    let sessions = database.usage(&filter)?;
    let stated = database.limits(&agent)?;
    database.confirm()?;
    let used = Used::new(&sessions, &filter, &prices);
    let now = Timestamp::now().as_millisecond();
    let blocks = blocks(&used);
    let given = given_limits(&blocks, now, args);
    let stated = limits::current(stated, now);
    let active = blocks.last().filter(|block| block.is_active(now));
    let notes = active.map_or_else(Vec::new, |block| block.notes(now, given, &zone));
    let listing = listing(&blocks, now, args.active, given);
    let stated: Vec<_> = stated.iter().map(|limit| limits::sentence(limit, now, &zone)).collect();
    let is_stated = !stated.is_empty();
    print.print(program, BlocksAnswer { stated, listing, notes }, &zone)?;
    let has_limit = args.token_limit.is_some() || args.cost_limit.is_some();
    if active.is_some() && !has_limit && !is_stated && print.format == OutputFormat::Table {
        say(
            "no log states the limit; give it with --token-limit N or --cost-limit USD, or compare with \
             --token-limit max, the most that a past window used",
        );
    }
    used.report();
    Ok(database.exit_code())
}

/// The windows, the earliest first. Usage without a time is not in any window.
pub(super) fn blocks<'s>(used: &Used<'s>) -> Vec<Block<'s>> {
    let mut rows: Vec<_> =
        used.rows.iter().filter_map(|row| Some((row.message.of.at?.as_millis(), row))).collect();
    rows.sort_by_key(|(at, _)| *at);
    let mut blocks: Vec<Block<'s>> = Vec::new();
    for (at, row) in rows {
        let goes_on = blocks.last().is_some_and(|block| at < block.began.saturating_add(WINDOW));
        if !goes_on {
            let began = at.saturating_sub(at.rem_euclid(HOUR));
            let (models, sum) = (BTreeSet::new(), UsageSum::default());
            blocks.push(Block { began, first: at, last: at, models, sum });
        }
        let Some(block) = blocks.last_mut() else { continue };
        block.last = at;
        block.models.extend(row.message.of.model.as_deref());
        block.sum.add(row);
    }
    blocks
}

impl Block<'_> {
    pub(super) fn end(&self) -> i64 {
        self.began.saturating_add(WINDOW)
    }

    pub(super) fn is_active(&self, now: i64) -> bool {
        (self.began..self.end()).contains(&now)
    }

    /// The time from the first use to the last one, or to now in the active window; at least a minute.
    fn rate(&self, now: i64) -> Rate {
        let until = if self.is_active(now) { now } else { self.last };
        let minutes = (until.saturating_sub(self.first) as f64 / 60_000.0).max(1.0);
        Rate {
            minutes,
            tokens_per_minute: all_tokens(&self.sum.tokens) as f64 / minutes,
            usd_per_hour: self.sum.cost.map(|cost| cost.usd / minutes * 60.0),
        }
    }

    /// Tokens and US dollars at the end of the window, if the rate stays the same for these minutes.
    fn projection(&self, rate: Rate, left: f64) -> (f64, Option<f64>) {
        let tokens = all_tokens(&self.sum.tokens) as f64 + rate.tokens_per_minute * left;
        let cost = self.sum.cost.zip(rate.usd_per_hour);
        (tokens, cost.map(|(cost, rate)| cost.usd + rate / 60.0 * left))
    }

    /// The active window in sentences: its end, the time left, the burn rate and the projection.
    fn notes(&self, now: i64, limits: Limits, zone: &TimeZone) -> Vec<String> {
        let (rate, left) = (self.rate(now), self.end().saturating_sub(now) as f64 / 60_000.0);
        let about = match self.sum.cost {
            Some(Cost { basis: CostBasis::Logged, .. }) | None => "",
            Some(_) => "≈",
        };
        let tokens = |tokens: f64| human::count(tokens.round() as u64);
        let both = |count: String, usd: Option<f64>, per: &str| match usd {
            Some(usd) => format!("{count}, {about}${usd:.2}{per}"),
            None => count,
        };
        let (projected, usd) = self.projection(rate, left);
        let end = Value::Integer(self.end()).shown(Kind::Minute, zone);
        let left = left.ceil() as i64;
        let burn = format!("{} tokens/min", tokens(rate.tokens_per_minute));
        let minutes = rate.minutes.round();
        let mut notes = vec![
            format!("active until {end}, {} h {:02} min left", left / 60, left % 60),
            format!("burn rate: {}", both(burn, rate.usd_per_hour, "/h")),
            format!("projection: {}", both(format!("{} tokens", tokens(projected)), usd, "")),
            format!("(at the rate of the last {minutes} min)"),
        ];
        let used = all_tokens(&self.sum.tokens) as f64;
        notes.extend(limits.tokens.map(|limit| {
            let share = |tokens: f64| tokens / limit as f64 * 100.0;
            let limit = human::count(limit);
            format!(
                "of {limit} tokens: {:.0}% used, {:.0}% projected",
                share(used),
                share(projected)
            )
        }));
        notes.extend(limits.usd.zip(self.sum.cost).zip(usd).map(|((limit, cost), projected)| {
            let share = |usd: f64| usd / limit * 100.0;
            format!(
                "of ${limit:.2}: {:.0}% used, {:.0}% projected",
                share(cost.usd),
                share(projected)
            )
        }));
        notes
    }
}

const COLUMNS: &str = "state began ended models input_tokens output_tokens cache_read_tokens \
 cache_write_tokens cost_usd tokens_per_minute cost_usd_per_hour projected_tokens \
 projected_cost_usd token_limit limit_share cost_basis cost_limit_usd cost_limit_share";

/// Columns that a narrow table leaves out, in this order.
const LESS_IMPORTANT: &str = "cache_write_tokens cache_read_tokens models token_limit cost_limit_usd ended \
    cost_usd_per_hour tokens_per_minute input_tokens output_tokens state";

fn given_limits(blocks: &[Block<'_>], now: i64, args: &BlocksArgs) -> Limits {
    let past = blocks.iter().filter(|block| !block.is_active(now));
    let most = || past.map(|block| all_tokens(&block.sum.tokens)).max();
    let tokens = args.token_limit.and_then(|limit| match limit {
        TokenLimit::Tokens(tokens) => Some(tokens),
        TokenLimit::Max => most().filter(|most| *most > 0),
    });
    Limits { tokens, usd: args.cost_limit }
}

/// The stated limits in sentences, the windows as rows, and a human-readable summary of the active one.
struct BlocksAnswer {
    stated: Vec<String>,
    listing: Listing,
    notes: Vec<String>,
}

impl Printed for BlocksAnswer {
    fn into_listing(self) -> Option<Listing> {
        Some(self.listing)
    }

    fn limit(&mut self, limit: usize) -> bool {
        self.listing.limit(limit)
    }

    fn write(&self, out: &mut dyn Write, layout: Layout<'_>) -> io::Result<()> {
        let write = |notes: &[String], out: &mut dyn Write| {
            let mut notes = notes.iter().filter(|_| layout.format == OutputFormat::Table);
            notes.try_for_each(|note| writeln!(out, "{}", wrap(note, layout.width, 2)))
        };
        write(&self.stated, out)?;
        self.listing.write(out, layout)?;
        write(&self.notes, out)
    }
}

fn listing(blocks: &[Block<'_>], now: i64, only_active: bool, limits: Limits) -> Listing {
    let mut listing = Listing::named(COLUMNS);
    let asked = blocks.iter().rev().filter(|block| !only_active || block.is_active(now));
    listing.rows = asked.map(|block| row(block, now, limits)).collect();
    let mut hidden = "cost_basis".to_owned();
    if limits.tokens.is_none() {
        hidden += " token_limit limit_share";
    }
    if limits.usd.is_none() {
        hidden += " cost_limit_usd cost_limit_share";
    }
    if !blocks.iter().any(|block| block.is_active(now)) {
        hidden += " projected_tokens projected_cost_usd";
    }
    listing.without_in_tables(&hidden).dropping(LESS_IMPORTANT).keeping("limit_share cost_usd")
}

fn row(block: &Block<'_>, now: i64, limits: Limits) -> Vec<Value> {
    let Block { sum: UsageSum { tokens, cost, .. }, .. } = block;
    let TokenUsage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, .. } =
        *tokens;
    let is_active = block.is_active(now);
    let rate = block.rate(now);
    let left = block.end().saturating_sub(now) as f64 / 60_000.0;
    let total = all_tokens(tokens);
    let dollars = |dollars: Option<f64>| dollars.map_or(Value::Null, Value::Real);
    let whole = |number: f64| Value::Integer(number.round() as i64);
    let of_active = |value: Value| if is_active { value } else { Value::Null };
    let (projected, projected_cost) = block.projection(rate, left);
    let cost_share = limits.usd.zip(*cost).map(|(limit, cost)| cost.usd / limit);
    vec![
        if is_active { "active" } else { "past" }.into(),
        Value::Integer(block.began),
        Value::Integer(block.end()),
        Value::Text(block.models.iter().copied().collect::<Vec<_>>().join(", ")),
        input_tokens.into(),
        output_tokens.into(),
        cache_read_tokens.into(),
        cache_write_tokens.into(),
        dollars(cost.map(|cost| cost.usd)),
        whole(rate.tokens_per_minute),
        dollars(rate.usd_per_hour),
        of_active(whole(projected)),
        of_active(dollars(projected_cost)),
        limits.tokens.into(),
        limits.tokens.map_or(Value::Null, |limit| Value::Real(total as f64 / limit as f64)),
        cost.map_or(Value::Null, |Cost { basis, .. }| basis.as_str().into()),
        dollars(limits.usd),
        cost_share.map_or(Value::Null, Value::Real),
    ]
}

#[cfg(test)]
mod tests {
    use foldline_database::{
        query::SessionFilter,
        usage::{MessageUsage, SessionUsage, UsedFor},
    };
    use foldline_domain::{Timestamp as Moment, pricing::Prices};

    use clap::FromArgMatches;

    use super::*;

    fn millis(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    /// A session that used 1,000,000 tokens of output at each of these moments, for a dollar.
    fn session(moments: &[&str]) -> Vec<SessionUsage> {
        let messages = moments
            .iter()
            .map(|at| {
                let at = Some(Moment::from_millis(millis(at)));
                let of = UsedFor { message_id: None, model: Some("m".to_owned()), at };
                let tokens = TokenUsage {
                    output_tokens: Some(1_000_000),
                    cost_usd: Some(1.0),
                    ..TokenUsage::default()
                };
                MessageUsage::new(of, tokens)
            })
            .collect();
        vec![SessionUsage { is_chosen: true, messages, ..SessionUsage::default() }]
    }

    fn used(sessions: &[SessionUsage]) -> Used<'_> {
        Used::new(sessions, &SessionFilter::default(), Prices::builtin())
    }

    #[test]
    fn a_window_begins_at_the_full_hour_and_lasts_five() {
        let sessions = session(&[
            "2026-03-29T00:59:59.999Z",
            "2026-03-29T04:59:59.999Z",
            "2026-03-29T05:00:00Z", // the next window
            "2026-03-29T15:30:00Z",
        ]);
        let used = used(&sessions);
        let told: Vec<_> = blocks(&used)
            .iter()
            .map(|block| (block.began, all_tokens(&block.sum.tokens) / 1_000_000))
            .collect();
        let hour = |hour: i64| millis("2026-03-29T00:00:00Z") + hour * HOUR;
        assert_eq!(told, [(hour(0), 2), (hour(5), 1), (hour(15), 1)]);
    }

    #[test]
    fn the_active_window_is_projected_to_its_end() {
        let sessions = session(&["2026-01-31T10:00:00Z", "2026-01-31T10:30:00Z"]);
        let used = used(&sessions);
        let blocks = blocks(&used);
        // 2,000,000 tokens in an hour, and four hours are left.
        let now = millis("2026-01-31T11:00:00Z");
        let limits = Limits { tokens: Some(4_000_000), usd: Some(8.0) };
        let notes = blocks[0].notes(now, limits, &TimeZone::UTC);
        assert_eq!(
            notes,
            [
                "active until 2026-01-31 15:00, 4 h 00 min left",
                "burn rate: 33.3k tokens/min, $2.00/h",
                "projection: 10.0M tokens, $10.00",
                "(at the rate of the last 60 min)",
                "of 4.0M tokens: 50% used, 250% projected",
                "of $8.00: 25% used, 125% projected",
            ]
        );
        let row = row(&blocks[0], now, limits);
        assert_eq!(row[16..], [Value::Real(8.0), Value::Real(0.25)]);
        assert_eq!(row[0], Value::from("active"));
        assert_eq!(row[9], Value::Integer(33_333));
        assert_eq!(row[10], Value::Real(2.0));
        assert_eq!(row[11], Value::Integer(10_000_000));
        assert_eq!(row[12], Value::Real(10.0));
        assert_eq!(row[14], Value::Real(0.5));
        assert!(blocks[0].is_active(millis("2026-01-31T14:59:59.999Z")));
        assert!(!blocks[0].is_active(millis("2026-01-31T15:00:00Z")));
    }

    #[test]
    fn the_limit_is_a_number_or_the_most_of_the_past() {
        let sessions =
            session(&["2026-01-31T10:00:00Z", "2026-01-31T10:30:00Z", "2026-01-31T20:00:00Z"]);
        let used = used(&sessions);
        let now = millis("2026-01-31T21:00:00Z");
        let args = ["blocks", "--token-limit", "max"];
        let args = BlocksArgs::augment_args(clap::Command::new("blocks")).get_matches_from(args);
        let args = BlocksArgs::from_arg_matches(&args).unwrap();
        let blocks = blocks(&used);
        let listing = listing(&blocks, now, true, given_limits(&blocks, now, &args));
        assert_eq!(listing.rows.len(), 1);
        assert_eq!(listing.rows[0][13], Value::Integer(2_000_000));
        assert_eq!(listing.rows[0][14], Value::Real(0.5));
        assert!(TokenLimit::parse("0").is_err() && TokenLimit::parse("much").is_err());
    }
}
