//! The list, and the page of a session.

use std::{fmt::Write as _, fs};

use serde_json::{Value, json};

use super::{
    client::{Server, answered, append, folder, until},
    logs::{droid, foldline, stdout},
};

#[test]
fn the_list_has_what_is_in_the_logs_and_what_comes() {
    let (_folder, logs) = folder();
    fs::write(logs.join("one.jsonl"), droid("first", 3, 1)).unwrap();
    let server = Server::start(&logs, &[]);
    let page = server.body("/");
    assert!(page.contains("href=\"/sessions/first\"") && page.contains("Please look at problem 0"));
    let mut events = server.events("/events", None);
    // Changes since the page was rendered are not missed.
    events.next_named("update");
    fs::write(logs.join("two.jsonl"), droid("second", 3, 2)).unwrap();
    events.next_named("update");
    while !server.body("/api/sessions").contains("\"second\"") {
        events.next_named("update");
    }
    let sessions: Vec<Value> = serde_json::from_str(&server.body("/api/sessions")).unwrap();
    assert_eq!(sessions.len(), 2);
    assert_eq!((&sessions[0]["agent"], &sessions[0]["tokens"]), (&"droid".into(), &120.into()));
}

#[test]
fn the_list_is_searched() {
    let (_folder, logs) = folder();
    fs::write(logs.join("one.jsonl"), droid("first", 2, 1)).unwrap();
    let odd = droid("second", 2, 2).replace("Please look", "Kindly <b>look</b> & see");
    fs::write(logs.join("two.jsonl"), odd).unwrap();
    let server = Server::start(&logs, &[]);
    let found = |query: &str| {
        let sessions: Vec<Value> =
            serde_json::from_str(&server.body(&format!("/api/sessions?{query}"))).unwrap();
        sessions.iter().map(|it| it["session"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("q=").len(), 2);
    assert_eq!(found("q=kindly"), ["second"]);
    assert_eq!(found("q=kin"), ["second"]);
    assert_eq!(found("q=hard%20thin").len(), 2);
    assert_eq!(found("q=nowhere"), [""; 0]);
    assert_eq!(found("q=%22%27%3B--%20*"), [""; 0]);
    assert_eq!(found("agent=codex"), [""; 0]);
    assert_eq!(found("agent=droid&status=failed"), [""; 0]);
    let rows = server.body("/rows?q=kindly");
    assert!(rows.contains("Kindly &lt;b&gt;look&lt;/b&gt; &amp; see") && !rows.contains("<b>look"));
}

#[test]
fn the_list_is_chosen_by_project_and_time_and_sorted() {
    let (_folder, logs) = folder();
    let now = jiff::Timestamp::now().as_millisecond();
    for (name, turns, folder) in
        [("long", 30, "/home/a/w_x"), ("short", 2, "/home/b/wyx"), ("old", 9, "/srv/w_x/")]
    {
        let mut log = droid(name, turns, 1).replace("\"/repo\"", &format!("{folder:?}"));
        log = log.replace("\"durationMs\":1234", &format!("\"durationMs\":{turns}000"));
        if name != "old" {
            // Two days ago; the times in a log are those of its lines.
            let shift = now - 2 * 86_400_000 - 1_760_000_060_000;
            log = log
                .lines()
                .map(|line| {
                    let mut line: Value = serde_json::from_str(line).unwrap();
                    line["timestamp"] = (line["timestamp"].as_i64().unwrap() + shift).into();
                    format!("{line}\n")
                })
                .collect();
        }
        fs::write(logs.join(format!("{name}.jsonl")), log).unwrap();
    }
    let server = Server::start(&logs, &[]);
    let found = |query: &str| {
        let sessions: Vec<Value> =
            serde_json::from_str(&server.body(&format!("/api/sessions?{query}"))).unwrap();
        sessions.iter().map(|it| it["session"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("project=w_x"), ["long", "old"]);
    assert_eq!(found("project=wyx"), ["short"]);
    assert_eq!(found("project=x"), [""; 0]);
    assert_eq!(found("time=7d"), ["long", "short"]);
    assert_eq!(found("time=today"), [""; 0]);
    assert_eq!(found("time=yesterday"), [""; 0]);
    assert_eq!(found("time=30d&project=w_x"), ["long"]);
    assert_eq!(found("sort=duration"), ["long", "old", "short"]);
    assert_eq!(found("sort=failures").first().unwrap(), "long");
    assert_eq!((found("sort=cost").len(), found("sort=tokens").len()), (3, 3));
    assert_eq!(server.get("/?sort=beauty").status, 400);
    let page = server.body("/?project=w_x&sort=duration");
    assert!(
        page.contains(
            "aria-sort=\"descending\"><a href=\"/?project=w_x&amp;sort=duration\">Duration"
        )
    );
    assert!(
        page.contains("<option value=\"w_x\" selected>") && page.contains("<option value=\"wyx\">")
    );
    assert!(!page.contains("class=\"day\""), "no day is before another");
    assert!(server.body("/?project=w_x").contains("class=\"day\""));
}

#[test]
fn a_session_is_a_page_and_the_document_of_a_replay() {
    let (_folder, logs) = folder();
    let log = logs.join("log.jsonl");
    fs::write(&log, answered(5, 1)).unwrap();
    let server = Server::start(&logs, &[]);
    let page = server.body("/sessions/session");
    let exported = stdout(&["export", log.to_str().unwrap()]);
    let article = exported.split("<article").nth(4).unwrap().split("</article>").next().unwrap();
    assert!(!exported.contains("class=\"why\""), "a file has no server");
    assert!(page.contains(article));
    assert!(page.contains("data-page=\"session\"") && page.contains("<aside class=\"side\""));
    let document: Value = serde_json::from_str(&server.body("/api/sessions/session")).unwrap();
    let replayed = stdout(&["replay", log.to_str().unwrap(), "--format", "conversation"]);
    assert_eq!(document, serde_json::from_str::<Value>(&replayed).unwrap());
    let hits: Vec<usize> =
        serde_json::from_str(&server.body("/sessions/session/find?q=PROBLEM%203")).unwrap();
    assert_eq!(hits.len(), 1);
}

#[test]
fn a_long_session_comes_in_parts_that_are_the_whole() {
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), droid("session", 300, 1)).unwrap();
    let server = Server::start(&logs, &[]);
    let page = server.body("/sessions/session");
    let count = page.matches("<article class=\"entry\"").count();
    assert_eq!(count, 220);
    let attribute = |name: &str| {
        let (_, rest) = page.split_once(&format!("{name}=\"")).unwrap();
        rest.split('"').next().unwrap().parse::<usize>().unwrap()
    };
    let (first, last) = (attribute("data-first"), attribute("data-last"));
    assert_eq!(first, 20);
    let asked = format!("/sessions/session/entries?first={first}&last={last}&at=first");
    let part: Value = serde_json::from_str(&server.body(&asked)).unwrap();
    let html = part["html"].as_str().unwrap();
    assert!(html.contains("id=\"e20\"") && html.contains("data-first=\"220\""));
    // A link into the gap shows its target, also without scripts.
    assert!(
        server
            .body(&format!("/sessions/session?at={}", last - 5))
            .contains(&format!("id=\"e{}\"", last - 5))
    );
}

#[test]
fn a_log_that_is_gone_is_shown_as_it_was_stored() {
    let (_folder, logs) = folder();
    let log = logs.join("log.jsonl");
    fs::write(&log, droid("session", 5, 1)).unwrap();
    let server = Server::start(&logs, &[]);
    fs::remove_file(&log).unwrap();
    assert!(server.body("/sessions/session").contains("Please look at problem 4"));
}

#[test]
fn what_programs_get_has_the_fields_that_its_schema_names() {
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), answered(5, 1)).unwrap();
    let server = Server::start(&logs, &[]);
    let of = |path: &str| serde_json::from_str::<Value>(&server.body(path)).unwrap();
    let names = |object: &Value| object.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let schema = &of("/api/schema.json")["$defs"];
    assert_eq!(names(&of("/api/sessions")[0]), names(&schema["ListedSession"]["properties"]));
    let conversation = of("/api/sessions/session");
    let known = names(&schema["Conversation"]["properties"]);
    assert!(names(&conversation).iter().all(|name| known.contains(name)), "{known:?}");
    let entry = &conversation["entries"][0]["content"];
    assert_eq!(names(entry), names(&schema["NormalizedEntry"]["properties"]));
    let types = server.body("/api/types.d.ts");
    assert_eq!(stdout(&["schema"]), server.body("/api/schema.json"));
    assert_eq!(stdout(&["schema", "--format", "typescript"]), types);
    assert_eq!(stdout(&["schema", "database"]), stdout(&["query", "schema"]));
    let of = |name: &str| serde_json::from_str::<Value>(&stdout(&["schema", name])).unwrap();
    assert_eq!(of("entry")["$ref"], "#/$defs/NormalizedEntry");
    assert_eq!(of("tables")["tables"]["calls"]["tool"], "text");
    assert_eq!(of("api")["$id"], "urn:foldline:schema:1");
    assert_eq!(of("event")["$id"], "urn:foldline:schema:1:LocatedEvent");
    assert_eq!(of("tables")["schema_version"], 1);
    let version = concat!("Foldline ", env!("CARGO_PKG_VERSION"));
    assert!(types.contains(version) && of("api")["title"] == version);
    assert!(
        schema.as_object().unwrap().keys().all(|it| types.contains(&format!("export type {it} =")))
    );
}

