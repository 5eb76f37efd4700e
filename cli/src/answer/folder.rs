//! Short names of folders: the last part of the path, or more parts if one part is ambiguous.

use std::collections::{BTreeMap, BTreeSet};

/// The largest number of displayed parts of a path.
const MOST_PARTS: usize = 4;

/// The names of some folders, by their paths.
#[derive(Debug, Default)]
pub(crate) struct Names<'p>(BTreeMap<&'p str, &'p str>);

impl<'p> Names<'p> {
    /// Names that distinguish these folders.
    pub(crate) fn of(paths: impl Iterator<Item = &'p str>) -> Self {
        let mut unnamed: BTreeSet<&str> = paths.collect();
        let mut names = BTreeMap::new();
        for parts in 1..=MOST_PARTS {
            let mut same = BTreeMap::<&str, Vec<&str>>::new();
            for path in &unnamed {
                same.entry(last(path, parts)).or_default().push(path);
            }
            for (name, paths) in same {
                // A number alone, such as that of a work tree, is not descriptive.
                let is_telling = !name.bytes().all(|byte| byte.is_ascii_digit());
                if paths.len() == 1 && is_telling || parts == MOST_PARTS {
                    for path in paths {
                        unnamed.remove(path);
                        names.insert(path, name);
                    }
                }
            }
        }
        Self(names)
    }

    /// The name of a folder.
    pub(crate) fn name<'s>(&self, path: &'s str) -> &'s str
    where
        'p: 's,
    {
        self.0.get(path).copied().unwrap_or_else(|| last(path, 1))
    }
}

/// The last parts of a path.
pub(crate) fn last(path: &str, parts: usize) -> &str {
    let path = match path.trim_end_matches(['/', '\\']) {
        "" => return path,
        path => path,
    };
    let mut slashes = path.rmatch_indices(['/', '\\']).map(|(at, _)| at + 1);
    slashes.nth(parts - 1).and_then(|at| path.get(at..)).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_one_name_are_told_apart() {
        let paths =
            ["/a/x/shop", "/b/x/shop", "/c/tools/", "C:\\work\\cart", "shop", "/c/trees/2", "3"];
        let names = Names::of(paths.into_iter());
        let named = paths.map(|path| names.name(path));
        assert_eq!(named, ["a/x/shop", "b/x/shop", "tools", "cart", "shop", "trees/2", "3"]);
        assert_eq!(names.name("/other/place"), "place");
        assert_eq!(Names::of(["/", "", "/"].into_iter()).name("/"), "/");
    }
}
