//! The signals of logs, as OTLP/JSON.

use std::{
    fs,
    path::{Path, PathBuf},
};

use foldline::{position::by_item, transduce::Emitter};
use foldline_agents::{DynExecutor, Registry};
use foldline_domain::{DomainEvent, Located, per_session};
use foldline_otlp::{Otlp, Resource};
use foldline_testkit::run;
use serde_json::Value;

/// The folder of fixtures of a format.
pub(super) fn fixtures(format: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(format)
}

/// Every fixture, with its executor.
pub(super) fn every_fixture() -> Vec<(DynExecutor, PathBuf)> {
    let registry = Registry::builtin();
    let mut all = Vec::new();
    for executor in registry.iter() {
        let Ok(folder) = fs::read_dir(fixtures(executor.format().name)) else { continue };
        let logs = folder.map(|log| log.unwrap().path());
        all.extend(logs.map(|log| (executor.clone(), log)));
    }
    all.sort_by(|(_, a), (_, b)| a.cmp(b));
    assert!(all.len() > 50);
    all
}

/// The events of a log.
pub(super) fn events(executor: &DynExecutor, log: &[u8]) -> Vec<Located<DomainEvent>> {
    run::sourced_events(executor, [log])
}

/// The requests of these events, without content.
pub(super) fn requests(events: &[Located<DomainEvent>]) -> Vec<Value> {
    requests_of(per_session(|_| by_item(Otlp::default())), events)
}

/// The requests of these events, with content.
pub(super) fn requests_with_content(events: &[Located<DomainEvent>]) -> Vec<Value> {
    requests_of(per_session(|_| by_item(Otlp::default().with_content())), events)
}

/// The requests of an emitter.
pub(super) fn requests_of<K>(
    mut emitter: impl Emitter<Located<DomainEvent>, (K, foldline_otlp::Signal)>,
    events: &[Located<DomainEvent>],
) -> Vec<Value> {
    let resource = Resource::default().with("service.name", "tests");
    let mut requests = Vec::new();
    let mut take = |signal| requests.push(serde_json::to_value(resource.request(signal)).unwrap());
    for event in events {
        emitter.emit(event).drain_with(|(_, signal)| take(signal));
    }
    emitter.finish().drain_with(|(_, signal)| take(signal));
    requests
}

/// The spans of requests.
pub(super) fn spans(requests: &[Value]) -> Vec<&Value> {
    all(requests, "/resourceSpans/0/scopeSpans/0/spans/0")
}

/// The log records of requests.
pub(super) fn records(requests: &[Value]) -> Vec<&Value> {
    all(requests, "/resourceLogs/0/scopeLogs/0/logRecords/0")
}

/// The data point of a metric.
pub(super) fn point(metric: &Value) -> &Value {
    let points = metric.get("histogram").unwrap_or(&metric["sum"]);
    &points["dataPoints"][0]
}

/// The metrics of requests.
pub(super) fn metrics(requests: &[Value]) -> Vec<&Value> {
    all(requests, "/resourceMetrics/0/scopeMetrics/0/metrics/0")
}

fn all<'r>(requests: &'r [Value], path: &str) -> Vec<&'r Value> {
    requests.iter().filter_map(|request| request.pointer(path)).collect()
}

/// The attributes of a span, a record or a data point: name, type and value.
pub(super) fn attributes(of: &Value) -> Vec<(&str, &str, &Value)> {
    let attributes = of["attributes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut found = Vec::new();
    for attribute in attributes {
        let (kind, value) = attribute["value"].as_object().unwrap().iter().next().unwrap();
        found.push((attribute["key"].as_str().unwrap(), kind.as_str(), value));
    }
    found
}

/// The value of an attribute.
pub(super) fn attribute<'v>(of: &'v Value, name: &str) -> Option<&'v Value> {
    attributes(of).into_iter().find(|(key, ..)| *key == name).map(|(.., value)| value)
}
