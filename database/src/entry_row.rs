//! [`EntryRow`]: an entry, split into columns. Pure.

use std::{borrow::Cow, sync::Arc};

use foldline_domain::{
    ActionType, CommandExitStatus, CommandRunResult, CorrId, FileChange, Metadata, NormalizedEntry,
    NormalizedEntryType, SessionId, Text, Timestamp, ToolResult, ToolStatus, ToolUse, WarningKind,
};

/// The columns of an entry.
#[derive(Debug)]
pub(crate) struct EntryRow {
    pub(crate) type_name: &'static str,
    /// The kind of a diagnostic, or the model of a change of the model.
    pub(crate) code: Option<Cow<'static, str>>,
    pub(crate) timestamp: Option<i64>,
    pub(crate) parent_corr_id: Option<CorrId>,
    /// JSON: metadata without a column. `None` only if the entry has no metadata at all.
    pub(crate) metadata: Option<String>,
    pub(crate) content: String,
    pub(crate) output: Option<String>,
    pub(crate) tool: Option<ToolRow>,
}

/// The columns of a tool call.
#[derive(Debug)]
pub(crate) struct ToolRow {
    pub(crate) kind: &'static str,
    pub(crate) action_name: &'static str,
    pub(crate) tool_name: String,
    pub(crate) status: &'static str,
    pub(crate) reason: Option<String>,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) output_json: bool,
    pub(crate) child_session_id: Option<SessionId>,
    /// JSON, without the output.
    pub(crate) action: String,
    pub(crate) paths: Vec<(String, &'static str)>,
}

impl EntryRow {
    /// Splits an entry into columns; `corr_id` is the id in the event.
    pub(crate) fn new(entry: Arc<NormalizedEntry>, corr_id: Option<&CorrId>) -> Self {
        let entry = Arc::unwrap_or_clone(entry);
        let NormalizedEntry { timestamp, entry_type, content, metadata } = entry;
        let type_name = entry_type.name();
        let (mut code, mut output, mut tool) = (None, None, None);
        match entry_type {
            NormalizedEntryType::Diagnostic { code: kind } => {
                code = Some(WarningKind::as_str(kind).into());
            }
            NormalizedEntryType::ModelChange { model } => code = Some(model.into_string().into()),
            NormalizedEntryType::ToolUse(used) => {
                let (row, result) = ToolRow::new(used);
                output = result;
                tool = Some(row);
            }
            _ => {}
        }
        let mut parent_corr_id = None;
        let metadata = metadata.and_then(|mut metadata| {
            let Metadata { corr_id: own, parent_corr_id: parent, child_session_id, .. } =
                &mut *metadata;
            if let Some(tool) = &mut tool {
                tool.child_session_id = child_session_id.take();
                if own.as_ref() == corr_id {
                    *own = None;
                }
            }
            parent_corr_id = parent.take();
            foldline_json::to_string(&metadata).ok()
        });
        Self {
            type_name,
            code,
            timestamp: timestamp.map(Timestamp::as_millis),
            parent_corr_id,
            metadata,
            content: content.into_string(),
            output: output.map(Text::into_string),
            tool,
        }
    }
}

impl ToolRow {
    fn new(tool: ToolUse) -> (Self, Option<Text>) {
        let ToolUse { tool_name, action_type: mut action, status, duration_ms } = tool;
        let result = action.take_result();
        let output_json = matches!(result, Some(ToolResult::Json(_)));
        let row = Self {
            kind: action.kind().as_str(),
            action_name: action.name(),
            tool_name: tool_name.into_string(),
            status: status.name(),
            reason: match status {
                ToolStatus::Denied { reason } => reason.map(Text::into_string),
                _ => None,
            },
            duration_ms,
            exit_code: exit_code(&action),
            output_json,
            child_session_id: None,
            // An action always has a JSON form, so the fallback is never taken.
            action: foldline_json::to_string(&action).unwrap_or_default(),
            paths: paths(&action),
        };
        (row, result.map(ToolResult::into_text))
    }
}

fn exit_code(action: &ActionType) -> Option<i32> {
    match action {
        ActionType::CommandRun {
            result:
                Some(CommandRunResult {
                    exit_status: Some(CommandExitStatus::ExitCode { code }), ..
                }),
            ..
        } => Some(*code),
        _ => None,
    }
}

fn paths(action: &ActionType) -> Vec<(String, &'static str)> {
    let one = |path: &Text, word| vec![(path.decode().into_owned(), word)];
    match action {
        ActionType::FileRead { path, .. } => one(path, "read"),
        ActionType::FileEdit { path, changes, .. } if changes.is_empty() => one(path, "edit"),
        ActionType::FileEdit { changes, .. } => changes.iter().flat_map(changed_paths).collect(),
        _ => Vec::new(),
    }
}

fn changed_paths(change: &FileChange) -> impl Iterator<Item = (String, &'static str)> {
    let (word, new_path) = match change {
        FileChange::Write { .. } => ("write", None),
        FileChange::Edit { .. } => ("edit", None),
        FileChange::Delete { .. } => ("delete", None),
        FileChange::Rename { new_path, .. } => ("rename_from", Some(new_path)),
    };
    let renamed = new_path.map(|path| (path.decode().into_owned(), "rename_to"));
    std::iter::once((change.path().decode().into_owned(), word)).chain(renamed)
}
