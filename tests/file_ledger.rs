//! What the file ledger writes, refuses and keeps.

use std::{fs, path::PathBuf};

use foldline::{
    ledger::{
        Checkpoint, Commit, CommitError, FileLedger, FileLedgerError, Ledger, Mark, Receipt,
        SourceFacts, SourceName,
    },
    position::Position,
};
use foldline_json::Json;

struct Files {
    output: PathBuf,
    journal: PathBuf,
    _folder: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (output, journal) = (folder.path().join("output"), folder.path().join("journal"));
        Self { output, journal, _folder: folder }
    }

    fn open(&self) -> Result<FileLedger, FileLedgerError> {
        FileLedger::open(&self.output, &self.journal)
    }

    fn written(&self) -> String {
        fs::read_to_string(&self.output).unwrap()
    }
}

fn at(line: u64) -> Position {
    Position { line, offset: 10 * line }
}

/// The lines after `from`, up to `to`.
fn commit(source: &str, from: Option<u64>, to: u64, output: &str) -> Commit<Vec<u8>> {
    let (facts, state) = (SourceFacts::default(), Json::default());
    let checkpoint = Checkpoint { facts, position: at(to), state, complete: false };
    Commit { source: source.into(), expected: from.map(at), checkpoint, output: output.into() }
}

fn position(ledger: &mut FileLedger, source: &str) -> Option<Position> {
    ledger.load(&source.into()).unwrap().map(|checkpoint| checkpoint.position)
}

#[test]
fn each_commit_continues_the_one_before() {
    let files = Files::new();
    let mut ledger = files.open().unwrap();
    let both = [commit("a", None, 1, "one\n"), commit("a", Some(1), 3, "three\n")];
    assert_eq!(ledger.commit(&both, &[]).unwrap(), 10);
    assert_eq!(ledger.commit(&[commit("a", Some(3), 4, "four\n")], &[]).unwrap(), 5);
    drop(ledger);
    assert_eq!(files.written(), "one\nthree\nfour\n");
    assert_eq!(position(&mut files.open().unwrap(), "a"), Some(at(4)));
}

#[test]
fn a_commit_from_another_position_changes_nothing() {
    let files = Files::new();
    let mut ledger = files.open().unwrap();
    ledger.commit(&[commit("a", None, 2, "two\n")], &[]).unwrap();
    let mark = Mark { name: "seen".to_owned(), state: Json::default() };
    for late in [None, Some(1), Some(3)] {
        let commits = [commit("b", None, 1, "b\n"), commit("a", late, 4, "four\n")];
        let error = ledger.commit(&commits, std::slice::from_ref(&mark)).unwrap_err();
        let (source_name, expected) = (SourceName::from("a"), late.map(at));
        let CommitError::Moved { source_name: name, expected: e, stored } = error else { panic!() };
        assert_eq!((name, e, stored), (source_name, expected, Some(at(2))));
    }
    assert_eq!(files.written(), "two\n");
    assert_eq!((position(&mut ledger, "a"), position(&mut ledger, "b")), (Some(at(2)), None));
    assert_eq!(ledger.mark("seen").unwrap(), None);
}

#[test]
fn what_was_written_ahead_is_seen_at_once_and_belongs_to_the_next_commit() {
    let files = Files::new();
    let mut ledger = files.open().unwrap();
    ledger.write_ahead(b"o").unwrap();
    ledger.write_ahead(b"n").unwrap();
    assert_eq!(files.written(), "on");
    assert_eq!(ledger.commit(&[commit("a", None, 1, "e\n")], &[]).unwrap(), 4);
    assert_eq!((files.written().as_str(), ledger.committed().length), ("one\n", 4));

    // What no commit follows is truncated before the next write.
    ledger.write_ahead(b"lost").unwrap();
    drop(ledger);
    let mut ledger = files.open().unwrap();
    ledger.write_ahead(b"t").unwrap();
    assert_eq!(files.written(), "one\nt");
    drop(ledger);
    let mut ledger = files.open().unwrap();
    ledger.commit(&[commit("a", Some(1), 2, "two\n")], &[]).unwrap();
    assert_eq!(files.written(), "one\ntwo\n");
}

#[test]
fn what_was_written_ahead_outlives_a_commit_that_fails() {
    let files = Files::new();
    let mut ledger = files.open().unwrap();
    ledger.commit(&[commit("a", None, 1, "one\n")], &[]).unwrap();
    ledger.write_ahead(b"tw").unwrap();
    // Another program has replaced the journal.
    fs::remove_file(&files.journal).unwrap();
    fs::write(&files.journal, "").unwrap();
    assert!(ledger.commit(&[commit("a", Some(1), 2, "lost")], &[]).is_err());
    ledger.write_ahead(b"o\n").unwrap();
    assert_eq!(files.written(), "one\ntwo\n");
}

