//! The answers of a PostgreSQL database are those of a SQLite database with the same commits.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    fs,
    path::Path,
    sync::Arc,
};

use foldline::ledger::{Checkpoint, Commit, Ledger, SourceFacts, SourceName};
use foldline_database::{
    Rows, Store, StoredEntry,
    postgres::Postgres,
    query::{Period, SearchTerms, SessionFilter, SessionName, SessionOrder, StateFilter},
    sqlite::{DEFAULT_WAIT, Database},
    usage::{SessionUsage, UsedFor, priced},
};
use foldline_domain::{
    ActionType, DomainEvent, Located, NormalizedEntry, NormalizedEntryType, Position, Session,
    TokenUsage, ToolUse, pricing::Prices,
};
use postgres::{Client, NoTls};

use super::server::Server;
use crate::hostile::events_of;

/// Commits the events of a log, so many in a commit.
pub(super) fn commit<L: Ledger<Output = Rows>>(
    ledger: &mut L,
    name: &str,
    events: &[Located<DomainEvent>],
    size: usize,
) where
    L::Error: Debug,
{
    let mut expected = None;
    for (line, part) in (1..).zip(events.chunks(size)) {
        let position = Position { line, offset: line };
        let facts = SourceFacts {
            path: name.to_owned(),
            format: name.split('/').next().unwrap().to_owned(),
            ..SourceFacts::default()
        };
        let state = serde_json::from_str("{\"n\":\"\\u0000\"}").unwrap();
        let checkpoint = Checkpoint { facts, position, state, complete: false };
        let output = part.iter().collect();
        let source = SourceName::from(name);
        ledger.commit(&[Commit { source, expected, checkpoint, output }], &[]).unwrap();
        expected = Some(position);
    }
}

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let mut logs = Vec::new();
    for folder in fs::read_dir(root).unwrap().flatten().filter(|it| it.path().is_dir()) {
        for file in fs::read_dir(folder.path()).unwrap().flatten() {
            let path = file.path();
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                let format = folder.file_name().into_string().unwrap();
                let name = file.file_name().into_string().unwrap();
                logs.push((format!("{format}/{name}"), fs::read(path).unwrap()));
            }
        }
    }
    logs.sort();
    logs
}

fn assert_equal<T: Debug + PartialEq>(what: &str, one: &T, other: &T) {
    if one != other {
        let (one, other) = (format!("{one:#?}"), format!("{other:#?}"));
        let differs = one.lines().zip(other.lines()).position(|(one, other)| one != other);
        let around = |text: &str| {
            let lines = text.lines().skip(differs.unwrap_or(0).saturating_sub(12)).take(24);
            lines.collect::<Vec<_>>().join("\n")
        };
        panic!("{what}:\nsqlite\n{}\npostgres\n{}", around(&one), around(&other));
    }
}

/// Costs are sums of fractions, which the engines add in their own order.
fn rounded<T: serde::Serialize>(rows: &[T]) -> Vec<serde_json::Value> {
    let mut rows: Vec<_> = rows.iter().map(|row| serde_json::to_value(row).unwrap()).collect();
    for row in &mut rows {
        if let Some(cost) = row.get_mut("cost_usd").filter(|cost| cost.is_f64()) {
            *cost = format!("{:.9}", cost.as_f64().unwrap()).into();
        }
    }
    rows
}

fn filters() -> Vec<SessionFilter> {
    let some = |text: &str| Some(text.to_owned());
    let of = |set: &dyn Fn(&mut SessionFilter)| {
        let mut filter = SessionFilter::default();
        set(&mut filter);
        filter
    };
    vec![
        of(&|_| {}),
        of(&|it| it.agent = some("Claude")),
        of(&|it| it.agent_name = some("codex")),
        of(&|it| it.project = some("/home")),
        of(&|it| it.folders = vec!["/home".to_owned(), "C:/Users".to_owned()]),
        of(&|it| it.project = some("PROJECT")),
        of(&|it| it.model = some("OPUS")),
        of(&|it| it.branch = some("main")),
        of(&|it| it.task = some("none")),
        of(&|it| it.text = some("test fix")),
        of(&|it| it.text = some("e")),
        of(&|it| it.name = Some(SessionName::from(3))),
        of(&|it| it.name = Some(SessionName::IdBegins("0".to_owned()))),
        of(&|it| it.name = Some(SessionName::Title("THE".to_owned()))),
        of(&|it| it.name = Some(SessionName::Log("droid/tools.jsonl".to_owned()))),
        of(&|it| it.state = Some(StateFilter::Failed)),
        of(&|it| it.state = Some(StateFilter::DoneBefore(i64::MAX))),
        of(&|it| it.period = Period { start: 1_767_225_600_000, end: 1_798_761_600_000 }),
        of(&|it| {
            it.is_listed = true;
            it.limit = Some(5);
            it.offset = 2;
        }),
    ]
}

