//! Canonical JSON, against RFC 8785.

use foldline_domain::{Json, WarningKind, audit::*};
use proptest::prelude::*;

/// The largest integer that is exact as a double, as are all below it.
const MAX_SAFE: i64 = (1 << 53) - 1;

/// RFC 8785, sections 3.2.2 to 3.2.4: the sample, and its canonical form in bytes.
#[test]
fn the_rfcs_sample() {
    let sample = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let canonical = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\"string\":\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
    assert_eq!(canonical_json(sample).unwrap(), canonical);
}

/// RFC 8785, section 3.2.3: keys are sorted by UTF-16 code units.
#[test]
fn the_rfcs_key_order() {
    let keys = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
    let canonical = canonical_json(keys).unwrap();
    let values = canonical.split('"').skip(3).step_by(4).collect::<Vec<_>>();
    assert_eq!(
        values,
        [
            "Carriage Return",
            "One",
            "Control",
            "Latin Small Letter O With Diaeresis",
            "Euro Sign",
            "Emoji: Grinning Face",
            "Hebrew Letter Dalet With Dagesh"
        ]
    );
}

/// RFC 8785, appendix B: doubles and their form. Those beyond 2^53 - 1 that are spelt as integers
/// are strings here.
#[test]
fn the_rfcs_numbers() {
    for (bits, form) in [
        (0x0000000000000000_u64, "0"),
        (0x8000000000000000, "0"),
        (0x0000000000000001, "5e-324"),
        (0x8000000000000001, "-5e-324"),
        (0x7fefffffffffffff, "1.7976931348623157e+308"),
        (0xffefffffffffffff, "-1.7976931348623157e+308"),
        (0x4340000000000000, "9007199254740992"),
        (0xc340000000000000, "-9007199254740992"),
        (0x4430000000000000, "295147905179352830000"),
        (0x44b52d02c7e14af5, "9.999999999999997e+22"),
        (0x44b52d02c7e14af6, "1e+23"),
        (0x44b52d02c7e14af7, "1.0000000000000001e+23"),
        (0x444b1ae4d6e2ef4e, "999999999999999700000"),
        (0x444b1ae4d6e2ef4f, "999999999999999900000"),
        (0x444b1ae4d6e2ef50, "1e+21"),
        (0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"),
        (0x3eb0c6f7a0b5ed8d, "0.000001"),
        (0x41b3de4355555553, "333333333.3333332"),
        (0x41b3de4355555554, "333333333.33333325"),
        (0x41b3de4355555555, "333333333.3333333"),
        (0x41b3de4355555556, "333333333.3333334"),
        (0x41b3de4355555557, "333333333.33333343"),
        (0xbecbf647612f3696, "-0.0000033333333333333333"),
        (0x43143ff3c1cb0959, "1424953923781206.2"),
    ] {
        let spelt = format!("{:e}", f64::from_bits(bits));
        assert_eq!(canonical_json(&spelt).unwrap(), form, "{bits:016x}");
    }
}

#[test]
fn numbers_that_no_double_holds_are_strings() {
    for (json, canonical) in [
        ("9007199254740991", "9007199254740991"),
        ("-9007199254740991", "-9007199254740991"),
        ("9007199254740992", "\"9007199254740992\""),
        ("-9007199254740993", "\"-9007199254740993\""),
        ("[123456789012345678901234567890]", "[\"123456789012345678901234567890\"]"),
        ("[1e400,-1e400,1.0]", "[\"1e400\",\"-1e400\",1]"),
        ("\"9007199254740993\"", "\"9007199254740993\""),
        (
            r#"{"9007199254740993\" 9007199254740993":1}"#,
            r#"{"9007199254740993\" 9007199254740993":1}"#,
        ),
    ] {
        assert_eq!(canonical_json(json).unwrap(), canonical, "{json}");
    }
}

#[test]
fn the_same_event_has_the_same_digest_however_it_is_spelt() {
    let of = |sample: &str| {
        let sample: Json = serde_json::from_str(sample).unwrap();
        let warning = foldline_domain::Warning::new(WarningKind::UnknownField, "x");
        event_digest(&warning.sample(sample).into())
    };
    assert_eq!(of(r#"{"a":1,"b":"\u00e9"}"#), of(r#"{ "b": "é", "a": 1.0 }"#));
    assert_ne!(of("9007199254740992"), of("9007199254740993"));
    let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(200), "]".repeat(200));
    assert_ne!(of(&deep("1")), of(&deep("2")), "what has no canonical form is digested too");
}

proptest! {
    #[test]
    fn canonical_json_is_a_fixed_point_and_keeps_the_meaning(
        text in any::<String>(),
        // Between the two, a double's canonical form is spelt as a large integer.
        number in any::<f64>().prop_filter("a number of JSON", |number| {
            number.is_finite() && !(9e15..1e21).contains(&number.abs())
        }),
        key in "\\PC{0,6}", small in -MAX_SAFE..=MAX_SAFE,
    ) {
        let value = serde_json::json!({"t": [text, number], key: {"s": small}});
        let canonical = canonical_json(&value.to_string()).unwrap();
        prop_assert_eq!(canonical_json(&canonical).unwrap(), canonical.clone());
        prop_assert_eq!(canonical_json(&serde_json::to_string_pretty(&value).unwrap()).unwrap(), canonical);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[\\[\\]{}\",:\\\\0-9eE.+a -]{0,40}") {
        let _ = canonical_json(&text);
    }
}
