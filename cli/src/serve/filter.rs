//! [`Filter`]: which sessions the list shows, and in which order.

use jiff::tz::TimeZone;

use crate::{
    answer::when::{self, Span},
    error::Error,
    verbs::sessions::{COSTS, FAILURES},
};

/// Which sessions the list shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default)]
pub(super) struct Filter {
    /// Words in the title or in what was said and done.
    pub(super) q: String,
    pub(super) agent: String,
    pub(super) status: String,
    /// The last part of the folder that the agent worked in.
    pub(super) project: String,
    pub(super) time: Time,
    pub(super) sort: Sort,
    /// The page, from 0.
    pub(super) page: u32,
}

impl Filter {
    /// The name of the time in an address.
    pub(super) fn time_name(&self) -> &'static str {
        Time::ALL.into_iter().find(|(time, ..)| *time == self.time).map_or("", |it| it.1)
    }

    /// The name of the order in an address.
    pub(super) fn sort_name(&self) -> &'static str {
        Sort::ALL.into_iter().find(|(sort, ..)| *sort == self.sort).map_or("", |it| it.1)
    }
}

/// What the sessions can be chosen by.
pub(super) struct Known {
    pub(super) agents: Vec<String>,
    pub(super) projects: Vec<String>,
}

/// When something happened in the sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Time {
    #[default]
    #[serde(rename = "")]
    Any,
    Today,
    Yesterday,
    #[serde(rename = "7d")]
    Week,
    #[serde(rename = "30d")]
    Month,
}

impl Time {
    /// All of them, with their names in an address and for people.
    pub(super) const ALL: [(Self, &'static str, &'static str); 5] = [
        (Self::Any, "", "Any time"),
        (Self::Today, "today", "Today"),
        (Self::Yesterday, "yesterday", "Yesterday"),
        (Self::Week, "7d", "Last 7 days"),
        (Self::Month, "30d", "Last 30 days"),
    ];

    /// From when until when.
    pub(super) fn span(self, zone: &TimeZone) -> Result<Span, Error> {
        let named = |name| when::parse(name, zone);
        match self {
            Self::Any => Ok(Span::ALL),
            Self::Today => named("today"),
            Self::Yesterday => named("yesterday"),
            Self::Week => Ok(Span { end: Span::ALL.end, ..named("7d")? }),
            Self::Month => Ok(Span { end: Span::ALL.end, ..named("30d")? }),
        }
    }
}

/// Which session comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Sort {
    /// The one in which something happened last.
    #[default]
    #[serde(rename = "")]
    Time,
    Tokens,
    Cost,
    Duration,
    Failures,
}

impl Sort {
    /// All of them, with their names in an address and for people.
    pub(super) const ALL: [(Self, &'static str, &'static str); 5] = [
        (Self::Time, "", "Newest first"),
        (Self::Tokens, "tokens", "Most tokens"),
        (Self::Cost, "cost", "Highest cost"),
        (Self::Duration, "duration", "Longest"),
        (Self::Failures, "failures", "Most failures"),
    ];

    /// What is compared, in SQL, and the table that it is from.
    pub(super) fn key(self) -> (&'static str, String) {
        match self {
            Self::Time => (LATEST, String::new()),
            Self::Duration => (DURATION, String::new()),
            Self::Tokens => ("sums.tokens", format!("LEFT JOIN ({TOKENS}) AS sums ON sums.session = sessions.id")),
            Self::Cost => (
                "sums.cost",
                format!(
                    "LEFT JOIN (SELECT session, sum(cost) AS cost FROM ({COSTS}) GROUP BY session) AS sums
                     ON sums.session = sessions.id"
                ),
            ),
            Self::Failures => (
                "sums.failures",
                format!(
                    "LEFT JOIN (SELECT session, count(*) AS failures FROM tool_calls
                                WHERE {FAILURES} GROUP BY session) AS sums
                     ON sums.session = sessions.id"
                ),
            ),
        }
    }
}

/// When something happened last in a session, and how long it took, in SQL.
pub(super) const LATEST: &str = "coalesce(last_at, ended_at, started_at, modified_at)";
pub(super) const DURATION: &str = "coalesce(duration_ms, last_at - first_at)";

/// The tokens of sessions, in SQL.
const TOKENS: &str =
    "SELECT session, sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) AS tokens
                      FROM usage GROUP BY session";
