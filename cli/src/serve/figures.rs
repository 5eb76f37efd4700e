//! The usage and the results of tools: the numbers of `foldline usage` and `foldline tools`, for a page.

use std::collections::BTreeSet;

use foldline_database::{
    Store,
    query::{Period, SessionFilter, ToolTotals},
    usage::{PricedMessage, SessionUsage, all_tokens},
};
use foldline_domain::pricing::{Cost, CostBasis};
use jiff::{Zoned, civil::Date};
use serde::Deserialize;

use super::{
    app::App,
    chart::{Chart, Part},
};
use crate::{
    error::Error,
    verbs::usage::{By, Used},
};

/// More days than these are added up by month.
const MOST_DAYS: usize = 100;

/// The largest number of separately displayed models; the others are combined.
const MOST_MODELS: usize = 5;

/// The request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Asked {
    /// The shortest time with use, from 30 days on, unless another is asked for.
    pub(super) time: Option<Time>,
    pub(super) by: Stack,
}

/// The time range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) enum Time {
    #[serde(rename = "7d")]
    Week,
    #[default]
    #[serde(rename = "30d")]
    Month,
    #[serde(rename = "90d")]
    Quarter,
    #[serde(rename = "all")]
    All,
}

/// The parts of a bar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stack {
    #[default]
    Kind,
    Model,
}

/// The usage, and the results of the tools.
pub(super) struct Usage {
    /// The shown time.
    pub(super) time: Time,
    pub(super) cost: Chart,
    pub(super) tokens: Chart,
    pub(super) total_cost: Option<Cost>,
    pub(super) total_tokens: u64,
    /// The reasons for unknown costs, in sentences.
    pub(super) notes: Vec<String>,
    pub(super) tools: Vec<ToolTotals>,
}

impl Usage {
    /// Whether anything was used.
    pub(super) fn is_any(&self) -> bool {
        self.total_tokens > 0 || self.total_cost.is_some()
    }
}

impl Time {
    /// All of them, with their names and their days.
    pub(super) const ALL: [(Self, &'static str, Option<i64>); 4] = [
        (Self::Week, "7d", Some(7)),
        (Self::Month, "30d", Some(30)),
        (Self::Quarter, "90d", Some(90)),
        (Self::All, "all", None),
    ];

    fn days(self) -> Option<i64> {
        Self::ALL.into_iter().find(|(time, ..)| *time == self)?.2
    }
}

pub(super) fn read(
    app: &App,
    database: &dyn Store,
    asked: Asked,
    now: &Zoned,
) -> Result<Usage, Error> {
    let sessions = database.usage(&SessionFilter::default())?;
    let within = |time: Time| within(app, database, &sessions, (time, asked.by), now);
    if let Some(time) = asked.time {
        return within(time);
    }
    for time in [Time::Month, Time::Quarter] {
        let usage = within(time)?;
        if usage.is_any() {
            return Ok(usage);
        }
    }
    within(Time::All)
}

fn within(
    app: &App,
    database: &dyn Store,
    sessions: &[SessionUsage],
    (time, by): (Time, Stack),
    now: &Zoned,
) -> Result<Usage, Error> {
    // Whole days, today among them.
    let first =
        time.days().and_then(|days| now.date().checked_sub(jiff::Span::new().days(days - 1)).ok());
    let start = first.and_then(|first| first.to_zoned(app.zone.clone()).ok());
    let start = start.map_or(Period::ALL.start, |start| start.timestamp().as_millisecond());
    let period = Period { start, ..Period::ALL };
    let filter = SessionFilter { period, ..SessionFilter::default() };
    let tools = database.tools(&filter)?;
    let days = first.map(|first| (first, now.date()));
    Ok(Usage { tools, ..used(app, sessions, (time, by), &filter, days) })
}

fn used(
    app: &App,
    sessions: &[SessionUsage],
    (time, stack): (Time, Stack),
    filter: &SessionFilter,
    days: Option<(Date, Date)>,
) -> Usage {
    let used = Used::new(sessions, filter, &app.prices);
    let total = used.total();
    let day = |row: &PricedMessage<'_>| By::Day.value(row, &app.zone);
    let known: BTreeSet<_> = used.rows.iter().filter_map(day).collect();
    // Days without use are gaps.
    let date = |day: Option<&String>| day?.parse::<Date>().ok();
    let days = days.or_else(|| date(known.first()).zip(date(known.last())));
    let count = days.map_or(0, |(first, last)| (last - first).get_days());
    let is_long = usize::try_from(count).is_ok_and(|count| count > MOST_DAYS);
    let (by, days) = if is_long { (By::Month, None) } else { (By::Day, days) };
    let bars = |parts: fn(&PricedMessage<'_>) -> Vec<Part>| {
        let rows = used.rows.iter().map(|row| (by.value(row, &app.zone), parts(row)));
        Chart::new(rows, days)
    };
    let (mut cost, mut tokens) = match stack {
        Stack::Kind => (bars(cost_by_basis), bars(tokens_by_kind)),
        Stack::Model => (bars(cost_by_model), bars(tokens_by_model)),
    };
    // A model has the same colour in both.
    tokens.order_as(&cost.series);
    for chart in [&mut cost, &mut tokens] {
        chart.sum_up(if stack == Stack::Model { MOST_MODELS } else { usize::MAX });
    }
    Usage {
        time,
        cost,
        tokens,
        total_cost: total.cost,
        total_tokens: all_tokens(&total.tokens),
        notes: used.notes(),
        tools: Vec::new(),
    }
}

fn cost_by_basis(row: &PricedMessage<'_>) -> Vec<Part> {
    let word = |cost: Cost| match cost.basis {
        CostBasis::Logged => "from logs",
        CostBasis::Estimated | CostBasis::Mixed => "estimated",
    };
    row.cost.map(|cost| (word(cost).to_owned(), cost.into())).into_iter().collect()
}

fn cost_by_model(row: &PricedMessage<'_>) -> Vec<Part> {
    row.cost.map(|cost| (model(row), cost.into())).into_iter().collect()
}

fn tokens_by_kind(row: &PricedMessage<'_>) -> Vec<Part> {
    let usage = &row.message.usage;
    let input = usage.input_tokens.unwrap_or(0);
    let cached = usage.cache_read_tokens.unwrap_or(0).min(input);
    [
        ("from cache", cached),
        ("other input", input - cached),
        ("output", usage.output_tokens.unwrap_or(0)),
    ]
    .map(|(kind, count)| (kind.to_owned(), count.into()))
    .into()
}

fn tokens_by_model(row: &PricedMessage<'_>) -> Vec<Part> {
    vec![(model(row), all_tokens(&row.message.usage).into())]
}

fn model(row: &PricedMessage<'_>) -> String {
    row.message.of.model.clone().unwrap_or_else(|| "unknown".to_owned())
}