pub(super) fn compare(sqlite: &dyn Store, postgres: &dyn Store) {
    assert_eq!(sqlite.totals().unwrap(), postgres.totals().unwrap());
    let states = |store: &dyn Store| {
        let mut states = Vec::new();
        store.each_state(|state| states.push(state)).unwrap();
        states
    };
    assert_equal("states", &states(sqlite), &states(postgres));
    let orders = [
        SessionOrder::Latest,
        SessionOrder::Began,
        SessionOrder::Duration,
        SessionOrder::Tokens,
        SessionOrder::Cost,
        SessionOrder::Failures,
        SessionOrder::Number,
    ];
    compare_sessions(sqlite, postgres, (&filters(), &orders), 9);
}

/// Compares the answers about all sessions, and some of the searches.
pub(super) fn compare_whole(one: &dyn Store, other: &dyn Store) {
    let whole = (&[SessionFilter::default()][..], &[SessionOrder::Latest][..]);
    compare_sessions(one, other, whole, 400);
}

/// The messages in the time of a filter, of the sessions that are chosen in an answer, with their costs.
fn costs<'s>(
    sessions: &'s [SessionUsage],
    chosen: &[SessionUsage],
    filter: &SessionFilter,
) -> Vec<(usize, &'s UsedFor, Option<f64>)> {
    let places =
        sessions.iter().enumerate().map(|(place, session)| (std::ptr::from_ref(session), place));
    let places: BTreeMap<_, _> = places.collect();
    let messages = priced(sessions, Prices::builtin())
        .map(|row| (places[&std::ptr::from_ref(row.session)], row));
    messages
        .filter(|(place, row)| chosen[*place].is_chosen && filter.period.has(row.message.of.at))
        .map(|(place, row)| (place, &row.message.of, row.cost.map(|cost| cost.usd)))
        .collect()
}

