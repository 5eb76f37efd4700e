//! [`Package`]: the modules of a package and the resolution of their names.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path as FilePath,
};

use super::{
    items::{Item, Visibility},
    paths::{Import, Path, Used, imports},
};

/// The modules of a package. Test modules are skipped.
#[derive(Debug, Default)]
pub(super) struct Package {
    pub(super) modules: BTreeMap<Path, Module>,
}

/// A module, which is a file or a part of a file.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) file: String,
    /// Whether it is visible wherever its parent module is visible.
    pub(super) is_public: bool,
    /// All items except imports and modules.
    pub(super) items: Vec<Item>,
    pub(super) imports: Vec<(Import, Visibility)>,
}

impl Module {
    pub(super) fn defines(&self, name: &str) -> bool {
        self.items.iter().any(|item| item.name == name)
    }
}

/// The meaning of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Module(Path),
    /// An item, by the module that defines it and its name.
    Item(Path, String),
    /// An item of another package.
    External,
}

/// An item: the module that defines it, and its name.
pub(super) type Definition = (Path, String);

/// A dependency of a file on another file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) name: String,
    /// Whether `from` only re-exports the name.
    pub(super) is_passed_on: bool,
}

/// The maximum number of imports in a resolution.
const DEPTH: usize = 16;

impl Package {
    /// The package whose sources are in a folder, if it exists.
    pub(super) fn read(folder: &FilePath) -> Option<Self> {
        let mut files = BTreeMap::new();
        add_files(folder, folder, &mut files);
        let files: Vec<_> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        (!files.is_empty()).then(|| Self::of(&files))
    }

    /// The package of these files, by their names in the source folder.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files: BTreeMap<_, _> = files.iter().copied().collect();
        let mut package = Self::default();
        let root = if files.contains_key("lib.rs") { "lib.rs" } else { "main.rs" };
        package.add(&files, root, Path::new(), true, Item::parse(files[root]));
        package
    }

    fn add(
        &mut self,
        files: &BTreeMap<&str, &str>,
        file: &str,
        path: Path,
        is_public: bool,
        items: Vec<Item>,
    ) {
        let mut module =
            Module { file: file.to_owned(), is_public, items: Vec::new(), imports: Vec::new() };
        for item in items {
            match &*item.kind {
                "mod" => {
                    let child: Path = path.iter().chain([&item.name]).cloned().collect();
                    let is_public = item.visibility == Visibility::Public;
                    if let Some(body) = item.body() {
                        self.add(files, file, child, is_public, Item::of(body));
                        continue;
                    }
                    let folder = child.join("/");
                    let names = [format!("{folder}.rs"), format!("{folder}/mod.rs")];
                    let name = names.iter().find(|name| files.contains_key(name.as_str()));
                    let name = name.unwrap_or_else(|| panic!("{file} names no file: {folder}"));
                    let items = Item::parse(files[name.as_str()]);
                    self.add(files, name, child, is_public, items);
                }
                "use" => {
                    let imports = imports(&item.tokens).into_iter();
                    module.imports.extend(imports.map(|import| (import, item.visibility)));
                }
                _ => {
                    let within = Used::of(&item.tokens).imports.into_iter();
                    module.imports.extend(within.map(|import| (import, Visibility::Private)));
                    module.items.push(item);
                }
            }
        }
        self.modules.insert(path, module);
    }

    /// The meaning of a path in a module; `None` if imports do not resolve it.
    pub(super) fn resolve(&self, module: &[String], path: &[String]) -> Option<Target> {
        self.resolve_within(module, path, DEPTH)
    }

    fn resolve_within(&self, module: &[String], path: &[String], depth: usize) -> Option<Target> {
        let depth = depth.checked_sub(1)?;
        let (first, mut rest) = path.split_first()?;
        let mut target = match first.as_str() {
            "crate" => Target::Module(Path::new()),
            "self" => Target::Module(module.to_vec()),
            "super" => Target::Module(module.split_last()?.1.to_vec()),
            name => self.look_up(module, name, !rest.is_empty(), depth)?,
        };
        while let (Target::Module(module), Some((name, after))) = (&target, rest.split_first()) {
            target = match name.as_str() {
                "super" => Target::Module(module.split_last()?.1.to_vec()),
                name => self
                    .look_up(module, name, !after.is_empty(), depth)
                    .unwrap_or_else(|| Target::Item(module.clone(), name.to_owned())),
            };
            rest = after;
        }
        Some(target)
    }

    /// The meaning of a name in a module. A module and a function may have the same name.
    fn look_up(
        &self,
        module: &[String],
        name: &str,
        is_module: bool,
        depth: usize,
    ) -> Option<Target> {
        let here = self.modules.get(module)?;
        let child: Path = module.iter().cloned().chain([name.to_owned()]).collect();
        let child = self.modules.contains_key(&child).then_some(Target::Module(child));
        if is_module && child.is_some() {
            return child;
        }
        if here.defines(name) {
            return Some(Target::Item(module.to_vec(), name.to_owned()));
        }
        let named = here.imports.iter().filter(|(import, _)| import.name == name);
        for (import, _) in named {
            let target = self.resolve_within(module, &import.path, depth);
            let target = target.unwrap_or(Target::External);
            if !(is_module && matches!(target, Target::Item(..))) || child.is_none() {
                return Some(target);
            }
        }
        let globs = here.imports.iter().filter(|(import, _)| import.name == "*");
        child.or_else(|| {
            globs.into_iter().find_map(|(import, _)| {
                match self.resolve_within(module, &import.path, depth)? {
                    Target::Module(from) if from != module => {
                        self.look_up(&from, name, is_module, depth.checked_sub(1)?)
                    }
                    _ => None,
                }
            })
        })
    }

    /// The dependencies between files; each name belongs to the file that defines it.
    pub(super) fn edges(&self) -> BTreeSet<Edge> {
        let mut edges = BTreeSet::new();
        for (path, module) in &self.modules {
            let mut add = |used: &[String], is_passed_on| {
                let target = self.resolve(path, used);
                let (to, name) = match &target {
                    Some(Target::Item(to, name)) => (to, Some(name)),
                    Some(Target::Module(to)) if is_passed_on => (to, to.last()),
                    _ => return,
                };
                let Some(to) = self.modules.get(to).filter(|to| to.file != module.file) else {
                    return;
                };
                let name = name.cloned().unwrap_or_default();
                let (from, to) = (module.file.clone(), to.file.clone());
                edges.insert(Edge { from, to, name, is_passed_on });
            };
            for (import, visibility) in &module.imports {
                add(&import.path, *visibility != Visibility::Private);
            }
            for item in &module.items {
                for used in Used::of(&item.tokens).paths {
                    add(&used, false);
                }
            }
        }
        edges
    }
}

