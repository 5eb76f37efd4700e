//! The views of a PostgreSQL database have the figures of the program, and the dashboard reads them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use postgres::{Client, NoTls, SimpleQueryMessage};
use serde_json::Value;

use super::program::both;
use crate::logs::stdout;

/// The path of a file and the address of a server with the same commits, of two machines and an unknown one.
fn filled(folder: &Path) -> (String, Client) {
    let [_, address] = both(folder);
    let mut client = Client::connect(&address, NoTls).unwrap();
    let facts =
        "UPDATE foldline.sources SET host = CASE id % 3 WHEN 0 THEN 'mill' WHEN 1 THEN 'forge' END,
                     user_name = CASE id % 4 WHEN 0 THEN 'ada' WHEN 1 THEN 'o''neil' END";
    client.batch_execute(facts).unwrap();
    (address, client)
}

/// The rows of an answer, as texts.
fn rows(client: &mut Client, sql: &str) -> Vec<Vec<Option<String>>> {
    let messages = client.simple_query(sql).unwrap_or_else(|error| panic!("{error:?}: {sql}"));
    let rows = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => {
            Some((0..row.len()).map(|at| row.get(at).map(rounded)).collect())
        }
        _ => None,
    });
    rows.collect()
}

/// A value, rounded if it is a fraction: the engines add up costs in different orders.
fn rounded(value: &str) -> String {
    let fraction = value.parse::<f64>().ok().filter(|_| value.contains(['.', 'e']));
    fraction.map_or_else(
        || value.to_owned(),
        |fraction| format!("{fraction:.9}").trim_end_matches('0').trim_end_matches('.').to_owned(),
    )
}

fn answer(arguments: &[&str], address: &str) -> Vec<Value> {
    let more = ["--limit", "100000", "--timezone", "UTC", "--format", "json", "--db", address];
    let printed = stdout(&[arguments, &more].concat());
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

/// Columns of an answer, in the notation of rows.
fn cells(rows: &[Value], columns: &[&str]) -> Vec<Vec<Option<String>>> {
    let cell = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(rounded(&other.to_string())),
    };
    rows.iter().map(|row| columns.iter().map(|column| cell(&row[*column])).collect()).collect()
}

