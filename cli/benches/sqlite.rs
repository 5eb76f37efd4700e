//! Ingestion compared with plain insertions of the same rows, two threads with one, and the end of a long session
//! with the end of a short one.
//!
//! A single connection writes. With any number of threads, ingestion therefore takes at least as long as the
//! insertions: further threads can only save the rest of the time of one thread.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../benches/common/mod.rs"]
mod common;
#[path = "common/program.rs"]
mod program;

use std::{convert::Infallible, fs, hint::black_box, path::Path, process::Command};

use criterion::{Criterion, Throughput};
use foldline::{
    conversation::{DomainEvent, Json, Located, NormalizedEntry, NormalizedEntryType, Position},
    emitters::{
        database::RowEmitter,
        sqlite::{DEFAULT_WAIT, Database},
    },
    ledger::{Checkpoint, Commit, Ledger, SourceFacts},
    transduce::{Batch, Emitter, Gather},
};
use rusqlite::{Connection, types::Value};

use self::{
    common::{droid, timing},
    program::PROGRAM,
};

/// The number of logs, and the size of each.
const LOGS: u64 = 119;
const BYTES: usize = (128 << 20) / LOGS as usize;

fn ingest(folder: &Path, db: &Path, jobs: &str) {
    remove(db);
    let status = Command::new(PROGRAM)
        .arg("ingest")
        .arg(folder)
        .arg("--db")
        .arg(db)
        .args(["--jobs", jobs])
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.unwrap().success());
}

fn remove(db: &Path) {
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", db.display()));
    }
}

/// The rows of a database, for plain insertions.
struct Rows {
    table: &'static str,
    columns: usize,
    rows: Vec<Vec<Value>>,
}

const TABLES: [&str; 7] =
    ["sources", "sessions", "entries", "tool_calls", "tool_paths", "message_usage", "warnings"];

fn rows(db: &Path) -> Vec<Rows> {
    let connection = Connection::open(db).unwrap();
    let rows = |table| {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let rows = statement
            .query_map([], |row| (0..columns).map(|column| row.get(column)).collect())
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        Rows { table, columns, rows }
    };
    TABLES.map(rows).into()
}

/// Inserts the same rows into the same tables, indices and search index.
fn insert(db: &Path, tables: &[Rows]) {
    remove(db);
    drop(Database::open(db, DEFAULT_WAIT).unwrap());
    let mut connection = Connection::open(db).unwrap();
    connection
        .execute_batch(
            "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY",
        )
        .unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    let transaction = connection.transaction().unwrap();
    for Rows { table, columns, rows } in tables {
        let places = vec!["?"; *columns].join(", ");
        let mut insert =
            transaction.prepare(&format!("INSERT INTO {table} VALUES ({places})")).unwrap();
        let mut search = transaction
            .prepare("INSERT INTO search (rowid, content, output) VALUES (?1, ?2, ?3)")
            .unwrap();
        for row in rows {
            insert.execute(rusqlite::params_from_iter(row)).unwrap();
            if let ("entries", [id, .., content, output, _]) = (*table, row.as_slice()) {
                search.execute([id, content, output]).unwrap();
            }
        }
    }
    transaction.commit().unwrap();
}

fn long_session(db: &Path, entries: u64) -> Database {
    let events = (0..entries).map(|number| {
        let text = format!("entry {number}: {}", "some words that fill the line ".repeat(8));
        let entry = NormalizedEntry::new(NormalizedEntryType::AssistantMessage, text);
        Located::new(Position { line: number + 1, offset: number * 300 }, DomainEvent::entry(entry))
    });
    let mut rows = RowEmitter::default();
    for event in events {
        let _: Batch<Infallible> = rows.emit(&event);
    }
    let checkpoint = Checkpoint {
        facts: SourceFacts::default(),
        position: Position { line: entries, offset: entries * 300 },
        state: Json::default(),
        complete: false,
    };
    let commit = Commit { source: "log".into(), expected: None, checkpoint, output: rows.cut() };
    Database::open(db, DEFAULT_WAIT).unwrap().commit(&[commit], &[]).unwrap();
    Database::open_read_only(db, DEFAULT_WAIT).unwrap()
}

fn last_200(database: &Database, entries: i64) {
    let mut count = 0;
    database
        .entries(1, entries - 200..entries, |entry| {
            black_box(entry);
            count += 1;
        })
        .unwrap();
    assert_eq!(count, 200);
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    let mut bytes = 0;
    for number in 0..LOGS {
        let log = droid::log(BYTES, number + 1).replace("608a704f", &format!("{number:08x}"));
        bytes += log.len();
        fs::write(logs.join(format!("{number}.jsonl")), log).unwrap();
    }
    let db = folder.path().join("db");
    ingest(&logs, &db, "1");
    let rows = rows(&db);
    let insert_all = || insert(&db, &rows);
    let ingest_all = |jobs| ingest(&logs, &db, jobs);
    let times = timing::in_turns(
        7,
        &mut [&mut || insert_all(), &mut || ingest_all("1"), &mut || ingest_all("2")],
    );
    let long = long_session(&folder.path().join("long"), 100_000);
    let short = long_session(&folder.path().join("short"), 1_000);
    let last = timing::in_turns(
        201,
        &mut [&mut || last_200(&short, 1_000), &mut || last_200(&long, 100_000)],
    );
    let megabytes = |time: std::time::Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    let [plain, one, two] = times[..] else { return };
    println!("insertions alone: {:.1} MB of logs a second", megabytes(plain));
    println!("ingest, one job: {:.1} MB/s; two jobs: {:.1} MB/s", megabytes(one), megabytes(two));
    println!("ingest (1 job) / insertions: {:.2} (target <= 1.5)", timing::ratio(one, plain));
    println!("ingest (2 jobs) / insertions: {:.2} (target <= 1.1)", timing::ratio(two, plain));
    println!(
        "1 job / 2 jobs: {:.2} (target >= 1.8; at most {:.2})",
        timing::ratio(one, two),
        timing::ratio(one, plain),
    );
    println!(
        "last 200 of 100,000 / of 1,000: {:.2} (target <= 2)",
        timing::ratio(last[1], last[0])
    );

    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    let mut group = criterion.benchmark_group("sqlite");
    group.bench_function("last_200_of_100000", |bencher| bencher.iter(|| last_200(&long, 100_000)));
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("ingest", |bencher| bencher.iter(|| ingest(&logs, &db, "2")));
    group.finish();
    criterion.final_summary();
}
