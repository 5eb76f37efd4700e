//! [`Filter`]: selects and sorts the sessions of the list.

use foldline_database::query::{Grouping, Period, SessionFilter, SessionOrder, StateFilter};
use jiff::{Span, Timestamp, tz::TimeZone};
use serde::{Deserialize, Deserializer, de::Error as _};

use super::counts::Counts;
use crate::{answer::when, error::Error};

/// The number of sessions on one page, unless another is asked for.
const PAGE: u32 = 200;

/// The largest number of sessions on one page.
const MOST: u32 = 1000;

/// The largest number of characters of a search, and of its words. Each word is looked up by itself.
const MOST_CHARACTERS: usize = 1000;
const MOST_WORDS: usize = 32;

/// Selects the sessions of the list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Filter {
    /// Words in the title or in entries.
    #[serde(deserialize_with = "words")]
    pub(super) q: String,
    pub(super) agent: String,
    #[serde(deserialize_with = "status")]
    pub(super) status: String,
    /// The last part of the folder that the agent worked in.
    pub(super) project: String,
    pub(super) model: String,
    pub(super) branch: String,
    pub(super) host: String,
    pub(super) user: String,
    pub(super) time: Time,
    /// The first and the last day, in place of a named time; also a month or another time, as on the command line.
    #[serde(deserialize_with = "when")]
    pub(super) since: String,
    #[serde(deserialize_with = "when")]
    pub(super) until: String,
    pub(super) sort: SessionOrder,
    /// The number of sessions before the first one.
    pub(super) offset: u32,
    /// The largest number of sessions.
    #[serde(deserialize_with = "limit")]
    pub(super) limit: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            q: String::new(),
            agent: String::new(),
            status: String::new(),
            project: String::new(),
            model: String::new(),
            branch: String::new(),
            host: String::new(),
            user: String::new(),
            time: Time::Any,
            since: String::new(),
            until: String::new(),
            sort: SessionOrder::Latest,
            offset: 0,
            limit: PAGE,
        }
    }
}

impl Filter {
    /// The filter of the selected sessions.
    pub(super) fn chosen(&self, zone: &TimeZone, now: i64) -> Result<SessionFilter, Error> {
        let stated = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let since = when::running_since(now);
        Ok(SessionFilter {
            text: stated(self.q.trim()),
            agent_name: stated(&self.agent),
            project: stated(&self.project),
            state: match self.status.as_str() {
                "failed" => Some(StateFilter::Failed),
                "running" => Some(StateFilter::RunningSince(since)),
                "waiting" => Some(StateFilter::WaitingSince(since)),
                "done" => Some(StateFilter::DoneBefore(since)),
                _ => None,
            },
            model: stated(&self.model),
            branch: stated(&self.branch),
            host: stated(&self.host),
            user: stated(&self.user),
            period: self.period(zone, now)?,
            is_listed: true,
            grouping: Grouping::Trees,
            offset: self.offset as usize,
            limit: Some(self.limit as usize + 1),
            ..SessionFilter::default()
        })
    }

    /// The moments of the chosen days: whole days, today among the last ones.
    fn period(&self, zone: &TimeZone, now: i64) -> Result<Period, Error> {
        let stated = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let (mut since, mut until) = (stated(&self.since), stated(&self.until));
        if since.is_none() && until.is_none() {
            (since, until) = match self.time {
                Time::Any => (None, None),
                Time::Today | Time::Yesterday => {
                    (stated(self.time_name()), stated(self.time_name()))
                }
                Time::Week => (first_day(7, zone, now), None),
                Time::Month => (first_day(30, zone, now), None),
                Time::Quarter => (first_day(90, zone, now), None),
            };
        }
        when::period(since.as_deref(), until.as_deref(), zone)
    }

    /// The address of the sessions with these choices, below a path.
    pub(super) fn address(&self, path: &str) -> String {
        let stated =
            |number: u32, usual| if number == usual { String::new() } else { number.to_string() };
        let (offset, limit) = (stated(self.offset, 0), stated(self.limit, PAGE));
        let choices = [
            ("q", self.q.as_str()),
            ("agent", &self.agent),
            ("status", &self.status),
            ("project", &self.project),
            ("model", &self.model),
            ("branch", &self.branch),
            ("host", &self.host),
            ("user", &self.user),
            ("time", self.time_name()),
            ("since", &self.since),
            ("until", &self.until),
            ("sort", self.sort_name()),
            ("offset", &offset),
            ("limit", &limit),
        ];
        let chosen = choices.into_iter().filter(|(_, value)| !value.is_empty());
        let chosen: Vec<_> =
            chosen.map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        if chosen.is_empty() { path.to_owned() } else { format!("{path}?{}", chosen.join("&")) }
    }

    /// The same choices from another session on.
    pub(super) fn from(&self, offset: u32) -> Self {
        Self { offset, ..self.clone() }
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

/// The first of the last days, of which today is one.
fn first_day(days: i64, zone: &TimeZone, now: i64) -> Option<String> {
    let today = Timestamp::from_millisecond(now).ok()?.to_zoned(zone.clone()).date();
    Some(today.checked_sub(Span::new().days(days - 1)).ok()?.to_string())
}

/// A time as on the command line, or nothing.
fn when<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    let text = String::deserialize(value)?;
    if text.is_empty() { Ok(text) } else { when::check(&text).map_err(D::Error::custom) }
}

/// A text to search for, which is short enough.
pub(super) fn text<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    let text = String::deserialize(value)?;
    if text.chars().nth(MOST_CHARACTERS).is_some() {
        let why = format!("a search has at most {MOST_CHARACTERS} characters");
        return Err(D::Error::custom(why));
    }
    Ok(text)
}

/// Such a text, with few enough words.
fn words<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    let text = text(value)?;
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    if words.count() > MOST_WORDS {
        return Err(D::Error::custom(format!("a search has at most {MOST_WORDS} words")));
    }
    Ok(text)
}

/// The name of a status, or nothing for all.
fn status<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    let status = String::deserialize(value)?;
    match &*status {
        "" | "running" | "waiting" | "failed" | "done" => Ok(status),
        other => {
            let why =
                format!("unknown status `{other}`, expected running, waiting, failed or done");
            Err(D::Error::custom(why))
        }
    }
}

fn limit<'de, D: Deserializer<'de>>(value: D) -> Result<u32, D::Error> {
    match u32::deserialize(value)? {
        limit @ 1..=MOST => Ok(limit),
        other => Err(D::Error::custom(format!("{other} is not a number from 1 to {MOST}"))),
    }
}

/// Text in the query or as a part of the path of an address.
pub(super) fn escaped(text: &str) -> String {
    let mut all = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => all.push(byte.into()),
            byte => all += &format!("%{byte:02X}"),
        }
    }
    all
}

/// The values by which sessions can be filtered.
pub(super) struct Known {
    pub(super) agents: Vec<String>,
    pub(super) projects: Vec<String>,
    pub(super) counts: Counts,
}

/// The time of activity in the sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Time {
    #[default]
    #[serde(rename = "", alias = "all")]
    Any,
    Today,
    Yesterday,
    #[serde(rename = "7d")]
    Week,
    #[serde(rename = "30d")]
    Month,
    #[serde(rename = "90d")]
    Quarter,
}

impl Time {
    /// All of them, with their names in an address and for people.
    pub(super) const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Any, "", "Any time"),
        (Self::Today, "today", "Today"),
        (Self::Yesterday, "yesterday", "Yesterday"),
        (Self::Week, "7d", "Last 7 days"),
        (Self::Month, "30d", "Last 30 days"),
        (Self::Quarter, "90d", "Last 90 days"),
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
