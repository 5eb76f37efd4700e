//! JSON values as text.

use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::Value;

/// A string as a JSON literal: words, any characters, escapes of every kind, embedded JSON, control sequences, lone
/// surrogates.
pub fn literal() -> BoxedStrategy<String> {
    let spelled = select(vec![
        r#""""#,
        r#"" ""#,
        r#""lone \ud800 surrogate""#,
        r#""\uDC00\ud800\ud83d\ude00""#,
        r#""tab\tslash\/quote\"back\\u0041""#,
        r#""caf\u00e9\u0000\u0007""#,
        r#""\u001b[31mred\u001b]0;title\u0007""#,
        r#""one\r\ntwo\n\nthree\u2028""#,
        r#""{\"success\":true,\"n\":[1,2]}""#,
        "\"\u{FEFF}\u{202E}\u{200D}é漢字🦀\"",
    ]);
    prop_oneof![
        4 => "[a-zA-Z0-9 ./_-]{0,24}".prop_map(|word| quote(&word)),
        2 => any::<String>().prop_map(|text| quote(&text)),
        2 => spelled.prop_map(str::to_owned),
    ]
    .boxed()
}

/// A number as JSON text, including numbers that no integer type holds.
pub fn number() -> BoxedStrategy<String> {
    let spelled =
        select(vec!["-0", "1e3", "0.5", "18446744073709551616", "-9223372036854775809", "1e999"]);
    prop_oneof![
        any::<u32>().prop_map(|number| number.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        spelled.prop_map(str::to_owned),
    ]
    .boxed()
}

/// Any JSON value as text, a few levels deep.
pub fn json() -> BoxedStrategy<String> {
    let plain = select(vec!["null", "true", "false"]).prop_map(str::to_owned);
    let leaf = prop_oneof![plain, number(), literal()];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let fields = vec((literal(), inner.clone()), 0..4).prop_map(|fields| {
            let fields: Vec<_> = fields.iter().map(|(key, json)| format!("{key}:{json}")).collect();
            format!("{{{}}}", fields.join(","))
        });
        let array = vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(", ")));
        prop_oneof![fields, array]
    })
    .boxed()
}

/// A field of an object: its name, and its value as JSON text.
pub type Field = (&'static str, String);

/// A part of an object: some fields, or none.
pub type FieldsStrategy = BoxedStrategy<Vec<Field>>;

/// A field that is always present.
pub fn field(name: &'static str, value: impl Strategy<Value = String> + 'static) -> FieldsStrategy {
    value.prop_map(move |value| vec![(name, value)]).boxed()
}

/// A field that is usually present.
pub fn maybe(name: &'static str, value: impl Strategy<Value = String> + 'static) -> FieldsStrategy {
    let value = option::weighted(0.8, value);
    value.prop_map(move |value| value.map(|value| (name, value)).into_iter().collect()).boxed()
}

/// An object with these fields: usually in this order, sometimes in another, and sometimes with a field that no
/// format has.
pub fn object(parts: Vec<FieldsStrategy>) -> BoxedStrategy<String> {
    let unknown = option::weighted(0.03, json());
    let rotation = prop_oneof![8 => Just(0), 1 => any::<usize>()];
    (parts, unknown, rotation)
        .prop_map(|(parts, unknown, rotation)| {
            let unknown = unknown.map(|value| ("x_added_by_a_release", value));
            let mut fields: Vec<_> = parts.into_iter().flatten().chain(unknown).collect();
            let places = fields.len().max(1);
            fields.rotate_left(rotation % places);
            let fields: Vec<_> =
                fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            format!("{{{}}}", fields.join(","))
        })
        .boxed()
}

/// One of these words, as a JSON literal.
pub fn word(words: &'static [&'static str]) -> BoxedStrategy<String> {
    select(words).prop_map(quote).boxed()
}

/// `text` as a JSON literal.
pub fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// The field `type`.
pub fn kind(name: &'static str) -> FieldsStrategy {
    field("type", Just(quote(name)))
}

/// Several parts of an object as one.
pub fn fields(parts: Vec<FieldsStrategy>) -> FieldsStrategy {
    parts.prop_map(|parts| parts.concat()).boxed()
}

/// An array of a few such values.
pub fn list(item: BoxedStrategy<String>) -> BoxedStrategy<String> {
    vec(item, 0..3).prop_map(|items| format!("[{}]", items.join(","))).boxed()
}

/// An array of exactly these values.
pub fn array(items: Vec<BoxedStrategy<String>>) -> BoxedStrategy<String> {
    items.prop_map(|items| format!("[{}]", items.join(","))).boxed()
}

/// A path: inside the project or not, relative, or not a path at all.
pub fn path() -> BoxedStrategy<String> {
    prop_oneof![
        3 => word(&["/home/me/project/src/a.rs", "b.txt", "/home/me/project"]),
        1 => literal(),
    ]
    .boxed()
}

/// A time in the notation of session files; sometimes an invalid one.
pub fn time() -> BoxedStrategy<String> {
    let time = (0..60, 0..60, 0..1000).prop_map(|(minute, second, ms)| {
        format!("\"2026-03-04T16:{minute:02}:{second:02}.{ms:03}Z\"")
    });
    prop_oneof![12 => time, 1 => number(), 1 => literal()].boxed()
}

/// A tool's name and its arguments.
pub type Tool = BoxedStrategy<(String, String)>;

/// One of these tools, with these arguments.
pub fn tool(names: &'static [&'static str], given: BoxedStrategy<String>) -> Tool {
    (select(names), given).prop_map(|(name, given)| (name.to_owned(), given)).boxed()
}

/// Visits each string of a value, with the name of the field that it is in.
pub(crate) fn each_string(value: &mut Value, name: &str, visit: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => visit(name, text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_string(item, name, visit)),
        Value::Object(fields) => {
            fields.iter_mut().for_each(|(name, value)| each_string(value, name, visit));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
