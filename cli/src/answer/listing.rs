//! [`Listing`]: rows of typed values, printed as a table, JSON or CSV.

use std::io::{self, Write};

use foldline_render::terminal::neutralise;
use foldline_tables as typed;
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{
    folder,
    layout::Layout,
    note::note,
    spreadsheet::guarded,
    value::{Kind, Value, visible},
};
use crate::table::{Need, Table};

/// A column: its name in JSON and CSV, and its kind.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    name: String,
    kind: Kind,
    /// Whether the column is shown in tables, which have little space.
    in_tables: bool,
}

impl Column {
    fn heading(&self) -> String {
        let name = self.name.as_str();
        match name {
            "number" => "#".to_owned(),
            "session_id" => "session".to_owned(),
            "failures" => "failed".to_owned(),
            "failure_rate" => "rate".to_owned(),
            _ => match self.kind {
                Kind::Duration => name.trim_end_matches("_ms").replace('_', " "),
                Kind::Money => name.replace("_usd", "").replace('_', " "),
                _ => name.trim_end_matches("_tokens").replace('_', " "),
            },
        }
    }
}

/// Rows of values.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    columns: Vec<Column>,
    /// Names of columns that a narrow table omits, in this order.
    less_important: &'static str,
    /// Columns that a narrow table keeps.
    kept: &'static str,
    pub(crate) rows: Vec<Vec<Value>>,
    /// A column that tables show after another column than JSON and CSV do: the preceding column, and the column.
    moved: Vec<(&'static str, &'static str)>,
    /// The last row of a table.
    total: Option<Vec<Value>>,
    /// The number of first columns that are keys. Tables show a key that the log does not state as `(none)`.
    keys: usize,
    /// Whether the headings of tables are the names of the columns.
    is_verbatim: bool,
}

impl Listing {
    pub(crate) fn new(columns: &[(&str, Kind)]) -> Self {
        let columns = columns.iter().map(|&(name, kind)| Column {
            name: name.to_owned(),
            kind,
            in_tables: true,
        });
        Self {
            columns: columns.collect(),
            less_important: "",
            kept: "",
            rows: Vec::new(),
            moved: Vec::new(),
            total: None,
            keys: 0,
            is_verbatim: false,
        }
    }

    /// Creates a listing with columns of these names, separated by spaces, and of their usual kinds.
    pub(crate) fn named(columns: &str) -> Self {
        let columns = columns.split_whitespace().map(|name| (name, Kind::of(name)));
        Self::new(&columns.collect::<Vec<_>>())
    }

    /// Rows whose fields have the names of the columns.
    pub(crate) fn of(columns: &str, rows: &[impl Serialize]) -> Self {
        let mut listing = Self::named(columns);
        let value = |row: &mut serde_json::Value, name: &str| {
            row.get_mut(name).map_or(Value::Null, |value| value.take().into())
        };
        listing.rows.extend(rows.iter().map(|row| {
            let mut row = serde_json::to_value(row).unwrap_or_default();
            listing.columns.iter().map(|column| value(&mut row, &column.name)).collect()
        }));
        listing
    }

    /// Changes the kind of columns.
    pub(crate) fn with_kind(mut self, kind: Kind, names: &[&str]) -> Self {
        let is_named = |column: &&mut Column| names.contains(&column.name.as_str());
        self.columns.iter_mut().filter(is_named).for_each(|column| column.kind = kind);
        self
    }

    /// Uses the names of the columns as headings, and aligns columns that consist of numbers.
    pub(crate) fn verbatim(mut self) -> Self {
        self.is_verbatim = true;
        for (at, column) in self.columns.iter_mut().enumerate() {
            let mut values = self.rows.iter().filter_map(|row| row.get(at));
            if values.all(|value| !matches!(value, Value::Text(_))) {
                column.kind = Kind::Number;
            }
        }
        self
    }

    /// Marks the first columns as keys.
    pub(crate) fn with_keys(mut self, keys: usize) -> Self {
        self.keys = keys;
        self
    }

    /// Removes a column.
    pub(crate) fn without(mut self, name: &str) -> Self {
        if let Some(at) = self.columns.iter().position(|column| column.name == name) {
            self.columns.remove(at);
            self.rows.iter_mut().chain(&mut self.total).for_each(|row| drop(row.remove(at)));
        }
        self
    }

    /// Renames a column.
    pub(crate) fn renamed(mut self, from: &str, to: &str) -> Self {
        let column = self.columns.iter_mut().find(|column| column.name == from);
        column.into_iter().for_each(|column| to.clone_into(&mut column.name));
        self
    }

    /// Hides columns in tables.
    pub(crate) fn without_in_tables(mut self, names: &str) -> Self {
        for column in &mut self.columns {
            column.in_tables = !names.split(' ').any(|name| name == column.name);
        }
        self
    }

