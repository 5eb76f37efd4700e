//! What was used and how the tools fared: the numbers of `foldline usage` and `foldline tools`, for a page.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    extract::{Query, State},
    response::Html,
};
use foldline::pricing::{Cost, CostBasis};
use jiff::{Zoned, civil::Date};
use serde::Deserialize;

use super::{
    app::App,
    page,
    request::{Failed, blocking},
};
use crate::{
    answer::{
        filters::Filters,
        tools::{self, Tool},
        usage::{By, Row, Used, UsedSession, all_tokens, stored},
        when::Span,
    },
    error::Error,
};

/// More days than these are added up by month.
const MOST_DAYS: usize = 100;

/// The most models that are shown apart; the others are shown together.
const MOST_MODELS: usize = 5;

/// What is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    pub(super) time: Time,
    pub(super) by: Stack,
}

/// Of which time.
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

/// What a bar is made up of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stack {
    #[default]
    Kind,
    Model,
}

/// What was used, and how the tools fared.
pub(super) struct Usage {
    pub(super) cost: Chart,
    pub(super) tokens: Chart,
    pub(super) total_cost: Option<Cost>,
    pub(super) total_tokens: u64,
    /// Why costs are unknown, in sentences.
    pub(super) notes: Vec<String>,
    pub(super) tools: Vec<Tool>,
}

/// Bars of several parts, the earliest first.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Chart {
    /// What the parts are, the lowest first.
    pub(super) series: Vec<String>,
    pub(super) bars: Vec<Bar>,
}

/// One day or month.
#[derive(Debug, PartialEq)]
pub(super) struct Bar {
    /// The day or the month; `None` for what was used at an unknown time.
    pub(super) key: Option<String>,
    /// The amount of each of the series.
    pub(super) amounts: Vec<Amount>,
}

/// Dollars or tokens, and whether they are estimated, at least in part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Amount {
    pub(super) value: f64,
    pub(super) is_estimated: bool,
}

/// A part of a bar: which of the series, and how much.
type Part = (String, Amount);

impl std::ops::AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.value += other.value;
        self.is_estimated |= other.is_estimated;
    }
}

impl std::iter::Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), |mut sum, amount| {
            sum += amount;
            sum
        })
    }
}

impl From<Cost> for Amount {
    fn from(cost: Cost) -> Self {
        Self { value: cost.usd, is_estimated: cost.basis != CostBasis::Logged }
    }
}

impl From<u64> for Amount {
    fn from(tokens: u64) -> Self {
        Self { value: tokens as f64, is_estimated: false }
    }
}