/// Compares all answers that are about sessions; searches every so many words.
fn compare_sessions(
    sqlite: &dyn Store,
    postgres: &dyn Store,
    (filters, orders): (&[SessionFilter], &[SessionOrder]),
    step: usize,
) {
    for filter in filters {
        for &order in orders {
            let sessions = |store: &dyn Store| rounded(&store.sessions(filter, order).unwrap());
            let what = format!("sessions {order:?} {filter:?}");
            assert_equal(&what, &sessions(sqlite), &sessions(postgres));
        }
        macro_rules! same {
            ($($query:ident($($argument:expr),*)),* $(,)?) => {$({
                let what = format!("{} {filter:?}", stringify!($query));
                let (one, other) = (sqlite.$query($($argument),*), postgres.$query($($argument),*));
                assert_equal(&what, &one.unwrap(), &other.unwrap());
            })*};
        }
        same!(
            session_log(filter),
            failures(filter),
            failures_with("Test", filter),
            timeline(filter),
            warnings(filter),
            tools(filter),
            files(filter, false),
            files(filter, true),
            files_by_calls(filter),
            sessions_of_file("src", filter, false),
        );
        for failure in sqlite.failures(filter).unwrap().iter().take(20) {
            same!(successes_after(failure, filter));
        }
        let usage = sqlite.usage(filter).unwrap();
        assert_equal(&format!("usage {filter:?}"), &usage, &postgres.usage(filter).unwrap());
        let all = sqlite.usage(&SessionFilter::default()).unwrap();
        assert_equal(
            &format!("usage {filter:?}"),
            &costs(&usage, &usage, filter),
            &costs(&all, &usage, filter),
        );
        let tasks = |store: &dyn Store| rounded(&store.tasks(filter).unwrap());
        assert_equal(&format!("tasks {filter:?}"), &tasks(sqlite), &tasks(postgres));
    }
    assert_equal("names", &sqlite.session_ids().unwrap(), &postgres.session_ids().unwrap());
    assert_equal("agents", &sqlite.agents().unwrap(), &postgres.agents().unwrap());
    assert_equal("folders", &sqlite.folders().unwrap(), &postgres.folders().unwrap());
    let limits = |store: &dyn Store| store.limits("codex").unwrap();
    assert_equal("limits", &limits(sqlite), &limits(postgres));
    assert_equal(
        "usage",
        &sqlite.usage(&SessionFilter::default()).unwrap(),
        &postgres.usage(&SessionFilter::default()).unwrap(),
    );
    let mut texts: BTreeSet<String> = [
        "test",
        "the file",
        "\"cargo test\"",
        "ärger",
        "確認",
        "src/main.rs",
        "x86-64",
        "error E0",
    ]
    .map(str::to_owned)
    .into();
    // Words of calls and their parts: both have the arguments of a call as text.
    for session in sqlite.sessions(&SessionFilter::default(), SessionOrder::Number).unwrap() {
        let each = |stored: StoredEntry| {
            let arguments = stored.entry.texts().nth(1).unwrap_or_default();
            let words = arguments
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| word.len() > 4 && word.is_ascii());
            words
                .step_by(step)
                .for_each(|word| texts.extend([word, &word[1..]].map(str::to_owned)));
        };
        sqlite.entries(session.number, 0..i64::MAX, each).unwrap();
    }
    for text in &texts {
        let terms = SearchTerms::of(text).unwrap();
        let filter = SessionFilter::default();
        let found = |store: &dyn Store| {
            let found = store.search(&terms, &filter).unwrap();
            let mut found: Vec<_> = found.iter().map(|it| (it.session, it.index)).collect();
            found.sort_unstable();
            found
        };
        assert_equal(text, &found(sqlite), &found(postgres));
    }
    for text in [
        "how do I fix the failing tests",
        "which files were updated",
        "mend the greting",
        "\"cargo test\" errors, permissoins and quokkas",
        "ärger 確認 src/main.rs",
        "the of",
    ] {
        let Some(SearchTerms::All(terms)) = SearchTerms::of(text) else { panic!("{text}") };
        let found = |store: &dyn Store| {
            let mut found = store.search_relaxed(&terms, &SessionFilter::default()).unwrap();
            let mut entries: Vec<_> =
                found.entries.drain(..).map(|it| (it.session, it.index)).collect();
            entries.sort_unstable();
            (entries, found)
        };
        assert_equal(text, &found(sqlite), &found(postgres));
    }
    for session in sqlite.sessions(&SessionFilter::default(), SessionOrder::Number).unwrap() {
        let events = |store: &dyn Store| {
            let mut events = Vec::new();
            store.events(session.number, |event| events.push(event)).unwrap();
            events
        };
        assert_equal(&session.source, &events(sqlite), &events(postgres));
        assert_eq!(
            sqlite.read_to(session.number).unwrap(),
            postgres.read_to(session.number).unwrap()
        );
    }
}

/// Logs that state more about a session: stored before and after it, of a session in two logs, of another agent, of no
/// session, and the cost of a whole session.
fn companions() -> Vec<NamedLog> {
    let facts = |agent: &str, id: &str, model: Option<&str>| {
        let (agent, session_id) = (Some(agent.into()), Some(id.into()));
        let model = model.map(Into::into);
        DomainEvent::Session(Box::new(Session { agent, session_id, model, ..Session::default() }))
    };
    let said = |agent: &str, id: &str| {
        let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, format!("ask {id}"));
        vec![facts(agent, id, None), DomainEvent::entry(entry)]
    };
    let used = |agent: &str, id: &str, cost_usd: Option<f64>| {
        let tokens = cost_usd.is_none().then_some(1_000);
        let usage = TokenUsage { input_tokens: tokens, cost_usd, ..TokenUsage::default() };
        let (usage, model) = (Box::new(usage), Some("claude-opus-4".into()));
        let usage = DomainEvent::Usage { usage, model, message_id: None, timestamp: None };
        vec![facts(agent, id, Some("claude-opus-4")), usage]
    };
    let logs = [
        used("x", "before", None),
        said("x", "before"),
        said("x", "after"),
        used("x", "after", None),
        used("x", "after", Some(0.5)),
        said("x", "twice"),
        said("x", "twice"),
        used("x", "twice", None),
        used("y", "twice", None),
        used("x", "alone", None),
    ];
    let logs = (1..).zip(logs).map(|(number, events): (u32, _)| {
        let located = |event| Located::new(Position::default(), event);
        (format!("x/{number}"), events.into_iter().map(located).collect())
    });
    logs.collect()
}