    /// Hides columns in tables that are too narrow for all columns, in this order.
    pub(crate) fn dropping(mut self, less_important: &'static str) -> Self {
        self.less_important = less_important;
        self
    }

    /// Moves a column behind another one in tables.
    pub(crate) fn showing_behind(mut self, first: &'static str, then: &'static str) -> Self {
        self.moved.push((first, then));
        self
    }

    /// Keeps columns in narrow tables.
    pub(crate) fn keeping(mut self, kept: &'static str) -> Self {
        self.kept = kept;
        self
    }

    /// Adds a last row to tables.
    pub(crate) fn with_total(mut self, total: Vec<Value>) -> Self {
        self.total = Some(total);
        self
    }

    /// The columns and the rows, with the types that their values have.
    pub(crate) fn into_typed(self) -> (Vec<(String, typed::Kind)>, Vec<Vec<typed::Value>>) {
        let Self { columns, rows, .. } = self;
        let of = |(at, column): (usize, &Column)| {
            column.kind.typed(rows.iter().filter_map(|row| row.get(at)))
        };
        let kinds: Vec<_> = columns.iter().enumerate().map(of).collect();
        let rows = rows.into_iter().map(|row| {
            let values = row.into_iter().zip(&columns).zip(&kinds);
            values.map(|((value, column), kind)| value.typed(column.kind, *kind)).collect()
        });
        let rows = rows.collect();
        (columns.into_iter().map(|column| column.name).zip(kinds).collect(), rows)
    }

    pub(crate) fn write_table(&self, out: &mut dyn Write, layout: Layout<'_>) -> io::Result<()> {
        if self.rows.is_empty() {
            return writeln!(out, "nothing was found");
        }
        let position = |name: &str| self.columns.iter().position(|column| column.name == name);
        let (basis, number) = (position("cost_basis"), position("number"));
        let time_basis = position("time_basis");
        let folders = self.folders();
        let mut order: Vec<_> = (0..self.columns.len()).collect();
        for (first, then) in &self.moved {
            let place = |name: &str| order.iter().position(|at| self.columns[*at].name == *name);
            if let Some((first, then)) =
                place(first).zip(place(then)).filter(|(first, then)| first < then)
            {
                order[first + 1..=then].rotate_right(1);
            }
        }
        let row = |row: &Vec<Value>, keys: usize| {
            let basis = basis.and_then(|at| row.get(at));
            // A cost that is estimated, or partly so.
            let is_about = basis.is_some_and(|basis| {
                !matches!(basis, Value::Null) && *basis != Value::from("logged")
            });
            let is_of_file = time_basis.and_then(|at| row.get(at)) == Some(&Value::from("file"));
            let values = order.iter().filter_map(|&at| Some((at, &self.columns[at], row.get(at)?)));
            let values = values.filter(|(_, column, _)| column.in_tables);
            let shown = values.map(|(at, column, value)| match (column.kind, value) {
                (_, Value::Null) if at < keys => "(none)".to_owned(),
                (Kind::Folder, Value::Text(path)) => visible(folders.name(path)),
                // A number is shown if the log has no name for it.
                (Kind::Short, Value::Null) => {
                    let number = number.and_then(|at| row.get(at));
                    number.map(|number| number.shown(Kind::Number, layout.zone)).unwrap_or_default()
                }
                // A limit is given, not estimated.
                (Kind::Money, Value::Real(_)) if is_about && column.name != "cost_limit_usd" => {
                    format!("≈{}", value.shown(column.kind, layout.zone))
                }
                (Kind::Minute, Value::Integer(_)) if is_of_file => {
                    format!("≈{}", value.shown(column.kind, layout.zone))
                }
                (kind, value) => value.shown(kind, layout.zone),
            });
            shown.collect::<Vec<_>>()
        };
        let mut rows: Vec<_> = self.rows.iter().map(|values| row(values, self.keys)).collect();
        let total = self.total.iter().filter(|_| self.rows.len() > 1);
        rows.extend(total.map(|total| row(total, 0)));
        let ordered = order.iter().map(|&at| &self.columns[at]);
        let mut columns: Vec<_> = ordered.filter(|column| column.in_tables).collect();
        let heading = |column: &&Column| match self.is_verbatim {
            true => column.name.clone(),
            false => column.heading(),
        };
        let headings = columns.iter().map(heading).collect();
        let layouts = columns.iter().map(|column| column.kind.layout()).collect();
        let table = Table { headings, layouts, rows };
        let hidden = table.write(out, (layout.width, layout.is_coloured), |need| {
            let at = self.least_important(&columns, need)?;
            columns.remove(at);
            Some(at)
        })?;
        hidden
            .map_or(Ok(()), |hidden| note(out, &hidden.note(), (layout.width, layout.is_coloured)))
    }

