//! [`Sections`]: the changes of each file, in unified format.

use std::collections::BTreeMap;

use foldline_agents::diff::unified_diff;
use foldline_domain::FileChange;

/// The changes of a file.
#[derive(Debug, Default)]
pub(crate) struct Section {
    /// The latest path, relative to the folder of the session if it is in it.
    pub(crate) path: String,
    /// The first path, if the file was renamed.
    pub(crate) old_path: Option<String>,
    /// The number of changes.
    pub(crate) changes: usize,
    /// The number of added lines.
    pub(crate) added: usize,
    /// The number of removed lines.
    pub(crate) removed: usize,
    /// Whether the first change wrote the whole file: its content before that is in no log.
    is_written: bool,
    /// Whether the last change deleted it.
    pub(crate) is_deleted: bool,
    hunks: String,
    /// The content, if the last change wrote the whole file.
    content: Option<String>,
}

impl Section {
    /// The lines before the hunks, as Git writes them.
    pub(super) fn head(&self) -> Vec<String> {
        let old = self.old_path.as_ref().unwrap_or(&self.path);
        let mut lines = vec![format!("diff --git {} {}", name("a/", old), name("b/", &self.path))];
        if self.is_deleted {
            lines.push("deleted file".to_owned());
        }
        if self.old_path.is_some() {
            lines.push(format!("rename from {}", name("", old)));
            lines.push(format!("rename to {}", name("", &self.path)));
        }
        if !self.hunks.is_empty() {
            let none = || "/dev/null".to_owned();
            let before = if self.is_written { none() } else { name("a/", old) };
            let after = if self.is_deleted { none() } else { name("b/", &self.path) };
            lines.push(format!("--- {before}"));
            lines.push(format!("+++ {after}"));
        }
        lines
    }

    /// The hunks.
    pub(crate) fn body(&self) -> &str {
        &self.hunks
    }

    /// The whole section.
    pub(super) fn text(&self) -> String {
        format!("{}\n{}", self.head().join("\n"), self.hunks)
    }

    fn add(&mut self, change: &FileChange) {
        let is_first = self.changes == 0;
        self.changes += 1;
        self.is_deleted = matches!(change, FileChange::Delete { .. });
        match change {
            FileChange::Edit { unified_diff, .. } => {
                self.add_hunks(&unified_diff.decode());
                self.content = None;
            }
            FileChange::Write { content, .. } => {
                let content = content.decode().into_owned();
                match self.content.take() {
                    Some(old) => self.add_hunks(&unified_diff(&*old, &*content).decode()),
                    None => self.add_hunks(&written(&content)),
                }
                self.is_written |= is_first;
                self.content = Some(content);
            }
            FileChange::Delete { .. } => {
                self.content = None;
            }
            FileChange::Rename { .. } => {}
        }
    }

    fn add_hunks(&mut self, hunks: &str) {
        for line in hunks.split_terminator('\n') {
            match line.as_bytes().first() {
                Some(b'+') => self.added += 1,
                Some(b'-') => self.removed += 1,
                _ => {}
            }
            self.hunks.push_str(line);
            self.hunks.push('\n');
        }
    }
}

/// The hunk that adds a whole file.
fn written(content: &str) -> String {
    let lines: Vec<_> = content.split_terminator('\n').collect();
    if lines.is_empty() {
        return String::new();
    }
    let added: String = lines.iter().map(|line| format!("+{line}\n")).collect();
    let end = if content.ends_with('\n') { "" } else { "\\ No newline at end of file\n" };
    let count = if lines.len() == 1 { String::new() } else { format!(",{}", lines.len()) };
    format!("@@ -0,0 +1{count} @@\n{added}{end}")
}

/// A path on a line of a head, with a prefix unless it is absolute. One that would end the line is quoted, as by Git.
fn name(prefix: &str, path: &str) -> String {
    let prefix = if path.starts_with('/') { "" } else { prefix };
    match path.contains(char::is_control) {
        true => format!("\"{prefix}{}\"", path.escape_debug()),
        false => format!("{prefix}{path}"),
    }
}

