use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;

fn scan(text: &str) -> Option<&str> {
    Scanner::new(text).whole().map(Raw::get)
}

fn reference(text: &str) -> Option<&str> {
    serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get)
}

#[test]
fn takes_what_serde_json_takes() {
    let deep = format!("{}1{}", "[{\"a\":".repeat(1000), "}]".repeat(1000));
    for text in [
        r#"{"a":1,"b":[true,false,null,{}],"c":"x\"y\\","d":{"e":[[],[[]]]}}"#,
        "[1, -0, 0.5, 1e5, 1E+5, 12.25e-7]",
        r#" "caf\u00e9 \ud800 \/ \b\f\n\r\t" "#,
        "[]",
        "{ }",
        "0",
        "null",
        "\t{\"a\":1}\r\n",
        &deep,
    ] {
        assert!(scan(text).is_some(), "{text}");
        assert_eq!(scan(text), reference(text), "{text}");
    }
}

#[test]
fn leaves_what_is_no_json() {
    for text in [
        "",
        " ",
        "{",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "[1]]",
        "[1}",
        "{\"a\":1]",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "1e+",
        "+1",
        "tru",
        "truex",
        "nul",
        "\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"a\"b",
        "1 2",
        "\"a\u{1}\"",
        "\u{feff}1",
    ] {
        assert_eq!(scan(text), None, "{text}");
        assert_eq!(reference(text), None, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// Strings with runs of backslashes of every length, at every place of a block.
    #[test]
    fn knows_what_is_escaped(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "\\", "\\\\", "\"", "n", "u00e9", "x", "é", "................", "\u{1}", "\n",
        ]), 0..100),
    ) {
        let text = format!("[\"{}\"]", pieces.concat());
        let of_one = Scanner::new(&text).whole().map(Raw::get);
        prop_assert!(of_one.is_none() || of_one == reference(&text));
        if !text.contains(['\u{1}', '\n']) {
            prop_assert_eq!(of_one, reference(&text));
        }
    }

    /// Texts of JSON's own pieces are, now and then, JSON.
    #[test]
    fn says_what_serde_json_says(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ":", ",", "\"a\"", "\"", "\\", "\\u", "00e9", "\"\\n\"", "1", "-", "0",
            ".", "e", "+", "true", "null", " ", "é", "\"k\":", "[1,", "{\"a\":", "}]", "\"x\\\\\"",
        ]), 0..12),
    ) {
        let text = pieces.concat();
        prop_assert_eq!(scan(&text), reference(&text));
    }

    #[test]
    fn every_value_is_taken(
        value in crate::json::tests::any_json(),
        cut in any::<prop::sample::Index>(),
    ) {
        let text = value.to_string();
        prop_assert_eq!(scan(&text), Some(text.as_str()));
        let cut: String = text.chars().take(cut.index(text.len() + 1)).collect();
        prop_assert_eq!(scan(&cut), reference(&cut));
    }
}
