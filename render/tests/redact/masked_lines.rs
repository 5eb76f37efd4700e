//! Tests of masked and unmasked content.

use foldline::transduce::*;
use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType};
use foldline_render::redact::{Masker, Redact};
use proptest::prelude::*;
use serde::de::IgnoredAny;

fn mask(line: &[u8]) -> Vec<u8> {
    let mut line = line.to_vec();
    Masker::new().mask(&mut line);
    line
}

fn masked(line: &str) -> String {
    String::from_utf8(mask(line.as_bytes())).unwrap()
}

/// Composed here, so that no scanner reports this file as a leak.
fn token(start: &str, length: usize) -> String {
    let letters = "q8Zr2Xk7Lm4Tn9Vb3Wc6Yd1Ge5Hf0Jp";
    start.chars().chain(letters.chars().cycle().take(length)).collect()
}

#[test]
fn a_secret_in_a_string_is_masked_whatever_it_is_written_with() {
    for (line, expected) in [
        (r#"{"a":"x\nada@b.org\n"}"#, r#"{"a":"x\n*********\n"}"#),
        (r#"{"a":"password=h\u00e4nsel77 \u0041"}"#, r#"{"a":"password=************* \u0041"}"#),
        (
            r#"{"a":"pwd=\ud83d\ude00\ud83d\ude00xyz456 ä"}"#,
            r#"{"a":"pwd=****************************** ä"}"#,
        ),
        (r#"{"a":"pwd=hänsel77 ä"}"#, r#"{"a":"pwd=********* ä"}"#),
        (r#"{"a":"\/home\/ada\/x"}"#, r#"{"a":"\/home\/***\/x"}"#),
        (r#"{"a":"ada\u0040b.org"}"#, r#"{"a":"**************"}"#),
        (r#"{"cwd":"C:\\Users\\ada\\x"}"#, r#"{"cwd":"C:\\Users\\***\\x"}"#),
        (r#"{"a":"~/p/-home-ada-work/x"}"#, r#"{"a":"~/p/-home-***-work/x"}"#),
        (r#"{"a":"-home-ada-work, C--Users-ada-x"}"#, r#"{"a":"-home-***-work, C--Users-***-x"}"#),
        (r#"{"/home/ada":1}"#, r#"{"/home/***":1}"#),
        (r#"["a@b.org","c@d.org"]"#, r#"["*******","*******"]"#),
    ] {
        assert_eq!(masked(line), expected);
    }
    let key = "-----BEGIN PRIVATE KEY-----\\nabc\\ndef\\n-----END PRIVATE KEY-----";
    let line = format!(r#"{{"a":"{key}\n","b":"-----BEGIN PRIVATE KEY-----\ncut"}}"#);
    let cut = "*".repeat(r"-----BEGIN PRIVATE KEY-----\ncut".len());
    let expected = format!(r#"{{"a":"{}\n","b":"{cut}"}}"#, "*".repeat(key.len()));
    assert_eq!(masked(&line), expected);
}

#[test]
fn a_name_tells_what_another_string_holds() {
    let key = token("", 39) + "/";
    for (line, expected) in [
        (r#"{"password":"hunter22","n":1}"#, r#"{"password":"********","n":1}"#.to_owned()),
        (r#"{ "api_key" : "hunter22" }"#, r#"{ "api_key" : "********" }"#.to_owned()),
        (r#"export PASSWORD="hunter22""#, r#"export PASSWORD="********""#.to_owned()),
        (
            &format!(r#"{{"AWS_SECRET_ACCESS_KEY":"{key}"}}"#),
            format!(r#"{{"AWS_SECRET_ACCESS_KEY":"{}"}}"#, "*".repeat(40)),
        ),
        // Numbers and code are not masked.
        (r#"{"password":12345678}"#, r#"{"password":12345678}"#.to_owned()),
        (r#"{"password":"os.environ"}"#, r#"{"password":"os.environ"}"#.to_owned()),
        (r#"["password","hunter22"]"#, r#"["password","hunter22"]"#.to_owned()),
    ] {
        assert_eq!(masked(line), expected);
    }
}

#[test]
fn json_in_strings_stays_json() {
    for (line, expected) in [
        (
            r#"{"a":"{\"b\":\"\\n@app.route.x a@b.org\",\"password\":12345678}"}"#,
            r#"{"a":"{\"b\":\"\\n@app.route.x *******\",\"password\":12345678}"}"#,
        ),
        (
            r#"{"a":"{\"b\":\"{\\\"secret\\\":\\\"hunter22\\\"}\"}"}"#,
            r#"{"a":"{\"b\":\"{\\\"secret\\\":\\\"********\\\"}\"}"}"#,
        ),
        (r#"{"a":"[INFO] password=hunter22"}"#, r#"{"a":"[INFO] password=********"}"#),
        (
            r#"{"a":"{\"/home/ada\":\"\\/home\\/ada\"}"}"#,
            r#"{"a":"{\"/home/***\":\"\\/home\\/***\"}"}"#,
        ),
    ] {
        assert_eq!(masked(line), expected);
    }
}

#[test]
fn what_is_no_json_is_masked_as_text() {
    for (line, expected) in [
        ("PASSWORD=hunter22 x\r\n", "PASSWORD=******** x\r\n"),
        ("say \"a@b.org\" to c@d.org\n", "say \"*******\" to *******\n"),
        ("-----BEGIN PRIVATE KEY-----\n", "***************************\n"),
        ("[1] token {\"a\":\"c@d.org\"} /home/ada", "[1] token {\"a\":\"*******\"} /home/***"),
        ("{\"a\":1}{\"b\":\"c@d.org\"} e@f.org", "{\"a\":1}{\"b\":\"*******\"} *******"),
        ("{\"a\":\"cut a@b.or", "{\"a\":\"cut ******"),
        ("5\" and a@b.org \"", "5\" and ******* \""),
    ] {
        assert_eq!(masked(line), expected);
    }
    assert_eq!(masked(""), "");
}

#[test]
fn ids_stay_and_other_random_strings_do_not() {
    let random = token("", 40);
    for name in ["id", "tool_use_id", "callId", "sessionID", "parentUuid", "ids", "toolUseIDs"] {
        let line = format!(r#"{{"{name}":"{random}","list":["{random}"]}}"#);
        let expected = format!(r#"{{"{name}":"{random}","list":["{}"]}}"#, "*".repeat(40));
        assert_eq!(masked(&line), expected);
    }
    let line = format!(r#"{{"call_ids":["{random}","{random}"]}}"#);
    assert_eq!(masked(&line), line);
    // An id that looks like a secret is not masked.
    let secret = token("ghp_", 36);
    assert!(!masked(&format!(r#"{{"id":"{secret}"}}"#)).contains(&secret));
}

#[test]
fn bytes_that_are_no_text_do_no_harm() {
    let line = b"{\"a\":\"\xFF password=hun\xFEter22 \xE2\x82\",\"b\":\"a@b.org\"}\xFF c@d.org";
    let expected = b"{\"a\":\"\xFF password=********* \xE2\x82\",\"b\":\"*******\"}\xFF *******";
    assert_eq!(mask(line), expected);
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let line = wide("{\"a\":\"\\\"\\n@app.route.x a@b.org\",\"password\":\"h\u{e4}nsel77\"}\r\n");
    assert_eq!(
        mask(&line),
        wide("{\"a\":\"\\\"\\n@app.route.x *******\",\"password\":\"********\"}\r\n")
    );
}

#[test]
fn each_kind_is_counted() {
    let mut masker = Masker::default();
    for line in [
        r#"{"a":"a@b.org c@d.org password=hunter22","password":"hunter22"}"#,
        // Masked text does not count again.
        r#"{"a":"******* ******* password=********","password":"********"}"#,
        r#"{"a":"{\"b\":\"/home/ada\"}"}"#,
    ] {
        masker.mask(&mut line.as_bytes().to_vec());
    }
    let counts: Vec<_> = masker.masked().collect();
    assert_eq!(counts, [("email", 2), ("home-folder", 1), ("password", 2)]);
}

/// Pieces of text, including secrets and their surroundings.
fn piece() -> impl Strategy<Value = String> {
    let signs = "a \n\"\\/*=:@.-_\u{e4}\u{1f600}{}[],'\0\u{feff}".chars().map(String::from);
    let words = "password|secret|aws|key|token |bearer |cookie: |curl -u |[email 1]|~|--token |hunter22|/home/ada|/Users/ada|C:\\Users\\ada|-home-ada-x|\
                 a@b.org|://|u:p|sk-|-----BEGIN PRIVATE KEY-----|-----END PRIVATE KEY-----|sha256-|eyJ|123456789:AA|\
                 \\n@app.route|{\"a\":\"|\\\"|\\u0041|true|1e5";
    prop_oneof![
        10 => prop::sample::select(signs.chain(words.split('|').map(str::to_owned)).collect::<Vec<_>>()),
        1 => (0..50_usize).prop_map(|length| token("", length)),
        1 => Just(token("ghp_", 36)),
        1 => any::<char>().prop_map(String::from),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..12).prop_map(|pieces| pieces.concat())
}

/// A JSON text.
fn json() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        text(),
        prop::sample::select(vec!["id", "password", "cwd", "a"]).prop_map(str::to_owned)
    ];
    let leaf = prop_oneof![
        text().prop_map(serde_json::Value::from),
        any::<u64>().prop_map(serde_json::Value::from),
        any::<f64>().prop_map(serde_json::Value::from),
        any::<Option<bool>>().prop_map(serde_json::Value::from),
    ];
    let value = leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
            prop::collection::vec((name.clone(), inner.clone()), 0..5)
                .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
            // JSON in a string.
            inner.prop_map(|inner| inner.to_string().into()),
        ]
    });
    (value, any::<bool>(), any::<bool>()).prop_map(|(value, is_pretty, is_ascii)| {
        let json = match is_pretty {
            true => serde_json::to_string_pretty(&value).unwrap().replace('\n', " "),
            false => value.to_string(),
        };
        let escaped = |c: char| match c {
            '/' => "\\/".to_owned(),
            c if c.is_ascii() => c.to_string(),
            c => c.encode_utf16(&mut [0; 2]).iter().map(|code| format!("\\u{code:04x}")).collect(),
        };
        if is_ascii { json.chars().map(escaped).collect() } else { json }
    })
}

/// A text without the contents of its strings.
fn shape(text: &[u8]) -> Vec<u8> {
    let (mut shape, mut in_string, mut is_escaped) = (Vec::new(), false, false);
    for byte in text {
        let is_quote = *byte == b'"' && !is_escaped;
        if is_quote || !in_string {
            shape.push(*byte);
        }
        in_string ^= is_quote;
        is_escaped = in_string && *byte == b'\\' && !is_escaped;
    }
    shape
}

fn check(line: &[u8]) -> Result<Vec<u8>, TestCaseError> {
    let once = mask(line);
    prop_assert_eq!(once.len(), line.len());
    let changed = once.iter().zip(line).all(|(masked, byte)| masked == byte || *masked == b'*');
    prop_assert!(changed);
    let twice = mask(&once);
    prop_assert_eq!(String::from_utf8_lossy(&twice), String::from_utf8_lossy(&once));
    Ok(once)
}

/// The text of a message after redaction.
fn redacted(text: &str) -> String {
    let said = emit_fn(|event: &DomainEvent| match event {
        DomainEvent::NewEntry { entry } => Batch::one(entry.content.decode().into_owned()),
        _ => Batch::EMPTY,
    });
    let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, text);
    Redact::new(said).emit(&DomainEvent::entry(entry)).into_iter().collect()
}

#[test]
fn what_a_mark_shows_is_replaced_too() {
    for text in [
        "curl -u @:/home/ada",
        "a@b.org password\0q8Zr2Xk7Lm4Tn9Vbpassword{\"a\":\"",
        "{\"password:b@c.org://",
    ] {
        let once = redacted(text);
        assert_eq!(redacted(&once), once);
        check(text.as_bytes()).unwrap();
    }
}

proptest! {
    #[test]
    fn json_keeps_its_shape(line in json()) {
        let masked = check(line.as_bytes())?;
        serde_json::from_slice::<IgnoredAny>(&masked).unwrap();
        prop_assert_eq!(shape(&masked), shape(line.as_bytes()));
    }

    #[test]
    fn redacting_again_changes_nothing(text in text()) {
        let once = redacted(&text);
        prop_assert_eq!(redacted(&once), once);
    }

    #[test]
    fn anything_keeps_its_length(
        pieces in prop::collection::vec(
            prop_oneof![8 => piece().prop_map(String::into_bytes), 1 => any::<u8>().prop_map(|byte| vec![byte])],
            0..24,
        ),
    ) {
        check(&pieces.concat())?;
    }

    #[test]
    fn a_secret_vanishes_wherever_it_stands(before in "[ a-z{}\\[\\]\"\\\\\n\u{e4}]{0,12}", after in "[ {}\\[\\]\"\\\\\n\u{e4}]{0,12}") {
        for secret in [token("ghp_", 36), "ada@example.org".to_owned(), "xoxb-1234567890ab".to_owned()] {
            let text = format!("{before} {secret} {after}");
            let line = serde_json::json!({ "a": text, "b": [{ "c": text }] }).to_string();
            for line in [line.clone(), serde_json::json!({ "d": line }).to_string(), text] {
                let masked = masked(&line);
                prop_assert!(!masked.contains(&secret), "{}", masked);
            }
        }
    }
}
