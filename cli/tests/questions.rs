//! What people ask first, in the words that they type.

use crate::{first_hour::Home, logs::run};

/// What the program says on standard error, and its exit code.
fn refused(arguments: &[&str]) -> (String, i32) {
    let output = run(arguments);
    (String::from_utf8(output.stderr).unwrap(), output.status.code().unwrap())
}

#[test]
fn a_time_is_a_month_a_year_or_a_week() {
    let home = Home::new();
    let count = |since: &str, until: &str| {
        let period = ["sessions", "--project", "shop", "--since", since, "--until", until];
        home.json(&period).as_array().unwrap().len()
    };
    assert_eq!(count("2026-01", "2026-01"), 1);
    assert_eq!(count("2026", "2026"), 1);
    assert_eq!(count("2026-02", "2026-12"), 0);
    assert_eq!(count("2025", "2025-12"), 0);
    for period in ["this week", "last week", "this month", "last month"] {
        home.ask(&["usage", "--since", period, "--until", period]);
    }
    let (error, code) = refused(&["usage", "--since", "next week"]);
    assert_eq!(code, 2);
    let forms = [
        "yesterday",
        "this week",
        "last month",
        "2026-01-31",
        "2026-01,",
        "2026,",
        "12h",
        "RFC 3339",
    ];
    for form in forms {
        assert!(error.contains(form), "{form}: {error}");
    }
}
