//! The usage and the results of tools: the numbers of `foldline usage` and `foldline tools`, for a page.

use std::collections::BTreeSet;

use foldline_database::{
    Store,
    query::{Period, SessionFilter, ToolTotals},
    usage::{PricedMessage, SessionUsage, UsageSum, all_tokens},
};
use foldline_domain::{
    TokenUsage,
    pricing::{Cost, CostBasis},
};
use jiff::{Timestamp, Zoned, civil::Date};

use super::{
    app::App,
    chart::{Chart, Part},
    failed::Failed,
    filter::{Filter, Time},
};
use crate::{
    error::Error,
    verbs::usage::{By, Used, groups},
};

/// More days than these are added up by month.
const MOST_DAYS: usize = 100;

/// The largest number of separately displayed parts of bars; the others are combined.
const MOST_PARTS: usize = 5;

/// The name of what no log states.
pub(super) const NOT_STATED: &str = "not stated";

/// What usage is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimension {
    Day,
    Month,
    Agent,
    Project,
    Session,
    Model,
    Branch,
    Host,
    User,
    /// Input, output and what was cached.
    Kind,
}

impl Dimension {
    /// All of them, with their names in an address and for people.
    pub(super) const ALL: [(Self, &'static str, &'static str); 10] = [
        (Self::Day, "day", "Day"),
        (Self::Month, "month", "Month"),
        (Self::Agent, "agent", "Agent"),
        (Self::Project, "project", "Project"),
        (Self::Session, "session", "Session"),
        (Self::Model, "model", "Model"),
        (Self::Branch, "branch", "Branch"),
        (Self::Host, "host", "Host"),
        (Self::User, "user", "User"),
        (Self::Kind, "kind", "Kind"),
    ];

    pub(super) fn named(name: &str) -> Result<Self, Failed> {
        let found = Self::ALL.into_iter().find(|(_, known, _)| *known == name);
        found.map(|(it, ..)| it).ok_or_else(|| {
            let known = Self::ALL.map(|(_, name, _)| name).join(", ");
            Failed::not_understood(&format!("by: unknown value `{name}`, expected one of {known}"))
        })
    }

    /// The names in an address and for people.
    pub(super) fn names(self) -> (&'static str, &'static str) {
        let found = Self::ALL.into_iter().find(|(it, ..)| *it == self);
        found.map_or(("", ""), |(_, name, words)| (name, words))
    }

    /// The same of `foldline usage`, which has a row for each value.
    fn by(self) -> Option<By> {
        match self {
            Self::Day => Some(By::Day),
            Self::Month => Some(By::Month),
            Self::Agent => Some(By::Agent),
            Self::Project => Some(By::Project),
            Self::Session => Some(By::Session),
            Self::Model => Some(By::Model),
            Self::Branch => Some(By::Branch),
            Self::Host => Some(By::Host),
            Self::User => Some(By::User),
            Self::Kind => None,
        }
    }
}

/// The usage of the sessions that a filter chooses, and the results of their tools.
pub(super) struct Usage {
    pub(super) by: Dimension,
    /// A row for each value, as `foldline usage` gives them; none for kinds.
    pub(super) rows: Vec<Sum>,
    pub(super) total: Sum,
    /// Bars of days, or of months if there are too many days.
    pub(super) cost: Chart,
    pub(super) tokens: Chart,
    /// The reasons for unknown costs, in sentences.
    pub(super) notes: Vec<String>,
    pub(super) tools: Vec<ToolTotals>,
}

/// What was used under one key.
#[derive(Debug, Default)]
pub(super) struct Sum {
    /// The value of the dimension; `None` where no log states it.
    pub(super) key: Option<String>,
    /// The title of a session.
    pub(super) title: Option<String>,
    pub(super) sessions: usize,
    pub(super) tokens: TokenUsage,
    pub(super) cost: Option<Cost>,
}

impl Sum {
    fn new(key: Option<String>, sum: &UsageSum<'_>) -> Self {
        let UsageSum { sessions, tokens, cost } = sum;
        Self { key, title: None, sessions: sessions.len(), tokens: *tokens, cost: *cost }
    }
}

impl Usage {
    /// Whether anything was used.
    pub(super) fn is_any(&self) -> bool {
        all_tokens(&self.total.tokens) > 0 || self.total.cost.is_some()
    }
}

/// The usage of the chosen sessions in the chosen time.
pub(super) fn read(
    app: &App,
    database: &dyn Store,
    filter: &Filter,
    by: Dimension,
    now: &Zoned,
) -> Result<Usage, Error> {
    let filter = asked(app, filter, now)?;
    let sessions = database.usage(&filter)?;
    let mut usage = used(app, &sessions, by, &filter, now);
    usage.tools = database.tools(&filter)?;
    if by == Dimension::Session {
        let titles = database.titles()?;
        let title = |id: Option<&String>| titles.get(id?).cloned();
        usage.rows.iter_mut().for_each(|row| row.title = title(row.key.as_ref()));
        for chart in [&mut usage.cost, &mut usage.tokens] {
            chart.rename(|id| titles.get(id).cloned());
        }
    }
    Ok(usage)
}

