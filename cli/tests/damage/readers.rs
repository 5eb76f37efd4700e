//! Verbs that only read: they refuse a damaged database, report the damage, or answer as they did before it.

use std::{collections::BTreeMap, path::Path};

use crate::{
    logs::{foldline, run},
    serve::client::Server,
};

const VERBS: [&str; 14] = [
    "sessions -n 0 -f json",
    "show 3",
    "show latest -f json",
    "search the -n 0 -f json",
    "files -n 0 -f json",
    "errors -n 0 -f json",
    "tools -n 0 -f json",
    "usage --by day,model -n 0 -f json",
    "usage --by session -n 0",
    "task list -n 0 -f json",
    "export 5 --format md",
    "prune --older-than 2100-01-01 --dry-run",
    "query sql SELECT/count(*),/min(content),/max(output)/FROM/entries -f json",
    "query sql SELECT/rowid/FROM/search('the')/ORDER/BY/rowid -f json",
];

/// The answers of a sound database.
pub(super) struct Readers {
    db: String,
    answers: BTreeMap<&'static str, Vec<u8>>,
}

impl Readers {
    pub(super) fn of(db: &Path) -> Self {
        let db = db.to_str().unwrap().to_owned();
        let answer = |verb: &'static str| {
            let (code, answer, error) = ask(&db, verb);
            assert!(code == 0 && !error.contains("damaged"), "{verb}: {error}");
            (verb, answer)
        };
        Self { answers: VERBS.into_iter().map(answer).collect(), db }
    }

    /// Asks all of them. Returns how many of them answered as before.
    pub(super) fn check(&self, what: &str) -> usize {
        let mut same = 0;
        for (verb, before) in &self.answers {
            let (code, answer, error) = ask(&self.db, verb);
            assert!(!error.contains("panicked"), "{what}: {verb}: {error}");
            if code == 0 {
                assert!(
                    answer == *before && !error.contains("damaged"),
                    "{what}: {verb} answers differently: {}{error}",
                    String::from_utf8_lossy(&answer)
                );
                same += 1;
            } else {
                // A session may be missing, which is reported after the damage.
                let is_reported = code == 1 || error.contains("is damaged");
                assert!(is_reported && error.starts_with("foldline: "), "{what}: {verb}: {error}");
            }
        }
        same
    }

    /// A server refuses a damaged database.
    pub(super) fn is_not_served(&self, what: &str) {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures");
        let mut command = foldline();
        command.args(["serve", fixtures, "--db", &self.db, "--listen", "127.0.0.1:0"]);
        assert!(Server::listening(command).is_none(), "{what}: it is served");
    }
}

/// The exit code, the answer, and what is reported.
fn ask(db: &str, verb: &str) -> (i32, Vec<u8>, String) {
    let mut arguments: Vec<String> =
        verb.split(' ').map(|argument| argument.replace('/', " ")).collect();
    arguments.extend(["--db".to_owned(), db.to_owned()]);
    let output = run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let error = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), output.stdout, error)
}
