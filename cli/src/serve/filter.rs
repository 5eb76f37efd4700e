//! [`Filter`]: selects and sorts the sessions of the list.

use foldline::emitters::database::query::{Period, SessionFilter, SessionOrder, StateFilter};
use jiff::tz::TimeZone;

use crate::{answer::when, error::Error};

/// The largest number of sessions on one page.
pub(super) const PAGE: usize = 200;

/// Selects the sessions of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default)]
pub(super) struct Filter {
    /// Words in the title or in entries.
    pub(super) q: String,
    pub(super) agent: String,
    pub(super) status: String,
    /// The last part of the folder that the agent worked in.
    pub(super) project: String,
    pub(super) time: Time,
    pub(super) sort: SessionOrder,
    /// The page, from 0.
    pub(super) page: u32,
}

impl Filter {
    /// The filter of the selected sessions.
    pub(super) fn chosen(&self, zone: &TimeZone, now: i64) -> Result<SessionFilter, Error> {
        let stated = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let since = when::running_since(now);
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
            period: self.period(zone)?,
            is_listed: true,
            offset: PAGE.saturating_mul(self.page as usize),
            limit: Some(PAGE + 1),
            ..SessionFilter::default()
        })
    }

    fn period(&self, zone: &TimeZone) -> Result<Period, Error> {
        let named = || when::parse(self.time_name(), zone);
        match self.time {
            Time::Any => Ok(Period::ALL),
            Time::Today | Time::Yesterday => named(),
            Time::Week | Time::Month => Ok(Period { end: Period::ALL.end, ..named()? }),
        }
    }

    /// The name of the time in an address.
    pub(super) fn time_name(&self) -> &'static str {
        Time::ALL.into_iter().find(|(time, ..)| *time == self.time).map_or("", |it| it.1)
    }

    /// The name of the order in an address.
    pub(super) fn sort_name(&self) -> &'static str {
        ORDERS.into_iter().find(|(sort, ..)| *sort == self.sort).map_or("", |it| it.1)
    }
}

/// The values by which sessions can be filtered.
pub(super) struct Known {
    pub(super) agents: Vec<String>,
    pub(super) projects: Vec<String>,
}

/// The time of activity in the sessions.
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
}

/// The orders of the sessions, with their names in an address and for people.
pub(super) const ORDERS: [(SessionOrder, &str, &str); 5] = [
    (SessionOrder::Latest, "", "Newest first"),
    (SessionOrder::Tokens, "tokens", "Most tokens"),
    (SessionOrder::Cost, "cost", "Highest cost"),
    (SessionOrder::Duration, "duration", "Longest"),
    (SessionOrder::Failures, "failures", "Most failures"),
];