#[test]
fn a_ledger_that_begins_anew_has_nothing_of_before() {
    let files = Files::new();
    files.open().unwrap().commit(&[commit("a", None, 1, "one\n")], &[]).unwrap();
    drop(FileLedger::begin_anew(&files.output, &files.journal).unwrap());
    let mut ledger = files.open().unwrap();
    assert_eq!((position(&mut ledger, "a"), ledger.committed().length), (None, 0));
    ledger.commit(&[commit("a", None, 1, "1\n")], &[]).unwrap();
    assert_eq!(files.written(), "1\n");
}

#[test]
fn a_commit_goes_on_with_the_next_segment_of_its_source() {
    let first = commit("a", None, 2, "two\n");
    assert!(first.goes_on_with(&commit("a", Some(2), 3, "")));
    for other in
        [commit("a", Some(1), 3, ""), commit("a", None, 3, ""), commit("b", Some(2), 3, "")]
    {
        assert!(!first.goes_on_with(&other));
    }
    assert_eq!((first.source.as_str(), first.source.to_string()), ("a", "a".to_owned()));
    let mut both = first;
    both.append(commit("a", Some(2), 3, "three\n"), Extend::extend);
    assert_eq!((both.expected, both.checkpoint.position), (None, at(3)));
    assert_eq!(both.output, b"two\nthree\n");
}

#[test]
fn receipts_are_added() {
    let mut sum = Receipt { sessions: 1, entries: 20, calls: 300, warnings: 4000 };
    sum.add(Receipt { sessions: 5, entries: 60, calls: 700, warnings: 8000 });
    assert_eq!(sum, Receipt { sessions: 6, entries: 80, calls: 1000, warnings: 12000 });
}

#[test]
fn only_the_only_source_is_forgotten_and_its_output_with_it() {
    let files = Files::new();
    let mut ledger = files.open().unwrap();
    assert!(!ledger.forget(&"a".into()).unwrap());
    let mark = Mark { name: "seen".to_owned(), state: Json::default() };
    ledger.commit(&[commit("a", None, 1, "one\n")], &[mark]).unwrap();
    assert_eq!(ledger.only_source(), Some(&"a".into()));
    assert!(ledger.forget(&"a".into()).unwrap());
    assert_eq!((files.written().as_str(), position(&mut ledger, "a")), ("", None));
    assert_eq!(ledger.mark("seen").unwrap(), Some(Json::default()));

    ledger.commit(&[commit("a", None, 1, "one\n"), commit("b", None, 1, "b\n")], &[]).unwrap();
    assert_eq!(ledger.only_source(), None);
    assert!(ledger.forget(&"a".into()).is_err());
    assert_eq!(files.written(), "one\nb\n");
}

#[test]
fn output_that_is_not_the_journals_is_refused_and_kept() {
    let files = Files::new();
    let mut ledger = files.open().unwrap();
    assert!(matches!(files.open(), Err(FileLedgerError::Locked)));
    ledger.commit(&[commit("a", None, 1, "one\n")], &[]).unwrap();
    drop(ledger);
    fs::write(&files.output, "two\n").unwrap();
    assert!(matches!(files.open(), Err(FileLedgerError::Output)));
    fs::remove_file(&files.journal).unwrap();
    assert!(matches!(files.open(), Err(FileLedgerError::NoJournal)));
    assert_eq!(files.written(), "two\n");

    drop(FileLedger::begin_anew(&files.output, &files.journal).unwrap());
    let mut ledger = files.open().unwrap();
    assert_eq!(position(&mut ledger, "a"), None);
    ledger.commit(&[commit("a", None, 1, "new\n")], &[]).unwrap();
    assert_eq!(files.written(), "new\n");
}

#[test]
fn a_damaged_journal_is_refused() {
    let files = Files::new();
    files.open().unwrap().commit(&[commit("a", None, 7, "x\n")], &[]).unwrap();
    let journal = fs::read_to_string(&files.journal).unwrap();
    for damaged in [
        journal.replace(":7", ":8"),
        journal.replace("\"foldline_ledger\":1", "\"foldline_ledger\":2"),
        journal[..journal.len() / 2].to_owned(),
    ] {
        assert_ne!(damaged, journal);
        fs::write(&files.journal, damaged).unwrap();
        assert!(matches!(files.open(), Err(FileLedgerError::Journal(_))));
    }
}
