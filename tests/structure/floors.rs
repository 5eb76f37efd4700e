//! The layers of the library: a folder uses only folders of lower layers.

use std::collections::BTreeMap;

use super::package::Package;

/// A folder and its layer.
pub(super) type Floor = (&'static str, u32);

/// An import that the layers do not allow, and its reason.
pub(super) struct Exception {
    pub(super) from: &'static str,
    pub(super) to: &'static str,
    pub(super) name: &'static str,
    pub(super) reason: &'static str,
}

/// Imports from the same or a higher layer, imports of folders without a layer, and unused exceptions.
pub(super) fn faults(package: &Package, floors: &[Floor], exceptions: &[Exception]) -> Vec<String> {
    let floors: BTreeMap<_, _> = floors.iter().copied().collect();
    let mut faults = Vec::new();
    let mut needed = vec![false; exceptions.len()];
    for edge in package.edges() {
        let (from, to) = (folder(&edge.from), folder(&edge.to));
        // The root only names the folders.
        if from == to || from == "lib" {
            continue;
        }
        let text = format!("{} uses {} of {}", edge.from, edge.name, edge.to);
        let (Some(above), Some(below)) = (floors.get(from), floors.get(to)) else {
            faults.push(format!("{text}, and one of them has no floor"));
            continue;
        };
        if below < above {
            continue;
        }
        let is_named =
            |it: &Exception| (it.from, it.to, it.name) == (&*edge.from, &*edge.to, &*edge.name);
        match exceptions.iter().position(is_named) {
            Some(at) => needed[at] = true,
            None => faults.push(text),
        }
    }
    let unneeded = exceptions.iter().zip(needed).filter(|(_, needed)| !needed);
    faults.extend(unneeded.map(|(Exception { from, to, name, reason }, _)| {
        format!("{from} no longer uses {name} of {to}; remove the exception ({reason})")
    }));
    faults
}

/// The folder of a file; a file outside of folders is its own folder.
fn folder(file: &str) -> &str {
    let end = file.find(['/', '.']).unwrap_or(file.len());
    &file[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOORS: [Floor; 3] = [("low", 1), ("other", 2), ("high", 2)];

    fn faults_of(low: &str, high: &str, exceptions: &[Exception]) -> Vec<String> {
        let package = Package::of(&[
            ("lib.rs", "pub mod low; pub mod other; pub mod high;"),
            ("low/mod.rs", "mod leaf; pub use self::leaf::Low;"),
            ("low/leaf.rs", low),
            ("other.rs", "pub struct Other;"),
            ("high/mod.rs", high),
        ]);
        faults(&package, &FLOORS, exceptions)
    }

    #[test]
    fn imports_go_down() {
        let low = "pub struct Low;";
        assert_eq!(faults_of(low, "pub use crate::low::Low; pub struct High(Low);", &[]), [""; 0]);
        let found = faults_of(low, "pub struct High(crate::other::Other);", &[]);
        assert_eq!(found, ["high/mod.rs uses Other of other.rs"]);
        let found = faults_of("pub use crate::high::High as Low;", "pub struct High;", &[]);
        let passed_on =
            ["low/leaf.rs uses High of high/mod.rs", "low/mod.rs uses High of high/mod.rs"];
        assert_eq!(found, passed_on);
    }

    #[test]
    fn an_exception_holds_for_one_import_as_long_as_it_is_needed() {
        let exception =
            || Exception { from: "low/leaf.rs", to: "high/mod.rs", name: "High", reason: "a test" };
        let upwards = "pub struct Low(crate::high::High);";
        assert_eq!(faults_of(upwards, "pub struct High;", &[exception()]), [""; 0]);
        let found = faults_of("pub struct Low;", "pub struct High;", &[exception()]);
        let unneeded =
            "low/leaf.rs no longer uses High of high/mod.rs; remove the exception (a test)";
        assert_eq!(found, [unneeded]);
    }

    #[test]
    fn a_new_folder_needs_a_floor() {
        let package = Package::of(&[
            ("lib.rs", "pub mod low; pub mod new;"),
            ("low.rs", "pub struct Low;"),
            ("new.rs", "pub struct New(crate::low::Low);"),
        ]);
        let found = faults(&package, &FLOORS, &[]);
        assert_eq!(found, ["new.rs uses Low of low.rs, and one of them has no floor"]);
    }
}
