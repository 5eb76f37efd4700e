//! File changes: `file_change` items and `patch_apply_end` events.

use crate::{
    action::file_edit,
    codex::{
        result::{self, CodexResult, Status},
        snake,
    },
    prelude::*,
};

/// Applied or requested file changes.
#[derive(Clone, Debug, Default)]
pub struct FileChanges<'a> {
    /// The changes by path. Items of `codex exec` state only their kind.
    pub changes: Vec<(Cow<'a, str>, Change)>,
    pub status: Status,
    /// The output of the patch program.
    pub output: Option<Text>,
    /// The list as in the log, if it states only the kinds of the changes.
    pub kinds: Option<Json>,
}

/// The change of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Added with this content.
    Add(Text),
    /// Changed by this diff and possibly moved.
    Update(Text, Option<String>),
    Delete,
    /// Added or changed in an unknown way.
    Unstated,
}

impl<'a> FileChanges<'a> {
    /// Reads the fields of either form: an array of `{path, kind}`, or an object by path.
    pub fn take(object: &mut Object<'a>) -> Self {
        let kinds = object.get("changes").map(Json::from);
        let by_path = object.take("changes", value::object);
        let changes: Vec<_> = match by_path {
            Some(by_path) => {
                by_path.rest().into_iter().map(|(path, raw)| (path, change(raw))).collect()
            }
            None => {
                object.array("changes").unwrap_or_default().into_iter().filter_map(listed).collect()
            }
        };
        let unstated = changes.iter().any(|(_, change)| *change == Change::Unstated);
        let kinds = kinds.filter(|_| unstated);
        let success = object.bool("success");
        let stdout = object.text("stdout").filter(|text| !text.is_empty());
        let stderr = object.text("stderr").filter(|text| !text.is_empty());
        let output = match (stdout, stderr) {
            (Some(stdout), Some(stderr)) => Some(Text::from(format!("{stdout}{stderr}"))),
            (stdout, stderr) => stdout.or(stderr),
        };
        // `status` is more precise than `success`: it distinguishes failed from declined.
        let status = Status::take(object).or(Status::of_success(success));
        let status = match (status, success) {
            (Status::Completed | Status::Other(_), Some(false)) => Status::Failed,
            (status, _) => status,
        };
        object.ignore(&["turn_id", "auto_approved"]);
        Self { changes, status, output, kinds }
    }

    pub(super) fn call(&self, cwd: Option<&str>) -> MappedCall {
        let changes: Vec<_> =
            self.changes.iter().flat_map(|(path, change)| file_change(path, change, cwd)).collect();
        let path = changes.first().map(|change| change.path().clone()).unwrap_or_default();
        let mut call = MappedCall::from(file_edit(path, changes));
        call.extra.extend(self.kinds.clone().map(|kinds| ("changes".to_owned(), kinds)));
        call
    }

    pub(super) fn result(&self) -> CodexResult {
        result::of_status(&self.status, self.output.clone().map(ToolResult::Text))
    }
}

/// Converts a change; a moved and changed file gives two changes.
pub(crate) fn file_change(path: &str, change: &Change, cwd: Option<&str>) -> Vec<FileChange> {
    let path = files::relative_path(path, cwd);
    match change {
        Change::Add(content) => vec![FileChange::Write { path, content: content.clone() }],
        Change::Delete => vec![FileChange::Delete { path }],
        Change::Unstated => {
            let unified_diff = Text::default();
            vec![FileChange::Edit { path, unified_diff, has_line_numbers: false }]
        }
        Change::Update(diff, moved_to) => {
            let renamed = moved_to.as_ref().map(|new_path| FileChange::Rename {
                path: path.clone(),
                new_path: files::relative_path(new_path, cwd),
            });
            let unified_diff = diff.clone();
            let has_line_numbers = diff.decode().starts_with("@@ -");
            let edit = (!diff.is_empty() || renamed.is_none()).then_some(FileChange::Edit {
                path,
                unified_diff,
                has_line_numbers,
            });
            renamed.into_iter().chain(edit).collect()
        }
    }
}

/// `{path, kind, diff?}`, where `kind` is a word or `{type, move_path}`.
fn listed<'a>(raw: Raw<'a>) -> Option<(Cow<'a, str>, Change)> {
    let mut item: Object<'a> = value::object(raw)?;
    let path = item.str("path")?;
    let diff = item.text("diff");
    let mut nested = item.object("kind").unwrap_or_default();
    let kind = item.str("kind").or_else(|| nested.str("type")).unwrap_or_default();
    Some((path, change_of(&kind, diff, take_move(&mut nested))))
}

/// `{type: add, content}`, `{type: update, unified_diff, move_path}`, `{type: delete, content}`; in
/// older releases `{add: {content}}` and so on.
fn change(raw: Raw<'_>) -> Change {
    let mut change: Object<'_> = value::object(raw).unwrap_or_default();
    let mut kind = change.str("type").unwrap_or_default();
    for name in ["add", "update", "delete"] {
        if let Some(within) = change.object(name) {
            (change, kind) = (within, Cow::Borrowed(name));
        }
    }
    let text = change.text("unified_diff").or_else(|| change.text("content"));
    change_of(&kind, text, take_move(&mut change))
}

fn take_move(object: &mut Object<'_>) -> Option<String> {
    object.str("move_path").or_else(|| object.str("movePath")).map(Cow::into_owned)
}

fn change_of(kind: &str, text: Option<Text>, moved_to: Option<String>) -> Change {
    match (&*snake(kind), text) {
        ("delete", _) => Change::Delete,
        ("add", Some(content)) => Change::Add(content),
        (_, None) if moved_to.is_none() => Change::Unstated,
        (_, diff) => Change::Update(diff.unwrap_or_default(), moved_to),
    }
}
