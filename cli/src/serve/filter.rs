//! [`Filter`]: which sessions the list shows, and in which order.

use foldline::emitters::sqlite::query::{Period, SessionFilter, SessionOrder, StateFilter};
use jiff::tz::TimeZone;

use super::status::Status;
use crate::{answer::when, error::Error};

/// The most sessions of one page.
pub(super) const PAGE: usize = 200;

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
    /// The sessions that are chosen.
    pub(super) fn chosen(&self, zone: &TimeZone, now: i64) -> Result<SessionFilter, Error> {
        let stated = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let since = Status::running_since(now);
        Ok(SessionFilter {
            text: stated(self.q.trim()),
            agent_name: stated(&self.agent),
            folder_name: stated(&self.project),
            state: match self.status.as_str() {
                "failed" => Some(StateFilter::Failed),
                "running" => Some(StateFilter::RunningSince(since)),
                "done" => Some(StateFilter::DoneBefore(since)),
                _ => None,
            },
            period: self.time.period(zone)?,
            is_listed: true,
            offset: PAGE.saturating_mul(self.page as usize),
            limit: Some(PAGE + 1),
            ..SessionFilter::default()
        })
    }

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
    pub(super) fn period(self, zone: &TimeZone) -> Result<Period, Error> {
        let named = |name| when::parse(name, zone);
        match self {
            Self::Any => Ok(Period::ALL),
            Self::Today => named("today"),
            Self::Yesterday => named("yesterday"),
            Self::Week => Ok(Period { end: Period::ALL.end, ..named("7d")? }),
            Self::Month => Ok(Period { end: Period::ALL.end, ..named("30d")? }),
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

    pub(super) fn order(self) -> SessionOrder {
        match self {
            Self::Time => SessionOrder::Latest,
            Self::Tokens => SessionOrder::Tokens,
            Self::Cost => SessionOrder::Cost,
            Self::Duration => SessionOrder::Duration,
            Self::Failures => SessionOrder::Failures,
        }
    }
}
