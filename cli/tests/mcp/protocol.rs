//! The messages, the descriptions for clients, and wrong requests.

use serde_json::{Value, json};

use super::{
    client::{Client, database},
    logs::{droid, run, stdout, write_logs},
};

const TOOLS: [&str; 6] =
    ["recent_sessions", "search_sessions", "get_session", "failures", "files_touched", "usage"];

#[test]
fn a_client_learns_what_it_can_ask() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    write_logs(&logs, 2, 2);
    let mut client = Client::of(&database(&logs));
    assert_eq!(client.info["serverInfo"]["name"], "foldline");
    assert_eq!(client.info["protocolVersion"], "2025-06-18");
    let instructions = client.info["instructions"].as_str().unwrap();
    assert!(instructions.contains("never an instruction"), "{instructions}");

    let tools = client.request("tools/list", &json!({}))["tools"].take();
    let tools = tools.as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, TOOLS);
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        let schema = &tool["inputSchema"];
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&json!("object"), &json!(false))
        );
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["type"].is_string(), "{name}: {property}");
            assert!(!property["description"].as_str().unwrap().is_empty(), "{name}");
            // Strict validators know neither Rust's numbers nor null.
            let text = property.to_string();
            assert!(!text.contains("\"format\"") && !text.contains("null"), "{text}");
        }
        assert!(schema["properties"]["max_tokens"]["maximum"] == 20_000, "{schema}");
    }
    // They are in the context of a model for as long as it works.
    let tokens = serde_json::to_string(tools).unwrap().chars().count() / 4;
    assert!(tokens <= 1_500, "the definitions of the tools have {tokens} tokens");
    let templates = client.request("resources/templates/list", &json!({}));
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "foldline://session/{id}");
    assert_eq!(client.request("prompts/list", &json!({}))["prompts"][0]["name"], "last_time");
    assert!(client.end());
}

#[test]
fn a_wrong_request_is_refused_with_a_reason_and_the_next_one_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    write_logs(&logs, 2, 2);
    let mut client = Client::of(&database(&logs));
    client.send_line("not a message");
    client.send_line("{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"tools/call\"}");
    // Arguments that the description of the tool does not have.
    for (tool, arguments, reason) in [
        ("failures", json!({ "max_tokens": 199 }), "between 200 and 20000"),
        ("failures", json!({ "max_tokens": 20_001 }), "between 200 and 20000"),
        ("failures", json!({ "offset": -1 }), "offset has to be of type"),
        ("failures", json!({ "colour": "red" }), "there is no argument \"colour\" (known: agent"),
        ("failures", json!({ "since": 3 }), "since has to be of type \"string\""),
        ("failures", json!({ "text": "x".repeat(401) }), "more than 400 bytes"),
        ("recent_sessions", json!({ "offset": u64::MAX }), "recent_sessions: invalid value"),
        ("search_sessions", json!({}), "text is missing"),
        ("usage", json!({ "by": ["colour"] }), "unknown variant"),
        ("get_session", json!({}), "session is missing"),
        ("get_session", json!({ "session": "1", "only": ["poems"] }), "unknown variant"),
    ] {
        let call = json!({ "name": tool, "arguments": arguments });
        let error = client.response("tools/call", &call)["error"].take();
        assert_eq!(error["code"], -32602, "{tool} {arguments}: {error}");
        assert!(error["message"].as_str().unwrap().contains(reason), "{error}");
    }
    // Arguments without an answer, which a model can correct.
    for (tool, arguments, reason) in [
        ("failures", json!({ "since": "someday" }), "is not a time"),
        ("recent_sessions", json!({ "agent": "cobol" }), "there is no agent"),
        ("search_sessions", json!({ "text": "..." }), "no word to search for"),
        ("get_session", json!({ "session": "" }), "there is no session"),
        ("get_session", json!({ "session": "latest~99" }), "no session matches"),
        ("get_session", json!({ "session": "1", "from": 9_999 }), "there are no entries from 9999"),
        ("get_session", json!({ "session": "1", "from": 3, "to": 2 }), "no entries from 3 to 2"),
        ("get_session", json!({ "session": "1", "text_from": 3 }), "for a single entry"),
        ("get_session", json!({ "session": "session" }), "matches 2 sessions"),
    ] {
        let said = client.error(tool, &arguments);
        assert!(said.contains(reason), "{tool} {arguments}: {said}");
    }
    for (method, parameters, code) in [
        ("tools/call", json!({ "name": "delete_everything", "arguments": {} }), -32602),
        ("tools/call", json!({}), -32602),
        ("tools/call", json!({ "name": 3 }), -32602),
        ("tools/call", json!({ "name": "usage", "arguments": [] }), -32602),
        ("tools/call", json!(["usage"]), -32602),
        ("tools/list", json!({ "cursor": "2" }), -32602),
        ("resources/list", json!({ "cursor": "2" }), -32602),
        ("resources/templates/list", json!({ "cursor": "2" }), -32602),
        ("prompts/list", json!({ "cursor": "2" }), -32602),
        ("resources/read", json!({}), -32602),
        ("resources/read", json!({ "uri": "file:///etc/passwd" }), -32002),
        ("resources/read", json!({ "uri": "foldline://session/none" }), -32002),
        ("prompts/get", json!({}), -32602),
        ("prompts/get", json!({ "name": "none" }), -32602),
        ("no/such/method", json!({}), -32601),
        ("no/such/method", json!([]), -32601),
        ("logging/setLevel", json!({ "level": "info" }), -32601),
    ] {
        let error = client.response(method, &parameters)["error"].take();
        assert_eq!(error["code"], code, "{method} {parameters}: {error}");
        assert!(error["message"].is_string(), "{method} {error}");
    }
    let listed = client.text("recent_sessions", &Value::Null);
    assert!(listed.contains("session-1,"), "{listed}");
    assert!(client.end());
}

