//! The same answers over HTTP, next to the pages of `foldline serve`.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
};

use serde_json::{Value, json};

use super::{
    logs::droid,
    serve::client::{Server, folder},
};

/// The status and the body of the answer to a posted message.
fn post(server: &Server, path: &str, headers: &str, message: &Value) -> (u16, String) {
    let (address, body) = (&server.address, message.to_string());
    let request = format!(
        "POST {path} HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-06-18\r\n\
         Content-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    let mut connection = TcpStream::connect(address).unwrap();
    // At once: a refusal does not wait for the body, and ends the connection.
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments } })
}

#[test]
fn a_question_over_http_needs_the_token_and_comes_from_no_other_page() {
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), droid("session-one", 2, 1)).unwrap();
    let server = Server::start(&logs, &["--token"]);
    let token = server.link.split("token=").nth(1).unwrap();
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let question = call("recent_sessions", &json!({}));

    let (status, body) = post(&server, "/mcp", &bearer, &question);
    let body: Value = serde_json::from_str(&body).unwrap();
    let text = body["result"]["content"][0]["text"].as_str().unwrap();
    assert!(status == 200 && text.contains("session-one,"), "{body}");
    for (path, headers, refused) in [
        ("/mcp", String::new(), 401),
        ("/mcp", format!("Authorization: Bearer {}\r\n", &token[1..]), 401),
        ("/mcp", format!("{bearer}Origin: http://evil.example\r\n"), 403),
        ("/mcp", format!("{bearer}Sec-Fetch-Site: cross-site\r\n"), 403),
        ("/api/sessions", bearer.clone(), 405),
        ("/", bearer.clone(), 405),
        ("/mcp/", bearer.clone(), 405),
    ] {
        assert_eq!(post(&server, path, &headers, &question).0, refused, "{path} {headers}");
    }
    // There is no session to end, and no stream to open.
    let ask = |method| {
        server.ask(
            method,
            "/mcp",
            &[("Host", &server.address), ("Authorization", &format!("Bearer {token}"))],
        )
    };
    assert_eq!((ask("GET").status, ask("DELETE").status), (405, 405));
}

#[test]
fn a_question_over_http_is_about_all_projects_or_the_named_one() {
    let (_folder, logs) = folder();
    fs::write(logs.join("log.jsonl"), droid("session-one", 2, 1)).unwrap();
    let server = Server::start(&logs, &[]);
    let asked = |path: &str, tool: &str, arguments: &Value| {
        let (status, body) = post(&server, path, "", &call(tool, arguments));
        assert_eq!(status, 200, "{body}");
        body
    };
    let question = json!({});
    assert!(asked("/mcp", "recent_sessions", &question).contains("session-one"));
    assert!(asked("/mcp?project=%2Frepo", "recent_sessions", &question).contains("session-one"));
    let other = asked("/mcp?project=/other", "recent_sessions", &question);
    assert!(other.contains("There is nothing") && !other.contains("session-one"), "{other}");
    let wrong = asked("/mcp", "failures", &json!({ "max_tokens": 1 }));
    assert!(wrong.contains("-32602") && wrong.contains("between 200 and 20000"), "{wrong}");
    let wrong = asked("/mcp", "failures", &json!({ "since": "someday" }));
    assert!(wrong.contains("\"isError\":true"), "{wrong}");
}
