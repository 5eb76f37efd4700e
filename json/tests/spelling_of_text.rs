//! The escapes of a text are kept, and do not affect comparison.

use foldline_json::Raw;
use foldline_json::Text;
use proptest::prelude::*;

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
    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(tag = "status", rename_all = "snake_case")]
    enum Status {
        Denied { reason: Option<Text> },
    }
    let denied: Status = serde_json::from_str(r#"{"status":"denied","reason":"\u00e9"}"#).unwrap();
    assert_eq!(denied, Status::Denied { reason: Some("é".into()) });
    assert!(serde_json::from_str::<Text>("12").is_err());
    assert_eq!(serde_json::from_str::<Text>(r#""\ud800""#).unwrap(), "\u{FFFD}");
}

#[test]
fn splitting_and_trimming_leave_the_spelling() {
    let text = |literal: &str| Text::from_raw(raw(literal)).unwrap();
    let split = |text: &Text, marker, most| {
        let (before, after) = text.rsplit_once(marker, most)?;
        Some((before.decode().into_owned(), after.into_owned()))
    };
    let parts = |before: &str, after: &str| Some((before.to_owned(), after.to_owned()));
    let output = text(r#""\u00e9\n\n[exit 1]""#);
    assert_eq!(split(&output, "[exit ", 1), parts("é\n", "1]"));
    let (before, _) = output.rsplit_once("[exit ", 0).unwrap();
    assert_eq!(&*before.into_literal(), r#""\u00e9\n\n""#);
    assert_eq!(split(&text(r#""a\\n[""#), "[", 3), parts(r"a\n", ""));
    assert_eq!(split(&text(r#""a\\\n[\t""#), "[", 3), parts(r"a\", "\t"));
    assert_eq!(split(&Text::from("a\n\n[b"), "[", 1), parts("a\n", "b"));
    assert_eq!(split(&Text::from("abc"), "[exit ", 0), None);
    assert_eq!(split(&text(r#""a\nb \/ c""#), "/", 0), parts("a\nb ", " c"));
    assert_eq!(split(&text(r#""a\nb""#), "b", 0), parts("a\n", ""));
    assert_eq!(split(&text(r#""a\nb""#), "nb", 0), None);
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

/// A text of the log, spelt in any way, or one of this program.
fn piece() -> impl Strategy<Value = Text> {
    let of_log = prop::collection::vec(
        prop::sample::select(vec![
            "a", "é", "\\u00e9", "\\/", "\\n", "\\\"", "\\\\", "\\ud83d", "\\ude00", "u",
            "\u{2028}",
        ]),
        0..6,
    );
    let of_log = of_log.prop_map(|pieces| {
        let literal = format!("\"{}\"", pieces.concat());
        Text::from_raw(Raw::parse(&literal).unwrap()).unwrap()
    });
    prop_oneof![4 => of_log, 1 => "[a-c\"\n\\\\é\u{1}]{0,6}".prop_map(Text::from)]
}

proptest! {
    /// Whether it is stored in between does not matter to the bytes.
    #[test]
    fn a_text_grows_by_what_its_pieces_say(pieces in prop::collection::vec((piece(), any::<bool>()), 0..8)) {
        let (mut grown, mut stored, mut said) = (Text::default(), Text::default(), String::new());
        for (piece, is_stored) in &pieces {
            grown.push(piece);
            stored.push(piece);
            piece.push_to(&mut said);
            if *is_stored {
                stored = serde_json::from_str(&serde_json::to_string(&stored).unwrap()).unwrap();
            }
            prop_assert_eq!(&*grown.decode(), &said);
            prop_assert!(grown == stored && grown == *said && grown.length() == said.len());
            let json = serde_json::to_string(&grown).unwrap();
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), said.as_str());
            prop_assert_eq!(serde_json::to_string(&stored).unwrap(), json);
        }
    }

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
