//! The cost of writing a session in steps of SQLite.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use foldline::ledger::{Checkpoint, Commit, Ledger, SourceFacts};
use foldline_domain::{
    ActionType, DomainEvent, Json, Located, NormalizedEntry, NormalizedEntryType, Position,
    Session, ToolUse,
};

use crate::{
    Rows,
    sqlite::{DEFAULT_WAIT, Database},
};

/// Sessions of a commit.
const SESSIONS: u64 = 50;

/// A session that calls a tool, and gets an answer to a call of the previous session and to an unknown call.
fn session(number: u64) -> [DomainEvent; 4] {
    let action = ActionType::CommandRun { command: "ls".into(), result: None };
    let entry_type = NormalizedEntryType::ToolUse(ToolUse::new("shell", action));
    let entry = Arc::new(NormalizedEntry::new(entry_type, "ls"));
    let session_id = Some(format!("s{number}").as_str().into());
    let update =
        |id: String| DomainEvent::UpdateToolCall { corr_id: id.into(), entry: entry.clone() };
    let (earlier, stranger) =
        (update(format!("c{}", number.wrapping_sub(1))), update(format!("stranger{number}")));
    [
        DomainEvent::Session(Box::new(Session { session_id, ..Session::default() })),
        DomainEvent::NewToolCall { corr_id: format!("c{number}").into(), entry },
        earlier,
        stranger,
    ]
}

fn commit(number: u64) -> Commit<Rows> {
    let place = |number| Position { line: number + 1, offset: number };
    let sessions = number * SESSIONS..(number + 1) * SESSIONS;
    let events: Vec<_> =
        sessions.flat_map(session).map(|event| Located::new(place(number), event)).collect();
    Commit {
        source: "log".into(),
        expected: (number > 0).then(|| place(number)),
        checkpoint: Checkpoint {
            facts: SourceFacts { path: "log".into(), format: "droid".into(), ..Default::default() },
            position: place(number + 1),
            state: Json::default(),
            complete: false,
        },
        output: events.iter().collect(),
    }
}

#[test]
fn the_work_for_a_session_does_not_grow_with_the_number_of_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(&folder.path().join("db"), DEFAULT_WAIT).unwrap();
    let steps = Arc::new(AtomicU64::new(0));
    let counted = steps.clone();
    let count = move || {
        counted.fetch_add(1, Relaxed);
        false
    };
    database.connection.progress_handler(1, Some(count)).unwrap();
    let steps: Vec<u64> = (0..40)
        .map(|number| {
            steps.store(0, Relaxed);
            database.commit(&[commit(number)], &[]).unwrap();
            steps.load(Relaxed)
        })
        .collect();
    // The first has statements to prepare.
    let (early, late) = (steps[1..6].iter().sum::<u64>(), steps[35..].iter().sum::<u64>());
    assert!(late < early + early / 4, "{early} steps became {late}: {steps:?}");
}
