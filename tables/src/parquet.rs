//! Rows as Parquet files: [`Dataset`].

use std::{
    io::{self, Write},
    mem,
    sync::Arc,
};

use parquet::{
    basic::Compression,
    data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type},
    errors::{ParquetError, Result},
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::{parser::parse_message_type, types::TypePtr},
};

use crate::columns::{Kind, Row, Table, Value};

/// The bounds of a dataset, in bytes before compression.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The size from which a row group is full. The rows of one group of each table are in memory.
    pub row_group: usize,
    /// The size from which a file is full: another partition follows.
    pub file: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { row_group: 32 << 20, file: 2 << 30 }
    }
}

/// The files of each table: `entries.parquet`, then `entries-2.parquet`, and so on. Each table has at least one file.
pub struct Dataset<C> {
    create: C,
    bounds: Bounds,
    tables: Vec<Partitions>,
}

/// The files of a table.
struct Partitions {
    table: Table,
    schema: TypePtr,
    /// The rows of the next row group, and their size.
    rows: Vec<Row>,
    size: usize,
    /// The number of the partition, its size, and its file once it has a row group.
    number: usize,
    written: usize,
    file: Option<SerializedFileWriter<Box<dyn Write + Send>>>,
}

impl<C: FnMut(&str) -> io::Result<Box<dyn Write + Send>>> Dataset<C> {
    /// A dataset, whose files `create` creates by their names.
    ///
    /// # Errors
    /// The columns of a table are no schema; those of this crate are.
    pub fn new(create: C, bounds: Bounds) -> Result<Self> {
        let tables = Table::ALL.into_iter().map(|table| {
            let schema = Arc::new(parse_message_type(&schema(table))?);
            let (rows, file) = (Vec::new(), None);
            Ok(Partitions { table, schema, rows, size: 0, number: 1, written: 0, file })
        });
        Ok(Self { create, bounds, tables: tables.collect::<Result<_>>()? })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// A file cannot be created or written.
    pub fn push(&mut self, row: Row) -> Result<()> {
        let Self { create, bounds, tables } = self;
        let Some(of) = tables.get_mut(row.table as usize) else { return Ok(()) };
        of.size += row.size();
        of.rows.push(row);
        if of.size >= bounds.row_group {
            of.flush(create)?;
        }
        if of.written >= bounds.file {
            of.end()?;
        }
        Ok(())
    }

    /// Writes the remaining rows and ends all files.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn finish(mut self) -> Result<()> {
        for of in &mut self.tables {
            // A table without rows has a file, too.
            if !of.rows.is_empty() || of.number == 1 && of.file.is_none() {
                of.flush(&mut self.create)?;
            }
            of.end()?;
        }
        Ok(())
    }
}

impl Partitions {
    /// Writes the rows as a row group.
    fn flush(
        &mut self,
        create: &mut impl FnMut(&str) -> io::Result<Box<dyn Write + Send>>,
    ) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let ending =
                    if self.number == 1 { String::new() } else { format!("-{}", self.number) };
                let file = create(&format!("{}{ending}.parquet", self.table.name()))?;
                let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
                let properties = Arc::new(properties.build());
                let new = SerializedFileWriter::new(file, Arc::clone(&self.schema), properties)?;
                self.file.insert(new)
            }
        };
        let rows = mem::take(&mut self.rows);
        self.written += mem::take(&mut self.size);
        if !rows.is_empty() {
            let mut group = file.next_row_group()?;
            for (at, column) in self.table.columns().iter().enumerate() {
                let values = rows.iter().map(|row| row.values.get(at).unwrap_or(&Value::Null));
                write(&mut group, column.kind, values)?;
            }
            group.close()?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        if let Some(file) = self.file.take() {
            file.into_inner()?.flush()?;
            (self.number, self.written) = (self.number + 1, 0);
        }
        Ok(())
    }
}

fn schema(table: Table) -> String {
    let columns = table.columns().iter().map(|column| {
        let (kind, logical) = match column.kind {
            Kind::Text => ("BYTE_ARRAY", " (STRING)"),
            Kind::Integer => ("INT64", ""),
            Kind::Number => ("DOUBLE", ""),
            Kind::Time => ("INT64", " (TIMESTAMP(MILLIS,true))"),
        };
        format!("OPTIONAL {kind} {}{logical};", column.name)
    });
    format!("message {} {{ {} }}", table.name(), columns.collect::<String>())
}

/// Writes the next column of a row group.
fn write<'v>(
    group: &mut SerializedRowGroupWriter<'_, Box<dyn Write + Send>>,
    kind: Kind,
    values: impl Iterator<Item = &'v Value> + Clone,
) -> Result<()> {
    let missing = || ParquetError::General("a row group lacks a column".to_owned());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    let levels: Vec<i16> =
        values.clone().map(|value| i16::from(!matches!(value, Value::Null))).collect();
    match kind {
        Kind::Text => {
            let texts = values.filter_map(|value| match value {
                Value::Text(text) => Some(ByteArray::from(text.clone().into_string().into_bytes())),
                _ => None,
            });
            let texts: Vec<_> = texts.collect();
            column.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None)?;
        }
        Kind::Integer | Kind::Time => {
            let numbers = values.filter_map(|value| match value {
                Value::Integer(number) => Some(*number),
                Value::Time(at) => Some(at.as_millis()),
                _ => None,
            });
            let numbers: Vec<_> = numbers.collect();
            column.typed::<Int64Type>().write_batch(&numbers, Some(&levels), None)?;
        }
        Kind::Number => {
            let numbers = values.filter_map(|value| match value {
                Value::Number(number) => Some(*number),
                _ => None,
            });
            let numbers: Vec<_> = numbers.collect();
            column.typed::<DoubleType>().write_batch(&numbers, Some(&levels), None)?;
        }
    }
    column.close()
}