#[test]
fn metrics_are_those_of_the_database() {
    let (folder, logs) = folder();
    let log = logs.join("log.jsonl");
    append(&log, &droid("session", 5, 1));
    let server = Server::start(&logs, &[]);
    let metrics = folder.path().join("metrics");
    let db = logs.with_extension("db");
    let [log, db, to] = [&log, &db, &metrics].map(|path| path.to_str().unwrap());
    stdout(&["ingest", log, "--db", db, "--metrics", to]);
    assert_eq!(server.body("/metrics"), fs::read_to_string(&metrics).unwrap());
}

#[test]
fn an_entry_is_explained_by_its_lines_events_and_patches() {
    let (_folder, logs) = folder();
    let log = answered(20, 7).replace("Please look", "<script>alert(1)</script> look");
    fs::write(logs.join("log.jsonl"), &log).unwrap();
    let server = Server::start(&logs, &[]);
    let document: Value = serde_json::from_str(&server.body("/api/sessions/session")).unwrap();
    let is_call = |entry: &Value| entry["content"]["entry_type"]["type"] == "tool_use";
    let call = document["entries"].as_array().unwrap().iter().position(is_call).unwrap();
    let page = server.body(&format!("/sessions/session/explain?entry={call}"));
    assert_eq!(page.matches("<ol class=\"steps\">").count(), 2, "the call, and its result");
    for part in
        ["Event new_tool_call", "Event update_tool_call", "&quot;op&quot;: &quot;replace&quot;"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains(&format!("&quot;path&quot;: &quot;/entries/{call}&quot;")));
    // Without scripts, it is at the end of the entry, in a separate page.
    let whole = server.body(&format!("/sessions/session?explain={call}"));
    let article = whole.split(&format!("id=\"e{call}\"")).nth(1).unwrap();
    let article = article.split("</article>").next().unwrap();
    assert!(article.ends_with(&page) && whole.matches("class=\"explain\"").count() == 1);
    let link = format!("<a class=\"why\" href=\"?explain={call}#e{call}\"");
    assert!(article.contains(&link) && server.body("/sessions/session").contains(&link));
    let prompt = server.body("/sessions/session/explain?entry=1");
    assert!(prompt.contains("&lt;script&gt;alert") && !prompt.contains("<script>alert"));
    assert!(server.body("/sessions/session/explain?entry=99999").contains("Nothing in the log"));
}

