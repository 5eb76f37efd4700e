//! Law 10 for the ledgers of the crate.

use std::{fs, io::Write, path::PathBuf};

use foldline::{
    files::temporary_of,
    ledger::{FileLedger, SourceName},
};
use foldline_database::{
    Rows,
    sqlite::{DEFAULT_WAIT, Database},
};
use foldline_domain::{
    DomainEvent, Located, NormalizedEntry, NormalizedEntryType, Position, Session,
};
use foldline_testkit::ledger::{self, Engine};
use proptest::prelude::*;

struct FileEngine {
    output: PathBuf,
    journal: PathBuf,
    _folder: tempfile::TempDir,
}

impl FileEngine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (output, journal) = (folder.path().join("output"), folder.path().join("journal"));
        Self { output, journal, _folder: folder }
    }
}

impl Engine for FileEngine {
    type Ledger = FileLedger;

    fn open(&self) -> FileLedger {
        FileLedger::open(&self.output, &self.journal).unwrap()
    }

    fn output(&self, _source: &SourceName, items: &[String]) -> Vec<u8> {
        items.iter().flat_map(|item| [item.as_bytes(), b"\n"].concat()).collect()
    }

    fn committed(&self, ledger: &mut FileLedger) -> Vec<String> {
        let length = usize::try_from(ledger.committed().length).unwrap();
        let text = fs::read_to_string(&self.output).unwrap();
        text[..length].lines().map(str::to_owned).collect()
    }

    /// Writes a part of an output, and a part of a journal before its rename.
    fn interrupt(&self) {
        let mut output = fs::OpenOptions::new().append(true).open(&self.output).unwrap();
        output.write_all(b"item 17\nite").unwrap();
        fs::write(temporary_of(&self.journal), "{\"foldline_ledger\":").unwrap();
    }
}

struct SqliteEngine {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl SqliteEngine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { path: folder.path().join("database"), _folder: folder }
    }
}

impl Engine for SqliteEngine {
    type Ledger = Database;

    fn open(&self) -> Database {
        Database::open(&self.path, DEFAULT_WAIT).unwrap()
    }

    /// Each item is an entry of the source's only session.
    fn output(&self, source: &SourceName, items: &[String]) -> Rows {
        let position = Position::default();
        let session = Session { session_id: Some(source.as_str().into()), ..Session::default() };
        let session = Located::new(position, DomainEvent::Session(Box::new(session)));
        let entries = items.iter().map(|item| {
            let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, item.as_str());
            Located::new(position, DomainEvent::entry(entry))
        });
        let events: Vec<_> = std::iter::once(session).chain(entries).collect();
        events.iter().collect()
    }

    fn committed(&self, ledger: &mut Database) -> Vec<String> {
        let mut query =
            ledger.connection().prepare("SELECT content FROM entries ORDER BY id").unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }
}

#[test]
fn a_file_passes_the_suite() {
    ledger::check(FileEngine::new).unwrap_or_else(|violation| panic!("{violation}"));
}

#[test]
fn a_database_passes_the_suite() {
    ledger::check(SqliteEngine::new).unwrap_or_else(|violation| panic!("{violation}"));
}

#[test]
fn only_one_of_two_writers_of_a_database_goes_on() {
    ledger::exclusive(SqliteEngine::new).unwrap_or_else(|violation| panic!("{violation}"));
}

proptest! {
    // Both ledgers sync to disk at each commit.
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.div_ceil(8),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_file_holds_what_the_model_holds(operations in ledger::operations()) {
        ledger::model(FileEngine::new, &operations)?;
    }

    #[test]
    fn a_database_holds_what_the_model_holds(operations in ledger::operations()) {
        ledger::model(SqliteEngine::new, &operations)?;
    }
}
