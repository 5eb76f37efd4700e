//! Pruning and forgetting in PostgreSQL: as in a file, and safe beside programs that commit.

use std::{collections::BTreeMap, fmt::Debug, path::Path, thread, time::Duration};

use foldline::ledger::{Checkpoint, Commit, CommitError, Ledger, SourceFacts, SourceName};
use foldline_database::{
    Prune, Pruned, Rows, Store,
    postgres::{Postgres, PostgresError},
    query::{SessionFilter, SessionOrder},
    sqlite::{DEFAULT_WAIT, Database},
};
use foldline_domain::{
    Digest, DomainEvent, Located, NormalizedEntry, NormalizedEntryType, Position, Session,
    SessionKey, Timestamp,
};
use postgres::{Client, NoTls};

use super::{answers, program::both, server::Server};
use crate::logs::{run, stdout};

/// A file and a server with the same commits.
struct Pair {
    sqlite: Database,
    postgres: Postgres,
    address: String,
    _folder: tempfile::TempDir,
}

impl Pair {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = Server::get().database();
        let sqlite = Database::open(&folder.path().join("db"), DEFAULT_WAIT).unwrap();
        let postgres = Postgres::open(&address).unwrap();
        Self { sqlite, postgres, address, _folder: folder }
    }

    /// Commits the next events of a log to both.
    fn commit(&mut self, name: &str, events: &[Located<DomainEvent>]) {
        let one = commit(&mut self.sqlite, name, events).unwrap();
        let other = commit(&mut self.postgres, name, events).unwrap();
        assert_eq!(one, other);
        self.compare();
    }

    fn compare(&self) {
        assert_eq!(self.sqlite.totals().unwrap(), self.postgres.totals().unwrap());
        answers::compare_whole(&*self.sqlite, &*self.postgres);
    }

    fn prune(&mut self, before: i64) {
        let before = Prune::Before(Timestamp::from_millis(before));
        for dry_run in [true, false, false] {
            let one = self.sqlite.prune(before, dry_run).unwrap();
            assert_eq!(one, self.postgres.prune(before, dry_run).unwrap());
            self.compare();
        }
    }

    fn forget(&mut self, sessions: &[i64]) {
        for dry_run in [true, false, false] {
            let one = self.sqlite.forget_sessions(sessions, dry_run).unwrap();
            assert_eq!(one, self.postgres.forget_sessions(sessions, dry_run).unwrap());
            self.compare();
        }
        assert!(self.sqlite.check().unwrap().is_empty());
    }

    fn texts(&self, session: i64) -> Vec<String> {
        let mut texts = Vec::new();
        let each = |stored: foldline_database::StoredEntry| {
            texts.push(stored.entry.content.decode().into_owned());
        };
        self.postgres.entries(session, 0..i64::MAX, each).unwrap();
        texts
    }
}

/// Commits the next events of a log, which is one file.
fn commit<L: Ledger<Output = Rows>>(
    ledger: &mut L,
    name: &str,
    events: &[Located<DomainEvent>],
) -> Result<L::Receipt, CommitError<L::Error>>
where
    L::Error: Debug,
{
    let source = SourceName::from(name);
    let expected = ledger.load(&source).unwrap().map(|stored| stored.position);
    let mut facts = SourceFacts { path: name.into(), format: "x".into(), ..SourceFacts::default() };
    facts.identity.first_line = Some(Digest::of(name.as_bytes()));
    let before = expected.unwrap_or(Position { line: 1, offset: 0 });
    let end = events.iter().map(|event| event.position.offset + 1).max().unwrap_or_default();
    let position = Position { line: before.line + 1, offset: before.offset.max(end) };
    let state = serde_json::from_str(r#"{"text":"of a prompt"}"#).unwrap();
    let checkpoint = Checkpoint { facts, position, state, complete: false };
    let output = events.iter().collect();
    ledger.commit(&[Commit { source, expected, checkpoint, output }], &[])
}

/// A session states its id.
fn named(session: u32, id: &str) -> Located<DomainEvent> {
    let facts = Session {
        agent: Some("x".into()),
        session_id: Some(id.into()),
        model: Some("model-of-x".into()),
        ..Session::default()
    };
    let event = DomainEvent::Session(Box::new(facts));
    Located::new(Position::default(), event).in_session(SessionKey(session))
}

/// A prompt at a byte of its log.
fn said(session: u32, offset: u64, words: &str) -> Located<DomainEvent> {
    let mut entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, words);
    entry.timestamp = Some(Timestamp::from_millis(1_000 + i64::try_from(offset).unwrap()));
    let position = Position { line: offset, offset };
    Located::new(position, DomainEvent::entry(entry)).in_session(SessionKey(session))
}

