//! Files in events: paths relative to the session's directory, and changes.

use foldline_domain::{EscapedText, FileChange, Text};

use super::diff::unified_diff;

/// The path relative to `cwd` if it is below it, otherwise unchanged.
///
/// Only text is compared: paths from a log are never accessed on disk.
pub fn relative_path(path: &str, cwd: Option<&str>) -> Text {
    let below = cwd.filter(|cwd| !cwd.is_empty()).and_then(|cwd| {
        let rest = path.strip_prefix(cwd)?;
        let rest = if cwd.ends_with(['/', '\\']) { rest } else { rest.strip_prefix(['/', '\\'])? };
        (!rest.is_empty()).then_some(rest)
    });
    Text::from(below.unwrap_or(path))
}

/// The path of a percent-encoded address: `/c%20d` is `/c d`.
pub fn decode_percent(address: &str) -> String {
    let mut parts = address.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(part.get(2..).unwrap_or_default().as_bytes());
            }
            None => bytes.extend_from_slice(format!("%{part}").as_bytes()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The replacement of a part of a file, as edit tools state it.
pub fn replacement<'t>(
    path: &Text,
    old: impl Into<EscapedText<'t>>,
    new: impl Into<EscapedText<'t>>,
) -> FileChange {
    let unified_diff = unified_diff(old, new);
    FileChange::Edit { path: path.clone(), unified_diff, has_line_numbers: false }
}

/// The change of a file from one text to another; without an old text, the file is new. Line numbers are correct only
/// if both texts are whole files.
pub fn change(
    path: &Text,
    before: Option<&str>,
    after: &str,
    has_line_numbers: bool,
) -> FileChange {
    let path = path.clone();
    match before.map(|before| unified_diff(before, after)) {
        Some(unified_diff) => FileChange::Edit { path, unified_diff, has_line_numbers },
        None => FileChange::Write { path, content: Text::from(after) },
    }
}

/// Reads the patch text of `apply_patch` tools (`*** Begin Patch`, `*** Update File: ..`, ..).
///
/// Lines outside of file sections are skipped. A text without a section, or with more sections than the limit, has no
/// changes.
pub fn read_patch<'t>(patch: impl Into<EscapedText<'t>>, cwd: Option<&str>) -> Vec<FileChange> {
    const MAX_SECTIONS: usize = 1 << 12;
    let mut changes = Vec::new();
    let mut section: Option<Section<'_, '_>> = None;
    let patch = patch.into();
    for spelt in patch.lines_with_ends() {
        if spelt.as_bytes().first_chunk() != Some(b"*** ") {
            // Most lines are not headers.
            section.iter_mut().for_each(|section| section.push(spelt));
            continue;
        }
        let line = patch.decode_part(spelt);
        let line = line.trim_end_matches(['\r', '\n']);
        if let Some(begun) = Section::begin(line, cwd, &patch) {
            changes.extend(section.replace(begun).map(Section::into_changes).unwrap_or_default());
            if changes.len() > MAX_SECTIONS {
                return Vec::new();
            }
        } else if line.starts_with("*** End Patch") {
            changes.extend(section.take().map(Section::into_changes).unwrap_or_default());
        } else if let (Some(new_path), Some(section)) =
            (line.strip_prefix("*** Move to: "), &mut section)
        {
            section.moved_to = Some(relative_path(new_path.trim(), cwd));
        } else if let Some(section) = &mut section {
            section.push(spelt);
        }
    }
    changes.extend(section.map(Section::into_changes).unwrap_or_default());
    changes
}

/// The section of a file in a patch text.
struct Section<'p, 't> {
    kind: SectionKind,
    path: Text,
    moved_to: Option<Text>,
    /// The lines with the escapes of the patch.
    body: String,
    patch: &'p EscapedText<'t>,
}

#[derive(Clone, Copy, PartialEq)]
enum SectionKind {
    Add,
    Update,
    Delete,
}

impl<'p, 't> Section<'p, 't> {
    fn begin(line: &str, cwd: Option<&str>, patch: &'p EscapedText<'t>) -> Option<Self> {
        let headers = [
            ("*** Add File: ", SectionKind::Add),
            ("*** Update File: ", SectionKind::Update),
            ("*** Delete File: ", SectionKind::Delete),
        ];
        headers.into_iter().find_map(|(header, kind)| {
            let path = relative_path(line.strip_prefix(header)?.trim(), cwd);
            Some(Self { kind, path, moved_to: None, body: String::new(), patch })
        })
    }

    fn push(&mut self, line: &str) {
        let line = match self.kind {
            SectionKind::Add => line.strip_prefix('+').unwrap_or(line),
            _ if line.starts_with("*** End of File") => return,
            _ => line,
        };
        self.body.push_str(self.patch.without_end(line));
        self.body.push_str(self.patch.line_feed());
    }

    fn into_changes(self) -> Vec<FileChange> {
        let Self { kind, path, moved_to, body, patch } = self;
        let body = patch.text_of(body);
        match kind {
            SectionKind::Add => vec![FileChange::Write { path, content: body }],
            SectionKind::Delete => vec![FileChange::Delete { path }],
            SectionKind::Update => {
                let rename =
                    moved_to.map(|new_path| FileChange::Rename { path: path.clone(), new_path });
                let edit = (!body.is_empty()).then_some(FileChange::Edit {
                    path,
                    unified_diff: body,
                    has_line_numbers: false,
                });
                rename.into_iter().chain(edit).collect()
            }
        }
    }
}