impl Time {
    pub(super) const ALL: [(Self, &'static str); 4] =
        [(Self::Week, "7d"), (Self::Month, "30d"), (Self::Quarter, "90d"), (Self::All, "all")];

    fn days(self) -> Option<i64> {
        match self {
            Self::Week => Some(7),
            Self::Month => Some(30),
            Self::Quarter => Some(90),
            Self::All => None,
        }
    }
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    Query(asked): Query<Asked>,
) -> Result<Html<String>, Failed> {
    let made = blocking(&app, move |app| {
        let usage = read(app, asked, &Zoned::now().with_time_zone(app.zone.clone()))?;
        Ok(page::usage(&usage, asked))
    });
    Ok(Html(made.await?))
}

fn read(app: &App, asked: Asked, now: &Zoned) -> Result<Usage, Error> {
    let database = app.database()?;
    let sessions = stored::sessions_of(&database)?;
    // Whole days, today among them.
    let first = asked
        .time
        .days()
        .and_then(|days| now.date().checked_sub(jiff::Span::new().days(days - 1)).ok());
    let start = first.and_then(|first| first.to_zoned(app.zone.clone()).ok());
    let start = start.map_or(Span::ALL.start, |start| start.timestamp().as_millisecond());
    let span = Span { start, ..Span::ALL };
    let tools = tools::since(&database, start)?;
    Ok(Usage { tools, ..used(app, &sessions, asked, span, first.map(|first| (first, now.date()))) })
}

fn used(
    app: &App,
    sessions: &[UsedSession],
    asked: Asked,
    span: Span,
    days: Option<(Date, Date)>,
) -> Usage {
    let used = Used::new(sessions, &Filters::default(), span, &app.prices);
    let total = used.total();
    let day = |row: &Row<'_>| By::Day.value(row, &app.zone);
    let count = used.rows.iter().map(day).collect::<std::collections::BTreeSet<_>>().len();
    let by = if days.is_none() && count > MOST_DAYS { By::Month } else { By::Day };
    let bars = |parts: fn(&Row<'_>) -> Vec<Part>| {
        let rows = used.rows.iter().map(|row| (by.value(row, &app.zone), parts(row)));
        Chart::new(rows, days)
    };
    let (mut cost, mut tokens) = match asked.by {
        Stack::Kind => (bars(cost_by_basis), bars(tokens_by_kind)),
        Stack::Model => (bars(cost_by_model), bars(tokens_by_model)),
    };
    // A model has the same colour in both.
    tokens.order_as(&cost.series);
    for chart in [&mut cost, &mut tokens] {
        chart.sum_up(if asked.by == Stack::Model { MOST_MODELS } else { usize::MAX });
    }
    Usage {
        cost,
        tokens,
        total_cost: total.cost,
        total_tokens: all_tokens(&total.tokens),
        notes: used.notes(),
        tools: Vec::new(),
    }
}

fn cost_by_basis(row: &Row<'_>) -> Vec<Part> {
    let word = |cost: Cost| match cost.basis {
        CostBasis::Logged => "from logs",
        CostBasis::Estimated | CostBasis::Mixed => "estimated",
    };
    row.cost.map(|cost| (word(cost).to_owned(), cost.into())).into_iter().collect()
}

fn cost_by_model(row: &Row<'_>) -> Vec<Part> {
    row.cost.map(|cost| (model(row), cost.into())).into_iter().collect()
}

fn tokens_by_kind(row: &Row<'_>) -> Vec<Part> {
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

fn tokens_by_model(row: &Row<'_>) -> Vec<Part> {
    vec![(model(row), all_tokens(&row.message.usage).into())]
}

fn model(row: &Row<'_>) -> String {
    row.message.of.model.clone().unwrap_or_else(|| "unknown".to_owned())
}

impl Chart {
    /// Adds up the parts of rows; days between the first and the last are there even if they have none.
    fn new(
        rows: impl Iterator<Item = (Option<String>, Vec<Part>)>,
        days: Option<(Date, Date)>,
    ) -> Self {
        let mut sums = BTreeMap::<Option<String>, BTreeMap<String, Amount>>::new();
        if let Some((first, last)) = days {
            let days = first.series(jiff::Span::new().days(1)).take_while(|day| *day <= last);
            sums.extend(days.map(|day| (Some(day.to_string()), BTreeMap::new())));
        }
        let mut totals = BTreeMap::<String, f64>::new();
        for (key, parts) in rows {
            let sum = sums.entry(key).or_default();
            for (series, amount) in parts.into_iter().filter(|(_, amount)| amount.value > 0.0) {
                *totals.entry(series.clone()).or_default() += amount.value;
                *sum.entry(series).or_default() += amount;
            }
        }
        let mut series: Vec<_> = totals.into_iter().collect();
        series.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let series: Vec<_> = series.into_iter().map(|(series, _)| series).collect();
        let amounts = |sum: &BTreeMap<String, Amount>| {
            series.iter().map(|series| sum.get(series).copied().unwrap_or_default()).collect()
        };
        let bars = sums.into_iter().map(|(key, sum)| Bar { key, amounts: amounts(&sum) });
        Self { bars: bars.collect(), series }
    }

    /// Puts series that are known into this order, and the others behind them.
    fn order_as(&mut self, known: &[String]) {
        let place = |series: &String| known.iter().position(|it| it == series);
        let mut order: Vec<_> = (0..self.series.len()).collect();
        order.sort_by_key(|&at| self.series.get(at).and_then(place).unwrap_or(usize::MAX));
        self.series = order.iter().filter_map(|at| self.series.get(*at).cloned()).collect();
        for bar in &mut self.bars {
            bar.amounts = order.iter().filter_map(|at| bar.amounts.get(*at).copied()).collect();
        }
    }

    /// Puts what is behind the first few series together.
    fn sum_up(&mut self, most: usize) {
        if self.series.len() <= most.saturating_add(1) {
            return;
        }
        let others = self.series.split_off(most).len();
        self.series.push(format!("{others} others"));
        for bar in &mut self.bars {
            let rest = bar.amounts.split_off(most).into_iter().sum();
            bar.amounts.push(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str, series: &str, value: f64) -> (Option<String>, Vec<Part>) {
        (Some(key.to_owned()), vec![(series.to_owned(), Amount { value, is_estimated: false })])
    }

    fn values(bar: &Bar) -> Vec<f64> {
        bar.amounts.iter().map(|amount| amount.value).collect()
    }

    #[test]
    fn days_without_use_are_there_and_the_largest_part_is_the_lowest() {
        let days = Some((jiff::civil::date(2026, 2, 27), jiff::civil::date(2026, 3, 1)));
        let rows =
            [row("2026-02-27", "b", 1.0), row("2026-03-01", "a", 4.0), row("2026-03-01", "b", 1.0)];
        let chart = Chart::new(rows.into_iter(), days);
        assert_eq!(chart.series, ["a", "b"]);
        let amounts: Vec<_> = chart.bars.iter().map(values).collect();
        assert_eq!(amounts, [[0.0, 1.0], [0.0, 0.0], [4.0, 1.0]]);
    }

    #[test]
    fn charts_can_have_the_same_order() {
        let rows =
            [row("2026-03-01", "a", 3.0), row("2026-03-01", "b", 2.0), row("2026-03-01", "c", 1.0)];
        let mut chart = Chart::new(rows.into_iter(), None);
        chart.order_as(&["c".to_owned(), "x".to_owned(), "a".to_owned()]);
        assert_eq!(chart.series, ["c", "a", "b"]);
        assert_eq!(values(&chart.bars[0]), [1.0, 3.0, 2.0]);
    }

    #[test]
    fn what_is_little_is_put_together() {
        let rows = (0..5_u8).map(|n| row("2026-03-01", &n.to_string(), f64::from(10 - n)));
        let mut chart = Chart::new(rows, None);
        chart.sum_up(4);
        assert_eq!(chart.series, ["0", "1", "2", "3", "4"], "one is shown as itself");
        chart.sum_up(2);
        assert_eq!(chart.series, ["0", "1", "3 others"]);
        assert_eq!(values(&chart.bars[0]), [10.0, 9.0, 21.0]);
    }
}
