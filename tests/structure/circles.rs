//! Dependency cycles of files: each file uses names of the next, and the last one names of the first.

use std::collections::{BTreeMap, BTreeSet};

use super::package::{Edge, Package};

/// The cycles among files, each with its names. A file does not use a name that it only re-exports.
pub(super) fn circles(package: &Package) -> Vec<String> {
    let edges = package.edges();
    let edges: Vec<_> = edges.iter().filter(|edge| !edge.is_passed_on).collect();
    let mut next = BTreeMap::<&str, BTreeSet<&str>>::new();
    for Edge { from, to, .. } in &edges {
        next.entry(from).or_default().insert(to);
    }
    let reached: BTreeMap<_, _> =
        next.keys().map(|file| (*file, reached_from(file, &next))).collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|files| files.contains(to));
    let mut found = BTreeMap::<BTreeSet<&str>, Vec<String>>::new();
    for Edge { from, to, name, .. } in edges {
        if reaches(to, from) {
            let circle = next.keys().copied();
            let circle = circle.filter(|file| reaches(from, file) && reaches(file, from));
            found.entry(circle.collect()).or_default().push(format!("{from} uses {name} of {to}"));
        }
    }
    found.into_values().map(|circle| circle.join("\n  ")).collect()
}

fn reached_from<'f>(
    file: &'f str,
    next: &BTreeMap<&'f str, BTreeSet<&'f str>>,
) -> BTreeSet<&'f str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        for next in next.get(file).into_iter().flatten() {
            if reached.insert(*next) {
                open.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        circles(&Package::of(files))
    }

    #[test]
    fn two_files_that_use_each_other() {
        let found = circles_of(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            ("b.rs", "pub struct B; impl B { fn a(&self) -> super::a::A { todo!() } }"),
            ("c.rs", "use crate::{a::A, b::B}; struct C(A, B);"),
        ]);
        assert_eq!(found, ["a.rs uses B of b.rs\n  b.rs uses A of a.rs"]);
    }

    #[test]
    fn what_a_module_passes_on_is_of_the_file_that_defines_it() {
        let parent = "mod x; mod y; pub use self::{x::X, y::Y};";
        let files = |x, y| {
            circles_of(&[("lib.rs", "mod p;"), ("p/mod.rs", parent), ("p/x.rs", x), ("p/y.rs", y)])
        };
        assert_eq!(files("pub struct X;", "use super::X; pub struct Y(X);"), [""; 0]);
        let found = files("pub struct X(crate::p::Y);", "use super::X; pub struct Y(X);");
        assert_eq!(found, ["p/x.rs uses Y of p/y.rs\n  p/y.rs uses X of p/x.rs"]);
    }

    #[test]
    fn a_module_that_defines_what_its_children_need_and_uses_them() {
        let found = circles_of(&[
            ("lib.rs", "mod p;"),
            ("p.rs", "mod x; pub use x::X; pub const SIZE: usize = 1; fn f(x: X) {}"),
            ("p/x.rs", "pub struct X([u8; super::SIZE]);"),
        ]);
        assert_eq!(found, ["p.rs uses X of p/x.rs\n  p/x.rs uses SIZE of p.rs"]);
    }

    #[test]
    fn tests_may_use_anything() {
        let found = circles_of(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }"),
            ("b.rs", "use crate::a::A; pub struct B(A);"),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
