//! Items of a library that other crates use.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;

use super::{
    items::Tokens,
    package::{Definition, Package, Target},
    paths::{Import, Path, Used},
};

/// The items of a library that a source of another crate uses.
pub(super) fn named(package: &Package, library: &str, text: &str) -> BTreeSet<Definition> {
    let tokens: TokenStream = text.parse().unwrap();
    let used = Used::of(&tokens.into_iter().collect::<Tokens>());
    // All in one scope, which is sufficient to find used items.
    let imports: BTreeMap<&str, &Import> =
        used.imports.iter().map(|import| (import.name.as_str(), import)).collect();
    let globs = used.imports.iter().filter(|import| import.name == "*");
    let globs: Vec<_> = globs.map(|import| &import.path).collect();
    let of_library = |path: &[String]| -> Option<Definition> {
        let mut path = path.to_vec();
        for _ in 0..4 {
            let first = path.first()?.clone();
            if first == library {
                path[0] = "crate".to_owned();
                return match package.resolve(&[], &path)? {
                    Target::Item(module, name) => {
                        let is_there = package.modules.get(&module)?.defines(&name);
                        is_there.then_some((module, name))
                    }
                    _ => None,
                };
            }
            let import = imports.get(first.as_str())?;
            path.splice(..1, import.path.iter().cloned());
        }
        None
    };
    let mut found: BTreeSet<_> =
        used.imports.iter().filter_map(|import| of_library(&import.path)).collect();
    for path in &used.paths {
        found.extend(of_library(path));
        for glob in &globs {
            let path: Path = glob.iter().chain(path).cloned().collect();
            found.extend(of_library(&path));
        }
    }
    found
}

/// The Rust code of a Markdown text, without the markers of hidden lines.
pub(super) fn code(markdown: &str) -> String {
    let mut code = String::new();
    let mut is_code = None;
    for line in markdown.lines() {
        match (line.strip_prefix("```"), is_code) {
            (Some(language), None) => is_code = Some(["", "rust", "no_run"].contains(&language)),
            (Some(_), Some(_)) => is_code = None,
            (None, Some(true)) => {
                let line = if line == "#" { "" } else { line.strip_prefix("# ").unwrap_or(line) };
                code.push_str(line);
                code.push('\n');
            }
            (None, _) => {}
        }
    }
    code
}

/// The documentation of a module as Markdown.
pub(super) fn documentation(text: &str) -> String {
    let lines = text.lines().filter_map(|line| line.strip_prefix("//!"));
    lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(users: &str) -> Vec<String> {
        let package = Package::of(&[
            ("lib.rs", "pub mod a; pub use a::B as Short;"),
            ("a.rs", "pub struct B; pub struct C; pub fn d() {} pub enum E { F }"),
        ]);
        named(&package, "library", users).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn names_are_found_through_imports_of_every_kind() {
        assert_eq!(names("use library::Short;"), ["B"]);
        assert_eq!(names("use library::{a, a::E::F as G}; fn f() { a::d() }"), ["E", "d"]);
        assert_eq!(names("use library as l; fn f(_: l::a::C) {}"), ["C"]);
        assert_eq!(names("fn f() { use library::a::*; let c: Vec<C> = m!(d); }"), ["C", "d"]);
        assert_eq!(names("use other::{a, Short}; struct B; fn f(_: a::C) {}"), [""; 0]);
    }

    #[test]
    fn the_code_of_documentation_is_found() {
        let text = "//! Text.\n//! ```\n//! # use library::a;\n//! let b = a::B;\n//! ```\n//! ```text\n//! a::C\n//! ```\nfn f() {}";
        let code = code(&documentation(text));
        assert_eq!(code, "use library::a;\nlet b = a::B;\n");
        assert_eq!(names(&code), ["B"]);
    }
}
