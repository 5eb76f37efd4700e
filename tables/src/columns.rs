//! [`Table`]s with their [`Column`]s, and a [`Row`] of one.

use foldline_domain::{Text, Timestamp};

/// The version of the tables. A column may be added under the same one.
pub(crate) const VERSION: u64 = 1;

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// A row for each session.
    Sessions,
    /// A row for each entry of a session.
    Entries,
    /// A row for each tool call; its entry is one of [`Entries`](Self::Entries), too.
    Calls,
    /// A row for each message, or other unit, whose tokens a log states.
    Usage,
}

/// A column of a table. Every value may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: Kind,
}

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A string; JSON, if the name of the column ends in `_json`.
    Text,
    /// A whole number of 64 bits with a sign.
    Integer,
    /// A floating-point number of 64 bits.
    Number,
    /// A time in milliseconds since 1970, in UTC.
    Time,
}

impl Kind {
    /// The name of this kind.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Time => "time",
        }
    }
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Absent.
    Null,
    /// A string.
    Text(Text),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Number(f64),
    /// A time.
    Time(Timestamp),
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The table.
    pub table: Table,
    /// A value for each column of the table, in their order.
    pub values: Vec<Value>,
}

impl Row {
    /// The approximate size in bytes.
    pub fn size(&self) -> usize {
        let sizes = self.values.iter().map(|value| match value {
            Value::Text(text) => text.length(),
            _ => 0,
        });
        sizes.sum::<usize>() + 8 * self.values.len()
    }
}

impl Table {
    /// All tables.
    pub const ALL: [Self; 4] = [Self::Sessions, Self::Entries, Self::Calls, Self::Usage];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Entries => "entries",
            Self::Calls => "calls",
            Self::Usage => "usage",
        }
    }

    /// Its columns.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Self::Sessions => SESSIONS,
            Self::Entries => ENTRIES,
            Self::Calls => CALLS,
            Self::Usage => USAGE,
        }
    }
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text }
}

const fn integer(name: &'static str) -> Column {
    Column { name, kind: Kind::Integer }
}

const fn number(name: &'static str) -> Column {
    Column { name, kind: Kind::Number }
}

const fn time(name: &'static str) -> Column {
    Column { name, kind: Kind::Time }
}

const SESSIONS: &[Column] = &[
    text("session"),
    text("agent"),
    text("version"),
    text("model"),
    text("provider"),
    text("title"),
    text("cwd"),
    text("branch"),
    text("parent_session"),
    text("relation"),
    time("started_at"),
    time("ended_at"),
    integer("duration_ms"),
    text("outcome"),
    text("outcome_reason"),
    integer("turns"),
    integer("entries"),
    integer("calls"),
    integer("warnings"),
    // Facts without a column.
    text("facts_json"),
];

const ENTRIES: &[Column] = &[
    text("session"),
    integer("entry"),
    time("timestamp"),
    text("type"),
    text("content"),
    text("corr_id"),
    // The call whose sub-agent produced the entry.
    text("parent_corr_id"),
    text("message_id"),
    text("model"),
    integer("images"),
    text("extra_json"),
];

const CALLS: &[Column] = &[
    text("session"),
    integer("entry"),
    time("timestamp"),
    text("corr_id"),
    text("parent_corr_id"),
    text("child_session"),
    text("message_id"),
    text("tool"),
    text("action"),
    text("title"),
    text("status"),
    // The action without its result.
    text("action_json"),
    text("result"),
    integer("exit_code"),
    integer("duration_ms"),
];

const USAGE: &[Column] = &[
    text("session"),
    // The session that a person began.
    text("root_session"),
    time("timestamp"),
    text("model"),
    text("message_id"),
    integer("input_tokens"),
    integer("output_tokens"),
    integer("cache_read_tokens"),
    integer("cache_write_tokens"),
    integer("cache_write_1h_tokens"),
    integer("reasoning_tokens"),
    integer("web_searches"),
    number("cost_usd"),
    // `logged`, `estimated`, or absent without a cost.
    text("cost_basis"),
];
