//! The structure of the sources: dependencies between files, public items and repeated names.

mod circles;
mod floors;
mod items;
mod names;
mod package;
mod paths;
mod public;
mod signatures;
mod usage;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use self::{
    floors::{Exception, Floor},
    package::{Definition, Package, add_files},
};

/// The folders of the library, each above the folders that it may use. Folders with the same number do not use each
/// other.
const FLOORS: [Floor; 14] = [
    // The framework depends on nothing, not even on the rest of the crate.
    ("transduce", 0),
    ("files", 1),
    ("json", 1),
    ("position", 1),
    // The domain; above it the objects of a log, which contain texts, ids and timestamps of the domain.
    ("conversation", 2),
    ("wire", 3),
    // The commit rule; above it the shell and the files whose checkpoints it keeps.
    ("ledger", 4),
    ("pricing", 4),
    ("processor", 5),
    ("source", 5),
    // Agents and consumers are independent of each other.
    ("emitters", 6),
    ("executors", 6),
    ("store", 7),
    ("testkit", 8),
];

/// Imports that the floors do not allow.
const EXCEPTIONS: [Exception; 0] = [];

/// The maximum number of repeated type names in each package. Lower it when there are fewer.
const REPEATED: [(&str, usize); 3] = [("src", 59), ("cli/src", 12), ("fleet/src", 4)];

/// The source folders of the packages. A published library has only its own.
const SOURCES: [&str; 3] = ["src", "cli/src", "fleet/src"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn package(folder: &str) -> Option<Package> {
    Package::read(&root().join(folder))
}

#[test]
fn no_file_uses_a_file_that_uses_it() {
    for folder in SOURCES {
        let circles = package(folder).map(|it| circles::circles(&it)).unwrap_or_default();
        assert!(circles.is_empty(), "circles in {folder}:\n  {}", circles.join("\n\n  "));
    }
}

#[test]
fn folders_use_only_those_below() {
    let package = package("src").unwrap();
    let faults = floors::faults(&package, &FLOORS, &EXCEPTIONS);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The folders whose files are users of the library.
const USERS: [&str; 6] = ["tests", "examples", "benches", "fuzz", "cli", "fleet"];

/// Documentation with code that uses items.
const TAUGHT: [&str; 2] = ["README.md", "src/executors/tutorial.rs"];

fn used(library: &Package) -> BTreeSet<Definition> {
    let mut files = BTreeMap::new();
    for folder in USERS {
        add_files(root(), &root().join(folder), &mut files);
    }
    let taught = TAUGHT.iter().map(|file| fs::read_to_string(root().join(file)).unwrap());
    let taught = taught.map(|text| match usage::documentation(&text) {
        module if module.is_empty() => usage::code(&text),
        module => usage::code(&module),
    });
    let texts = files.into_values().chain(taught);
    texts.flat_map(|text| usage::named(library, "foldline", &text)).collect()
}

#[test]
fn public_items_have_a_user_or_are_kept_for_authors() {
    // A published library does not contain its users.
    if package("cli/src").is_none() {
        return;
    }
    let library = package("src").unwrap();
    let faults = public::faults(&library, used(&library), include_str!("structure/public.txt"));
    assert!(faults.is_empty(), "{} items:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn no_more_names_are_used_twice() {
    for (folder, most) in REPEATED {
        let Some(package) = package(folder) else { continue };
        let repeated = names::repeated(&package);
        let count = repeated.len();
        assert!(count <= most, "{count} names in {folder}, not {most}: {repeated:#?}");
    }
}
