//! Secrets are masked before they leave the machine.

use super::*;

/// A log with secrets, one of them at the point where a long line is cut at 1 KiB; and the secrets.
fn with_secrets(session: &str) -> (Vec<u8>, [String; 4]) {
    let secrets = [
        format!("ghp_{}", noise(36)),
        "ada.lovelace@example.org".to_owned(),
        "hunter2222".to_owned(),
        // Of a home directory, only the user name is masked.
        "/home/lovelace".to_owned(),
    ];
    let [token, email, password, home] = &secrets;
    let say = |id: &str, text: String| {
        let line = serde_json::json!({
            "type": "message", "role": "user", "id": id, "text": text, "session_id": session,
            "timestamp": 1_760_000_000_000_u64,
        });
        format!("{line}\n")
    };
    let before = 1024 - say("long", String::new()).find("text").unwrap() - 20;
    let login = serde_json::json!({"login": {"password": password}, "cwd": home});
    let long = format!("{} {token} {} {email}", noise(before), noise(3000));
    let log = [
        droid(session, 3, 1),
        say("home", format!("see {home}/notes\nand ask {email}")),
        say("long", long),
        say("login", login.to_string()),
        format!("PASSWORD={password}\n"),
        droid(session, 2, 2),
        say("last", format!("it is {token}")),
    ];
    (log.concat().into_bytes(), secrets)
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// The events of a log, without the contents of strings.
fn events(fleet: &Fleet, name: &str, log: &[u8]) -> Vec<serde_json::Value> {
    fn empty(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::String(text) => text.clear(),
            serde_json::Value::Array(values) => values.iter_mut().for_each(empty),
            serde_json::Value::Object(fields) => fields.values_mut().for_each(empty),
            _ => {}
        }
    }
    let path = fleet.folder.path().join(name);
    fs::write(&path, log).unwrap();
    let events = logs::stdout(&["replay", path.to_str().unwrap(), "-f", "events"]);
    let events = events.lines().map(|line| {
        let mut event = serde_json::from_str(line).unwrap();
        empty(&mut event);
        event
    });
    events.collect()
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn secrets_are_masked_and_everything_else_is_shipped_as_it_is() {
    let fleet = Fleet::start(&[]);
    let (log, secrets) = with_secrets("s");
    let folder = fleet.log("-home-lovelace-work");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("log.jsonl");
    let options = ["--max-message", "1K", "--redact"];
    // Runs that begin and end within lines, and a run that is killed.
    let long = log.windows(6).position(|window| window == b"\"long\"").unwrap();
    let ends = [300, long + 500, long + 2500, log.len() - 30, log.len()];
    let mut from = 0;
    for end in ends {
        append(&path, &log[from..end]);
        from = end;
        let mut shipping = fleet.follow(&options);
        thread::sleep(Duration::from_millis(400));
        shipping.kill();
        assert!(fleet.once(&options).contains("foldline-fleet: "));
    }
    // The last line has no end yet; then it gets one.
    append(&path, b"{\"type\":\"note\",\"text\":\"ada.lovelace@example.org");
    let said = fleet.once(&[&options[..], &["--final"]].concat());
    assert!(said.contains("masked (best effort): 1 × email, 1 × home-folder"), "{said}");
    let sent = fleet.messages().len();
    fleet.once(&[&options[..], &["--final"]].concat());
    assert_eq!(fleet.messages().len(), sent, "nothing is shipped again");

    let messages = fleet.messages();
    for Shipped { bytes, headers, .. } in &messages {
        assert!(headers["path"].ends_with("/-home-********-work/log.jsonl"), "{headers:?}");
        let told = [&bytes[..], format!("{headers:?}").as_bytes()].concat();
        for secret in &secrets {
            assert!(!holds(&told, secret), "{secret}: {}", String::from_utf8_lossy(&told));
        }
        assert!(bytes.len() <= 1024);
    }
    let joined = join(&messages);
    assert_eq!(joined.len(), 1);
    let masked = joined.into_values().flatten().next().unwrap();
    let whole = fs::read(&path).unwrap();
    assert_eq!(masked.len(), whole.len(), "every byte of the log is there");
    assert!(masked.iter().zip(&whole).all(|(masked, byte)| masked == byte || *masked == b'*'));
    for kept in ["/home/********/notes\\nand ask ***", "PASSWORD=**********\n", "call_1_0"] {
        assert!(holds(&masked, kept), "{kept}: {}", String::from_utf8_lossy(&masked));
    }
    let plain = events(&fleet, "plain", &whole);
    assert!(plain.len() > 20);
    assert!(events(&fleet, "masked", &masked) == plain);
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn secrets_are_masked_from_the_middle_of_a_line_on() {
    let fleet = Fleet::start(&[]);
    let (log, [token, email, ..]) = with_secrets("s");
    let is_email = |window: &[u8]| window == email.as_bytes();
    let last = log.windows(email.len()).rposition(is_email).unwrap();
    append(&fleet.log("log.jsonl"), &log[..last]);
    // Parts of a long line are sent before it ends.
    fleet.once(&["--max-message", "1K"]);
    append(&fleet.log("log.jsonl"), &log[last..]);
    let sent = fleet.joined().into_values().flatten().next().unwrap().len();
    fleet.once(&["--max-message", "1K", "--redact"]);
    let masked = fleet.joined().into_values().flatten().next().unwrap();
    assert_eq!(masked.len(), log.len());
    assert!(masked[..sent] == log[..sent] && holds(&masked[..sent], &token));
    assert!(log[..sent].last() != Some(&b'\n') && holds(&log[sent..], &email));
    assert!(!holds(&masked[sent..], &email) && !holds(&masked[sent..], &token));
    // Masking is turned off again.
    append(&fleet.log("log.jsonl"), b"ask ada@example.org\n");
    fleet.once(&["--max-message", "1K"]);
    let masked = fleet.joined().into_values().flatten().next().unwrap();
    assert!(masked.ends_with(b"ask ada@example.org\n"));
}
