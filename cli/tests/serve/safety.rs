//! Who may ask, and what an answer may do.

use std::fs;

use super::{
    client::{Server, folder},
    logs::{droid, foldline},
};

#[test]
fn every_answer_says_what_a_browser_may_do_with_it() {
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), droid("session", 2, 1)).unwrap();
    let server = Server::start(&logs, &[]);
    for (path, status) in [
        ("/", 200),
        ("/rows", 200),
        ("/usage", 200),
        ("/usage?time=never", 400),
        ("/sessions/session", 200),
        ("/sessions/session/past", 200),
        ("/sessions/session/past?step=sideways", 400),
        ("/api/sessions", 200),
        ("/api/sessions/session", 200),
        ("/api/schema.json", 200),
        ("/api/types.d.ts", 200),
        ("/metrics", 200),
        ("/foldline.css", 200),
        ("/page.js", 200),
        ("/sessions/none", 404),
        ("/none", 404),
        ("/sessions/session/entries", 400),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, status, "{path}");
        for header in [
            "content-security-policy: default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self';",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(answer.head.contains(header), "{path}: {}", answer.head);
        }
        assert!(!answer.head.contains("access-control"), "{path}");
    }
}

#[test]
fn only_this_server_is_asked_and_only_by_its_own_pages() {
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), droid("session", 2, 1)).unwrap();
    let server = Server::start(&logs, &[]);
    let address = &*server.address;
    let port = address.split(':').nth(1).unwrap();
    let ask = |headers: &[(&str, &str)]| server.ask("GET", "/api/sessions", headers).status;
    assert_eq!(ask(&[("Host", address)]), 200);
    assert_eq!(ask(&[("Host", &format!("localhost:{port}"))]), 200);
    assert_eq!(ask(&[("Host", &format!("evil.example:{port}"))]), 421);
    assert_eq!(ask(&[("Host", "127.0.0.1")]), 421);
    assert_eq!(ask(&[]), 421);
    assert_eq!(ask(&[("Host", address), ("Host", "evil.example")]), 421);
    let own = format!("http://{address}");
    assert_eq!(ask(&[("Host", address), ("Origin", &own)]), 200);
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "https://evil.example"] {
        assert_eq!(ask(&[("Host", address), ("Origin", origin)]), 403, "{origin}");
    }
    let fetched = ("Sec-Fetch-Site", "cross-site");
    assert_eq!(ask(&[("Host", address), fetched]), 403);
    assert_eq!(ask(&[("Host", address), fetched, ("Sec-Fetch-Mode", "no-cors")]), 403);
    let link = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
    assert_eq!(ask(&[("Host", address), fetched, link[0], link[1]]), 200);
    let framed = ("Sec-Fetch-Dest", "iframe");
    assert_eq!(ask(&[("Host", address), fetched, link[0], framed]), 403);
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        assert_eq!(server.ask(method, "/", &[("Host", address)]).status, 405, "{method}");
    }
}

#[test]
fn the_token_of_the_link_becomes_a_cookie() {
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), droid("session", 2, 1)).unwrap();
    let server = Server::start(&logs, &["--token"]);
    let (_, token) = server.link.split_once("?token=").unwrap();
    for path in ["/", "/sessions/session", "/page.js", "/metrics", "/?token=", "/?token=1234"] {
        assert_eq!(server.get(path).status, 401, "{path}");
    }
    // A browser is asked for it, on a page with the style of the others.
    let host = ("Host", &*server.address);
    let asked = server.ask("GET", "/sessions/session", &[host, ("Accept", "text/html")]);
    assert_eq!((asked.status, server.get("/foldline.css").status), (401, 200));
    assert!(asked.body.contains("<form action=\"/\">") && asked.body.contains("name=\"token\""));
    assert!(!asked.body.contains("Please look"));
    // Only the page that is opened takes it: links to others would carry it along.
    assert_eq!(server.get(&format!("/metrics?token={token}")).status, 401);
    let welcome = server.get(&format!("/?token={token}"));
    assert_eq!(welcome.status, 200);
    let cookie = welcome.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.ends_with("; httponly; samesite=strict; path=/"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let host = ("Host", &*server.address);
    assert_eq!(server.ask("GET", "/", &[host, ("Cookie", cookie)]).status, 200);
    let bearer = format!("Bearer {token}");
    assert_eq!(server.ask("GET", "/metrics", &[host, ("Authorization", &bearer)]).status, 200);
}

