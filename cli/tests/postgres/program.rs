//! The program answers from PostgreSQL what it answers from a file.

use std::path::Path;

use foldline_database::{postgres::Postgres, sqlite::Database};
use foldline_domain::pricing::Prices;

#[cfg(feature = "mcp")]
use serde_json::json;

use super::{answers, server::Server};
use crate::{
    logs::{foldline, run, stdout},
    serve::client,
};

/// A file and a server with the same commits.
pub(crate) fn both(folder: &Path) -> [String; 2] {
    let file = folder.join("one.db");
    let address = Server::get().database();
    let mut sqlite = Database::open(&file, foldline_database::sqlite::DEFAULT_WAIT).unwrap();
    answers::fill(&mut sqlite, &mut Postgres::open(&address).unwrap());
    sqlite.add_prices(Prices::builtin()).unwrap();
    sqlite.close().unwrap();
    [file.to_str().unwrap().to_owned(), address]
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn verbs_and_the_server_answer_alike() {
    let folder = tempfile::tempdir().unwrap();
    let databases = both(folder.path());
    for question in [
        "sessions",
        "sessions --sort cost --format json",
        "sessions --agent claude --failed",
        "show 5",
        "show 5:1",
        "files",
        "files --changed --format csv",
        "errors",
        "tools --sort slow",
        "usage --by agent --by model",
        "usage --format json",
        "allowed",
        "allowed everything --format json",
        "sessions --allowed asking --limit 500",
        "task list",
        "export 5 --format html",
        "export 5 --format md",
    ] {
        let answers = databases.each_ref().map(|db| {
            let words: Vec<String> =
                question.split(' ').map(|word| word.replace('"', "")).collect();
            let mut arguments: Vec<&str> = words.iter().map(String::as_str).collect();
            arguments.extend(["--db", db]);
            stdout(&arguments)
        });
        assert_eq!(answers[0], answers[1], "{question}");
    }
    let pages = databases.each_ref().map(|db| {
        let mut command = foldline();
        command.args(["serve", "--listen", "127.0.0.1:0", "--db", db]);
        let server = client::Server::of(command);
        ["/api/sessions", "/usage", "/metrics"].map(|path| rounded(&server.body(path)))
    });
    assert_eq!(pages[0], pages[1]);
}

/// A page whose costs are rounded: the engines add up fractions in different orders.
fn rounded(page: &str) -> String {
    let mut parts = page.split("\"cost_usd\":");
    let mut rounded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (cost, rest) = part.split_once(',').unwrap_or((part, ""));
        let cost = cost.parse::<f64>().map_or_else(|_| cost.to_owned(), |usd| format!("{usd:.9}"));
        rounded += &format!("\"cost_usd\":{cost},{rest}");
    }
    rounded
}

#[test]
#[cfg(feature = "mcp")]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn questions_of_agents_are_answered_alike() {
    let folder = tempfile::tempdir().unwrap();
    let mut clients = both(folder.path()).map(|db| crate::mcp::client::Client::of(Path::new(&db)));
    for (tool, arguments) in [
        ("recent_sessions", json!({ "max_tokens": 5_000 })),
        ("get_session", json!({ "session": "5" })),
        ("failures", json!({ "text": "test", "max_tokens": 20_000 })),
        ("files_touched", json!({ "path": "src" })),
        ("usage", json!({ "by": ["agent", "model"] })),
    ] {
        let answers = clients.each_mut().map(|client| client.text(tool, &arguments));
        assert_eq!(answers[0], answers[1], "{tool}");
        assert!(answers[0].lines().count() > 1, "{tool}: {}", answers[0]);
    }
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn what_needs_a_file_says_so() {
    let address = Server::get().database();
    for verb in ["ingest .", "check", "keep", "query sql SELECT"] {
        let mut arguments: Vec<&str> = verb.split(' ').collect();
        arguments.extend(["--db", &address]);
        let output = run(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains("PostgreSQL") || said.contains("no tables"),
            "{verb}: {said}"
        );
    }
    let output = run(&["sessions", "--db", &address]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("foldline-fleet sink"), "{said}");
}
