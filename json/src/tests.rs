use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, value::RawValue};

use super::*;

fn written(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    append(&mut out, value).unwrap();
    String::from_utf8(out).unwrap()
}

#[derive(Serialize)]
enum Variant {
    Unit,
    Newtype(u8),
    Tuple(u8, i128),
    Struct { a: Option<char>, b: f64 },
}

#[derive(Serialize)]
struct Everything<'a> {
    text: &'a str,
    raw: &'a RawValue,
    list: Vec<Variant>,
    numbers: BTreeMap<i8, bool>,
    unit: (),
    none: Option<u8>,
    float: f32,
    a_name_of_more_letters_than_are_put_together_at_once: u8,
}

#[test]
fn it_writes_what_serde_json_writes() {
    let raw = RawValue::from_string(r#"{ "kept" : [1e400, "\u0041"] }"#.to_owned()).unwrap();
    let value = Everything {
        text: "a\"b\\c\n\u{1}\u{7f}é😀",
        raw: &raw,
        list: vec![
            Variant::Unit,
            Variant::Newtype(1),
            Variant::Tuple(2, i128::MIN),
            Variant::Struct { a: Some('\t'), b: 1e21 },
        ],
        numbers: BTreeMap::from([(-1, true), (2, false)]),
        unit: (),
        none: None,
        float: 0.1,
        a_name_of_more_letters_than_are_put_together_at_once: 1,
    };
    assert_eq!(written(&value), serde_json::to_string(&value).unwrap());
}

#[test]
fn members_have_lines_and_values_are_kept() {
    let json = r#"{"a b":[1e400, "x, \"}{"], "c" : {}, "d":[ ]}"#;
    let expected =
        "{\n  \"a b\": [\n    1e400,\n    \"x, \\\"}{\"\n  ],\n  \"c\": {},\n  \"d\": []\n}";
    assert_eq!(indented(json), expected);
}

#[test]
fn what_is_refused_leaves_the_buffer_as_it_was() {
    let mut out = b"before".to_vec();
    assert!(append(&mut out, &BTreeMap::from([(vec![1], 2)])).is_err());
    assert_eq!(out, b"before");
}

/// A writer that keeps the size of each block, up to a number of blocks.
struct Blocks {
    sizes: Vec<usize>,
    text: Vec<u8>,
    most: usize,
}

impl Blocks {
    fn new(most: usize) -> Self {
        Self { sizes: Vec::new(), text: Vec::new(), most }
    }
}

impl io::Write for Blocks {
    fn write(&mut self, block: &[u8]) -> io::Result<usize> {
        if self.sizes.len() == self.most {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.sizes.push(block.len());
        self.text.extend_from_slice(block);
        Ok(block.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_large_value_is_written_in_blocks() {
    let row =
        |n: usize| BTreeMap::from([("number", n.to_string()), ("text", "é\n".repeat(n % 90))]);
    let rows: Vec<_> = (0..4000).map(row).collect();
    let by_number: BTreeMap<usize, _> = rows.iter().enumerate().collect();
    let mut blocks = Blocks::new(usize::MAX);
    write(&mut blocks, &(&rows, &by_number)).unwrap();
    assert_eq!(String::from_utf8(blocks.text).unwrap(), written(&(&rows, &by_number)));
    assert!(blocks.sizes.len() > 8 && blocks.sizes.iter().all(|size| *size < 66 << 10));
    let mut blocks = Blocks::new(usize::MAX);
    write_pretty(&mut blocks, &rows).unwrap();
    assert_eq!(String::from_utf8(blocks.text).unwrap(), to_string_pretty(&rows).unwrap());
}

#[test]
fn what_a_writer_refuses_is_its_own_error() {
    for most in 0..3 {
        let error = write(&mut Blocks::new(most), &vec!["text"; 30_000]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{most}");
    }
    let refused = write(&mut Blocks::new(9), &BTreeMap::from([(vec![1], 2)])).unwrap_err();
    assert_eq!(refused.to_string(), "a key must be a string");
}

pub(super) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Literals that differ little, in their value and in their escapes.
fn literals() -> impl Strategy<Value = String> {
    const PIECES: [&str; 8] = ["a", "n", "\\n", "\\u000a", "\\u0061", "\\\\", "\\\"", "é"];
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..4)
        .prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

proptest! {
    #[test]
    fn literals_are_the_same_if_their_strings_are(a in literals(), b in literals()) {
        prop_assert_eq!(is_same_string(&a, &b), decode_literal(&a) == decode_literal(&b));
    }

    #[test]
    fn any_value_is_written_as_serde_json_writes_it(value in any_json()) {
        prop_assert_eq!(written(&value), value.to_string());
    }

    #[test]
    fn json_for_people_is_indented_as_serde_json_indents_it(value in any_json()) {
        let expected = format!("{value:#}");
        let mut out = Vec::new();
        write_pretty(&mut out, &value).unwrap();
        prop_assert_eq!(String::from_utf8(out).unwrap(), expected.clone());
        prop_assert_eq!(to_string_pretty(&value).unwrap(), expected);
    }
}
