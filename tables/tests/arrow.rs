//! Record batches.

use arrow_array::{
    Array,
    cast::AsArray,
    types::{Int64Type, TimestampMillisecondType},
};
use foldline_tables::{Table, arrow};

use crate::rows::{events, rows};

#[test]
fn each_table_is_a_batch() {
    let tables = arrow::tables(&events()).unwrap();
    let sizes: Vec<_> =
        tables.iter().map(|(table, batch)| (table.name(), batch.num_rows())).collect();
    assert_eq!(sizes, [("sessions", 1), ("entries", 3), ("calls", 1), ("usage", 1)]);
    let (table, entries) = &tables[1];
    assert_eq!(entries.schema(), arrow::schema(*table));
    let texts = entries.column_by_name("content").unwrap().as_string::<i32>();
    assert_eq!(texts.iter().collect::<Vec<_>>(), [Some("Why?"), Some("Because"), Some("ls")]);
    let numbers = entries.column_by_name("entry").unwrap().as_primitive::<Int64Type>();
    assert_eq!(numbers.values(), &[0, 2, 1]);
    let times = entries.column_by_name("timestamp").unwrap();
    let times = times.as_primitive::<TimestampMillisecondType>();
    assert_eq!((times.value(0), times.is_null(1)), (1, true));
}

#[test]
fn a_batch_is_full_before_it_is_large() {
    let mut batches = arrow::Batches::default();
    let mut large = rows(&events())[0].clone();
    large.values[4] = foldline_tables::Value::Text("x".repeat(5 << 20).into());
    let full: Vec<_> = (0..5).filter_map(|_| batches.push(large.clone()).unwrap()).collect();
    assert_eq!(full.iter().map(arrow_array::RecordBatch::num_rows).collect::<Vec<_>>(), [4]);
    let rest = batches.finish().unwrap();
    let rest: Vec<_> = rest.iter().map(|(table, batch)| (*table, batch.num_rows())).collect();
    assert_eq!(rest[1], (Table::Entries, 1));
}
