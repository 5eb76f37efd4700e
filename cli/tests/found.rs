//! Every word that a reader prints of an entry is found by a search.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use foldline::transduce::Emitter;
use foldline_database::{
    Store, StoredEntry,
    query::{SearchTerms, SessionFilter, SessionName, SessionOrder},
    sqlite::{DEFAULT_WAIT, Database},
};
use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType};
use foldline_render::{
    markdown::Markdown,
    transcript::{Transcript, TranscriptStyle},
};

use crate::{captures, logs::run};

/// Words of labels, statuses and units, and what stands for a character that is not printed.
const CHROME: &str = "agent cancelled change changes completed created delete deleted denied diff edit empty error exit failed \
    file_edit guess json line lines matched more notes outcome pending permission progress prompt rename renamed running \
    session stated success system thinking tool unfinished unknown waiting warning write written";

/// The database of a folder of logs.
struct Stored {
    database: Database,
    _folder: tempfile::TempDir,
}

impl Stored {
    fn new(logs: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        run(&["ingest", logs.to_str().unwrap(), "--final", "--db", path.to_str().unwrap()]);
        Self { database: Database::open(&path, DEFAULT_WAIT).unwrap(), _folder: folder }
    }

    fn store(&self) -> &dyn Store {
        &self.database
    }

    fn finds(&self, session: i64, word: &str) -> bool {
        let filter = SessionFilter {
            name: Some(SessionName::from(session)),
            limit: Some(1),
            ..SessionFilter::default()
        };
        let terms = SearchTerms::All(vec![word.to_owned()]);
        !self.store().search(&terms, &filter).unwrap().is_empty()
    }
}

/// What `show` and a Markdown document print of an entry.
fn printed(mut entry: NormalizedEntry) -> [String; 2] {
    // The call of a sub-agent is another entry.
    entry.metadata.iter_mut().for_each(|metadata| metadata.parent_corr_id = None);
    let entry = Arc::new(entry);
    let mut document = Markdown::default();
    document.apply(&DomainEvent::NewEntry { entry: entry.clone() });
    let style = TranscriptStyle::new(10_000).with_full(true);
    let mut transcript = Transcript::new(style);
    let shown = transcript.emit(&DomainEvent::NewEntry { entry }).into_iter().collect::<String>();
    // Of an entry alone, the head of the document has its beginning, and its time.
    let document = document.render();
    let document = document.split_once("\n\n").map_or("", |(_, rest)| rest);
    let is_date = |line: &&str| line.starts_with("- Date: ");
    [document.lines().filter(|line| !is_date(line)).collect::<Vec<_>>().join("\n"), shown]
}

/// The text without the escapes of JSON, and of characters that are not printed.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    while let Some(part) = parts.next() {
        plain.push(' ');
        let rest = match part.chars().next() {
            // An escaped backslash.
            None => parts.next().unwrap_or_default(),
            Some('u') if part.starts_with("u{") => {
                part.split_once('}').map_or(part, |(_, rest)| rest)
            }
            Some('u') => part.get(5..).unwrap_or(part),
            Some('n' | 'r' | 't' | 'b' | 'f') => &part[1..],
            Some(_) => part,
        };
        plain.push_str(rest);
    }
    plain
}

fn words(text: &str) -> BTreeSet<String> {
    let plain = unescaped(text);
    let words = plain.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| word.chars().count() >= 4).map(str::to_owned).collect()
}

fn folders() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    [fixtures].into_iter().chain(captures::folders()).collect()
}

#[test]
fn every_word_that_is_printed_is_found() {
    for logs in folders() {
        let stored = Stored::new(&logs);
        let chrome: BTreeSet<&str> = CHROME.split_whitespace().collect();
        let (mut searched, mut missing) = (0, Vec::new());
        let all = SessionFilter::default();
        for session in stored.store().sessions(&all, SessionOrder::Number).unwrap() {
            let mut entries = Vec::new();
            let each = |StoredEntry { entry, .. }| entries.push(entry);
            stored.store().entries(session.number, 0..i64::MAX, each).unwrap();
            let mut found = BTreeSet::new();
            for entry in entries {
                let label = match &entry.entry_type {
                    NormalizedEntryType::ToolUse(tool) => words(&tool.tool_name.decode()),
                    NormalizedEntryType::Diagnostic { code } => {
                        words(&code.as_str().replace('_', " "))
                    }
                    _ => BTreeSet::new(),
                };
                // A colour that begins within a word divides it.
                let texts = entry.texts().collect::<Vec<_>>().join("\n");
                let is_divided = |word: &str| texts.contains('\x1b') && !texts.contains(word);
                let [document, shown] = printed(entry).map(|text| words(&text));
                let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
                let shown = shown.into_iter().filter(|word| !is_number(word));
                for word in document.into_iter().chain(shown) {
                    let is_label = chrome.contains(&*word.to_lowercase()) || label.contains(&word);
                    if !is_label && !is_divided(&word) && found.insert(word.clone()) {
                        searched += 1;
                        if !stored.finds(session.number, &word) {
                            missing.push(format!("{}: {word}", session.source));
                        }
                    }
                }
            }
        }
        assert!(searched > 1_000, "{searched}");
        assert!(missing.is_empty(), "{} of {searched}: {missing:#?}", missing.len());
    }
}
