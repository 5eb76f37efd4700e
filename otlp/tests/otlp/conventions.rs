//! Every name that is emitted, compared with the published registries.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::signals::{
    attributes, events, every_fixture, metrics, point, records, requests_with_content, spans,
};

/// The lines of the registry of one kind: names with their type or unit.
fn registry(kind: &str) -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("registry.txt").lines();
    let words = lines.map(|line| line.split(' ').collect::<Vec<_>>());
    let of_kind = words.filter(|words| words[0] == kind);
    of_kind.map(|words| (words[1], words.get(2).copied().unwrap_or_default())).collect()
}

fn check_attributes(of: &Value, seen: &mut BTreeSet<String>) {
    let known = registry("attribute");
    for (name, kind, value) in attributes(of) {
        seen.insert(name.to_owned());
        if name.starts_with("foldline.") {
            continue;
        }
        let expected = match known.get(name) {
            Some(&"string" | &"any") => "stringValue",
            Some(&"int") => "intValue",
            other => panic!("{name} is not in the registry: {other:?}"),
        };
        assert_eq!(kind, expected, "{name}");
        if kind == "intValue" {
            value.as_str().unwrap().parse::<i64>().unwrap();
        }
        if matches!(name, "gen_ai.input.messages" | "gen_ai.output.messages") {
            let messages: Value = serde_json::from_str(value.as_str().unwrap()).unwrap();
            assert!(messages[0]["role"].is_string() && messages[0]["parts"][0]["type"] == "text");
        }
    }
}

#[test]
fn names_and_types_are_those_of_the_registries() {
    let mut seen = BTreeSet::new();
    let (mut names, mut of_spans) = (BTreeSet::new(), BTreeSet::new());
    for (executor, log) in every_fixture() {
        let requests = requests_with_content(&events(&executor, &std::fs::read(&log).unwrap()));
        for span in spans(&requests) {
            check_attributes(span, &mut seen);
            let name = span["name"].as_str().unwrap();
            of_spans.insert(name.split(' ').next().unwrap().to_owned());
        }
        for record in records(&requests) {
            check_attributes(record, &mut seen);
            names.insert(record["eventName"].as_str().unwrap().to_owned());
        }
        for metric in metrics(&requests) {
            let (name, unit) = (metric["name"].as_str().unwrap(), metric["unit"].as_str().unwrap());
            if name != "foldline.cost" {
                assert_eq!(registry("metric").get(name), Some(&unit));
            }
            names.insert(name.to_owned());
            check_attributes(point(metric), &mut seen);
        }
    }
    assert!(of_spans.remove("session") && of_spans.remove("wait_for_user"));
    assert!(of_spans.iter().eq(registry("span").keys()), "{of_spans:?}");
    let published: BTreeSet<_> =
        names.iter().filter(|name| !name.starts_with("foldline.")).map(String::as_str).collect();
    let known: BTreeSet<_> =
        registry("event").into_keys().chain(registry("metric").into_keys()).collect();
    assert_eq!(published, known);
    // The fixtures contain everything that can be emitted.
    for name in registry("attribute").keys() {
        assert!(seen.contains(*name), "no fixture has {name}");
    }
}
