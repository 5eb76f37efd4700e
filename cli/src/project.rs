//! The project of a folder: the root of the repository that it is in.
//!
//! A work tree belongs to its repository, and a subfolder to the root. The root is looked for while the folder is there,
//! and the database remembers it for the time after that.

use std::{
    env, fs,
    path::{Component, Path, PathBuf},
};

use foldline_database::{query::FolderRow, sqlite::Database};

use crate::error::Error;

/// What the root of a repository contains.
const REPOSITORIES: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// Where agents keep the work trees of a repository, below its root.
const WORK_TREES: [&str; 2] = ["/.claude/worktrees/", "/.worktrees/"];

/// The project that a person names: a name as it is; for a path of this machine, such as `.`, the root there.
pub(crate) fn named(name: &str) -> String {
    let is_path = name == "." || name == ".." || name == "~" || name.contains(['/', '\\']);
    let path = match name.strip_prefix('~') {
        Some(rest) => etcetera::home_dir().map(|home| home.join(rest.trim_start_matches('/'))).ok(),
        None => Some(PathBuf::from(name)),
    };
    let folder = path.filter(|_| is_path).and_then(|path| dunce::canonicalize(path).ok());
    let root = folder.map(|folder| root(&folder).map_or(folder, |(_, project)| project));
    root.and_then(|root| root.to_str().map(str::to_owned)).unwrap_or_else(|| name.to_owned())
}

/// The project of the current folder.
pub(crate) fn here() -> Option<String> {
    Some(named(".")).filter(|project| project != ".")
}

/// The work tree that a folder of this machine is in, and the root of its repository.
fn root(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let home = etcetera::home_dir().ok();
    for (depth, folder) in folder.ancestors().enumerate() {
        // A home directory that is kept in a repository is not the project of all that is below it.
        if depth > 0 && home.as_deref() == Some(folder) {
            return None;
        }
        if REPOSITORIES.iter().any(|name| folder.join(name).exists()) {
            let tree = folder.to_owned();
            return Some((tree.clone(), repository(folder).unwrap_or(tree)));
        }
    }
    None
}

/// The repository of a work tree of Git, whose file `.git` names `REPOSITORY/.git/worktrees/NAME`.
fn repository(tree: &Path) -> Option<PathBuf> {
    let link = fs::read_to_string(tree.join(".git")).ok()?;
    let link = tree.join(link.strip_prefix("gitdir:")?.trim());
    let trees = link.parent().filter(|trees| trees.ends_with("worktrees"))?;
    let git = trees.parent()?;
    let repository = if git.ends_with(".git") { git.parent()? } else { git };
    dunce::canonicalize(repository).ok()
}

/// Finds the projects of the folders in the database that are not known yet.
pub(crate) fn learn(database: &mut Database) -> Result<(), Error> {
    let (known, unknown): (Vec<_>, Vec<_>) =
        database.folders()?.into_iter().partition(|(_, project)| project.is_some());
    let mut roots: Vec<String> = known.into_iter().filter_map(|(_, project)| project).collect();
    let (mut found, mut gone) = (Vec::new(), Vec::new());
    for (folder, _) in unknown {
        match root_of(&folder) {
            Some((tree, project)) => found.push(FolderRow { folder, project, tree }),
            None => gone.push(folder),
        }
    }
    roots.extend(found.iter().map(|row| row.project.clone()));
    roots.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    roots.dedup();
    // The nearest known root.
    let is_below = |folder: &str, root: &str| {
        folder.strip_prefix(root).is_some_and(|rest| rest.starts_with(['/', '\\']))
    };
    found.extend(gone.into_iter().filter_map(|folder| {
        let tree = work_tree(&folder);
        let project = roots.iter().find(|root| is_below(&folder, root)).cloned();
        let project = project.or_else(|| tree.map(|(_, project)| project.to_owned()))?;
        let tree = tree.map_or_else(|| project.clone(), |(tree, _)| tree.to_owned());
        Some(FolderRow { folder, project, tree })
    }));
    Ok(database.set_projects(&found)?)
}

/// The folder that an agent names by its path with `-` for each separator, if there is one.
fn spelt(name: &str) -> Option<PathBuf> {
    let parts: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
    let mut found = PathBuf::from("/");
    let mut at = 0;
    while at < parts.len() {
        // The longest name first: `my-shop` rather than `my`.
        let next = (at + 1..=parts.len()).rev().find_map(|end| {
            let folder = found.join(parts.get(at..end)?.join("-"));
            folder.is_dir().then_some((folder, end))
        })?;
        (found, at) = next;
    }
    (at > 0).then_some(found)
}