#[test]
fn what_another_program_adds_to_the_database_is_shown() {
    let (_folder, logs) = folder();
    let db = logs.with_extension("db");
    let db = db.to_str().unwrap();
    let add = |session: &str, seed| {
        let log = logs.join(format!("{session}.jsonl"));
        fs::write(&log, droid(session, 2, seed)).unwrap();
        stdout(&["ingest", "--db", db, log.to_str().unwrap()]);
    };
    add("first", 1);
    // No agent keeps logs on this machine, and none are named.
    let mut command = foldline();
    command.args(["serve", "--db", db, "--listen", "127.0.0.1:0"]);
    let server = Server::of(command);
    assert!(server.body("/api/sessions").contains("\"first\""));
    add("second", 2);
    let sessions = server.body("/api/sessions");
    assert!(sessions.contains("\"first\"") && sessions.contains("\"second\""), "{sessions}");
}

#[test]
fn a_path_that_does_not_exist_is_refused() {
    let (_folder, logs) = folder();
    let missing = logs.join("missing");
    let mut command = foldline();
    let db = logs.with_extension("db");
    command.args(["serve", "--listen", ":0", "--db", db.to_str().unwrap()]).arg(&missing);
    let refused = command.output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains(missing.to_str().unwrap()), "{said}");
    assert!(!db.exists());
}

