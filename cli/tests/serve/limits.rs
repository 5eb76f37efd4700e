//! What a request may ask for, and what the answer to a wrong one looks like.

use std::{fs, process::Command};

use serde_json::Value;

use super::{
    client::{Answer, Server, append, folder, until},
    logs::{droid, foldline},
};

/// The value of a header, whose name is in small letters.
fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    answer.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn names(answer: &Answer) -> Vec<String> {
    let sessions: Vec<Value> = serde_json::from_str(&answer.body).unwrap();
    sessions.iter().map(|it| it["session"].as_str().unwrap().to_owned()).collect()
}

/// The target of the link with this relation.
fn link(answer: &Answer, relation: &str) -> Option<String> {
    let links = header(answer, "link")?.split(", ");
    let found = links
        .filter_map(|link| link.strip_suffix(&format!(">; rel=\"{relation}\""))?.strip_prefix('<'));
    found.last().map(str::to_owned)
}

#[test]
fn a_list_says_how_much_there_is_and_leads_on_to_the_rest() {
    let (_folder, logs) = folder();
    for number in 0..203 {
        let log = droid(&format!("session-{number}"), 1, 1);
        fs::write(logs.join(format!("{number}.jsonl")), log).unwrap();
    }
    let server = Server::start(&logs, &[]);
    let count = |path: &str| header(&server.get(path), "x-total-count").map(str::to_owned);
    until("all are read", || count("/api/sessions").as_deref() == Some("203"));
    // Each session is in one part, whatever the size of the parts.
    for (start, size, parts) in [("/api/sessions", 200, 2), ("/api/sessions?limit=70", 70, 3)] {
        let (mut seen, mut next) = (Vec::new(), Some(start.to_owned()));
        let mut count = 0;
        while let Some(path) = next {
            let answer = server.get(&path);
            let part = names(&answer);
            assert!(!part.is_empty() && part.len() <= size, "{path}");
            assert_eq!(header(&answer, "x-total-count"), Some("203"));
            assert_eq!(link(&answer, "prev").is_some(), count > 0);
            seen.extend(part);
            next = link(&answer, "next");
            count += 1;
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!((seen.len(), count), (203, parts));
    }
    assert_eq!(count("/api/sessions?offset=500&limit=1").as_deref(), Some("203"));
    assert_eq!(count("/api/sessions?agent=codex").as_deref(), Some("0"));
    let filtered = server.get("/api/sessions?q=problem%200&limit=2&sort=tokens&offset=2");
    let expected = "/api/sessions?q=problem%200&sort=tokens&offset=4&limit=2";
    assert_eq!(link(&filtered, "next").as_deref(), Some(expected));
    // The page says the same.
    let page = server.body("/");
    assert!(page.contains("<span>1–200 of 203 sessions</span>"));
    assert!(page.contains("<a rel=\"next\" href=\"/?offset=200\">Next</a>"));
    let rest = server.body("/?offset=200");
    assert!(rest.contains("<span>201–203 of 203 sessions</span>"));
    assert!(rest.contains("<a rel=\"prev\" href=\"/\">Previous</a>"));
    assert!(server.body("/?offset=900").contains("Show the first of 203"));
}

/// 256 is the usual limit of macOS.
#[test]
#[cfg(unix)]
fn few_file_descriptors_are_enough_for_many_sessions() {
    let (_folder, logs) = folder();
    let log = |number: usize| logs.join(format!("{number:03}.jsonl"));
    for number in 0..200 {
        fs::write(log(number), droid(&format!("session-{number:03}"), 1, 1)).unwrap();
    }
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -n 256; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_foldline"),
        "serve",
    ]);
    command.arg(&logs).arg("--db").arg(logs.with_extension("db"));
    command.args(["--listen", "127.0.0.1:0"]);
    for (name, value) in foldline().get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let server = Server::of(command);
    until("all are read", || header(&server.get("/api/sessions"), "x-total-count") == Some("200"));
    // The logs are read, and then, as they were deleted, the database.
    for _ in 0..2 {
        for number in 0..200 {
            let answer = server.body(&format!("/api/sessions/session-{number:03}"));
            assert!(answer.contains("problem"), "{answer}");
        }
        (0..200).for_each(|number| drop(fs::remove_file(log(number))));
    }
}