/// Compares the rows of a view with those of the program, in any order.
fn assert_same(
    what: &str,
    mut view: Vec<Vec<Option<String>>>,
    mut program: Vec<Vec<Option<String>>>,
) {
    assert!(view.len() > 1, "{what}");
    view.sort();
    program.sort();
    let without = |some: &[Vec<Option<String>>], others: &[_]| -> Vec<_> {
        some.iter().filter(|row| !others.contains(*row)).map(|row| format!("{row:?}")).collect()
    };
    let differences = (without(&view, &program), without(&program, &view));
    assert!(view == program, "{what}: view and program differ in {differences:#?}");
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn every_table_view_and_column_has_a_comment() {
    let address = super::server::Server::get().database();
    drop(foldline_database::postgres::Postgres::open(&address).unwrap());
    let mut client = Client::connect(&address, NoTls).unwrap();
    let sql = "SELECT relname, attname FROM pg_class
               LEFT JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
               LEFT JOIN pg_description ON objoid = pg_class.oid AND classoid = 'pg_class'::regclass
                   AND objsubid = coalesce(attnum, 0)
               WHERE relnamespace = 'foldline'::regnamespace AND relkind IN ('r', 'v') AND description IS NULL
               UNION ALL SELECT relname, NULL FROM pg_class
               WHERE relnamespace = 'foldline'::regnamespace AND relkind IN ('r', 'v')
                   AND obj_description(pg_class.oid, 'pg_class') IS NULL";
    assert_eq!(rows(&mut client, sql), Vec::<Vec<Option<String>>>::new());
    let sql = "SELECT count(*) > 200 FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
               WHERE relnamespace = 'foldline'::regnamespace AND relkind IN ('r', 'v') AND attnum > 0";
    assert_eq!(rows(&mut client, sql), [[Some("t".to_owned())]]);
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn views_have_the_columns_of_those_of_a_file_and_real_moments() {
    let folder = tempfile::tempdir().unwrap();
    let [file, address] = both(folder.path());
    let sqlite = rusqlite::Connection::open(file).unwrap();
    let mut client = Client::connect(&address, NoTls).unwrap();
    for (view, moments) in
        [("session", vec!["began", "ended"]), ("call", vec!["at"]), ("cost", vec!["at"])]
    {
        let statement = sqlite.prepare(&format!("SELECT * FROM {view}")).unwrap();
        let expected: BTreeSet<String> = statement.column_names().map(str::to_owned).collect();
        let statement = client.prepare(&format!("SELECT * FROM foldline.{view}")).unwrap();
        let types: BTreeMap<String, String> = statement
            .columns()
            .iter()
            .map(|column| (column.name().to_owned(), column.type_().name().to_owned()))
            .collect();
        let missing: Vec<_> = expected.iter().filter(|name| !types.contains_key(*name)).collect();
        assert!(missing.is_empty(), "{view}: {missing:?}");
        assert!(moments.iter().all(|moment| types[*moment] == "timestamptz"), "{types:?}");
        // What a log does not state is NULL.
        let texts = types.iter().filter(|(_, kind)| *kind == "text").map(|(name, _)| name);
        let empty: Vec<_> =
            texts.filter(|name| *name != "what").map(|name| format!("{name} = ''")).collect();
        let sql = format!("SELECT count(*) FROM foldline.{view} WHERE {}", empty.join(" OR "));
        assert_eq!(rows(&mut client, &sql), [[Some("0".to_owned())]], "{view}");
    }
    let early = "SELECT count(*) FROM foldline.cost WHERE at < '1970-01-01'";
    assert_eq!(rows(&mut client, early), [[Some("0".to_owned())]]);
    // A moment beyond the type is unknown, and fails nothing.
    let absurd = "UPDATE foldline.sessions SET first_at = 9223372036854775807, last_at = -9223372036854775808 WHERE id = 3;
                  SELECT began IS NULL AND ended IS NULL FROM foldline.session WHERE id = 3";
    assert_eq!(rows(&mut client, absurd), [[Some("t".to_owned())]]);
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn costs_are_those_of_usage() {
    let folder = tempfile::tempdir().unwrap();
    let (address, mut client) = filled(folder.path());
    for (by, column) in [
        ("agent", "agent"),
        ("model", "model"),
        ("project", "project"),
        ("branch", "branch"),
        ("task", "task"),
        ("host", "host"),
        ("user", "user_name"),
        ("day", "day"),
    ] {
        let columns = [
            "input_tokens",
            "output_tokens",
            "cache_read_tokens",
            "cache_write_tokens",
            "reasoning_tokens",
        ];
        let sums = columns.map(|column| format!("sum({column})")).join(", ");
        let sql = format!(
            "SELECT {column}, {sums}, sum(cost_usd),
                    CASE WHEN count(DISTINCT cost_basis) > 1 THEN 'mixed' ELSE min(cost_basis) END
             FROM foldline.cost GROUP BY {column}"
        );
        let view = rows(&mut client, &sql);
        let usage = answer(&["usage", "--by", by], &address);
        let columns = [&[by][..], &columns, &["cost_usd", "cost_basis"]].concat();
        assert_same(by, view, cells(&usage, &columns));
    }
    // Messages that count, in the view of tokens too.
    let sql = "SELECT (SELECT count(*) FROM foldline.usage) = (SELECT count(*) FROM foldline.cost),
                      (SELECT count(*) FROM foldline.usage) < (SELECT count(*) FROM foldline.message_usage)";
    assert_eq!(rows(&mut client, sql), [[Some("t".to_owned()), Some("t".to_owned())]]);
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn sessions_files_and_tools_are_those_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let (address, mut client) = filled(folder.path());
    let columns = [
        "number",
        "session",
        "task",
        "title",
        "agent",
        "model",
        "project",
        "host",
        "user",
        "outcome",
        "entries",
        "calls",
        "failures",
        "active_ms",
        "input_tokens",
        "output_tokens",
        "cost_usd",
        "cost_basis",
        "source",
    ];
    let mut sessions = answer(&["sessions", "--agents"], &address);
    sessions.retain(|session| session["entries"] != 0);
    let view = "SELECT id, session_id, task, title, agent, model, project, host, user_name, outcome, entries, calls,
                       failures, active_ms, input_tokens, output_tokens, cost_usd, cost_basis, log
                FROM foldline.session";
    assert_same("sessions", rows(&mut client, view), cells(&sessions, &columns));
    let files = answer(&["files"], &address);
    let columns = ["project", "path", "changes", "calls", "sessions"];
    let view = "SELECT project, path, string_agg(DISTINCT change, ',' ORDER BY change), count(DISTINCT (session, entry)),
                       count(DISTINCT session)
                FROM foldline.file GROUP BY project, path";
    assert_same("files", rows(&mut client, view), cells(&files, &columns));
    let tools = answer(&["tools"], &address);
    let columns = ["tool", "calls", "failures"];
    let view = "SELECT tool, count(*), count(*) FILTER (WHERE is_failure) FROM foldline.call GROUP BY tool";
    assert_same("tools", rows(&mut client, view), cells(&tools, &columns));
}

/// A query of the dashboard as Grafana sends it: all time, and these values of the variables.
fn expanded(sql: &str, variables: &BTreeMap<String, String>) -> String {
    let mut expanded = String::new();
    let mut rest = sql;
    while let Some((before, after)) = rest.split_once("$__") {
        let (name, arguments) = after.split_once('(').unwrap();
        let (arguments, behind) = arguments.split_once(')').unwrap();
        let column = arguments.split(',').next().unwrap();
        expanded += before;
        expanded += &match name {
            "timeFilter" => {
                format!("{column} BETWEEN '1971-01-01T00:00:00Z' AND '2100-01-01T00:00:00Z'")
            }
            "timeGroupAlias" => {
                format!("floor(extract(epoch from {column})/86400)*86400 AS \"time\"")
            }
            _ => panic!("{name}"),
        };
        rest = behind;
    }
    expanded += rest;
    for (name, values) in variables {
        expanded = expanded.replace(&format!("${name}"), values);
    }
    assert!(!expanded.contains('$'), "{expanded}");
    expanded
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn every_query_of_the_dashboard_has_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (_, mut client) = filled(folder.path());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../database/grafana/foldline.json");
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    let variables = variables.iter().filter(|variable| variable["type"] == "query");
    let variables: BTreeMap<String, String> = variables
        .map(|variable| {
            let found = rows(&mut client, variable["query"].as_str().unwrap());
            let values = found
                .iter()
                .map(|row| format!("'{}'", row[0].as_ref().unwrap().replace('\'', "''")));
            (variable["name"].as_str().unwrap().to_owned(), values.collect::<Vec<_>>().join(","))
        })
        .collect();
    assert_eq!(variables["user"], "'ada','o''neil','unknown'");
    let panels = dashboard["panels"].as_array().unwrap();
    assert!(panels.len() > 10);
    for panel in panels {
        let sql = panel["targets"][0]["rawSql"].as_str().unwrap();
        // Grafana has no search path.
        let found = rows(&mut client, &expanded(sql, &variables));
        let known = found.iter().flatten().flatten().count();
        assert!(known > 0, "{}: {found:?}", panel["title"]);
        let nobody =
            BTreeMap::from_iter(variables.keys().map(|name| (name.clone(), "'nobody'".to_owned())));
        let found = rows(&mut client, &expanded(sql, &nobody));
        let known = found.iter().flatten().flatten().filter(|value| *value != "0").count();
        assert_eq!(known, 0, "{}: {found:?}", panel["title"]);
    }
}
