//! A damaged database: `check` detects the damage, `ingest` writes nothing to it, and `--repair` rebuilds
//! everything that is derived from other rows.

mod readers;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use self::readers::Readers;
use crate::logs::{Random, run, stdout};
use foldline_domain::ActionType;
use rusqlite::{
    Connection,
    functions::{Context, FunctionFlags},
    types::Value,
};
use tempfile::TempDir;

/// The size of a page of our databases, in bytes.
const PAGE: usize = 8 << 10;

/// How many damages are tried, unless `FOLDLINE_DAMAGES` says more.
const FEW: u64 = 24;

struct Place {
    folder: TempDir,
}

impl Place {
    /// A database of all fixtures, with its audit trail.
    fn new() -> Self {
        let place = Self::empty();
        place.ingest(&["--audit", &place.name("trail")]);
        place
    }

    fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn ingest(&self, options: &[&str]) {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures");
        stdout(&[&["ingest", fixtures, "--db", &self.name("db")], options].concat());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// The exit code of `check` and all that it prints.
    fn check(&self, options: &[&str]) -> (i32, String) {
        let output = run(&[&["check", "--db", &self.name("db")], options].concat());
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(said).unwrap())
    }

    /// Writes to the database what no part of foldline does.
    fn tamper(&self, sql: &str) {
        let connection = Connection::open(self.path("db")).unwrap();
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
        // The function of the schema.
        let arguments = |row: &Context<'_>| {
            let action: Option<String> = row.get(0)?;
            let action = action.and_then(|json| serde_json::from_str::<ActionType>(&json).ok());
            Ok(action.and_then(|action| action.arguments(&row.get::<String>(1).unwrap())))
        };
        connection.create_scalar_function("call_arguments", 3, flags, arguments).unwrap();
        connection.execute_batch(sql).unwrap();
    }

    /// A log that the database does not know.
    fn log(&self) -> String {
        fs::write(
            self.path("new.jsonl"),
            "{\"type\":\"message\",\"role\":\"user\",\"id\":\"n1\",\"text\":\"new\",\"timestamp\":1}\n",
        )
        .unwrap();
        self.name("new.jsonl")
    }
}

/// Every value of every table, or why they cannot be read. Also what the search finds.
fn dump(db: &Path) -> Result<Vec<String>, rusqlite::Error> {
    let connection = Connection::open(db)?;
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'search*' ORDER BY name";
    let tables: Vec<String> =
        connection.prepare(tables)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let found =
        "SELECT rowid FROM search WHERE search MATCH 'the OR a OR file' ORDER BY rowid".to_owned();
    let all = tables.iter().map(|table| format!("SELECT * FROM {table} NOT INDEXED"));
    let mut dump = tables.clone();
    for query in all.chain([found]) {
        let mut statement = connection.prepare(&query)?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let values: Vec<Value> =
                (0..columns).map(|column| row.get(column)).collect::<Result<_, _>>()?;
            dump.push(format!("{values:?}"));
        }
    }
    Ok(dump)
}

/// Damages a file in one of the ways in which disks and people do.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) -> (&'static str, String) {
    let length = bytes.len();
    let pages = length / PAGE;
    let mut below = |bound: usize| random.below(bound as u64) as usize;
    match below(6) {
        0 => {
            let (at, bit) = (below(length), below(8));
            bytes[at] ^= 1 << bit;
            ("a bit", format!("bit {bit} of byte {at} is another"))
        }
        1 => {
            let (count, first) = (1 + below(16), below(length - 16));
            bytes[first..first + count].fill_with(|| below(256) as u8);
            ("some bytes", format!("{count} bytes from {first} on are others"))
        }
        2 => {
            let page = below(pages);
            bytes[page * PAGE..][..PAGE].fill(0);
            ("a page of zeros", format!("page {} of {pages} is zeros", page + 1))
        }
        3 => {
            let to = 1 + below(length - 1);
            bytes.truncate(to);
            ("cut off", format!("only {to} bytes of {length} are left"))
        }
        4 => {
            let (one, other) = (below(pages), below(pages));
            exchange(bytes, one, other);
            (
                "pages exchanged",
                format!("pages {} and {} of {pages} are exchanged", one + 1, other + 1),
            )
        }
        // A sector that was written to another place, or is from an older state.
        _ => {
            let (from, to) = (below(length / 512), below(length / 512));
            bytes.copy_within(from * 512..(from + 1) * 512, to * 512);
            ("a sector copied", format!("sector {to} is a copy of sector {from}"))
        }
    }
}