/// The work tree that an agent made, and its repository, by the path of a folder in it.
fn work_tree(folder: &str) -> Option<(&str, &str)> {
    let trees = WORK_TREES.iter().filter_map(|trees| Some((folder.find(trees)?, trees.len())));
    let (at, length) = trees.min()?;
    let (project, below) = (folder.get(..at)?, folder.get(at + length..)?);
    let tree = folder.get(..at + length + below.find('/').unwrap_or(below.len()))?;
    (!project.is_empty()).then_some((tree, project))
}

/// The work tree and the root of a folder as a log states it, in the same form: in WSL, a folder of Windows is below
/// `/mnt`.
fn root_of(folder: &str) -> Option<(String, String)> {
    let text = |path: &Path| path.to_str().map(str::to_owned);
    if !folder.contains(['/', '\\']) {
        let folder = spelt(folder)?;
        let (tree, project) = root(&folder).unwrap_or_else(|| (folder.clone(), folder));
        return Some((text(&tree)?, text(&project)?));
    }
    let path = local(folder)?;
    let (tree, project) = root(&path)?;
    let folder = folder.trim_end_matches(['/', '\\']);
    let stated = match path.strip_prefix(&tree).ok()?.components().count() {
        0 => folder,
        parts => folder.get(..folder.rmatch_indices(['/', '\\']).nth(parts - 1)?.0)?,
    };
    let project = if project == tree { stated.to_owned() } else { text(&project)? };
    Some((stated.to_owned(), project))
}

/// The absolute path on this machine of a folder in a log.
fn local(folder: &str) -> Option<PathBuf> {
    let path = Path::new(folder);
    let has_dots = path.components().any(|part| part == Component::ParentDir);
    if path.is_absolute() && !has_dots {
        return Some(path.to_owned());
    }
    let (drive, rest) = folder.split_once(':')?;
    let is_drive = drive.len() == 1 && drive.bytes().all(|letter| letter.is_ascii_alphabetic());
    let is_wsl =
        is_drive && rest.starts_with(['/', '\\']) && env::var_os("WSL_DISTRO_NAME").is_some();
    let below = |drive: String| {
        Path::new("/mnt").join(drive).join(rest.replace('\\', "/").trim_start_matches('/'))
    };
    is_wsl.then(|| below(drive.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_tree_belongs_to_its_repository_and_a_subfolder_to_its_root() {
        let folder = tempfile::tempdir().unwrap();
        let code = dunce::canonicalize(folder.path()).unwrap();
        let make = |path: &str| fs::create_dir_all(code.join(path)).unwrap();
        let made =
            ["shop/.git/worktrees/fix", "shop/src/cart", "fix/src", "plain/sub", "shop/vendor/lib"];
        made.iter().for_each(|path| make(path));
        let link = |tree: &str, to: &Path| {
            fs::write(code.join(tree).join(".git"), format!("gitdir: {}\n", to.display())).unwrap();
        };
        link("fix", &code.join("shop/.git/worktrees/fix"));
        // A submodule is a repository.
        link("shop/vendor/lib", Path::new("../../.git/modules/lib"));
        let found = |path: &str| root(&code.join(path));
        let of = |tree: &str, project: &str| Some((code.join(tree), code.join(project)));
        for (path, tree) in
            [("shop", "shop"), ("shop/src/cart", "shop"), ("fix", "fix"), ("fix/src", "fix")]
        {
            assert_eq!(found(path), of(tree, "shop"));
        }
        assert_eq!(found("shop/vendor/lib"), of("shop/vendor/lib", "shop/vendor/lib"));
        assert_eq!(found("plain/sub"), None);
        let text = |path: &str| code.join(path).to_str().unwrap().to_owned();
        assert_eq!(root_of(&text("shop/src/cart/")), Some((text("shop"), text("shop"))));
        assert_eq!(root_of(&text("fix/src")), Some((text("fix"), text("shop"))));
        assert_eq!(named(&text("fix/src")), text("shop"));
        assert_eq!([named("shop"), named("x/y"), named("C:\\code")], ["shop", "x/y", "C:\\code"]);
        assert_eq!(
            spelt(&text("shop/src/cart").replace('/', "-")),
            Some(code.join("shop/src/cart"))
        );
        assert_eq!(spelt("no-such-folder"), None);
        let tree = "/code/shop/.claude/worktrees/a";
        assert_eq!(work_tree(&format!("{tree}/src")), Some((tree, "/code/shop")));
    }
}
