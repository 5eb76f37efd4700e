//! What a search finds, whatever else is in the database.

use std::collections::BTreeSet;

use foldline::ledger::{Checkpoint, Commit, Ledger, SourceFacts};
use foldline_database::{
    Rows, Store,
    query::{NearWord, SearchTerms, SessionFilter},
    sqlite::{DEFAULT_WAIT, Database},
};
use foldline_domain::{
    ActionType, DomainEvent, Json, Located, NormalizedEntry, NormalizedEntryType, Position,
    Timestamp, ToolStatus, ToolUse,
};
use proptest::prelude::*;

/// A database of one log, which grows by a commit for each event.
struct Growing {
    database: Database,
    line: u64,
    _folder: tempfile::TempDir,
}

impl Growing {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&folder.path().join("db"), DEFAULT_WAIT).unwrap();
        Self { database, line: 0, _folder: folder }
    }

    fn add(&mut self, event: DomainEvent) {
        let expected = (self.line > 0).then_some(Position { line: self.line, offset: self.line });
        self.line += 1;
        let position = Position { line: self.line, offset: self.line };
        let output: Rows = [Located::new(position, event)].iter().collect();
        let (facts, state) = (SourceFacts::default(), Json::default());
        let checkpoint = Checkpoint { facts, position, state, complete: false };
        let commit = Commit { source: "log".into(), expected, checkpoint, output };
        self.database.commit(&[commit], &[]).unwrap();
    }

    fn say(&mut self, text: &str) {
        let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, text);
        self.add(DomainEvent::entry(entry));
    }

    /// The indices of the entries that are found, in their order.
    fn find(&self, text: &str, offset: usize, limit: Option<usize>) -> Vec<i64> {
        let filter = SessionFilter { offset, limit, ..SessionFilter::default() };
        let database: &dyn Store = &self.database;
        let found = database.search(&SearchTerms::of(text).unwrap(), &filter).unwrap();
        found.iter().map(|hit| hit.index).collect()
    }
}

/// Texts of few words, which are parts of each other.
fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["exp", "explain", "x", "EXPlained", "ex-p", "ar", "é"]);
    prop::collection::vec(word, 1..4).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn an_entry_that_is_found_stays_found(texts in prop::collection::vec(text(), 1..8)) {
        let mut growing = Growing::new();
        let terms = ["exp", "ex", "explain x", "\"exp explain\"", "ex-p", "é"];
        let mut found = vec![BTreeSet::new(); terms.len()];
        for text in &texts {
            growing.say(text);
            for (term, found) in terms.iter().zip(&mut found) {
                let now = growing.find(term, 0, None);
                let all: BTreeSet<_> = now.iter().copied().collect();
                prop_assert_eq!(all.len(), now.len(), "{} twice", term);
                prop_assert!(all.is_superset(found), "{term}: {found:?}, then {all:?}");
                *found = all;
            }
        }
        for term in terms {
            let all = growing.find(term, 0, None);
            for size in [1, 3] {
                let pages = (0..=all.len()).step_by(size);
                let paged: Vec<_> = pages.flat_map(|at| growing.find(term, at, Some(size))).collect();
                prop_assert_eq!(&paged, &all, "{}", term);
            }
        }
    }
}

#[test]
fn whole_words_are_found_before_parts() {
    let mut growing = Growing::new();
    for text in ["please explain it", "explained", "x", "exp"] {
        growing.say(text);
    }
    assert_eq!(growing.find("exp", 0, None), [3, 1, 0]);
}

#[test]
fn what_was_said_is_first_and_of_equal_entries_the_latest() {
    let mut growing = Growing::new();
    for (kind, at) in [
        (NormalizedEntryType::SystemMessage, Some(9)),
        (NormalizedEntryType::UserMessage, None),
        (NormalizedEntryType::UserMessage, Some(1)),
        (NormalizedEntryType::AssistantMessage, Some(3)),
        (NormalizedEntryType::UserMessage, Some(2)),
        (NormalizedEntryType::SystemMessage, None),
    ] {
        let mut entry = NormalizedEntry::new(kind, "the retry limit");
        entry.timestamp = at.map(Timestamp::from_millis);
        growing.add(DomainEvent::entry(entry));
    }
    let order = [3, 4, 2, 1, 0, 5];
    assert_eq!(growing.find("retry limit", 0, None), order);
    let database: &dyn Store = &growing.database;
    let words = ["retries".to_owned(), "limit".to_owned()];
    let found = database.search_relaxed(&words, &SessionFilter::default()).unwrap().entries;
    assert_eq!(found.iter().map(|hit| hit.index).collect::<Vec<_>>(), order);
}