/// Exchanges two pages, of which the first is 0.
fn exchange(bytes: &mut [u8], one: usize, other: usize) {
    for at in 0..PAGE {
        bytes.swap(one * PAGE + at, other * PAGE + at);
    }
}

#[test]
fn damage_is_noticed_or_does_no_harm() {
    // Without a trail, of which pages that hold nothing are left.
    let place = Place::empty();
    place.ingest(&[]);
    let (db, log) = (place.path("db"), place.log());
    let sound = fs::read(&db).unwrap();
    let before = dump(&db).unwrap();
    let readers = Readers::of(&db);
    let mut answered = 0;
    let count = std::env::var("FOLDLINE_DAMAGES").map_or(FEW, |count| count.parse().unwrap());
    let mut random = Random(0x5eed);
    let mut outcomes: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for number in 0..count {
        let mut bytes = sound.clone();
        let (way, what) = damage(&mut bytes, &mut random);
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(place.path(&format!("db{suffix}")));
        }
        fs::write(&db, &bytes).unwrap();
        let (code, said) = place.check(&[]);
        assert!(fs::read(&db).unwrap() == bytes, "{number}: {what}: check has written: {said}");
        assert!(!said.contains("panicked"), "{number}: {what}: {said}");
        let same = readers.check(&format!("{number}: {what}"));
        answered += same;
        assert!(fs::read(&db).unwrap() == bytes, "{number}: {what}: a reader has written");
        if code == 0 {
            *outcomes.entry((way, "no harm")).or_default() += 1;
            let after = dump(&db);
            assert!(after.as_ref() == Ok(&before), "{number}: {what}: not noticed: {said}");
            continue;
        }
        *outcomes.entry((way, "noticed")).or_default() += 1;
        assert_eq!(code, 1, "{number}: {what}: {said}");
        if number % 8 == 0 {
            readers.is_not_served(&what);
        }
        let output = run(&["ingest", &log, "--db", &place.name("db")]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{number}: {what}: {said}, but ingest: {error}");
        assert!(fs::read(&db).unwrap() == bytes, "{number}: {what}: ingest has written: {error}");
        // A repair that says that all is well now must be right.
        let (code, said) = place.check(&["--repair"]);
        if code == 0 {
            *outcomes.entry((way, "noticed, and repaired")).or_default() += 1;
            let after = dump(&db).unwrap();
            let differences = before.iter().zip(&after).filter(|(before, after)| before != after);
            let differences: Vec<_> = differences.collect();
            // The moment at which it was closed.
            assert!(
                differences.len() <= 1,
                "{number}: {what}: not repaired: {said}\n{differences:#?}"
            );
            assert_eq!(before.len(), after.len(), "{number}: {what}: not repaired: {said}");
        }
    }
    println!("{outcomes:#?}, {answered} answers as before");
}

/// An empty index in place of a table without row ids makes an empty table, of which SQLite says nothing.
#[test]
fn a_table_that_an_index_stands_for_is_missed() {
    let place = Place::empty();
    place.ingest(&[]);
    let root = |name: &str| -> usize {
        let connection = Connection::open(place.path("db")).unwrap();
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let root: u32 = connection.query_row(sql, [name], |row| row.get(0)).unwrap();
        root as usize
    };
    let (one, other) = (root("sessions_pruned") - 1, root("warnings") - 1);
    let mut bytes = fs::read(place.path("db")).unwrap();
    exchange(&mut bytes, one, other);
    fs::write(place.path("db"), bytes).unwrap();
    let (code, said) = place.check(&[]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("sessions_pruned"), "{said}");
}