/// The rows of all tables as text, except what is kept of forgotten sessions.
fn rows(address: &str) -> BTreeMap<String, Vec<String>> {
    let mut client = Client::connect(address, NoTls).unwrap();
    let tables = "SELECT relname::text FROM pg_class
                  WHERE relnamespace = 'foldline'::regnamespace AND relkind = 'r' AND relname <> 'forgotten'";
    let tables = client.query(tables, &[]).unwrap();
    let tables = tables.iter().map(|row| row.get::<_, String>(0));
    let rows = tables.map(|table| {
        let only = match table.as_str() {
            "sources" => "WHERE id IN (SELECT source FROM foldline.sessions)",
            _ => "",
        };
        let sql = format!("SELECT t::text FROM foldline.{table} AS t {only} ORDER BY 1");
        let rows = client.query(&sql, &[]).unwrap();
        (table, rows.iter().map(|row| row.get(0)).collect())
    });
    rows.collect()
}

fn numbers(store: &dyn Store) -> Vec<i64> {
    let sessions = store.sessions(&SessionFilter::default(), SessionOrder::Number).unwrap();
    sessions.into_iter().map(|session| session.number).collect()
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn a_forgotten_log_leaves_nothing() {
    let logs = answers::logs();
    let (kept, forgotten) = logs.split_at(logs.len() / 2);
    let addresses = [0, 1].map(|_| Server::get().database());
    let [mut with, mut without] =
        addresses.each_ref().map(|address| Postgres::open(address).unwrap());
    for (name, events) in kept {
        answers::commit(&mut with, name, events, 1_000);
        answers::commit(&mut without, name, events, 1_000);
    }
    let ids = || {
        let sql = "SELECT id FROM foldline.sessions";
        let rows = Client::connect(&addresses[0], NoTls).unwrap().query(sql, &[]).unwrap();
        rows.iter().map(|row| row.get(0)).collect::<Vec<i64>>()
    };
    let before = ids();
    forgotten.iter().for_each(|(name, events)| answers::commit(&mut with, name, events, 1_000));
    let chosen: Vec<i64> = ids().into_iter().filter(|id| !before.contains(id)).collect();
    assert!(chosen.len() > 5);
    let said = with.forget_sessions(&chosen, false).unwrap();
    assert_eq!(said.sessions, chosen.len() as u64);
    assert_eq!(rows(&addresses[0]), rows(&addresses[1]));
    answers::compare_whole(&*with, &*without);

    // They do not come back, whether they are continued, read again, or read under another name. An id that a kept
    // session has too is not forgotten in other logs.
    let mut client = Client::connect(&addresses[0], NoTls).unwrap();
    let mut copies = 0;
    for (name, events) in forgotten {
        let copied = format!("copy/{name}");
        if with.is_forgotten(name).unwrap() {
            let same = commit(&mut with, name, events);
            assert!(matches!(same, Err(CommitError::Moved { .. })), "{same:?}");
        }
        let sql =
            "SELECT bool_and(anywhere) AND count(*) = 1 FROM foldline.forgotten WHERE source = $1";
        let is_forgotten: Option<bool> = client.query_one(sql, &[name]).unwrap().get(0);
        if is_forgotten == Some(true) {
            copies += 1;
            commit(&mut with, &copied, events).unwrap();
        }
    }
    assert!(copies > 5, "{copies}");
    answers::compare_whole(&*with, &*without);
    let texts = |address: &str| rows(address).remove("entries");
    assert_eq!(texts(&addresses[0]), texts(&addresses[1]));
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn a_session_of_a_log_with_others_stays_forgotten() {
    let mut pair = Pair::new();
    pair.commit(
        "log",
        &[named(0, "a"), said(0, 1, "mend it"), named(1, "b"), said(1, 2, "zebra\0")],
    );
    pair.commit("other", &[said(0, 1, "walrus"), said(0, 2, "a \u{fdd2}\u{fdd3}")]);
    pair.commit("fourth", &[named(0, "c"), said(0, 1, "eland")]);
    pair.forget(&[2]);
    assert_eq!(numbers(&*pair.postgres), [1, 3, 4]);
    pair.commit("log", &[said(0, 3, "paint it"), said(1, 4, "giraffe")]);
    assert_eq!(pair.texts(1), ["mend it", "paint it"]);
    // A session that only now states the id of a forgotten one, with more in the same commit.
    pair.commit("other", &[said(0, 5, "gnu"), named(0, "b"), said(0, 6, "okapi")]);
    assert_eq!(numbers(&*pair.postgres), [1, 4]);
    pair.commit("other", &[said(0, 7, "ibex")]);
    // One in a third log, and one that was never forgotten.
    pair.commit("third", &[named(0, "b"), said(0, 1, "yak")]);
    pair.commit("fourth", &[said(0, 2, "kudu")]);
    let left = rows(&pair.address);
    for word in ["zebra", "walrus", "giraffe", "gnu", "okapi", "ibex", "yak"] {
        assert!(!format!("{left:?}").contains(word), "{word}: {left:#?}");
    }
    assert!(format!("{left:?}").contains("eland") && format!("{left:?}").contains("kudu"));
    // Of a log without further sessions nothing is read, even under its stored position.
    pair.forget(&[1]);
    assert!(pair.postgres.is_forgotten("log").unwrap());
    assert!(!pair.postgres.is_forgotten("fourth").unwrap());
    let stored = pair.postgres.load(&"log".into()).unwrap().unwrap();
    assert_eq!((stored.position.line, stored.state.get()), (0, "{}"));
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn what_was_pruned_stays_pruned() {
    let mut pair = Pair::new();
    pair.commit("log", &[named(0, "a"), said(0, 1, "mend the cart"), said(0, 20, "zebra")]);
    pair.commit("new", &[named(0, "b"), said(0, 90_000, "paint it")]);
    pair.prune(50_000);
    assert_eq!(pair.texts(1), Vec::<String>::new());
    // An entry that is delayed, and older than those that were pruned; and one that is new.
    pair.commit("log", &[said(0, 5, "giraffe"), said(0, 30, "next")]);
    assert_eq!(pair.texts(1), ["next"]);
    // The next file of a log begins at its first byte.
    pair.prune(50_000);
    let events = [said(0, 2, "of the next file")];
    let rotated = |expected: Option<Position>| {
        let facts = SourceFacts { path: "log".into(), ..SourceFacts::default() };
        let position = Position { line: 1, offset: 3 };
        let state = serde_json::from_str("{}").unwrap();
        let checkpoint = Checkpoint { facts, position, state, complete: false };
        let output = events.iter().collect();
        [Commit { source: "log".into(), expected, checkpoint, output }]
    };
    let expected = pair.sqlite.load(&"log".into()).unwrap().map(|stored| stored.position);
    pair.sqlite.commit(&rotated(expected), &[]).unwrap();
    pair.postgres.commit(&rotated(expected), &[]).unwrap();
    pair.compare();
    assert_eq!(pair.texts(1), ["of the next file"]);
}

/// Rows are removed, and files of tables do not shrink: a size that counted these would remove more every time.
#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn the_oldest_sessions_go_until_the_size_holds() {
    type Prunes<'p> = &'p mut dyn FnMut(u64, bool) -> Pruned;
    let mut pair = Pair::new();
    let mut seed = 1_u64;
    let mut add = |pair: &mut Pair, numbers: std::ops::Range<u64>| {
        for number in numbers {
            let words: Vec<_> = (0..400)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    format!("{:x}", seed >> 40)
                })
                .collect();
            // The latest sessions are committed first.
            let events =
                [named(0, &format!("{number}")), said(0, 1_000 - number, &words.join(" "))];
            let name = format!("log {number}");
            commit(&mut pair.sqlite, &name, &events).unwrap();
            commit(&mut pair.postgres, &name, &events).unwrap();
        }
    };
    add(&mut pair, 0..100);
    let left = |store: &dyn Store| {
        let sessions = store.sessions(&SessionFilter::default(), SessionOrder::Number).unwrap();
        assert!(sessions.len() >= 100);
        let mut left = Vec::new();
        for session in sessions {
            store.entries(session.number, 0..i64::MAX, |_| left.push(session.number)).unwrap();
        }
        left
    };
    let Pair { sqlite, postgres, .. } = &mut pair;
    let engines: [Prunes<'_>; 2] =
        [&mut |size, dry| sqlite.prune(Prune::LargerThan(size), dry).unwrap(), &mut |size, dry| {
            postgres.prune(Prune::LargerThan(size), dry).unwrap()
        }];
    let sizes = engines.map(|prune| {
        let whole = prune(u64::MAX, true);
        assert_eq!(whole.sessions, 0);
        let none = prune(256, true);
        assert_eq!(none.sessions, 100);
        let half = whole.left.unwrap().midpoint(none.left.unwrap());
        let estimate = prune(half, true);
        assert!(estimate.left.unwrap() <= half);
        let pruned = prune(half, false);
        assert!(pruned.left.unwrap() <= half, "{pruned:?}");
        assert!(pruned.sessions.abs_diff(50) <= 10, "{pruned:?}");
        assert!(pruned.sessions.abs_diff(estimate.sessions) <= 5, "{pruned:?} {estimate:?}");
        assert_eq!(prune(half, false), Pruned { left: pruned.left, ..Pruned::default() });
        (half, 100 - pruned.sessions as usize)
    });
    let both: [&dyn Store; 2] = [&*pair.sqlite, &*pair.postgres];
    for (store, (_, kept)) in both.into_iter().zip(sizes) {
        assert_eq!(left(store), (1..=kept as i64).collect::<Vec<_>>());
    }
    // As many new sessions replace old ones, again and again.
    for round in 1..4 {
        add(&mut pair, round * 100..round * 100 + 30);
        pair.sqlite.prune(Prune::LargerThan(sizes[0].0), false).unwrap();
        pair.postgres.prune(Prune::LargerThan(sizes[1].0), false).unwrap();
        let both: [&dyn Store; 2] = [&*pair.sqlite, &*pair.postgres];
        for (store, (_, kept)) in both.into_iter().zip(sizes) {
            assert!(
                left(store).len().abs_diff(kept) <= 15,
                "{round}: {} of {kept}",
                left(store).len()
            );
        }
    }
    assert!(pair.sqlite.check().unwrap().is_empty());
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn verbs_remove_alike() {
    let folder = tempfile::tempdir().unwrap();
    let databases = both(folder.path());
    let alike = |question: &str| {
        let answers = databases.each_ref().map(|db| {
            let mut arguments: Vec<&str> = question.split(' ').collect();
            arguments.extend(["--db", db]);
            stdout(&arguments)
        });
        assert_eq!(answers[0], answers[1], "{question}");
        answers[0].clone()
    };
    let compare = || {
        let sqlite = Database::open_read_only(Path::new(&databases[0]), DEFAULT_WAIT).unwrap();
        answers::compare_whole(&sqlite, &*Postgres::open_read_only(&databases[1]).unwrap());
    };
    let remove = |question: &str, begin: &str| {
        let said = alike(question);
        assert!(said.starts_with(begin), "{question}: {said}");
        alike("sessions");
        alike("usage --by agent --by model");
    };
    remove("prune --older-than 2026-01-15 --dry-run", "would remove ");
    remove("prune --older-than 2026-01-15", "removed ");
    remove("prune --older-than 2026-01-15", "removed 0 entries");
    compare();
    for (question, begin) in [
        ("forget 5 --dry-run", "would forget 1 session "),
        ("forget 5", "forgot 1 session "),
        ("forget --project nowhere", "forgot 0 sessions"),
        ("forget --before 2026-02-15 --dry-run", "would forget "),
        ("forget --before 2026-02-15", "forgot "),
        ("forget latest", "forgot 1 session "),
        ("prune --older-than 2100-01-01 --compact", "removed "),
        ("forget --before 2100-01-01 --compact", "forgot "),
    ] {
        remove(question, begin);
        if question == "forget latest" {
            compare();
        }
    }
    compare();
    // A session without any moment is neither old nor new.
    assert!(!alike("sessions --format json").contains("2026-"));
    for db in &databases {
        assert_eq!(run(&["show", "5", "--db", db]).status.code(), Some(4));
        assert_eq!(run(&["forget", "no-such-session", "--db", db]).status.code(), Some(4));
    }
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn a_database_without_tables_stays_empty() {
    let address = Server::get().database();
    for verb in [&["prune", "--older-than", "1d"][..], &["forget", "--before", "1d"]] {
        for dry in [&[][..], &["--dry-run"]] {
            let output = run(&[verb, dry, &["--db", &address]].concat());
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(1) && said.contains("has no tables"), "{said}");
        }
    }
    let mut client = Client::connect(&address, NoTls).unwrap();
    let schema = client.query("SELECT FROM pg_namespace WHERE nspname = 'foldline'", &[]).unwrap();
    assert!(schema.is_empty());
}

/// A user who may write rows, and does not own the tables.
#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn a_user_who_does_not_own_the_tables_can_forget_and_not_compact() {
    let address = Server::get().database();
    let mut ledger = Postgres::open(&address).unwrap();
    commit(&mut ledger, "log", &[named(0, "a"), said(0, 1, "mend it")]).unwrap();
    let mut client = Client::connect(&address, NoTls).unwrap();
    let user = format!("writer_{}", address.rsplit_once('_').unwrap().1);
    let rights = format!(
        "CREATE USER {user}; GRANT USAGE ON SCHEMA foldline TO {user};
         GRANT SELECT ON ALL TABLES IN SCHEMA foldline TO {user}"
    );
    client.batch_execute(&rights).unwrap();
    let db = address.replace("postgres@", &format!("{user}@"));
    let dry = stdout(&["forget", "1", "--dry-run", "--db", &db]);
    assert!(dry.starts_with("would forget 1 session "), "{dry}");
    let said = |arguments: &[&str]| {
        let output = run(&[arguments, &["--db", &db]].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, error) = said(&["forget", "1"]);
    assert!(code == Some(1) && error.contains("permission denied"), "{error}");
    let rights = format!("GRANT ALL ON ALL TABLES IN SCHEMA foldline TO {user}");
    client.batch_execute(&rights).unwrap();
    let (code, error) = said(&["prune", "--older-than", "2100-01-01", "--compact"]);
    assert!(code == Some(1) && error.contains("only the owner of the table"), "{error}");
    assert!(stdout(&["forget", "1", "--db", &db]).starts_with("forgot 1 session "));
    assert_eq!(numbers(&*ledger), Vec::<i64>::new());
}

/// A program commits between every two removals, and neither loses nor brings back anything.
#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn several_programs_commit_while_sessions_are_forgotten_and_pruned() {
    let address = Server::get().database();
    drop(Postgres::open(&address).unwrap());
    const COMMITS: u64 = 60;
    let writers: Vec<_> = (0..3)
        .map(|writer| {
            let address = address.clone();
            thread::spawn(move || {
                let mut ledger = Postgres::open(&address).unwrap();
                for number in 0..COMMITS {
                    // Each log has its own session and one of all logs, which is forgotten.
                    let (name, id) = (format!("log {writer}"), format!("own {writer}"));
                    let own = said(0, number * 2, &format!("kept {number}"));
                    let shared = said(1, number * 2 + 1, "forgotten words");
                    let events = [named(0, &id), own, named(1, "shared"), shared];
                    commit(&mut ledger, &name, &events).unwrap();
                }
            })
        })
        .collect();
    let mut remover = Postgres::open_existing(&address, DEFAULT_WAIT).unwrap();
    let shared = |store: &dyn Store| {
        let sessions = store.sessions(&SessionFilter::default(), SessionOrder::Number).unwrap();
        let shared = sessions.into_iter().filter(|it| it.session.as_deref() == Some("shared"));
        shared.map(|session| session.number).collect::<Vec<i64>>()
    };
    while !writers.iter().all(thread::JoinHandle::is_finished) {
        let chosen = shared(&*remover);
        remover.forget_sessions(&chosen, false).unwrap();
        remover.prune(Prune::Before(Timestamp::from_millis(0)), false).unwrap();
    }
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    let chosen = shared(&*remover);
    remover.forget_sessions(&chosen, false).unwrap();
    let left = rows(&address);
    assert_eq!(left["entries"].len() as u64, 3 * COMMITS, "{:#?}", left["entries"]);
    assert!(!format!("{left:?}").contains("forgotten words"));
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn a_removal_waits_for_a_commit_that_has_begun() {
    let address = Server::get().database();
    let mut writer = Postgres::open(&address).unwrap();
    commit(&mut writer, "log", &[named(0, "a"), said(0, 1, "mend it")]).unwrap();
    assert_eq!(writer.begin_after(&[]).unwrap(), None);
    let mut hasty = Postgres::open_existing(&address, Duration::from_millis(50)).unwrap();
    let error = hasty.forget_sessions(&[1], false).unwrap_err();
    assert!(matches!(error, PostgresError::Conflict { .. }), "{error}");
    // A dry run and a reader do not wait.
    assert_eq!(hasty.forget_sessions(&[1], true).unwrap().sessions, 1);
    assert_eq!(numbers(&*hasty), [1]);
    let patient = thread::spawn(move || {
        let mut patient = Postgres::open_existing(&address, DEFAULT_WAIT).unwrap();
        patient.forget_sessions(&[1], false).unwrap()
    });
    thread::sleep(Duration::from_millis(100));
    // The commit that has begun still knows the session.
    commit(&mut writer, "log", &[said(0, 2, "paint it")]).unwrap();
    assert_eq!(patient.join().unwrap().entries, 2);
    assert_eq!(numbers(&*writer), Vec::<i64>::new());
}