    /// The column that a narrow table hides next: the least important, else, if it is too wide, the last one.
    fn least_important(&self, columns: &[&Column], need: Need) -> Option<usize> {
        let is_kept = |name: &str| self.kept.split(' ').any(|kept| kept == name);
        let mut named = self.less_important.split(' ').filter(|name| !is_kept(name));
        let at = |name: &str| columns.iter().position(|column| column.name == name);
        let last =
            || columns.iter().rposition(|column| !is_kept(&column.name)).filter(|at| *at > 0);
        let or_last = || last().or(columns.len().checked_sub(1));
        named.find_map(at).or_else(|| (need == Need::Room).then(or_last).flatten())
    }

    /// The names of the folders in it.
    fn folders(&self) -> folder::Names<'_> {
        let folders = self.rows.iter().flat_map(|row| self.columns.iter().zip(row));
        folder::Names::of(folders.filter_map(|(column, value)| match (column.kind, value) {
            (Kind::Folder, Value::Text(path)) => Some(&**path),
            _ => None,
        }))
    }

    /// Writes it as CSV. Nothing in it controls a terminal, which may show it after any pipe.
    pub(crate) fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.columns.iter().map(|column| guarded(column.name.clone())))?;
        for row in &self.rows {
            writer.write_record(self.columns.iter().zip(row).map(|(column, value)| {
                match value.exact(column.kind) {
                    Value::Null => String::new(),
                    Value::Integer(number) => number.to_string(),
                    Value::Real(number) => number.to_string(),
                    Value::Text(text) => guarded(neutralise(&text).into_owned()),
                }
            }))?;
        }
        writer.flush()
    }
}

impl Serialize for Listing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows.iter().map(|row| Object { columns: &self.columns, row }))
    }
}

/// A row as a JSON object, with its columns in their order.
struct Object<'l> {
    columns: &'l [Column],
    row: &'l [Value],
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.row.len()))?;
        for (column, value) in self.columns.iter().zip(self.row) {
            object.serialize_entry(&column.name, &value.exact(column.kind))?;
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use crate::answer::{OutputFormat, Printed, json};

    fn print(listing: &Listing, format: OutputFormat) -> String {
        let mut out = Vec::new();
        let layout = Layout { format, width: 80, zone: &TimeZone::UTC, is_coloured: false };
        Printed::write(listing, &mut out, layout).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_cell_is_never_a_formula() {
        let mut listing = Listing::new(&[("text", Kind::Text), ("n", Kind::Number)]);
        for text in ["=1+1", "+1", "-1", "@a", "\t=1", "a=1", "say \"hi\", =1"] {
            listing.rows.push(vec![text.into(), Value::Integer(-1)]);
        }
        let csv = print(&listing, OutputFormat::Csv);
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let cells: Vec<_> = reader.records().map(|row| row.unwrap()[0].to_owned()).collect();
        assert_eq!(cells, ["'=1+1", "'+1", "'-1", "'@a", "'\t=1", "a=1", "say \"hi\", =1"]);
        assert!(csv.contains(",-1\n"));
    }

    #[test]
    fn nothing_controls_a_terminal() {
        let mut listing = Listing::new(&[("text", Kind::Text)]);
        let hostile = "a\x1b]52;c;eA==\x07\u{9b}2J\x7f\u{202e}\u{2066}b";
        listing.rows.push(vec![hostile.into()]);
        for format in [OutputFormat::Csv, OutputFormat::Json, OutputFormat::Table] {
            let shown = print(&listing, format);
            let is_control =
                |c: char| json::is_terminal_control(c) || (c.is_control() && c != '\n');
            assert!(!shown.contains(is_control), "{shown:?}");
        }
        let read: Vec<serde_json::Map<_, _>> =
            serde_json::from_str(&print(&listing, OutputFormat::Json)).unwrap();
        assert_eq!(read[0]["text"], hostile);
    }

    #[test]
    fn programs_get_exact_values_and_people_short_ones() {
        let mut listing = Listing::new(&[
            ("at", Kind::Moment),
            ("took_ms", Kind::Duration),
            ("rate", Kind::Rate),
            ("cost", Kind::Money),
        ]);
        let row = [1_760_000_000_123, 61_500].map(Value::Integer);
        listing.rows.push(row.into_iter().chain([Value::Real(0.25), Value::Null]).collect());
        let json: serde_json::Value =
            serde_json::from_str(&print(&listing, OutputFormat::Json)).unwrap();
        let row = serde_json::json!(
            {"at": "2025-10-09T08:53:20.123Z", "took_ms": 61500, "rate": 0.25, "cost": null}
        );
        assert_eq!(json, serde_json::json!([row]));
        let table = print(&listing, OutputFormat::Table);
        assert_eq!(table.lines().nth(1), Some("2025-10-09 08:53:20  1 m 01 s  25.0%"));
    }
}
