//! [`Value`]: a value of an answer, and its [`Kind`], which decides how it is shown.

use foldline_domain as domain;
use foldline_render::human;
use foldline_tables as typed;
use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;

use crate::table::{Clip, Layout};

/// The kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text that may be clipped in a table.
    Text,
    /// Text that is clipped last.
    Id,
    /// An id; a table shows a prefix that identifies it.
    Short,
    /// A folder, of which a table shows the last part.
    Folder,
    /// The text that says what the row is about.
    Subject,
    /// A path that may be clipped at its beginning.
    Path,
    /// A number.
    Number,
    /// A large number, rounded in a table.
    Tokens,
    /// Milliseconds since 1970; in JSON and CSV RFC 3339.
    Moment,
    /// The same, with less precision in a table.
    Minute,
    /// Milliseconds.
    Duration,
    /// A fraction of one.
    Rate,
    /// US dollars.
    Money,
}

/// A value of SQLite.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
}

impl Kind {
    /// The usual kind of a column of this name.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "at" => Self::Moment,
            "began" | "ended" => Self::Minute,
            "session_id" => Self::Short,
            "path" => Self::Path,
            "cwd" | "project" => Self::Folder,
            "failure_rate" | "limit_share" | "cost_limit_share" => Self::Rate,
            "number" | "session" | "sessions" | "index" | "turns" | "entries" | "calls"
            | "failures" | "warnings" | "open" | "count" | "exit_code" => Self::Number,
            "title" | "what" | "message" | "content" | "output" | "command" => Self::Subject,
            "matches" | "agents" | "models" | "subject" | "parent" | "source" => Self::Text,
            _ if name.ends_with("_ms") => Self::Duration,
            _ if name.contains("_usd") => Self::Money,
            _ if name.contains("token") => Self::Tokens,
            _ => Self::Id,
        }
    }

    /// The type of a column with these values.
    pub(super) fn typed<'v>(self, mut values: impl Iterator<Item = &'v Value>) -> typed::Kind {
        let numbers = match self {
            Self::Moment | Self::Minute => typed::Kind::Time,
            Self::Number | Self::Tokens | Self::Duration => typed::Kind::Integer,
            Self::Rate | Self::Money => typed::Kind::Number,
            _ => typed::Kind::Text,
        };
        values
            .try_fold(numbers, |kind, value| match (kind, value) {
                (_, Value::Text(_)) => Err(typed::Kind::Text),
                (typed::Kind::Integer | typed::Kind::Time, Value::Real(_)) => {
                    Ok(typed::Kind::Number)
                }
                _ => Ok(kind),
            })
            .unwrap_or_else(|text| text)
    }

    pub(super) fn layout(self) -> Layout {
        let right =
            matches!(self, Self::Number | Self::Tokens | Self::Duration | Self::Rate | Self::Money);
        let clip = match self {
            Self::Subject => Clip::Subject,
            Self::Text => Clip::Early,
            Self::Path | Self::Folder => Clip::Start,
            Self::Id => Clip::Late,
            Self::Short => Clip::Prefix,
            _ => Clip::Never,
        };
        Layout { right, clip }
    }
}

impl Value {
    /// US dollars, rounded to nine decimals, so that sums do not depend on the order of addition.
    fn dollars(dollars: f64) -> Self {
        Self::Real((dollars * 1e9).round() / 1e9)
    }

    /// The machine-readable form.
    pub(crate) fn exact(&self, kind: Kind) -> Self {
        match (kind, self) {
            (Kind::Moment | Kind::Minute, Self::Integer(millis)) => match moment(*millis) {
                Some(moment) => Self::Text(moment.to_string()),
                None => self.clone(),
            },
            // However the sum was added up.
            (Kind::Money, Self::Real(dollars)) => Self::dollars(*dollars),
            _ => self.clone(),
        }
    }

    /// The value in a column of this type.
    pub(super) fn typed(self, kind: Kind, of: typed::Kind) -> typed::Value {
        match (of, self.exact(kind)) {
            (_, Self::Null) => typed::Value::Null,
            (typed::Kind::Integer, Self::Integer(number)) => typed::Value::Integer(number),
            (typed::Kind::Number, Self::Integer(number)) => typed::Value::Number(number as f64),
            (typed::Kind::Number, Self::Real(number)) => typed::Value::Number(number),
            (typed::Kind::Time, _) => match self {
                Self::Integer(millis) => typed::Value::Time(domain::Timestamp::from_millis(millis)),
                _ => typed::Value::Null,
            },
            (_, Self::Text(text)) => typed::Value::Text(text.into()),
            (_, Self::Integer(number)) => typed::Value::Text(number.to_string().into()),
            (_, Self::Real(number)) => typed::Value::Text(number.to_string().into()),
        }
    }

    /// The human-readable form.
    pub(crate) fn shown(&self, kind: Kind, zone: &TimeZone) -> String {
        match (kind, self) {
            (_, Self::Null) => String::new(),
            (Kind::Moment | Kind::Minute, Self::Integer(millis)) => {
                let exactness = if kind == Kind::Minute { "%F %H:%M" } else { "%F %T" };
                match moment(*millis) {
                    Some(moment) => moment.to_zoned(zone.clone()).strftime(exactness).to_string(),
                    None => millis.to_string(),
                }
            }
            (Kind::Duration, Self::Integer(millis)) => people(human::duration, *millis),
            (Kind::Rate, Self::Real(rate)) => format!("{:.1}%", rate * 100.0),
            (Kind::Money, Self::Real(dollars)) => format!("${dollars:.2}"),
            (Kind::Tokens, Self::Integer(number)) => people(human::count, *number),
            (_, Self::Integer(number)) => number.to_string(),
            (_, Self::Real(number)) => number.to_string(),
            (Kind::Short, Self::Text(text)) => short_id(text),
            (_, Self::Text(text)) => visible(text),
        }
    }
}

/// The first characters of an id, enough to type.
pub(crate) fn short_id(id: &str) -> String {
    let is_uuid = id.len() == 36 && id.as_bytes().get(8) == Some(&b'-');
    // Ids of version 7 begin with their creation time.
    let is_random = is_uuid && id.as_bytes().get(14) != Some(&b'7');
    id.chars().take(if is_random { 8 } else { 13 }).collect()
}

/// The part of a text that can be visible in a table.
pub(crate) fn visible(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

const LONGEST: usize = 1000;

fn moment(millis: i64) -> Option<Timestamp> {
    Timestamp::from_millisecond(millis).ok()
}

/// A number in the form of the other outputs; a negative number is not a count.
fn people(shown: fn(u64) -> String, number: i64) -> String {
    u64::try_from(number).map_or_else(|_| number.to_string(), shown)
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::String(text) => Self::Text(text),
            value => match value.as_i64() {
                Some(number) => Self::Integer(number),
                None => value.as_f64().map_or(Self::Null, Self::Real),
            },
        }
    }
}

impl<N: TryInto<i64>> From<Option<N>> for Value {
    fn from(number: Option<N>) -> Self {
        number.and_then(|number| number.try_into().ok()).map_or(Self::Null, Self::Integer)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
