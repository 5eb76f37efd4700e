//! How SQLite finds what a question asks for.

use std::process::Command;

use rusqlite::{Connection, OpenFlags, functions::FunctionFlags};

use crate::logs::{stdout, write_logs};

/// The statement of an answer with the costs of sessions, as the program logs it.
fn statement(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foldline"));
    command.args(arguments).env("RUST_LOG", "foldline=debug").env("NO_COLOR", "1");
    let output = command.output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    let mut statements = log.split(" sql=").skip(1).map(|literal| {
        let mut literals = serde_json::Deserializer::from_str(literal).into_iter::<String>();
        literals.next().unwrap().unwrap()
    });
    statements.find(|sql| sql.contains("AS sums")).unwrap_or_else(|| panic!("{log}"))
}

#[test]
fn a_list_of_all_sessions_reads_their_costs_once() {
    let folder = tempfile::tempdir().unwrap();
    write_logs(&folder.path().join("logs"), 3, 2);
    let db = folder.path().join("db");
    let place = db.to_str().unwrap();
    stdout(&["ingest", folder.path().join("logs").to_str().unwrap(), "--db", place]);
    let connection = Connection::open_with_flags(&db, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    for (name, arguments) in [("title_line", 2), ("estimated_cost", 9)] {
        let flags = FunctionFlags::SQLITE_DETERMINISTIC;
        connection.create_scalar_function(name, arguments, flags, |_| Ok(None::<i64>)).unwrap();
    }
    for list in ["sessions", "task list"] {
        let words: Vec<_> = list.split(' ').chain(["-n", "0", "--db", place]).collect();
        let sql = statement(&words);
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps = plan.query_map([], |row| row.get::<_, String>("detail")).unwrap();
        let steps: Vec<_> = steps.map(Result::unwrap).collect();
        let is_found = |step: &String| step.starts_with("SEARCH sums ");
        assert!(steps.iter().any(is_found), "{steps:#?}");
    }
}
