//! The spelling of a text is kept, and does not affect comparison.

use proptest::prelude::*;

use super::*;

fn raw(literal: &str) -> Raw<'_> {
    Raw::parse(literal).unwrap()
}

#[test]
fn a_literal_is_written_as_it_was_read() {
    let literal = r#""tab\t, slash \/, \u00e9, \ud83d\ude00""#;
    let text = Text::from_raw(raw(literal)).unwrap();
    assert_eq!(serde_json::to_string(&text).unwrap(), literal);
    assert_eq!(text.decode(), "tab\t, slash /, é, 😀");
}

#[test]
fn a_stored_text_keeps_its_spelling() {
    let literal = r#""slash \/, \u00e9""#;
    let stored: Text = serde_json::from_str(literal).unwrap();
    assert_eq!(serde_json::to_string(&stored).unwrap(), literal);
    let from_tree: Text = serde_json::from_value("é\n".into()).unwrap();
    assert_eq!(from_tree, "é\n");
    // A tagged enum buffers what it reads.
    let denied = r#"{"status":"denied","reason":"\u00e9"}"#;
    let denied: crate::conversation::ToolStatus = serde_json::from_str(denied).unwrap();
    assert_eq!(denied, crate::conversation::ToolStatus::Denied { reason: Some("é".into()) });
    assert!(serde_json::from_str::<Text>("12").is_err());
    assert_eq!(serde_json::from_str::<Text>(r#""\ud800""#).unwrap(), "\u{FFFD}");
}

#[test]
fn splitting_and_trimming_leave_the_spelling() {
    let text = |literal: &str| Text::from_raw(raw(literal)).unwrap();
    let (before, after) = text(r#""\u00e9\n\n[exit 1]""#).rsplit_once("[exit ").unwrap();
    assert_eq!(after, "1]");
    assert_eq!(before.clone().trim_line_feeds(1), "é\n");
    assert_eq!(&*before.into_literal(), r#""\u00e9\n\n""#);
    assert_eq!(text(r#""a\\n""#).trim_line_feeds(3), r"a\n");
    assert_eq!(text(r#""a\\\n""#).trim_line_feeds(3), r"a\");
    assert_eq!(Text::from("a\n\n").trim_line_feeds(1), "a\n");
    assert!(Text::from("abc").rsplit_once("[exit ").is_none());
    let (before, after) = text(r#""a\nb \/ c""#).rsplit_once("/").unwrap();
    assert_eq!((before, after), ("a\nb ".into(), " c".into()));
    let (before, after) = text(r#""a\nb""#).rsplit_once("b").unwrap();
    assert_eq!((before, after), ("a\n".into(), "".into()));
    assert!(text(r#""a\nb""#).rsplit_once("nb").is_none());
}

#[test]
fn only_strings_are_texts() {
    for value in ["1", "null", "[\"a\"]", "{}"] {
        assert!(Text::from_raw(raw(value)).is_none(), "{value}");
    }
}

#[test]
fn lone_surrogates_become_replacement_characters() {
    for literal in [r#""a\ud800b""#, r#""a\uDC00b""#, r#""a\ud800\ud800\udc00""#] {
        let text = Text::from_raw(raw(literal)).unwrap();
        assert!(text.decode().starts_with("a\u{FFFD}"), "{literal}: {text:?}");
        assert!(serde_json::from_str::<String>(&text.into_literal()).is_ok());
    }
    let escaped_backslash = Text::from_raw(raw(r#""\\ud800""#)).unwrap();
    assert_eq!(escaped_backslash.decode(), r"\ud800");
}

proptest! {
    #[test]
    fn texts_hold_what_they_were_made_of(string in any::<String>()) {
        let text = Text::from(string.as_str());
        prop_assert_eq!(&*text.decode(), &string);
        let json = serde_json::to_string(&text).unwrap();
        prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), string);
        prop_assert_eq!(serde_json::from_str::<Text>(&json).unwrap(), text);
    }

    #[test]
    fn any_spelling_is_passed_on_as_valid_json(units in prop::collection::vec(any::<u16>(), 0..20)) {
        let literal: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        let text = Text::from_raw(raw(&format!("\"{literal}\""))).unwrap();
        prop_assert_eq!(&*text.decode(), String::from_utf16_lossy(&units));
        let written: String = serde_json::from_str(&text.into_literal()).unwrap();
        prop_assert_eq!(written, String::from_utf16_lossy(&units));
    }
}