/// A call with a NUL and what looks like its escape in its arguments, and with numbers of many digits.
fn nul() -> NamedLog {
    let json =
        r#"{"zebra\u0000walrus": "\\u0000giraffe", "n": [1.5e300, 12345678901234567890123]}"#;
    let arguments = Some(serde_json::from_str(json).unwrap());
    let action = ActionType::Tool { tool_name: "mcp".into(), arguments, result: None };
    let entry_type = NormalizedEntryType::ToolUse(ToolUse::new("mcp", action));
    let entry = NormalizedEntry::new(entry_type, "mcp").into();
    let call = DomainEvent::NewToolCall { corr_id: "nul".into(), entry };
    ("x/nul".to_owned(), vec![Located::new(Position::default(), call)])
}

/// A log: its name, and its events.
pub(super) type NamedLog = (String, Vec<Located<DomainEvent>>);

/// All logs of the tests.
pub(super) fn logs() -> Vec<NamedLog> {
    let fixtures = fixtures().into_iter().map(|(name, log)| {
        let events = events_of(name.split('/').next().unwrap(), &log, 1 << 20);
        (name, events)
    });
    fixtures.chain(companions()).chain([nul()]).collect()
}

/// Commits all fixtures to both, in parts of several sizes.
pub(super) fn fill(sqlite: &mut Database, postgres: &mut Postgres) {
    for (size, (name, events)) in [1, 3, 1_000].into_iter().cycle().zip(logs()) {
        commit(sqlite, &name, &events, size);
        commit(postgres, &name, &events, size);
        let source = SourceName::from(name.as_str());
        assert_eq!(sqlite.load(&source).unwrap(), postgres.load(&source).unwrap(), "{name}");
    }
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn answers_are_those_of_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let mut sqlite = Database::open(&folder.path().join("db"), DEFAULT_WAIT).unwrap();
    let address = Server::get().database();
    let mut postgres = Postgres::open(&address).unwrap();
    fill(&mut sqlite, &mut postgres);
    assert_eq!(sqlite.limits("codex").unwrap().len(), 3);
    compare(&sqlite, &postgres);
    for (id, sessions) in [
        ("before", vec![Some(1_000)]),
        ("after", vec![Some(1_000)]),
        ("twice", vec![Some(1_000), None]),
    ] {
        let name = Some(SessionName::Id(id.to_owned()));
        let agent = Some("x".to_owned());
        let filter = SessionFilter { name, agent, ..SessionFilter::default() };
        let found = (&postgres as &dyn Store).sessions(&filter, SessionOrder::Number).unwrap();
        let tokens: Vec<_> = found.iter().map(|session| session.input_tokens).collect();
        assert_eq!(tokens, sessions, "{id}: {found:#?}");
    }
    // Other prices, of which one depends on the size of the request.
    let prices = Prices::read(
        r#"{"claude-opus-4": {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06,
                              "input_cost_per_token_above_200k_tokens": 5e-06}}"#,
    );
    let prices = Arc::new(Prices::builtin().clone().with(prices.unwrap()));
    sqlite.estimate_with(Arc::clone(&prices)).unwrap();
    postgres.estimate_with(prices).unwrap();
    compare(&sqlite, &postgres);
    // Parts of words are found with the indices of the extension, and without them.
    let mut client = Client::connect(&address, NoTls).unwrap();
    let uses = "SET enable_seqscan = off;
                EXPLAIN SELECT id FROM foldline.entries WHERE lower(content COLLATE \"C\") LIKE '%part%'";
    let plan = format!("{:?}", client.simple_query(uses).unwrap());
    assert!(plan.contains("entries_by_parts"), "{plan}");
    client.batch_execute("DROP EXTENSION pg_trgm CASCADE").unwrap();
    compare_whole(&sqlite, &postgres);
}
