//! Public items: each is used outside of the library, or is kept for authors.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    items::Visibility,
    package::{Definition, Module, Package, Target},
    paths::Path,
    signatures::with_signatures,
};

/// The public items of a package, each with the shortest path that leads to it.
pub(super) fn public(package: &Package) -> BTreeMap<Definition, String> {
    let mut found = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![(Path::new(), Path::new())];
    while let Some((module, path)) = open.pop() {
        let Some(here) = package.modules.get(&module) else { continue };
        if !seen.insert((module.clone(), path.clone())) || path.len() > 8 {
            continue;
        }
        for (name, target) in exported(package, &module, here) {
            let path: Path = path.iter().cloned().chain([name]).collect();
            match target {
                Target::Module(module) => open.push((module, path)),
                Target::Item(module, name) => {
                    let path = path.join("::");
                    let before: &mut String = found.entry((module, name)).or_insert(path.clone());
                    if (path.len(), &path) < (before.len(), before) {
                        *before = path;
                    }
                }
                Target::External => {}
            }
        }
    }
    found
}

/// The public names of a module.
fn exported(package: &Package, path: &Path, module: &Module) -> Vec<(String, Target)> {
    let is_public = |visibility| visibility == Visibility::Public;
    let items = module.items.iter().filter(|it| is_public(it.visibility) && !it.name.is_empty());
    let mut names: Vec<_> =
        items.map(|it| (it.name.clone(), Target::Item(path.clone(), it.name.clone()))).collect();
    for (child, module) in &package.modules {
        if module.is_public
            && let Some((name, parent)) = child.split_last()
            && parent == path
        {
            names.push((name.clone(), Target::Module(child.clone())));
        }
    }
    for (import, _) in module.imports.iter().filter(|(_, visibility)| is_public(*visibility)) {
        match package.resolve(path, &import.path) {
            Some(Target::Module(from)) if import.name == "*" => {
                if let Some(module) = package.modules.get(&from) {
                    names.extend(exported(package, &from, module));
                }
            }
            Some(target) => names.push((import.name.clone(), target)),
            None => {}
        }
    }
    names
}

/// The items that are kept for authors, by their paths. A line that begins with `#` is the reason for those after it.
pub(super) fn listed(list: &str) -> Vec<&str> {
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut items = lines.skip_while(|line| !line.starts_with('#'));
    let first = items.next().unwrap_or_default();
    assert!(first.starts_with('#') && list.trim_start().starts_with('#'), "a reason comes first");
    items.filter(|line| !line.starts_with('#')).collect()
}

/// Public items that are neither used nor kept, and kept items that are used or missing.
pub(super) fn faults(package: &Package, used: BTreeSet<Definition>, list: &str) -> Vec<String> {
    let public = public(package);
    let listed: BTreeSet<_> = listed(list).into_iter().collect();
    let used = with_signatures(package, used);
    let is_listed = |path: &String| listed.contains(path.as_str());
    let kept = public.iter().filter(|(_, path)| is_listed(path)).map(|(item, _)| item.clone());
    let kept = with_signatures(package, kept);
    let mut faults = Vec::new();
    for (item, path) in &public {
        match (used.contains(item), is_listed(path)) {
            (true, true) => faults.push(format!("{path} is used: remove it from the list")),
            (false, false) if !kept.contains(item) => {
                faults.push(format!("{path} has no user: make it private, or list it"));
            }
            _ => {}
        }
    }
    let there: BTreeSet<_> = public.values().map(String::as_str).collect();
    let gone = listed.difference(&there);
    faults.extend(gone.map(|path| format!("{path} is not public: remove it from the list")));
    faults.sort_unstable();
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: [(&str, &str); 3] = [
        (
            "lib.rs",
            "pub mod a; mod hidden; pub use hidden::Shown; pub fn free() -> a::Answer { todo!() }",
        ),
        (
            "a.rs",
            "pub struct Answer(pub Field, Inner); pub struct Field; struct Inner; pub struct Lonely;",
        ),
        (
            "hidden.rs",
            "pub struct Shown; impl Shown { pub fn field(&self) -> crate::a::Field { todo!() } } pub struct Hidden;",
        ),
    ];

    fn faults_of(users: &str, list: &str) -> Vec<String> {
        let package = Package::of(&LIBRARY);
        let used = crate::structure::usage::named(&package, "library", users);
        faults(&package, used, list)
    }

    #[test]
    fn an_item_is_public_by_its_shortest_path() {
        let package = Package::of(&LIBRARY);
        let found: BTreeSet<_> = public(&package).into_values().collect();
        let expected = ["Shown", "a::Answer", "a::Field", "a::Lonely", "free"];
        assert!(found.iter().eq(&expected), "{found:?}");
    }

    #[test]
    fn an_item_without_a_user_is_listed() {
        let lonely = "a::Lonely has no user: make it private, or list it";
        assert_eq!(faults_of("use library::{Shown, free};", "# why"), [lonely]);
        assert_eq!(faults_of("use library::{Shown, free};", "# why\na::Lonely"), [""; 0]);
        let found = faults_of("use library::Shown;", "# why\na::Lonely");
        assert_eq!(
            found,
            [
                "a::Answer has no user: make it private, or list it",
                "free has no user: make it private, or list it"
            ]
        );
        // Its return type is kept with it.
        assert_eq!(faults_of("use library::Shown;", "# why\na::Lonely\nfree"), [""; 0]);
    }

    #[test]
    fn the_list_names_only_what_is_there_and_has_no_user() {
        let users = "use library::{Shown, a::Lonely, free};";
        assert_eq!(
            faults_of(users, "# why\na::Lonely"),
            ["a::Lonely is used: remove it from the list"]
        );
        assert_eq!(
            faults_of(users, "# why\na::Gone"),
            ["a::Gone is not public: remove it from the list"]
        );
    }
}
