//! Types with the same name, which confuse readers.

use std::collections::BTreeMap;

use super::package::Package;

/// The names of types and traits that are defined more than once in a package, with the files.
pub(super) fn repeated(package: &Package) -> BTreeMap<&str, Vec<&str>> {
    let mut files = BTreeMap::<&str, Vec<&str>>::new();
    for module in package.modules.values() {
        for item in module.items.iter().filter(|item| item.is_type()) {
            files.entry(&item.name).or_default().push(&module.file);
        }
    }
    files.retain(|_, files| files.len() > 1);
    files
}

#[test]
fn names_that_are_used_twice_are_found() {
    let package = Package::of(&[
        ("lib.rs", "mod a; mod b; struct Once; fn twice() {} fn f() { struct Visitor; }"),
        ("a.rs", "pub struct Twice; enum A {} struct B; fn f() { struct Visitor; }"),
        ("b.rs", "pub trait Twice {} mod inner { struct B; } #[cfg(test)] mod tests { struct A; }"),
    ]);
    let found: Vec<_> = repeated(&package).into_iter().collect();
    assert_eq!(found, [("B", vec!["a.rs", "b.rs"]), ("Twice", vec!["a.rs", "b.rs"])]);
}
