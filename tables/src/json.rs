//! Rows as flat JSON lines.
//!
//! The first line is [`header`]: the version, and the columns of each table with the kinds of their values. Each further
//! line is a row: its table, and all columns of it, those without a value as `null`. Times are in RFC 3339.

use foldline_domain::Timestamp;
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::columns::{Row, Table, VERSION, Value};

/// The first line, without a line feed.
///
/// # Errors
/// As for [`foldline_json::to_string`].
pub fn header() -> Result<String, foldline_json::Error> {
    foldline_json::to_string(&Header { schema_version: VERSION, tables: Tables })
}

/// The line of a row, without a line feed.
///
/// # Errors
/// As for [`foldline_json::to_string`].
pub fn line(row: &Row) -> Result<String, foldline_json::Error> {
    foldline_json::to_string(row)
}

#[derive(Serialize)]
struct Header {
    schema_version: u64,
    tables: Tables,
}

struct Tables;

impl Serialize for Tables {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Table::ALL.map(|table| (table.name(), Columns(table))))
    }
}

struct Columns(Table);

impl Serialize for Columns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = self.0.columns().iter();
        serializer.collect_map(columns.map(|column| (column.name, column.kind.name())))
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("table", self.table.name())?;
        for (column, value) in self.table.columns().iter().zip(&self.values) {
            map.serialize_entry(column.name, value)?;
        }
        map.end()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Text(text) => text.serialize(serializer),
            Self::Integer(number) => number.serialize(serializer),
            Self::Number(number) => number.serialize(serializer),
            Self::Time(at) => match rfc3339(*at) {
                Some(text) => text.serialize(serializer),
                None => at.serialize(serializer),
            },
        }
    }
}

/// `None` for a time beyond the year 9999.
fn rfc3339(at: Timestamp) -> Option<String> {
    Some(jiff::Timestamp::from_millisecond(at.as_millis()).ok()?.to_string())
}