/// Sections in the order of the first change of each file.
#[derive(Debug, Default)]
pub(super) struct Sections {
    /// The folder that paths are relative to.
    folder: Option<String>,
    sections: Vec<Section>,
    /// The section of each path.
    by_path: BTreeMap<String, usize>,
}

impl Sections {
    pub(super) fn new(folder: Option<&str>) -> Self {
        let folder = folder.map(|folder| slashes(folder).trim_end_matches('/').to_owned());
        Self { folder, ..Self::default() }
    }

    /// Adds a change by a call in a folder, which relative paths are relative to.
    pub(super) fn add(&mut self, folder: Option<&str>, change: &FileChange) {
        let path = self.relative(folder, &change.path().decode());
        let at = *self.by_path.entry(path.clone()).or_insert(self.sections.len());
        if at == self.sections.len() {
            self.sections.push(Section { path: path.clone(), ..Section::default() });
        }
        let new = match change {
            FileChange::Rename { new_path, .. } => self.relative(folder, &new_path.decode()),
            _ => path.clone(),
        };
        let Some(section) = self.sections.get_mut(at) else { return };
        section.add(change);
        if new != path {
            let first = section.old_path.take().unwrap_or_else(|| path.clone());
            section.old_path = Some(first).filter(|first| *first != new);
            section.path.clone_from(&new);
            self.by_path.remove(&path);
            self.by_path.insert(new, at);
        }
    }

    pub(super) fn finish(self) -> Vec<Section> {
        self.sections
    }

    /// The path relative to the folder of the session, if it is in it.
    fn relative(&self, folder: Option<&str>, path: &str) -> String {
        let path = slashes(path);
        let path = path.strip_prefix("./").unwrap_or(&path);
        let is_absolute = path.starts_with('/') || path.get(1..3) == Some(":/");
        let whole = match folder {
            Some(folder) if !is_absolute => {
                format!("{}/{path}", slashes(folder).trim_end_matches('/'))
            }
            _ => path.to_owned(),
        };
        let below = |root: &String| whole.strip_prefix(root)?.strip_prefix('/').map(str::to_owned);
        self.folder.as_ref().and_then(below).unwrap_or(whole)
    }
}

fn slashes(path: &str) -> String {
    path.replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str, diff: &str) -> FileChange {
        FileChange::Edit { path: path.into(), unified_diff: diff.into(), has_line_numbers: true }
    }

    fn write(path: &str, content: &str) -> FileChange {
        FileChange::Write { path: path.into(), content: content.into() }
    }

    fn sections(changes: &[(&str, FileChange)]) -> Vec<String> {
        let mut sections = Sections::new(Some("/srv/shop"));
        changes.iter().for_each(|(folder, change)| sections.add(Some(folder), change));
        sections.finish().iter().map(Section::text).collect()
    }

    #[test]
    fn changes_of_a_file_are_in_one_section_under_its_latest_name() {
        let rename = FileChange::Rename { path: "a".into(), new_path: "src/b".into() };
        let changes = [
            ("/srv/shop", edit("a", "@@ -1 +1 @@\n-x\n+y")),
            ("/srv/shop", write("new", "1\n2")),
            ("/srv/shop", rename),
            ("/srv/shop/src", edit("b", "@@ -5,0 +6 @@\n+z\n")),
            ("/tmp", write("/srv/shop/new", "1\n3\n")),
            ("/tmp", FileChange::Delete { path: "old\nname".into() }),
        ];
        assert_eq!(
            sections(&changes),
            [
                "diff --git a/a b/src/b\nrename from a\nrename to src/b\n--- a/a\n+++ b/src/b\n\
                 @@ -1 +1 @@\n-x\n+y\n@@ -5,0 +6 @@\n+z\n",
                "diff --git a/new b/new\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+1\n+2\n\
                 \\ No newline at end of file\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n",
                "diff --git \"/tmp/old\\nname\" \"/tmp/old\\nname\"\ndeleted file\n",
            ]
        );
    }
}
