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

/// The text between the quotes of a string of up to a few blocks.
fn long_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "\\\\",
        "\\\"",
        "\\n",
        "\\u00e9",
        "x",
        "é",
        "{",
        "]",
        ",",
        "..............................",
    ]);
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

/// A value that contains such strings.
fn long_value() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("-1.5e3".to_owned()),
        Just("null".to_owned()),
        Just(format!("[{}]", ["1"; 80].join(","))),
        long_text().prop_map(|text| format!("\"{text}\"")),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|all| format!("[{}]", all.join(","))),
            prop::collection::vec((long_text(), inner), 0..4).prop_map(|all| {
                let all: Vec<_> =
                    all.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
                format!("{{{}}}", all.join(" ,"))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// Strings with runs of backslashes of every length, at every position of a block.
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

    /// Random sequences of JSON tokens are sometimes valid JSON.
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

    /// Known JSON is scanned like unknown JSON, regardless of the length of its strings.
    #[test]
    fn known_values_are_taken_apart_as_unknown_ones(
        fields in prop::collection::vec((long_text(), long_value()), 0..6), space in prop::sample::select(vec!["", " ", "   "]),
    ) {
        let fields: Vec<_> =
            fields.iter().map(|(key, value)| format!("{space}\"{key}\"{space}:{space}{value}{space}")).collect();
        let text = format!("{{{}}}", fields.join(","));
        let of = |mut scanner: Scanner<'_>| {
            let mut all = Vec::new();
            let ended = scanner.object(|key, value| {
                all.push((key.name()?.into_owned(), value.get().to_owned()));
                Some(())
            });
            (ended.is_some() && scanner.end(), all)
        };
        let expected = of(Scanner::new(&text));
        prop_assert!(expected.0, "{}", text);
        prop_assert_eq!(of(Scanner::of(Raw::known(&text))), expected);
    }

    #[test]
    fn every_value_is_taken(
        value in crate::tests::any_json(),
        cut in any::<prop::sample::Index>(),
    ) {
        let text = value.to_string();
        prop_assert_eq!(scan(&text), Some(text.as_str()));
        let cut: String = text.chars().take(cut.index(text.len() + 1)).collect();
        prop_assert_eq!(scan(&cut), reference(&cut));
    }
}