/// A restarted server has the same token, for links that were saved and for programs.
#[test]
fn a_token_of_a_file_stays_and_is_not_printed() {
    let (folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), droid("session", 2, 1)).unwrap();
    let file = folder.path().join("token");
    let file = file.to_str().unwrap();
    let token = "0123456789-secret";
    fs::write(file, format!("{token}\n")).unwrap();
    for _ in 0..2 {
        let server = Server::start(&logs, &["--token-file", file]);
        assert_eq!(server.link, format!("http://{}/", server.address));
        assert_eq!(server.get("/").status, 401);
        let bearer = format!("Bearer {token}");
        for path in ["/", "/metrics", "/api/sessions"] {
            let headers = [("Host", &*server.address), ("Authorization", &bearer)];
            assert_eq!(server.ask("GET", path, &headers).status, 200, "{path}");
        }
        assert_eq!(server.get(&format!("/?token={token}")).status, 200);
    }
    for (text, why) in [
        ("", "token: the token has fewer than 16 characters"),
        ("a secret of several words", "token: the token has other characters"),
        ("0123456789abcdef\n0123456789abcdef", "token: the token has other characters"),
    ] {
        fs::write(file, text).unwrap();
        let db = logs.with_extension("db");
        let mut serve = foldline();
        serve.arg("serve").arg(&logs).arg("--db").arg(db).args(["--token-file", file]);
        let output = serve.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(why), "{said}");
    }
}

#[test]
fn no_path_comes_from_a_request() {
    let (folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), droid("session", 2, 1)).unwrap();
    let other = folder.path().join("other.jsonl");
    fs::write(&other, droid("other", 2, 2)).unwrap();
    let server = Server::start(&logs, &[]);
    let escaped = other.display().to_string().replace('/', "%2F");
    let inside = logs.join("log.jsonl").display().to_string().replace('/', "%2F");
    for name in [&*escaped, &inside, "..%2Fother.jsonl", "..%2F..%2Fetc%2Fpasswd", "latest", "%00"]
    {
        assert_eq!(server.get(&format!("/sessions/{name}")).status, 404, "{name}");
        assert_eq!(server.get(&format!("/api/sessions/{name}")).status, 404, "{name}");
    }
    assert_eq!(server.get("/sessions/session").status, 200);
}

#[test]
fn an_allowed_site_reads_the_api_and_nothing_else() {
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), droid("session", 2, 1)).unwrap();
    let site = "https://app.example";
    let server = Server::start(&logs, &["--allow-origin", "https://App.example/"]);
    let ask = |method: &str, path: &str, origin: &str| {
        let headers =
            [("Host", &*server.address), ("Origin", origin), ("Sec-Fetch-Site", "cross-site")];
        server.ask(method, path, &headers)
    };
    let allowed = ask("GET", "/api/sessions", site);
    assert_eq!(allowed.status, 200);
    for header in [
        "access-control-allow-origin: https://app.example",
        "access-control-expose-headers: foldline-schema-version, link, x-total-count",
        "foldline-schema-version: 1",
        "vary: origin",
        "cross-origin-resource-policy: cross-origin",
    ] {
        assert!(allowed.head.contains(header), "{}", allowed.head);
    }
    let permitted = ask("OPTIONS", "/api/sessions/session/patches", site);
    assert_eq!(permitted.status, 204);
    assert!(permitted.head.contains("allow-headers: authorization, last-event-id"));
    for (method, path, origin, status) in [
        ("GET", "/api/sessions", "https://other.example", 403),
        ("GET", "/api/sessions", "http://app.example", 403),
        ("GET", "/api/sessions", "https://app.example.evil", 403),
        ("GET", "/sessions/session", site, 403),
        ("GET", "/metrics", site, 403),
        ("OPTIONS", "/sessions/session", site, 405),
        ("OPTIONS", "/api/sessions", "https://other.example", 405),
        ("POST", "/api/sessions", site, 405),
    ] {
        let refused = ask(method, path, origin);
        assert_eq!(refused.status, status, "{method} {path} {origin}");
        let is_named = refused.head.contains("access-control-allow-origin: https://other");
        assert!(!is_named, "{}", refused.head);
    }
    // A name of another machine that resolves to this one.
    let rebound = [("Host", "evil.example:80"), ("Origin", site)];
    assert_eq!(server.ask("GET", "/api/sessions", &rebound).status, 421);
}