/// Reads all Rust files in and below a folder, by their names relative to `root`.
pub(super) fn add_files(root: &FilePath, folder: &FilePath, files: &mut BTreeMap<String, String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "target") {
                add_files(root, &path, files);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            files.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        text.split("::").filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn names_are_followed_to_where_they_are_defined() {
        let package = Package::of(&[
            ("lib.rs", "pub mod a; mod b; pub use a::Given; #[cfg(test)] mod tests;"),
            (
                "a/mod.rs",
                "mod leaf; mod glob; pub use self::{leaf::{Leaf as Given, leaf}, glob::*};",
            ),
            ("a/leaf.rs", "use std::fmt; pub struct Leaf; pub fn leaf() {}"),
            ("a/glob.rs", "pub enum Glob { A }"),
            ("b.rs", "use super::a; mod inner { pub struct Inner; }"),
        ]);
        let item = |module, name: &str| Some(Target::Item(path(module), name.to_owned()));
        assert_eq!(package.resolve(&path("b"), &path("crate::Given")), item("a::leaf", "Leaf"));
        assert_eq!(package.resolve(&path("b"), &path("a::Given::new")), item("a::leaf", "Leaf"));
        assert_eq!(package.resolve(&path("b"), &path("a::leaf")), item("a::leaf", "leaf"));
        assert_eq!(package.resolve(&path("b"), &path("a::Glob::A")), item("a::glob", "Glob"));
        assert_eq!(package.resolve(&path("b"), &path("inner::Inner")), item("b::inner", "Inner"));
        assert_eq!(package.resolve(&path("b"), &path("a")), Some(Target::Module(path("a"))));
        assert_eq!(package.resolve(&path("a::leaf"), &path("fmt::Debug")), Some(Target::External));
        assert_eq!(package.resolve(&path("b"), &path("String")), None);
        assert!(!package.modules.contains_key(&path("tests")));
    }
}
