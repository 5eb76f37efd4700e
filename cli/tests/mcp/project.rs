//! A question is about the project of the caller.

use std::{fs, path::Path};

use serde_json::json;

use super::client::{Client, database};

/// A log of a session in a folder.
fn log(session: &str, folder: &Path) -> String {
    let lines = [
        json!({"type": "system", "subtype": "init", "cwd": folder}),
        json!({"type": "message", "role": "user", "id": "u", "text": "say something"}),
        json!({"type": "tool_call", "id": "c", "messageId": "m", "toolId": "Read", "toolName": "Read",
               "parameters": {"file_path": "a.rs"}}),
        json!({"type": "tool_result", "id": "c", "messageId": "m", "toolId": "Read", "isError": true, "value": "no"}),
        json!({"type": "completion", "finalText": "x", "numTurns": 1, "durationMs": 5,
               "usage": {"input_tokens": 5, "output_tokens": 7}}),
    ];
    let of_session = lines.into_iter().map(|mut line| {
        line["session_id"] = session.into();
        format!("{line}\n")
    });
    of_session.collect()
}

/// The sessions that each tool's answer is about.
fn sessions(client: &mut Client, arguments: &serde_json::Value) -> Vec<&'static str> {
    const ALL: [&str; 4] = ["shop-itself", "web-of-shop", "shopping-site", "elsewhere"];
    let mut asked = arguments.clone();
    let recent = client.text("recent_sessions", &asked);
    let named: Vec<_> = ALL.into_iter().filter(|name| recent.contains(name)).collect();
    let failures = client.text("failures", &asked);
    asked["text"] = "something".into();
    let found = client.text("search_sessions", &asked);
    asked.as_object_mut().unwrap().remove("text");
    asked["by"] = json!(["session"]);
    let usage = client.text("usage", &asked);
    for name in ALL {
        for text in [&failures, &found, &usage] {
            assert_eq!(text.contains(name), named.contains(&name), "{name} {arguments}:\n{text}");
        }
    }
    named
}

#[test]
fn a_question_is_about_the_folder_or_the_roots_of_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap();
    let logs = place.join("logs");
    let (shop, shopping) = (place.join("my shop"), place.join("my shopping"));
    for folder in [&logs, &shop.join("web"), &shopping] {
        fs::create_dir_all(folder).unwrap();
    }
    for (name, folder) in [
        ("shop-itself", &shop),
        ("web-of-shop", &shop.join("web")),
        ("shopping-site", &shopping),
        ("elsewhere", &place.join("other")),
    ] {
        fs::write(logs.join(format!("{name}.jsonl")), log(name, folder)).unwrap();
    }
    let db = database(&logs);
    let asking = ["--db", db.to_str().unwrap()];
    let nothing = json!({});

    let mut client = Client::start(&shop, &[], &asking);
    assert_eq!(sessions(&mut client, &nothing), ["shop-itself", "web-of-shop"]);
    assert_eq!(sessions(&mut client, &json!({ "all_projects": true })).len(), 4);
    assert_eq!(sessions(&mut client, &json!({ "project": "other" })), ["elsewhere"]);
    let latest = client.text("get_session", &json!({ "session": "latest" }));
    assert!(latest.contains("First prompt web-of-shop:0\n"), "{latest}");
    let elsewhere = client.text("get_session", &json!({ "session": "elsewhere" }));
    assert!(elsewhere.contains("First prompt elsewhere:0\n"), "{elsewhere}");

    let uri = |folder: &Path| format!("file://{}", folder.display()).replace(' ', "%20");
    let roots = [uri(&shopping), uri(&place.join("other"))];
    let mut client = Client::start(&shop, &[&roots[0], &roots[1]], &asking);
    assert_eq!(sessions(&mut client, &nothing), ["shopping-site", "elsewhere"]);

    let mut client = Client::start(&logs, &[], &asking);
    let none = client.text("recent_sessions", &nothing);
    assert!(none.contains("all_projects: true asks about all"), "{none}");
    assert_eq!(sessions(&mut Client::of(&db), &nothing).len(), 4);
}
