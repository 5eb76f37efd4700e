//! What was exported and is read again gives the same entries.

use std::{collections::BTreeMap, fs, path::Path};

use foldline_agents::{DynExecutor, Registry};
use foldline_domain::{Conversation, DomainEvent, SessionKey};
use foldline_testkit::{generate, run};
use foldline_trajectory::Atif;
use proptest::prelude::*;

use crate::captures;

/// The events of each session of a log.
fn sessions(executor: &DynExecutor, log: &[u8]) -> Vec<Vec<DomainEvent>> {
    let mut sessions = BTreeMap::<SessionKey, Vec<_>>::new();
    for event in run::sourced_events(executor, [log]) {
        sessions.entry(event.session).or_default().push(event.item);
    }
    sessions.into_values().collect()
}

/// The conversation in a document, as its file is opened.
fn read(registry: &Registry, path: &Path) -> Conversation {
    let mut log = registry.openers().open_regular(path).unwrap();
    let mut lines = Vec::new();
    loop {
        match log.read().unwrap() {
            [] => break,
            more => lines.extend_from_slice(more),
        }
    }
    let executor = registry.named("atif").unwrap();
    run::sourced_events(executor, [&*lines]).iter().map(|event| &event.item).collect()
}

proptest! {
    #[test]
    fn any_events_give_the_same_entries(events in generate::events()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        let mut document = Atif::default();
        events.iter().for_each(|event| document.apply(event));
        fs::write(&path, document.render().unwrap().0).unwrap();
        let (expected, given) = (events.iter().collect::<Conversation>(), read(&Registry::builtin(), &path));
        prop_assert_eq!(expected.entries, given.entries);
    }
}

#[test]
fn every_log_of_every_format_gives_the_same_entries() {
    let registry = Registry::builtin();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.json");
    let (mut failures, mut count) = (Vec::new(), 0);
    for executor in registry.iter() {
        let format = executor.format().name;
        for log in captures::fixtures(format).into_iter().chain(captures::of(format)) {
            for events in sessions(executor, &fs::read(&log).unwrap()) {
                let expected: Conversation = events.iter().collect();
                let mut document = Atif::default();
                events.iter().for_each(|event| document.apply(event));
                fs::write(&path, document.render().unwrap().0).unwrap();
                let given = read(&registry, &path);
                count += 1;
                let pairs = expected.entries.iter().zip(&given.entries);
                let mut different = pairs.filter(|(expected, given)| expected != given);
                if let Some((expected, given)) = different.next() {
                    failures.push(format!("{}:\n{expected:?}\n{given:?}", log.display()));
                } else if expected.entries.len() != given.entries.len() {
                    let numbers = (expected.entries.len(), given.entries.len());
                    failures.push(format!("{}: {numbers:?}", log.display()));
                } else if expected.summary.usage != given.summary.usage {
                    let usages = (expected.summary.usage, given.summary.usage);
                    failures.push(format!("{}: {usages:?}", log.display()));
                }
            }
        }
    }
    assert!(count > 100);
    assert!(failures.is_empty(), "{} of {count}\n{}", failures.len(), failures.join("\n\n"));
}