#[test]
fn sessions_are_listed_by_day_and_those_without_a_time_by_that_of_their_file() {
    let (_folder, logs) = folder();
    let line = |session: &str, at: Option<jiff::Timestamp>| {
        let init = json!({"type": "system", "subtype": "init", "cwd": "/repo", "tools": [], "model": "m",
            "session_id": session, "timestamp": at.map(jiff::Timestamp::as_millisecond)});
        let end = json!({"type": "completion", "finalText": "Done.", "numTurns": 1, "durationMs": 5,
            "session_id": session, "timestamp": at.map(jiff::Timestamp::as_millisecond)});
        fs::write(logs.join(format!("{session}.jsonl")), format!("{init}\n{end}\n")).unwrap();
    };
    // A day before noon is the day before, also if the clocks are changed.
    let noon = jiff::Zoned::now().with().hour(12).build().unwrap();
    let now = noon.timestamp();
    let hours = |count: i64| now - jiff::SignedDuration::from_hours(count);
    line("undated", None);
    line("now", Some(now));
    line("before", Some(hours(24)));
    line("long-ago", Some(hours(24 * 40)));
    let server = Server::start(&logs, &[]);
    let rows = server.body("/rows");
    let heads: Vec<_> =
        rows.split("<b>").skip(1).map(|row| row.split('<').next().unwrap()).collect();
    assert_eq!(heads.len(), 3, "{heads:?}");
    assert_eq!(heads[..2], ["Today", "Yesterday"]);
    let today = rows.split("Yesterday").next().unwrap();
    assert!(today.contains("<b>Today</b>2 sessions"), "{today}");
}

/// A log of one session of calls without a to-do list.
fn called(session: &str, calls: usize) -> String {
    let mut log = String::new();
    let mut say = |mut line: Value, second: usize| {
        line["session_id"] = session.into();
        line["timestamp"] = (1_760_000_000_000 + 1_000 * second).into();
        writeln!(log, "{line}").unwrap();
    };
    say(json!({"type": "system", "subtype": "init", "cwd": "/repo", "model": "m"}), 0);
    for call in 0..calls {
        let at = 3 * call;
        if call.is_multiple_of(200) {
            let text = format!("Please look at {call}");
            say(
                json!({"type": "message", "role": "user", "id": format!("u{call}"), "text": text}),
                at,
            );
        }
        let (id, file) = (format!("c{call}"), format!("/repo/src/f{}.rs", call % 500));
        let (tool, given) = match call % 2 {
            0 => ("Read", json!({"file_path": file})),
            _ => ("Create", json!({"file_path": file, "content": "hello\n"})),
        };
        say(
            json!({"type": "tool_call", "id": id, "messageId": id, "toolId": tool, "toolName": tool, "parameters": given}),
            at + 1,
        );
        say(
            json!({"type": "tool_result", "id": id, "messageId": id, "toolId": "", "isError": call % 50 == 0, "value": "done\n"}),
            at + 2,
        );
    }
    log
}

