//! Logs as they are opened: databases, folders and documents are lines.

use std::{fs, path::Path};

use foldline_agents::{DynExecutor, Registry};
use foldline_domain::Conversation;
use foldline_testkit::run;

/// The lines of a file.
pub(crate) fn lines(path: &Path) -> String {
    let mut log = Registry::builtin().openers().open_regular(path).unwrap();
    let mut bytes = Vec::new();
    loop {
        match log.read().unwrap() {
            [] => return String::from_utf8(bytes).unwrap(),
            more => bytes.extend_from_slice(more),
        }
    }
}

/// The conversation in these lines of a format.
pub(crate) fn conversation(format: &str, lines: &str) -> Conversation {
    let executor = Registry::builtin().named(format).cloned().unwrap();
    conversation_of(&executor, lines)
}

/// The conversation in a file of a format, with what its path and the files beside it state.
pub(crate) fn conversation_at(format: &str, path: &Path) -> Conversation {
    let executor = Registry::builtin().named(format).cloned().unwrap();
    let executor = executor.of_file(path, &|path| fs::read_to_string(path).ok());
    conversation_of(&executor, &lines(path))
}

fn conversation_of(executor: &DynExecutor, lines: &str) -> Conversation {
    let events = run::sourced_events(executor, [lines.as_bytes()]);
    events.iter().map(|event| &event.item).collect()
}

/// The number of a file, which is the same for all names of a log.
pub(crate) fn number(path: &Path) -> Option<u64> {
    let log = Registry::builtin().openers().open_regular(path).unwrap();
    log.status().unwrap().unwrap().inode
}