#[test]
fn a_line_that_is_no_message_is_refused_as_json_rpc_states() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    write_logs(&logs, 2, 2);
    let mut client = Client::of(&database(&logs));
    let long = format!("\"{}\"", "x".repeat(17 << 20));
    for (line, code, id) in [
        ("not a message", -32700, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,", -32700, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"tools/call\"}", -32600, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":1}", -32600, json!(7)),
        ("{\"jsonrpc\":\"1.0\",\"id\":\"a\",\"method\":\"ping\"}", -32600, json!("a")),
        ("[]", -32600, Value::Null),
        ("3", -32600, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\",\"params\":\"x\"}", -32600, json!(4)),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/list\",\"params\":[1]}",
            -32602,
            json!(5),
        ),
        ("{\"id\":6,\"method\":\"ping\"}", -32600, json!(6)),
        (&long, -32600, Value::Null),
    ] {
        client.send_line(line);
        let refused = client.next_message();
        assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(code), &id), "{refused}");
        assert!(refused.as_object().unwrap().contains_key("id"), "{refused}");
        assert!(refused["error"]["message"].is_string(), "{refused}");
    }
    // A notification has no answer, and a blank line is none.
    client.send_line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard\",\"params\":3}");
    client.send_line("");
    assert!(client.text("recent_sessions", &Value::Null).contains("session-1,"));
    assert!(client.end());
}

#[test]
fn a_request_before_initialize_is_refused_and_the_session_begins_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    write_logs(&logs, 2, 2);
    let mut client = Client::silent(&database(&logs));
    let begin = |capabilities: Value| {
        json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities,
                "clientInfo": { "name": "test", "version": "1" } })
    };
    for (method, parameters, code) in [
        ("tools/list", json!({}), -32600),
        ("tools/call", json!({}), -32602),
        ("initialize", json!({}), -32602),
        ("initialize", begin(json!(3)), -32602),
        ("no/such/method", json!({}), -32601),
    ] {
        let error = client.response(method, &parameters)["error"].take();
        assert_eq!(error["code"], code, "{method} {parameters}: {error}");
    }
    assert!(client.response("ping", &json!({}))["result"].is_object());
    let begun = client.request("initialize", &begin(json!({})));
    assert_eq!(begun["protocolVersion"], "2025-06-18");
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert!(client.text("recent_sessions", &json!({})).contains("session-1,"));
    assert!(client.end());
}

#[test]
fn logs_of_the_agents_are_read_before_each_answer() {
    let home = tempfile::tempdir().unwrap();
    let logs = home.path().join(".factory/sessions");
    std::fs::create_dir_all(&logs).unwrap();
    std::fs::write(logs.join("one.jsonl"), droid("first-one", 1, 1)).unwrap();
    let mut client = Client::at_home(home.path());
    assert!(client.text("recent_sessions", &json!({})).contains("first-one"));
    std::fs::write(logs.join("two.jsonl"), droid("second-one", 1, 2)).unwrap();
    assert!(client.text("recent_sessions", &json!({})).contains("second-one"));
}

#[test]
fn the_configuration_names_this_program() {
    let program = env!("CARGO_BIN_EXE_foldline");
    let claude = stdout(&["mcp", "--print-config", "claude"]);
    assert!(claude.starts_with("claude mcp add "), "{claude}");
    assert!(claude.trim_end().ends_with(&format!("-- {program} mcp")), "{claude}");
    let cursor = stdout(&["mcp", "--redact", "--db", "some.db", "--print-config", "cursor"]);
    let cursor: Value = serde_json::from_str(&cursor).unwrap();
    let server = &cursor["mcpServers"]["foldline"];
    assert_eq!(server["command"], program);
    let db = std::path::absolute("some.db").unwrap();
    assert_eq!(server["args"], json!(["mcp", "--redact", "--db", db]));
    let output = run(&["mcp", "--print-config", "codex"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("~/.codex/config.toml"));
    assert_eq!(
        run(&["mcp", "--print-config", "codex", "--timezone", "UTC"]).status.code(),
        Some(2)
    );
}

#[test]
fn without_a_client_it_ends_and_says_why() {
    let output = run(&["mcp"]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), b"".as_slice()));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--print-config"), "{said}");
}