/// The nanoseconds for which a process has computed.
#[cfg(target_os = "linux")]
fn computed(process: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let times = threads.filter_map(|thread| {
        let times = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        times.split(' ').next()?.parse::<u64>().ok()
    });
    times.sum()
}

/// A page of a long session costs what it shows: it walks through nothing that it does not show.
#[test]
#[cfg(target_os = "linux")]
fn the_cost_of_a_page_does_not_grow_with_its_session() {
    const CALLS: [usize; 2] = [300, 16_000];
    let (_folder, logs) = folder();
    for calls in CALLS {
        fs::write(logs.join(format!("{calls}.jsonl")), called(&format!("of-{calls}"), calls))
            .unwrap();
    }
    let server = Server::start(&logs, &[]);
    let costs = CALLS.map(|calls| {
        let page = format!("/sessions/of-{calls}");
        until("the session is read", || {
            let answer = server.get(&page);
            answer.status == 200 && answer.body.contains(&format!("data-calls=\"{calls}\""))
        });
        let past: Value = serde_json::from_str(&server.body(&format!("{page}/past"))).unwrap();
        let moment = past["last"].as_u64().unwrap() * 2 / 3;
        let requests = [
            page.clone(),
            format!("{page}?at={}", calls / 2),
            format!("{page}/entries?first=20&last={}&at=last", calls - 10),
            format!("{page}/past?moment={moment}&is_brief=true"),
        ];
        requests.map(|request| {
            let cost = || {
                let before = computed(server.child.id());
                server.body(&request);
                computed(server.child.id()) - before
            };
            (0..12).map(|_| cost()).min().unwrap()
        })
    });
    let [short, long] = costs;
    for (what, (short, long)) in
        ["page", "entry", "gap", "moment"].iter().zip(short.into_iter().zip(long))
    {
        let growth = long as f64 / short as f64;
        assert!(growth < 4.0, "{what}: {short} ns, {long} ns, {growth:.1} times");
    }
}

#[test]
fn what_is_seen_on_the_page_is_found_in_it() {
    let (_folder, logs) = folder();
    let say = |line: Value| format!("{line}\n");
    let id = |id: &str| json!({"type": "tool_call", "id": id, "messageId": id});
    let mut call = id("c1");
    call["toolId"] = "Edit".into();
    call["toolName"] = "Edit".into();
    call["parameters"] = json!({"file_path": "/repo/nav.tsx", "old_str": "<nav>", "new_str": "<nav class=\"sticky top-0\">", "why": "it must stay"});
    let mut log = say(
        json!({"type": "system", "subtype": "init", "cwd": "/repo", "model": "m", "session_id": "seen"}),
    );
    let message = json!({"type": "message", "role": "assistant", "id": "m1", "text": "It is **half** done & [see](https://a.example)"});
    let result = json!({"type": "tool_result", "id": "c1", "messageId": "c1", "toolId": "Edit", "isError": false, "value": "ok"});
    for mut line in [message, call, result] {
        line["session_id"] = "seen".into();
        log += &say(line);
    }
    fs::write(logs.join("log.jsonl"), log).unwrap();
    let server = Server::start(&logs, &[]);
    until("the session is read", || server.get("/sessions/seen").body.contains("data-calls=\"1\""));
    let found = |words: &str| server.body(&format!("/sessions/seen/find?q={words}"));
    for words in [
        "is%20HALF%20done%20%26%20see",
        "class%3D%22sticky%20top-0%22%3E",
        "nav.tsx",
        "must%20stay",
    ] {
        assert_ne!(found(words), "[]", "{words}");
    }
    // Markup, addresses of links and what is only read out are not seen.
    for words in ["**half", "a.example", "data-action", "link%20to%20this", "amp%3B"] {
        assert_eq!(found(words), "[]", "{words}");
    }
}
