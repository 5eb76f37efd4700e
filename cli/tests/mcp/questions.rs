//! Questions in the words of users, each asked once: the answer has to cite the session that answers it, with its words.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use foldline_database::{
    Store,
    query::{SessionFilter, SessionOrder},
    sqlite::{DEFAULT_WAIT, Database},
};
use serde_json::json;

use super::{client::Client, logs::run};

/// The sizes of answers in tokens, and the characters of a token.
const SIZES: [usize; 2] = [500, 2_000];
const CHARACTERS: usize = 4;

/// The fewest questions of a set that have to be answered.
const LEAST: usize = 16;

/// A question, and what answers it.
struct Question<'t> {
    text: &'t str,
    /// The beginning of the id of the session, or the end of the path of its log.
    session: &'t str,
    /// Texts of an entry, all of which its citation has to have; or those of another entry that answers it as well.
    entries: Vec<Vec<String>>,
}

/// Reads a set: lines of a question, its session and the words of its entries, with tabs between them.
fn questions(set: &str) -> Vec<Question<'_>> {
    let lines = set.lines().map(|line| {
        let mut parts = line.split('\t');
        let [Some(text), Some(session), Some(entries)] = [(); 3].map(|()| parts.next()) else {
            panic!("{line}")
        };
        let words = |entry: &str| entry.split(';').map(str::to_lowercase).collect();
        Question { text, session, entries: entries.split('|').map(words).collect() }
    });
    lines.collect()
}

/// The names that an answer may give to the session of a question.
fn names(database: &dyn Store, session: &str) -> BTreeSet<String> {
    let sessions = database.sessions(&SessionFilter::default(), SessionOrder::Number).unwrap();
    let meant = sessions.into_iter().filter(|row| {
        let has_id = row.session.as_ref().is_some_and(|id| id.starts_with(session));
        has_id || row.source.ends_with(session)
    });
    let names = meant.flat_map(|row| {
        let short = row.session.map(|id| id.chars().take(8).collect());
        [Some(row.number.to_string()), short].into_iter().flatten()
    });
    let names: BTreeSet<_> = names.collect();
    assert!(!names.is_empty(), "there is no session {session}");
    names
}

/// Whether a citation of one of these sessions has the words of an entry.
fn is_answered(answer: &str, question: &Question<'_>, names: &BTreeSet<String>) -> bool {
    let mut cited: Vec<(&str, String)> = Vec::new();
    for line in answer.lines() {
        match (line.strip_prefix("> "), line.split_once(':')) {
            (Some(text), _) => {
                if let Some((_, texts)) = cited.last_mut() {
                    texts.push_str(&text.replace(['«', '»'], "").to_lowercase());
                    texts.push('\n');
                }
            }
            (None, Some((name, _))) => {
                cited.push((name.trim_start_matches("Answered in "), String::new()));
            }
            (None, None) => {}
        }
    }
    cited.iter().any(|(name, texts)| {
        let is_named =
            names.contains(*name) || names.iter().any(|id| id.len() == 8 && name.starts_with(id));
        let has = |entry: &Vec<String>| entry.iter().all(|word| texts.contains(word));
        is_named && question.entries.iter().any(has)
    })
}

/// Asks every question of a set about a database, once for each size.
fn ask(database: &Path, set: &str) {
    let questions = questions(set);
    assert_eq!(questions.len(), 20);
    let mut client = Client::of(database);
    let store = Database::open(database, DEFAULT_WAIT).unwrap();
    for size in SIZES {
        let mut missed = Vec::new();
        for question in &questions {
            let arguments = json!({ "text": question.text, "max_tokens": size });
            let answer = client.text("search_sessions", &arguments);
            assert!(answer.chars().count() <= size * CHARACTERS, "{answer}");
            if !is_answered(&answer, question, &names(&store, question.session)) {
                missed.push(format!("{}\n{answer}", question.text));
            }
        }
        let answered = questions.len() - missed.len();
        eprintln!("{answered} of {} are answered in {size} tokens", questions.len());
        assert!(answered >= LEAST, "{size} tokens:\n{}", missed.join("\n"));
    }
}

fn ingest(logs: &[PathBuf]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("db");
    let logs: Vec<_> = logs.iter().map(|path| path.to_str().unwrap()).collect();
    // Some captures are damaged on purpose.
    run(&[&["ingest", "--hidden", "--db", database.to_str().unwrap()], &logs[..]].concat());
    (folder, database)
}

#[test]
fn questions_about_the_fixtures_are_answered() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let logs = ["tests/fixtures", "examples/home", "examples/session.jsonl"];
    let (_folder, database) = ingest(&logs.map(|path| root.join(path)));
    ask(&database, include_str!("questions/fixtures.tsv"));
}

#[test]
fn questions_about_captured_logs_are_answered() {
    let named = std::env::var_os("FOLDLINE_CAPTURES").map(PathBuf::from);
    let captures =
        named.unwrap_or(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/captures"));
    let folders = ["", "-new", "-q4"].map(|ending| {
        let mut folder = captures.clone().into_os_string();
        folder.push(ending);
        PathBuf::from(folder)
    });
    if let Some(missing) = folders.iter().find(|folder| !folder.is_dir()) {
        eprintln!("skipped: {} is not there", missing.display());
        return;
    }
    let (_folder, database) = ingest(&folders.map(|folder| fs::canonicalize(folder).unwrap()));
    ask(&database, include_str!("questions/captures.tsv"));
}