#[test]
fn a_question_in_words_finds_entries_with_some_of_them() {
    let mut growing = Growing::new();
    for text in
        ["all tests failed", "a fail", "the cargo build", "nothing", "failing test", "sort it"]
    {
        growing.say(text);
    }
    growing.add(DomainEvent::entry(NormalizedEntry::new(
        NormalizedEntryType::AssistantMessage,
        "the test fails",
    )));
    growing.add(DomainEvent::entry(NormalizedEntry::new(
        NormalizedEntryType::SystemMessage,
        "a test failure",
    )));
    let ask = |text: &str| {
        let terms = SearchTerms::of(text).unwrap();
        let SearchTerms::All(words) = &terms else { panic!("{text}") };
        let database: &dyn Store = &growing.database;
        let found = database.search_relaxed(words, &SessionFilter::default()).unwrap();
        let entries: Vec<_> = found.entries.iter().map(|hit| hit.index).collect();
        (entries, found)
    };
    // Those with both words, and what was said before what was not; then those with one.
    let (entries, found) = ask("why did the tests fail?");
    assert_eq!(found.left_out, ["why", "did", "the"]);
    assert_eq!(entries[..3].iter().copied().collect::<BTreeSet<_>>(), [0, 4, 6].into());
    assert_eq!(entries[3..], [7, 1]);
    assert!(found.near.is_empty() && found.unknown.is_empty());
    // Words that are spelled nearly alike, and words of no entry.
    let (entries, found) = ask("the crago quokka");
    assert_eq!(entries, [2]);
    assert_eq!(found.near, [NearWord { asked: "crago".into(), near: vec!["cargo".into()] }]);
    assert_eq!(found.unknown, ["quokka"]);
    assert_eq!(ask("wombat quokka").0, [0_i64; 0]);
    // Words without meaning are searched if there are no others.
    assert_eq!(ask("it").0, [5]);
    let is_in_words = |text: &str| SearchTerms::of(text).unwrap().is_in_words();
    assert!(is_in_words("why did it fail") && !is_in_words("retry limit") && !is_in_words("it"));
}

/// A call of a tool with an argument.
fn call(argument: &str, status: ToolStatus) -> NormalizedEntry {
    let arguments = Some(Json::of(&[argument]).unwrap());
    let action = ActionType::Tool { tool_name: "mcp".into(), arguments, result: None };
    let mut tool = ToolUse::new("mcp", action);
    tool.complete(status, "result");
    NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), "title")
}

#[test]
fn the_words_of_a_call_change_with_it() {
    let mut growing = Growing::new();
    let entry = call("one", ToolStatus::Created).into();
    growing.add(DomainEvent::NewToolCall { corr_id: "c".into(), entry });
    let text = NormalizedEntry::new(NormalizedEntryType::AssistantMessage, "begun").into();
    growing.add(DomainEvent::OpenEntry { corr_id: "t".into(), entry: text });
    assert_eq!([growing.find("one", 0, None), growing.find("begun", 0, None)], [[0], [1]]);
    let denied = ToolStatus::Denied { reason: Some("forbidden".into()) };
    let entry = call("two", denied).into();
    growing.add(DomainEvent::UpdateToolCall { corr_id: "c".into(), entry });
    let entry = call("three", ToolStatus::Success).into();
    growing.add(DomainEvent::CloseEntry { corr_id: "t".into(), entry: Some(entry) });
    let is_found = |growing: &Growing, words: &[&str]| -> Vec<bool> {
        words.iter().map(|word| !growing.find(word, 0, None).is_empty()).collect()
    };
    let words = ["one", "begun", "two", "forbidden", "three", "result"];
    assert_eq!(is_found(&growing, &words), [false, false, true, true, true, true]);
    assert_eq!(growing.database.check_search().unwrap(), []);
    // By a statement that no part of the program executes.
    let remove = |growing: &mut Growing, table: &str| {
        growing.database.connection().execute_batch(&format!("DELETE FROM {table}")).unwrap();
        assert_eq!(growing.database.check_search().unwrap(), [], "{table}");
    };
    remove(&mut growing, "tool_calls");
    assert_eq!(is_found(&growing, &words), [false, false, false, false, false, true]);
    remove(&mut growing, "entries");
    assert_eq!(is_found(&growing, &words), [false; 6]);
}
