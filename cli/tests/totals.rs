//! The tokens and costs of a database are the same in every answer: verbs, views, metrics, tools, points and engines.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    captures, counted_once,
    logs::foldline,
    one_story::{self, is_close, number, rows, text},
    serve::client::Server,
};

/// By agent and model: the tokens of each type, and the cost.
type Totals = BTreeMap<(String, String), BTreeMap<&'static str, f64>>;

const COLUMNS: [&str; 6] = [
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "cost_usd",
];

/// The sums of rows, without zeros, which some answers state and some omit.
fn totals(rows: &[Value]) -> Totals {
    let mut totals = Totals::new();
    for row in rows {
        for column in COLUMNS.iter().filter(|column| number(row, column) != 0.0) {
            let of = totals.entry((text(row, "agent"), text(row, "model"))).or_default();
            *of.entry(column).or_default() += number(row, column);
        }
    }
    totals
}

fn sum(totals: &Totals, column: &str) -> f64 {
    totals.values().filter_map(|sums| sums.get(column)).sum()
}

fn assert_same(what: &str, found: &Totals, stated: &Totals) {
    let all = |totals: &Totals| -> BTreeMap<_, f64> {
        let each = totals.iter().flat_map(|(of, sums)| {
            sums.iter().map(|(column, sum)| ((of.0.clone(), of.1.clone(), *column), *sum))
        });
        each.collect()
    };
    let (found, stated) = (all(found), all(stated));
    let of = |totals: &BTreeMap<_, f64>, key| totals.get(key).copied().unwrap_or_default();
    let keys = found.keys().chain(stated.keys());
    let wrong: Vec<_> = keys.filter(|key| !is_close(of(&found, key), of(&stated, key))).collect();
    let wrong: BTreeMap<_, _> =
        wrong.into_iter().map(|key| (key, [of(&found, key), of(&stated, key)])).collect();
    assert!(wrong.is_empty(), "{what} and `usage` differ in {wrong:#?}");
}

/// The statement by which people and dashboards add up a view.
fn of_view(view: &str, model: &str, cost: &str) -> String {
    // Numbers of hostile logs are extreme: a sum of integers fails.
    let sums = COLUMNS.map(|column| match column {
        "cost_usd" => format!("sum({cost}) AS cost_usd"),
        _ => format!("sum(CAST({column} AS DOUBLE PRECISION)) AS {column}"),
    });
    format!("SELECT agent, {model} AS model, {} FROM {view} GROUP BY 1, 2", sums.join(", "))
}

/// The totals of a database, which `usage` states, and all its other answers too.
fn stated(db: &str, views: &mut dyn FnMut(&str) -> Vec<Value>) -> Totals {
    let ask = |question: &str| {
        rows(question.split(' ').chain(["--limit", "0", "--timezone", "UTC", "--db", db]))
    };
    let stated = totals(&ask("usage --by agent,model"));
    assert_same("the days", &totals(&ask("usage --by day,agent,model")), &stated);
    let cost = of_view("cost", "model", "coalesce(stated_usd, estimated_usd)");
    assert_same("the view `cost`", &totals(&views(&cost)), &stated);
    let sessions = ask("sessions --agents");
    for column in ["input_tokens", "output_tokens", "cost_usd"] {
        let shown: f64 = sessions.iter().map(|session| number(session, column)).sum();
        let sum = sum(&stated, column);
        assert!(is_close(shown, sum), "{column}: {shown} in the sessions, {sum} in `usage`");
    }
    let server = Server::of({
        let mut command = foldline();
        command.args(["serve", "--listen", "127.0.0.1:0", "--db", db]);
        command
    });
    assert_same("metrics of the server", &measured(&server.body("/metrics")), &stated);
    #[cfg(feature = "mcp")]
    {
        use foldline_render::human;
        let mut client = crate::mcp::client::Client::of(Path::new(db));
        let answer = client.text("usage", &json!({ "by": ["agent"] }));
        let head = answer.lines().find(|line| line.starts_with("total: ")).unwrap_or_default();
        for (column, name) in [
            ("input_tokens", "input"),
            ("output_tokens", "output"),
            ("cache_read_tokens", "read from cache"),
            ("cache_write_tokens", "written to cache"),
        ] {
            let figure = format!(" {} {name}", human::count(sum(&stated, column) as u64));
            assert!(head.contains(&figure), "{figure}: {head}");
        }
        let cost = human::dollars(sum(&stated, "cost_usd"));
        assert!(head.ends_with(&format!("≈{cost}")), "{cost}: {head}");
    }
    stated
}

/// The totals of metrics in the text format of Prometheus.
fn measured(metrics: &str) -> Totals {
    let (mut measured, [_, costs]) = one_story::measured(metrics);
    for (of, usd) in costs {
        measured.entry(of).or_default().insert("cost_usd", usd);
    }
    measured
}