/// The usage of the shortest time with use, from 30 days on.
pub(super) fn recent(
    app: &App,
    database: &dyn Store,
    now: &Zoned,
) -> Result<(Filter, Usage), Error> {
    let sessions = database.usage(&SessionFilter::default())?;
    let within = |time: Time| {
        let filter = Filter { time, ..Filter::default() };
        let usage = used(app, &sessions, Dimension::Day, &asked(app, &filter, now)?, now);
        Ok((filter, usage))
    };
    for time in [Time::Month, Time::Quarter] {
        let found = within(time)?;
        if found.1.is_any() {
            return Ok(found);
        }
    }
    within(Time::Any)
}

/// The filter of `foldline usage`: it is not about rows of a list.
fn asked(app: &App, filter: &Filter, now: &Zoned) -> Result<SessionFilter, Error> {
    let chosen = filter.chosen(&app.zone, now.timestamp().as_millisecond())?;
    let SessionFilter { is_listed, grouping, limit, offset, .. } = SessionFilter::default();
    Ok(SessionFilter { is_listed, grouping, limit, offset, ..chosen })
}

fn used(
    app: &App,
    sessions: &[SessionUsage],
    dimension: Dimension,
    filter: &SessionFilter,
    now: &Zoned,
) -> Usage {
    let used = Used::new(sessions, filter, &app.prices);
    let rows = dimension.by().map_or_else(Vec::new, |by| groups(&used, &[by], &app.zone));
    let rows =
        rows.into_iter().map(|group| Sum::new(group.key.into_iter().next().flatten(), &group.sum));
    let (unit, days) = bars_of(&used, dimension, filter.period, now);
    let bars = |parts: &dyn Fn(&PricedMessage<'_>) -> Vec<Part>| {
        let rows = used.rows.iter().map(|row| (unit.value(row, &app.zone), parts(row)));
        Chart::new(rows, days)
    };
    let value = |row: &PricedMessage<'_>| {
        let value = dimension.by().and_then(|by| by.value(row, &app.zone));
        value.unwrap_or_else(|| NOT_STATED.to_owned())
    };
    let (mut cost, mut tokens) = match dimension {
        Dimension::Day | Dimension::Month | Dimension::Kind => {
            (bars(&cost_by_basis), bars(&tokens_by_kind))
        }
        _ => {
            let costs = |row: &PricedMessage<'_>| {
                row.cost.map(|cost| (value(row), cost.into())).into_iter().collect()
            };
            let tokens =
                |row: &PricedMessage<'_>| vec![(value(row), all_tokens(&row.message.usage).into())];
            (bars(&costs), bars(&tokens))
        }
    };
    // A value has the same colour in both.
    tokens.order_as(&cost.series);
    for chart in [&mut cost, &mut tokens] {
        chart.sum_up(MOST_PARTS);
    }
    Usage {
        by: dimension,
        rows: rows.collect(),
        total: Sum::new(None, &used.total()),
        cost,
        tokens,
        notes: used.notes(),
        tools: Vec::new(),
    }
}

/// What a bar stands for, and the first and the last day, since days without use are gaps.
fn bars_of(
    used: &Used<'_>,
    dimension: Dimension,
    period: Period,
    now: &Zoned,
) -> (By, Option<(Date, Date)>) {
    let zone = now.time_zone();
    let date = |millis: i64| {
        Timestamp::from_millisecond(millis).ok().map(|at| at.to_zoned(zone.clone()).date())
    };
    let known_moments: BTreeSet<_> = used.rows.iter().filter_map(|row| row.message.of.at).collect();
    let known = |at: Option<&foldline_domain::Timestamp>| date(at?.as_millis());
    let first = match period.start {
        start if start == Period::ALL.start => known(known_moments.first()),
        start => date(start),
    };
    let last = match period.end {
        end if end != Period::ALL.end => date(end.saturating_sub(1)),
        _ if period == Period::ALL => known(known_moments.last()),
        _ => Some(now.date()),
    };
    let days = first.zip(last);
    let count = days.map_or(0, |(first, last)| (last - first).get_days());
    let is_long = usize::try_from(count).is_ok_and(|count| count > MOST_DAYS);
    if is_long || dimension == Dimension::Month { (By::Month, None) } else { (By::Day, days) }
}

fn cost_by_basis(row: &PricedMessage<'_>) -> Vec<Part> {
    let word = |cost: Cost| match cost.basis {
        CostBasis::Logged => "from logs",
        CostBasis::Estimated | CostBasis::Mixed => "estimated",
    };
    row.cost.map(|cost| (word(cost).to_owned(), cost.into())).into_iter().collect()
}

fn tokens_by_kind(row: &PricedMessage<'_>) -> Vec<Part> {
    kinds(&row.message.usage).map(|(kind, count)| (kind.to_owned(), count.into())).into()
}

/// The tokens by kind, which together are all tokens.
pub(super) fn kinds(usage: &TokenUsage) -> [(&'static str, u64); 4] {
    let input = usage.input_tokens.unwrap_or(0);
    let read = usage.cache_read_tokens.unwrap_or(0).min(input);
    let written = usage.cache_write_tokens.unwrap_or(0).min(input - read);
    [
        ("cache read", read),
        ("cache write", written),
        ("other input", input - read - written),
        ("output", usage.output_tokens.unwrap_or(0)),
    ]
}