#[test]
fn a_refusal_is_a_page_for_a_browser_and_json_for_a_program() {
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), droid("session", 2, 1)).unwrap();
    let server = Server::start(&logs, &[]);
    let host = ("Host", &*server.address);
    let browser = ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    for (path, status, why) in [
        ("/?from=nonsense", 400, "unknown field `from`"),
        ("/?since=nonsense", 400, "since: give today, yesterday"),
        ("/usage?by=nonsense", 400, "by: unknown value `nonsense`"),
        ("/usage?from=nonsense", 400, "unknown field `from`"),
        ("/?time=nonsense", 400, "time: unknown variant `nonsense`"),
        ("/?status=nonsense", 400, "unknown status `nonsense`"),
        ("/?offset=-1", 400, "offset: invalid digit"),
        ("/usage?time=never", 400, "time: unknown variant `never`"),
        ("/sessions/session?at=abc", 400, "at: invalid digit"),
        ("/sessions/none", 404, "There is no such session."),
        ("/sessions/%FF", 404, "There is no such session."),
        ("/sessions/session/find?w=1", 400, "missing field `q`"),
        ("/nowhere", 404, "There is no such page."),
    ] {
        let answer = server.ask("GET", path, &[host, browser]);
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(header(&answer, "content-type"), Some("text/html; charset=utf-8"), "{path}");
        let body = &answer.body;
        assert!(body.contains("foldline.css") && body.contains("<a href=\"/\">Sessions"), "{path}");
        assert!(body.contains(why), "{path}: {body}");
        // Others get the sentence alone.
        let answer = server.get(path);
        assert_eq!(header(&answer, "content-type"), Some("text/plain; charset=utf-8"), "{path}");
        assert!(answer.body.contains(why) && answer.body.lines().count() == 1, "{path}");
    }
    for (path, status, why) in [
        ("/api/sessions?from=nonsense", 400, "unknown field `from`"),
        ("/api/sessions?limit=0", 400, "0 is not a number from 1 to 1000"),
        ("/api/sessions?limit=1001", 400, "1001 is not a number from 1 to 1000"),
        ("/api/sessions/none", 404, "There is no such session."),
        ("/api/sessions/none/patches", 404, "There is no such session."),
        ("/api/nothing", 404, "There is no such page."),
    ] {
        let answer = server.ask("GET", path, &[host, browser]);
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(header(&answer, "content-type"), Some("application/json"), "{path}");
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        assert!(body["error"].as_str().unwrap().contains(why), "{path}: {body}");
    }
    let refused = server.ask("GET", "/api/sessions", &[("Host", "evil.example")]);
    assert_eq!(refused.status, 421);
    assert!(serde_json::from_str::<Value>(&refused.body).unwrap()["error"].is_string());
}

#[test]
fn a_search_has_a_limited_number_of_words() {
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), droid("session", 2, 1)).unwrap();
    let server = Server::start(&logs, &[]);
    let status = |path: &str, word: &str, count: usize| {
        let words = vec![word; count].join("%20");
        server.get(&format!("{path}?q={words}")).status
    };
    for path in ["/", "/rows", "/api/sessions"] {
        assert_eq!((status(path, "a", 32), status(path, "a", 33)), (200, 400), "{path}");
        assert_eq!(
            (status(path, &"a".repeat(1000), 1), status(path, &"a".repeat(1001), 1)),
            (200, 400)
        );
    }
    let find = "/sessions/session/find";
    assert_eq!((status(find, "a", 400), status(find, "a", 600)), (200, 400));
}

/// Connections that read nothing share what they are to receive.
#[test]
#[cfg(target_os = "linux")]
fn a_crowd_that_reads_nothing_needs_little_memory() {
    use std::{io::Write, net::TcpStream};

    use super::crowd::{line, memory};

    let cost = |path: &str, readers: usize| {
        let (_folder, logs) = folder();
        let log = logs.join("log.jsonl");
        append(&log, &(0..200).map(line).collect::<String>());
        let server = Server::start(&logs, &[]);
        until("it is read", || server.get("/sessions/session").status == 200);
        let connections: Vec<_> = (0..readers)
            .map(|_| {
                let mut connection = TcpStream::connect(&server.address).unwrap();
                let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
                connection.write_all(request.as_bytes()).unwrap();
                connection
            })
            .collect();
        for round in 1..5 {
            append(&log, &(round * 200..round * 200 + 200).map(line).collect::<String>());
            let found = format!("/sessions/session/find?q=line%20{}.", round * 200 + 199);
            until("it is there", || server.body(&found) != "[]");
        }
        drop(connections);
        memory(&server, "VmHWM")
    };
    for path in ["/api/sessions/session/patches", "/sessions/session/fragments"] {
        let (one, all) = (cost(path, 1), cost(path, 500));
        println!("{path}: one reader {one} KiB, 500 readers {all} KiB");
        // A reader holds up to 64 KiB of events and 32 KiB in each direction of its connection. The snapshots that
        // readers share are as many as there were rounds when they came, which depends on the load of the machine.
        // A thread for each reader cost 138 MiB.
        let most = 500 * (64 + 2 * 32) + (32 << 10);
        assert!(all < one + most, "{path}: one reader {one} KiB, 500 readers {all} KiB");
    }
}