/// Forks, a sub-agent in a window with a stated cost, the cost of a whole run, and a session in two files.
fn own_logs(folder: &Path) {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for (id, parent, at, counts) in [
        ("a", None, 1, &[100, 200, 300][..]),
        ("b", Some("a"), 2, &[100, 200, 70]),
        ("c", Some("b"), 3, &[100, 200, 70, 9]),
    ] {
        let log = counted_once::thread(id, parent, at, counts);
        write(&format!("codex/{id}/rollout.jsonl"), &log);
    }
    for (name, log) in counted_once::window() {
        write(&format!("claude/projects/-w/{name}"), &log);
    }
    let said = json!({"type": "assistant", "session_id": "run", "parent_tool_use_id": null, "uuid": "a",
                      "message": {"id": "m1", "model": "claude-opus-4-5", "role": "assistant", "type": "message",
                                  "content": [{"type": "text", "text": "hi"}], "usage": {"output_tokens": 1_000}}});
    let amount = json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "run",
                        "uuid": "u", "total_cost_usd": 0.5, "num_turns": 1, "result": "done"});
    write("whole/run.jsonl", &format!("{said}\n{amount}\n"));
    one_story::said(folder, "one", "s-1");
    one_story::settings(folder, "s-1", 1_000);
    // The messages of copies are those of other sessions.
    for log in fs::read_dir(fixtures().join("claude-session")).unwrap() {
        let path = log.unwrap().path();
        let copy =
            fs::read_to_string(&path).unwrap().replace("\"sessionId\":\"", "\"sessionId\":\"copy-");
        write(&format!("copies/{}", path.file_name().unwrap().display()), &copy);
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures")
}

#[test]
fn every_answer_has_the_totals_of_usage() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("logs")).unwrap();
    own_logs(Path::new(&at("logs")));
    let logs = [PathBuf::from(at("logs")), fixtures()].into_iter().chain(captures::folders());
    let logs: Vec<String> = logs.map(|logs| logs.to_str().unwrap().to_owned()).collect();
    let mut ingest = foldline();
    ingest.arg("ingest").args(&logs);
    ingest.args(["--db", &at("db"), "--metrics", &at("metrics")]);
    #[cfg(feature = "otlp")]
    let collector = crate::otlp::collector::Collector::of_json(&mut ingest);
    // Some captures are damaged on purpose.
    ingest.output().unwrap();
    let db = at("db");
    let sql = |statement: &str| rows(["query", "sql", statement, "--limit", "0", "--db", &db]);
    let stated = stated(&db, &mut |statement| sql(statement));
    // Of each type and basis there is something to count.
    let cost = "SELECT sum(stated_usd) AS stated, sum(estimated_usd) AS estimated FROM cost";
    let bases = &sql(cost)[0];
    assert!(number(bases, "stated") > 0.01 && number(bases, "estimated") > 0.01, "{bases}");
    assert!(COLUMNS.iter().all(|column| sum(&stated, column) > 0.0), "{stated:?}");

    let metrics = fs::read_to_string(at("metrics")).unwrap();
    assert_same("the file of metrics", &measured(&metrics), &stated);
    let view = "(SELECT usage.*, agent FROM usage JOIN sessions ON sessions.id = usage.session)";
    let mut tokens = totals(&sql(&of_view(view, "model", "NULL")));
    for (of, sums) in &stated {
        if let Some(usd) = sums.get("cost_usd") {
            tokens.entry(of.clone()).or_default().insert("cost_usd", *usd);
        }
    }
    assert_same("the view `usage`", &tokens, &stated);
    #[cfg(feature = "otlp")]
    {
        let points = crate::otlp::ingest::shown(&collector);
        for (column, kinds) in [
            ("input_tokens", &["input"][..]),
            ("output_tokens", &["output"]),
            ("cost_usd", &["logged", "estimated"]),
        ] {
            let points: f64 = kinds.iter().filter_map(|kind| points.get(*kind)).sum();
            let sum = sum(&stated, column);
            assert!(is_close(points, sum), "{column}: {points} in points, {sum} in `usage`");
        }
    }
    let asked = ["usage", "--by", "agent,model", "--limit", "0"];
    let asked = asked.into_iter().chain(logs.iter().map(String::as_str));
    assert_same("`usage` of the logs", &totals(&rows(asked)), &stated);
}

/// A server of PostgreSQL has no ingest: it and a file get the same commits.
#[test]
#[cfg(all(unix, feature = "postgres"))]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn both_engines_have_the_totals_of_usage() {
    let folder = tempfile::tempdir().unwrap();
    let [file, address] = crate::postgres::program::both(folder.path());
    let sqlite =
        stated(&file, &mut |sql| rows(["query", "sql", sql, "--limit", "0", "--db", &file]));
    let mut client = postgres::Client::connect(&address, postgres::NoTls).unwrap();
    client.batch_execute("SET search_path = foldline").unwrap();
    let mut sql = |sql: &str| -> Vec<Value> {
        let sql = format!("SELECT to_json(answer)::text FROM ({sql}) AS answer");
        let rows = client.query(&sql, &[]).unwrap();
        rows.iter().map(|row| serde_json::from_str(row.get(0)).unwrap()).collect()
    };
    assert_same("PostgreSQL", &stated(&address, &mut sql), &sqlite);
}