#[test]
fn what_is_derived_is_repaired() {
    let place = Place::new();
    let log = place.log();
    let before = dump(&place.path("db")).unwrap();
    for tampering in [
        "DROP INDEX entries_by_place",
        "DELETE FROM search_docsize WHERE id % 2",
        "UPDATE search_data SET block = zeroblob(length(block)) WHERE id > 10",
        "UPDATE sessions SET entries = entries + 1 WHERE id = 1",
    ] {
        place.tamper(tampering);
        let (code, said) = place.check(&["--audit", &place.name("trail")]);
        assert_eq!(code, 1, "{tampering}: {said}");
        let refused = run(&["ingest", &log, "--db", &place.name("db")]);
        let error = String::from_utf8(refused.stderr).unwrap();
        assert!(error.contains("is damaged") && error.contains("foldline check"), "{error}");
        let (code, said) = place.check(&["--repair"]);
        assert_eq!(code, 0, "{tampering}: {said}");
        assert!(said.contains("wrong: ") && said.contains("rebuilt: "), "{said}");
        let (code, said) = place.check(&["--audit", &place.name("trail")]);
        assert!(code == 0 && said.contains("\nsound: "), "{tampering}: {said}");
    }
    // All is as it was, except for the moment at which it was closed.
    let after = dump(&place.path("db")).unwrap();
    let differences = before.iter().zip(&after).filter(|(before, after)| before != after);
    assert!(differences.count() <= 1 && before.len() == after.len());
    stdout(&["ingest", &log, "--db", &place.name("db")]);
}

/// Of which SQLite copies the pages as they are, if it is let.
#[test]
fn an_index_that_cannot_be_read_is_made_anew() {
    let place = Place::empty();
    place.ingest(&[]);
    let db = place.path("db");
    let before = dump(&db).unwrap();
    let root: u32 = Connection::open(&db)
        .unwrap()
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'sources_by_first_line'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let mut bytes = fs::read(&db).unwrap();
    bytes[(root as usize - 1) * PAGE..][..PAGE].fill(0);
    fs::write(&db, bytes).unwrap();
    let (code, said) = place.check(&["--repair"]);
    assert_eq!(code, 0, "{said}");
    let after = dump(&db).unwrap();
    assert!(before.iter().zip(&after).filter(|(before, after)| before != after).count() <= 1);
}

#[test]
fn rows_that_are_not_what_was_written_stay() {
    let place = Place::new();
    place.tamper("UPDATE entries SET content = 'he never said that' WHERE id = 3");
    for options in [&[][..], &["--repair"]] {
        let (code, said) = place.check(options);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("wrong: the row of entries id 3 has a wrong checksum"), "{said}");
        assert!(said.contains("Restore an earlier copy"), "{said}");
    }
    let later = ["prune", "--older-than", "2100-01-01", "--db", &place.name("db")];
    for arguments in [&later[..], &["task", "set", "1", "mine", "--db", &place.name("db")]] {
        let output = run(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && error.contains("is damaged"), "{error}");
    }
}

#[test]
fn the_trail_is_compared_with_the_database() {
    let place = Place::new();
    let trail = place.path("trail");
    let audit = ["--audit", &place.name("trail")];
    let (code, said) = place.check(&audit);
    assert!(code == 0 && said.contains("checked: the audit trail"), "{said}");
    let whole = fs::read_to_string(&trail).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();

    let other = Place::new();
    for (contents, part) in [
        (lines[..lines.len() - 1].concat(), "records, the last with the hash"),
        (whole.clone() + lines[1], "it continues with records that the database has not committed"),
        (whole.replacen("\"line\":1", "\"line\":2", 1), "record 2 was changed"),
        (fs::read_to_string(other.path("trail")).unwrap(), "it belongs to another database"),
        (String::new(), "its first record is not that of an audit trail of a database"),
    ] {
        fs::write(&trail, contents).unwrap();
        let (code, said) = place.check(&audit);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("wrong: the audit trail") && said.contains(part), "{part}: {said}");
    }

    fs::write(&trail, &whole).unwrap();
    stdout(&["ingest", &place.log(), "--db", &place.name("db")]);
    let (code, said) = place.check(&audit);
    assert!(code == 0 && said.contains("1 commit made without it"), "{said}");
}
