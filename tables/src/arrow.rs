//! Rows as Arrow record batches: [`Batches`] of a stream of rows, and [`tables`] of events at once.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, RecordBatch, RecordBatchOptions,
    builder::{Float64Builder, Int64Builder, StringBuilder, TimestampMillisecondBuilder},
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use foldline::transduce::Emitter;
use foldline_domain::DomainEvent;

use crate::{
    columns::{Kind, Row, Table, Value},
    emitter::SessionRows,
};

/// The size of a batch from which it is full, in bytes.
const FULL: usize = 16 << 20;

/// The schema of a table.
pub fn schema(table: Table) -> SchemaRef {
    schema_of(table.columns().iter().map(|column| (column.name, column.kind)))
}

/// The schema of columns with these names and kinds.
pub fn schema_of<'n>(columns: impl IntoIterator<Item = (&'n str, Kind)>) -> SchemaRef {
    let fields = columns.into_iter().map(|(name, kind)| {
        let kind = match kind {
            Kind::Text => DataType::Utf8,
            Kind::Integer => DataType::Int64,
            Kind::Number => DataType::Float64,
            Kind::Time => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
        };
        Field::new(name, kind, true)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The rows of each table since its last batch.
#[derive(Debug, Default)]
pub struct Batches {
    rows: [(Vec<Row>, usize); 4],
}

impl Batches {
    /// Adds a row. Returns the batch of its table if it is full.
    ///
    /// # Errors
    /// The row does not have the columns of its table.
    pub fn push(&mut self, row: Row) -> Result<Option<RecordBatch>, ArrowError> {
        let table = row.table;
        let Some((rows, size)) = self.rows.get_mut(table as usize) else { return Ok(None) };
        *size += row.size();
        rows.push(row);
        if *size < FULL {
            return Ok(None);
        }
        *size = 0;
        batch(table, &std::mem::take(rows)).map(Some)
    }

    /// The remaining batch of each table, perhaps without rows.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn finish(self) -> Result<Vec<(Table, RecordBatch)>, ArrowError> {
        let tables = Table::ALL.into_iter().zip(self.rows);
        tables.map(|(table, (rows, _))| Ok((table, batch(table, &rows)?))).collect()
    }
}

/// The tables of the events of a session, each in one batch.
///
/// # Errors
/// A table has more than 2 GiB of text in a column.
pub fn tables<'e>(
    events: impl IntoIterator<Item = &'e DomainEvent>,
) -> Result<Vec<(Table, RecordBatch)>, ArrowError> {
    let mut emitter = SessionRows::default();
    let mut all: [Vec<Row>; 4] = Default::default();
    let mut keep = |row: Row| {
        all.get_mut(row.table as usize).into_iter().for_each(|rows| rows.push(row.clone()));
    };
    events.into_iter().for_each(|event| emitter.emit(event).drain_with(&mut keep));
    emitter.finish().drain_with(&mut keep);
    Table::ALL.into_iter().zip(all).map(|(table, rows)| Ok((table, batch(table, &rows)?))).collect()
}

/// Some rows of a table as a batch.
fn batch(table: Table, rows: &[Row]) -> Result<RecordBatch, ArrowError> {
    let columns: Vec<_> = table.columns().iter().map(|column| (column.name, column.kind)).collect();
    batch_of(&columns, rows.iter().map(|row| &*row.values))
}

/// Rows with these columns as a batch.
///
/// # Errors
/// There is more than 2 GiB of text in a column.
pub fn batch_of<'v>(
    columns: &[(&str, Kind)],
    rows: impl Iterator<Item = &'v [Value]> + Clone,
) -> Result<RecordBatch, ArrowError> {
    let arrays = columns.iter().enumerate().map(|(at, (_, kind))| {
        let values = rows.clone().map(|row| row.get(at).unwrap_or(&Value::Null));
        array(*kind, values)
    });
    let arrays = arrays.collect::<Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.count()));
    RecordBatch::try_new_with_options(schema_of(columns.iter().copied()), arrays, &options)
}

fn array<'v>(kind: Kind, values: impl Iterator<Item = &'v Value>) -> Result<ArrayRef, ArrowError> {
    Ok(match kind {
        Kind::Text => {
            let (mut builder, mut length) = (StringBuilder::new(), 0_usize);
            for value in values {
                let text = if let Value::Text(text) = value { Some(text.decode()) } else { None };
                length += text.as_ref().map_or(0, |text| text.len());
                if i32::try_from(length).is_err() {
                    return Err(ArrowError::OffsetOverflowError(length));
                }
                builder.append_option(text);
            }
            Arc::new(builder.finish())
        }
        Kind::Integer => {
            let mut builder = Int64Builder::new();
            values.for_each(|value| builder.append_option(integer(value)));
            Arc::new(builder.finish())
        }
        Kind::Number => {
            let mut builder = Float64Builder::new();
            values.for_each(|value| builder.append_option(number(value)));
            Arc::new(builder.finish())
        }
        Kind::Time => {
            let mut builder = TimestampMillisecondBuilder::new().with_timezone("UTC");
            values.for_each(|value| builder.append_option(integer(value)));
            Arc::new(builder.finish())
        }
    })
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(*number),
        Value::Time(at) => Some(at.as_millis()),
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    if let Value::Number(number) = value { Some(*number) } else { None }
}
