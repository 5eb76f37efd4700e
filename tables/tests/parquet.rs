//! Parquet files.

use std::{fs, path::Path};

use foldline_tables::{
    Row,
    parquet::{Bounds, Dataset},
};
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::rows::{events, rows};

/// Writes the rows a number of times. Returns the names of the files.
fn written(folder: &Path, rows: &[Row], times: usize, bounds: Bounds) -> Vec<String> {
    let create = |name: &str| Ok(Box::new(fs::File::create(folder.join(name))?) as _);
    let mut dataset = Dataset::new(create, bounds).unwrap();
    for _ in 0..times {
        rows.iter().for_each(|row| dataset.push(row.clone()).unwrap());
    }
    dataset.finish().unwrap();
    let names = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

fn reader(path: &Path) -> SerializedFileReader<fs::File> {
    SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap()
}

#[test]
fn each_table_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let names = written(folder.path(), &rows(&events()), 1, Bounds::default());
    assert_eq!(
        names,
        ["calls", "entries", "sessions", "usage"].map(|name| format!("{name}.parquet"))
    );
    let file = reader(&folder.path().join("entries.parquet"));
    let rows: Vec<_> =
        file.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
    assert_eq!(rows.len(), 3);
    let first = r#"{session: "s-1", entry: 0, timestamp: 1970-01-01 00:00:00.001 +00:00, type: "user_message", content: "Why?", corr_id: null,"#;
    assert!(rows[0].starts_with(first), "{}", rows[0]);
}

#[test]
fn tables_without_rows_are_files() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(written(folder.path(), &[], 1, Bounds::default()).len(), 4);
    assert_eq!(
        reader(&folder.path().join("calls.parquet")).metadata().file_metadata().num_rows(),
        0
    );
}

#[test]
fn row_groups_and_files_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let bounds = Bounds { row_group: 1_000, file: 3_000 };
    let names = written(folder.path(), &rows(&events()), 20, bounds);
    let partitions = names.iter().filter(|name| name.starts_with("entries"));
    let partitions: Vec<_> = partitions.map(|name| reader(&folder.path().join(name))).collect();
    assert!(partitions.len() > 1, "{names:?}");
    assert!(names.contains(&"entries-2.parquet".to_owned()), "{names:?}");
    let groups = partitions.iter().map(FileReader::num_row_groups);
    assert!(groups.max() == Some(3), "{names:?}");
    let rows = partitions.iter().map(|file| file.metadata().file_metadata().num_rows());
    assert_eq!(rows.sum::<i64>(), 60);
}
