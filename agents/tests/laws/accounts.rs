//! The accounts of the formats: what becomes of each field of each record.

use std::{fs, path::PathBuf};

use foldline_testkit::law::Accounts;

use super::for_every_executor;
use crate::captures;

/// The account file of a format.
fn file(format: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/laws/accounts");
    folder.join(format).with_extension("txt")
}

/// The declared accounts of a format.
pub(super) fn declared(format: &str) -> Accounts {
    fs::read_to_string(file(format)).unwrap_or_default().parse().unwrap()
}

/// `FOLDLINE_RENEW=1` writes the files. A new field that is dropped needs its reason in place of `?`.
#[test]
fn the_accounts_of_every_format_are_those_of_its_file() {
    for_every_executor(|executor, format| {
        let logs = captures::fixtures(format).into_iter().map(|path| fs::read(path).unwrap());
        let written = declared(format);
        if std::env::var_os("FOLDLINE_RENEW").is_some() {
            let renewed = Accounts::of(executor.clone(), logs).renewed(&written);
            fs::write(file(format), renewed.to_string()).unwrap();
        } else if let Err(violation) = written.check(executor.clone(), logs) {
            panic!("{format}: {violation}");
        }
    });
}

/// Captures may have fields that no fixture has, if they have an effect, and some without the effect that they have in a
/// fixture.
#[test]
fn no_field_of_a_capture_is_dropped_without_a_reason() {
    let mut unexplained = Vec::new();
    for_every_executor(|executor, format| {
        let logs = captures::of(format).into_iter().map(|path| fs::read(path).unwrap());
        let declared = declared(format);
        let observed = Accounts::of(executor.clone(), logs).renewed(&declared);
        for line in observed.unexplained() {
            let (field, effects) = line.split_once(" = ").unwrap();
            let (kind, path) = field.split_once(' ').unwrap();
            if effects.starts_with("dropped") && !declared.has_effect(kind, path) {
                unexplained.push(format!("{format}: {line}"));
            }
        }
    });
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
}
