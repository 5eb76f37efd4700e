//! Usage by day, model, session and so on.

use std::{cmp::Reverse, collections::BTreeMap};

use clap::ValueEnum;
use foldline_database::usage::{PricedMessage, RootSession, UsageSum};
use foldline_domain::Text;
use jiff::{Timestamp, civil::ISOWeekDate, tz::TimeZone};

use super::used::Used;
use crate::answer::{Kind, Listing, Value};

/// What usage is added up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum By {
    /// Day
    Day,
    /// ISO 8601 week, such as 2026-W05
    Week,
    /// Month, such as 2026-01
    Month,
    /// Model
    Model,
    /// Agent
    Agent,
    /// Project
    Project,
    /// Session, including the sessions that it started
    Session,
    /// Task
    Task,
    /// Branch in version control
    Branch,
    /// Machine of the log
    Host,
    /// User whose log it is
    User,
}

impl By {
    /// The name of its column.
    fn column(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    fn is_time(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month)
    }

    /// The value of a row; `None` where the log does not say it.
    pub(crate) fn value(self, row: &PricedMessage<'_>, zone: &TimeZone) -> Option<String> {
        let text = |text: &Option<Text>| text.as_ref().map(|text| text.decode().into_owned());
        let session = row.session;
        match self {
            Self::Day | Self::Week | Self::Month => {
                let at = Timestamp::from_millisecond(row.message.of.at?.as_millis()).ok()?;
                let date = at.to_zoned(zone.clone()).date();
                Some(match self {
                    Self::Day => date.to_string(),
                    Self::Week => {
                        let week = ISOWeekDate::from(date);
                        format!("{:04}-W{:02}", week.year(), week.week())
                    }
                    _ => date.strftime("%Y-%m").to_string(),
                })
            }
            Self::Model => row.message.of.model.clone(),
            Self::Agent => text(&session.agent),
            Self::Project => text(&session.project),
            Self::Session => match row.root {
                RootSession::Named(id) => Some(id.to_owned()),
                RootSession::Unnamed(_) => None,
            },
            Self::Task => text(&session.task),
            Self::Branch => text(&session.branch),
            Self::Host => text(&session.host),
            Self::User => text(&session.user),
        }
    }
}

/// What was used under one key.
pub(crate) struct Group<'s> {
    pub(crate) key: Vec<Option<String>>,
    pub(crate) sum: UsageSum<'s>,
}

/// Adds up by the keys: the latest time first, then the most input.
pub(crate) fn groups<'s>(used: &Used<'s>, by: &[By], zone: &TimeZone) -> Vec<Group<'s>> {
    let mut sums = BTreeMap::<Vec<Option<String>>, UsageSum<'s>>::new();
    for row in &used.rows {
        let key = by.iter().map(|by| by.value(row, zone)).collect();
        sums.entry(key).or_default().add(row);
    }
    let mut groups: Vec<_> = sums.into_iter().map(|(key, sum)| Group { key, sum }).collect();
    groups.sort_by_cached_key(|group| {
        let times = by.iter().zip(&group.key).filter(|(by, _)| by.is_time());
        let times: Vec<_> = times.map(|(_, time)| Reverse(time.clone())).collect();
        (times, Reverse(group.sum.tokens.input_tokens), group.key.clone())
    });
    groups
}

/// The columns of usage, behind the keys. The title is that of the session, where sessions are keys.
const COLUMNS: &str = "sessions input_tokens output_tokens cache_read_tokens cache_write_tokens \
 reasoning_tokens cost_usd cost_basis title";

/// Columns that a narrow table leaves out, in this order.
const LESS_IMPORTANT: &str = "reasoning_tokens sessions cache_write_tokens cache_read_tokens \
 output_tokens input_tokens title";

/// The groups as rows, and all of them together as the last row of a table.
pub(super) fn listing(
    by: &[By],
    groups: &[Group<'_>],
    total: &UsageSum<'_>,
    titles: &Titles,
) -> Listing {
    let mut key = vec![Value::Null; by.len()];
    if let Some(first) = key.first_mut() {
        *first = Value::Text("total".to_owned());
    }
    let total = key.into_iter().chain(numbers(total)).chain([Value::Null]).collect();
    let listing = rows(by, groups, titles).with_total(total).without_in_tables("cost_basis");
    let listing = listing.dropping(LESS_IMPORTANT).keeping("cost_usd");
    let listing = listing.with_keys(by.len()).showing_behind("session", "title");
    if by.contains(&By::Session) { listing } else { listing.without("title") }
}

/// The models as rows.
pub(crate) fn by_model(used: &Used<'_>) -> Listing {
    let by = [By::Model];
    rows(&by, &groups(used, &by, &TimeZone::UTC), &Titles::new())
        .without("sessions")
        .without("title")
        .without_in_tables("cost_basis")
        .dropping(LESS_IMPORTANT)
        .keeping("cost_usd")
        .with_keys(by.len())
}

/// The titles of sessions, by their ids.
pub(super) type Titles = BTreeMap<String, String>;

fn rows(by: &[By], groups: &[Group<'_>], titles: &Titles) -> Listing {
    let columns: Vec<_> = by.iter().map(|by| by.column()).chain([COLUMNS.to_owned()]).collect();
    let listing = Listing::named(&columns.join(" "));
    let mut listing = listing.with_kind(Kind::Short, &["session"]);
    listing.rows.extend(groups.iter().map(|Group { key, sum }| {
        let session = by.iter().zip(key).find(|(by, _)| **by == By::Session);
        let session = session.and_then(|(_, id)| id.as_deref());
        let title = session
            .and_then(|id| titles.get(id))
            .map_or(Value::Null, |title| title.as_str().into());
        let key = key.iter().map(|key| key.clone().map_or(Value::Null, Value::Text));
        key.chain(numbers(sum)).chain([title]).collect()
    }));
    listing
}

fn numbers(UsageSum { sessions, tokens, cost, .. }: &UsageSum<'_>) -> [Value; 8] {
    [
        Some(sessions.len()).into(),
        tokens.input_tokens.into(),
        tokens.output_tokens.into(),
        tokens.cache_read_tokens.into(),
        tokens.cache_write_tokens.into(),
        tokens.reasoning_tokens.into(),
        cost.map_or(Value::Null, |cost| Value::Real(cost.usd)),
        cost.map_or(Value::Null, |cost| cost.basis.as_str().into()),
    ]
}
