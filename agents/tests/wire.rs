//! Lines, objects and single values.

use foldline_agents::wire::{
    Irregular, Object, Record,
    value::{MAX_ELEMENTS, as_millis, as_timestamp, elements},
};
use foldline_domain::Timestamp;
use foldline_json::Raw;

fn records(line: &str) -> Vec<String> {
    let mut records = Vec::new();
    Record::read(line, |offset, record| {
        records.push(match record {
            Record::Object(object) => format!("{offset} object {}", object.rest().len()),
            Record::Irregular(Irregular::Value(raw)) => format!("{offset} value {}", raw.get()),
            Record::Irregular(Irregular::Text(text)) => format!("{offset} text {text}"),
            Record::Irregular(Irregular::Malformed { text, .. }) => {
                format!("{offset} malformed {text}")
            }
            Record::Irregular(other) => format!("{offset} {other}"),
        });
    });
    records
}

#[test]
fn regular_lines() {
    assert_eq!(records(r#"{"a":1}"#), ["0 object 1"]);
    assert_eq!(records(r#" {"a":1} "#), ["1 object 1"]);
    assert_eq!(records("  "), [""; 0]);
}

#[test]
fn lines_that_are_not_one_object() {
    assert_eq!(records("Error: no"), ["0 text Error: no"]);
    assert_eq!(records("12 monkeys"), ["0 text 12 monkeys"]);
    assert_eq!(records("null"), ["0 value null"]);
    assert_eq!(records(" [ ]"), ["1 value [ ]"]);
    assert_eq!(records("[1,2]"), ["0 value [1,2]"]);
    assert_eq!(records(r#"[{"a":1}, 2]"#), ["1 object 1", "10 value 2"]);
    assert_eq!(records(r#"{"a":1}{"b":2} {"c":3}"#), ["0 object 1", "7 object 1", "15 object 1"]);
}

#[test]
fn after_damage_the_next_record_is_found() {
    assert_eq!(records(r#"{"a":1,"b":"x"#), [r#"0 malformed {"a":1,"b":"x"#]);
    assert_eq!(
        records(r#"{"a":1,"b":"x{"c":3,"d":[{"e":1}]}"#),
        [r#"0 malformed {"a":1,"b":"x"#, "13 object 2"]
    );
    assert_eq!(records(r#"{"a":{"b":1}"#), [r#"0 malformed {"a":{"b":1}"#]);
    assert_eq!(records(r#"{"a":1}{"b":"#), ["0 object 1", r#"7 malformed {"b":"#]);
    assert_eq!(
        records(r#"[{"a":1},{"b":2},{"c":"x"#),
        ["1 object 1", "9 object 1", r#"17 malformed {"c":"x"#]
    );
}

#[test]
fn one_writer_within_the_line_of_another() {
    assert_eq!(
        records(r#"{"a":"x{"b":1}{"c":2}y"}"#),
        [r#"0 malformed {"a":"x"#, "7 object 1", "14 object 1", r#"21 text y"}"#]
    );
    assert_eq!(
        records(r#"{"a":"x{"b":1}y{"c":2}"#),
        [r#"0 malformed {"a":"x"#, "7 object 1", "14 text y", "15 object 1"]
    );
}

#[test]
fn the_end_of_a_torn_line_before_a_record() {
    assert_eq!(records(r#"lo"}{"a":1}"#), [r#"0 text lo"}"#, "4 object 1"]);
    assert_eq!(records("\0\0{\"a\":1}"), ["0 text \0\0", "2 object 1"]);
    assert_eq!(records(r#"Error: {"a":1}"#), [r#"0 text Error: {"a":1}"#]);
    assert_eq!(records(r#"["x",{"a":1}"#), [r#"0 malformed ["x",{"a":1}"#]);
}

#[test]
fn too_many_fields_are_no_object() {
    let fields: Vec<_> = (0..10_000).map(|n| format!("\"{n}\":0")).collect();
    let line = format!("{{{}}}", fields.join(","));
    assert_eq!(records(&line), [format!("0 value {line}")]);
}

#[test]
fn fields_are_taken_once_and_the_rest_is_left() {
    let mut object =
        Object::parse(r#"{"b":1,"a":"x","gone":null,"n":"7","odd":{},"a":"second"}"#).unwrap();
    assert_eq!(object.str("a").as_deref(), Some("x"));
    assert_eq!(object.u64("n"), Some(7));
    assert_eq!(object.u64("odd"), None);
    assert_eq!(object.str("gone"), None);
    object.ignore(&["b"]);
    let rest: Vec<_> = object.rest().into_iter().map(|(name, raw)| (name, raw.get())).collect();
    assert_eq!(rest, [("odd".into(), "{}"), ("a".into(), "\"second\"")]);
}

#[test]
fn what_is_said_twice_is_kept_twice() {
    let object = Object::parse(r#"{"a":1,"b":2,"a":3,"a":4}"#).unwrap();
    let extra: Vec<_> =
        object.into_extra().map(|(name, json)| format!("{name} {}", json.get())).collect();
    assert_eq!(extra, ["a 1", "b 2", "a#2 3", "a#3 4"]);
}

#[test]
fn what_is_left_of_nested_objects_stays_under_their_name() {
    let json = r#"{"a":{"n":1,"x":2},"list":[{"n":3},{"n":4,"y":5}],"odd":[{"n":6},7]}"#;
    let mut object = Object::parse(json).unwrap();
    assert_eq!(object.within("a", |a| a.u64("n")), Some(Some(1)));
    assert_eq!(object.within_each("list", |item| item.u64("n")), Some(vec![Some(3), Some(4)]));
    assert_eq!(object.within_each("odd", |item| item.u64("n")), None);
    assert_eq!(object.within("gone", |gone| gone.u64("n")), None);
    let rest: Vec<_> = object.rest().into_iter().map(|(name, raw)| (name, raw.get())).collect();
    assert_eq!(
        rest,
        [("odd".into(), r#"[{"n":6},7]"#), ("a.x".into(), "2"), ("list.y".into(), "5")]
    );
}

#[test]
fn depth_costs_no_stack() {
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Object::parse(&deep).unwrap().has("a"));
}

#[test]
fn arrays_with_too_many_elements_stay_whole() {
    for (count, taken_apart) in [(0, true), (MAX_ELEMENTS, true), (MAX_ELEMENTS + 1, false)] {
        let array = format!("[{}]", vec!["0"; count].join(", "));
        let raw = Raw::parse(&array).unwrap();
        let expected = taken_apart.then_some(count);
        assert_eq!(elements(raw).map(|elements| elements.len()), expected);
    }
    assert!(elements(Raw::parse("{}").unwrap()).is_none());
}

#[test]
fn moments_in_every_spelling() {
    let expected = Some(Timestamp::from_millis(1_772_640_336_330));
    for spelling in [
        "1772640336330",
        "1772640336330.0",
        "\"1772640336330\"",
        "\"2026-03-04T16:05:36.330Z\"",
        "\"2026-03-04T17:05:36.330+01:00\"",
    ] {
        let raw = Raw::parse(spelling).unwrap();
        assert_eq!(as_timestamp(raw), expected, "{spelling}");
    }
    let raw = Raw::parse("\"yesterday\"").unwrap();
    assert_eq!(as_timestamp(raw), None);
    // Other units, which would be 1970 or the year 58000 in milliseconds.
    for (spelling, millis) in [
        ("1772640336", 1_772_640_336_000),
        ("\"1772640336\"", 1_772_640_336_000),
        ("1772640336.33", 1_772_640_336_330),
        ("1772640336330123", 1_772_640_336_330),
        ("1772640336330123.0", 1_772_640_336_330),
        ("1772640336330123456", 1_772_640_336_330),
        ("2000", 2000),
        ("-5", -5),
    ] {
        let raw = Raw::parse(spelling).unwrap();
        assert_eq!(as_timestamp(raw), Some(Timestamp::from_millis(millis)), "{spelling}");
    }
    let raw = Raw::parse("1772640336").unwrap();
    assert_eq!(as_millis(raw), Some(Timestamp::from_millis(1_772_640_336)));
}
