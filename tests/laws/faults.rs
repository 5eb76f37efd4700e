//! The table "this kind of fault: this law", which is generated from the broken reducers and emitters.

use std::{env, fs, path::Path};

use foldline::laws::{Law, Violation};

use super::{broken_emitters, broken_reducers};

/// Something that is broken on purpose.
pub(super) struct Broken {
    /// What is wrong.
    pub(super) kind: &'static str,
    /// The law that finds it.
    pub(super) law: Law,
    pub(super) violation: Box<dyn Fn() -> Violation>,
}

pub(super) fn broken(
    kind: &'static str,
    law: Law,
    violation: impl Fn() -> Violation + 'static,
) -> Broken {
    Broken { kind, law, violation: Box::new(violation) }
}

#[test]
fn each_fault_is_found_by_the_law_of_the_table() {
    let mut table = String::new();
    let lists = [("reducer", broken_reducers::all(), 20), ("emitter", broken_emitters::all(), 8)];
    for (subject, faults, least) in lists {
        assert!(faults.len() >= least);
        table += &format!("\n| fault of a {subject} | law |\n| --- | --- |\n");
        for Broken { kind, law, violation } in faults {
            let found = violation();
            assert_eq!(found.law, law, "{kind}: {found}");
            table += &format!("| {kind} | {} {} |\n", law.number(), law.name());
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/laws/faults.md");
    let table = table.replace("a emitter", "an emitter").trim_start().to_owned();
    if env::var_os("FOLDLINE_RENEW").is_some() {
        fs::write(&path, &table).unwrap();
    }
    assert_eq!(fs::read_to_string(path).unwrap_or_default(), table, "renew it by FOLDLINE_RENEW=1");
}
