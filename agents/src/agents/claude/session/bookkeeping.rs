//! Records outside of the tree of messages, and records of the program in it.

use super::{cost_state::CostState, types::ClaudeSessionJson};
use crate::{
    claude::{
        markup,
        notice::{api_error, compaction},
    },
    dialect::anthropic::error_message,
    prelude::*,
};

/// Reads a record without a place in the tree; `None` for an unknown type.
pub(super) fn take<'a>(kind: &str, object: &mut Object<'a>) -> Option<ClaudeSessionJson<'a>> {
    let facts = |facts| Some(ClaudeSessionJson::Facts(Box::new(facts)));
    match kind {
        "custom-title" => {
            return object.text("customTitle").map(ClaudeSessionJson::CustomTitle);
        }
        "ai-title" => return object.text("aiTitle").map(ClaudeSessionJson::Title),
        "summary" => {
            let leaf = object.corr_id("leafUuid");
            return object.text("summary").map(|title| ClaudeSessionJson::Summary(title, leaf));
        }
        "pr-link" => {
            let fields = object.extra(&["prNumber", "prRepository"]);
            return object.text("prUrl").map(|url| ClaudeSessionJson::PullRequest(url, fields));
        }
        "frame-link" => {
            let facts = [object.text("title"), object.text("frameUrl")].into_iter().flatten();
            let facts: Vec<_> = facts.map(|fact| fact.to_string()).collect();
            object.ignore(&["path"]);
            let text = Text::from(format!("artifact: {}", facts.join(": ")));
            return Some(said(NormalizedEntryType::SystemMessage, text));
        }
        "relocated" => {
            let cwd = object.text("relocatedCwd");
            return facts(Session { cwd, ..Session::default() });
        }
        "worktree-state" => {
            // `null`, when the worktree is left.
            let Some(mut worktree) = object.object("worktreeSession") else {
                object.ignore(&["worktreeSession"]);
                return Some(ClaudeSessionJson::Quiet);
            };
            let facts = Session {
                cwd: worktree.text("worktreePath"),
                branch: worktree.text("worktreeBranch"),
                ..Session::default()
            };
            worktree.ignore(&["originalCwd", "preEnterOriginalCwd", "worktreeName", "sessionId"]);
            worktree.ignore(&["originalBranch", "originalHeadCommit", "enteredExisting"]);
            object.adopt("worktreeSession", worktree);
            return Some(ClaudeSessionJson::Facts(Box::new(facts)));
        }
        "cost-state" => {
            return CostState::take(object).map(Box::new).map(ClaudeSessionJson::CostState);
        }
        "fork-context-ref" => {
            object.ignore(&["parentLastUuid", "contextLength"]);
            let parent = object.str("parentSessionId");
            let parent = parent.map(|id| Box::new(Parent::of_agent(&*id)));
            return facts(Session { parent, ..Session::default() });
        }
        _ => {}
    }
    object.ignore(quiet_fields(kind)?);
    Some(ClaudeSessionJson::Quiet)
}

/// Whether records of this type are ignored as a whole: no witness states all their fields.
pub(super) fn is_ignored(kind: &str) -> bool {
    const PREFIXES: [&str; 2] = ["artifact-", "marble-origami-"];
    const TYPES: &str = "attribution-snapshot continued-in ended-by-model history-suppression \
        isolation-latch observer-ref task-summary";
    TYPES.split(' ').any(|known| known == kind)
        || PREFIXES.iter().any(|prefix| kind.starts_with(prefix))
}

/// The fields of records that state nothing to be shown.
fn quiet_fields(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "agent-color" => &["agentColor"],
        // The same text as the title that the user gave.
        "agent-name" => &["agentName"],
        "agent-setting" => &["agentSetting"],
        "atis-latch" => &["atis"],
        // Ids of the user's account.
        "bridge-session" => {
            &["bridgeSessionId", "lastSequenceNum", "ownerAccountUuid", "ownerOrganizationUuid"]
        }
        "content-replacement" => &["replacements"],
        "file-history-delta" => &["messageId", "snapshotMessageId", "trackingPath", "backup"],
        "file-history-snapshot" => &["messageId", "snapshot", "isSnapshotUpdate"],
        "last-prompt" => &["lastPrompt", "leafUuid"],
        "mode" => &["mode"],
        // The author of the record.
        "permission-mode" => &[],
        "queue-operation" => &["operation", "content"],
        // The journal of a workflow, whose agents have logs of their own.
        "failed" | "launched" | "started" => &["key"],
        "tag" => &["tag"],
        _ => return None,
    })
}

/// Reads a record of the program; `None` for an unknown subtype without words.
pub(super) fn take_system<'a>(
    name: &str,
    object: &mut Object<'a>,
) -> Option<ClaudeSessionJson<'a>> {
    let mut kind = NormalizedEntryType::SystemMessage;
    let texts: Vec<Text> = match name {
        "system/compact_boundary" | "system/microcompact_boundary" => {
            let content = object.str("content").unwrap_or("conversation compacted".into());
            let names = ["compactMetadata", "microcompactMetadata"];
            kind = NormalizedEntryType::Compaction;
            vec![compaction(object, &names, &content)]
        }
        "system/api_error" | "system/error" => {
            kind = NormalizedEntryType::ErrorMessage;
            vec![failed_request(object)]
        }
        "system/api_refusal" | "system/model_refusal_fallback" => {
            return Some(take_refusal(object));
        }
        "system/away_summary"
        | "system/bridge_status"
        | "system/informational"
        | "system/local_command" => {
            object.ignore(&["url"]);
            let (_, text) = markup::read(object.text("content").unwrap_or_default());
            vec![text]
        }
        "system/stop_hook_summary" => {
            object.ignore(&["hookAdditionalContext", "hookCount", "hookInfos", "hasOutput"]);
            let errors = object.array("hookErrors").unwrap_or_default();
            let prevented = object.bool("preventedContinuation").unwrap_or(false);
            // The reason why the agent must stop or continue.
            let reason = object.text("stopReason");
            let reason = reason.filter(|reason| prevented || !reason.is_empty());
            let words = errors.into_iter().map(value::into_text).chain(reason);
            words.map(|text| Text::from(format!("stop hook: {text}"))).collect()
        }
        "system/turn_duration" => {
            object.ignore(&["durationMs", "messageCount", "sessionKind"]);
            object.ignore(&["pendingBackgroundAgentCount"]);
            Vec::new()
        }
        "system/session_start" => {
            object.ignore(&["content"]);
            Vec::new()
        }
        // Any other message of the program is shown as it is.
        _ => {
            let text = object.text("content").filter(|content| !content.is_empty())?;
            return Some(ClaudeSessionJson::UnknownSystem { name: name.to_owned(), text });
        }
    };
    Some(ClaudeSessionJson::Said(kind, texts.into_iter().map(Content::from).collect()))
}

fn failed_request(object: &mut Object<'_>) -> Text {
    object.ignore(&["cause", "source"]);
    let delay = object.f64("retryInMs");
    let attempts = ["retryAttempt", "maxRetries"].map(|key| object.u64(key));
    let error = object.raw("error");
    let mut fields = error.and_then(value::object).unwrap_or_default();
    let message = fields.text("formatted").or_else(|| error.map(error_message));
    api_error(fields.u64("status"), message.as_ref(), attempts, delay)
}

/// A message that the model's provider refused, perhaps to be answered by another model.
fn take_refusal<'a>(object: &mut Object<'a>) -> ClaudeSessionJson<'a> {
    object.ignore(&["apiRefusalExplanation", "direction", "originalModel", "scope", "source"]);
    object.ignore(&["refusedUserMessageUuid", "retractedMessageUuids", "trigger"]);
    let category = object.text("apiRefusalCategory");
    let content = object.text("content").filter(|content| !content.is_empty());
    let text = content.unwrap_or_else(|| {
        let category = category.map(|category| format!(": {category}")).unwrap_or_default();
        Text::from(format!("the request was refused{category}"))
    });
    match object.text("fallbackModel") {
        Some(model) => ClaudeSessionJson::Fallback(text, model),
        None => said(NormalizedEntryType::SystemMessage, text),
    }
}

fn said<'a>(kind: NormalizedEntryType, text: Text) -> ClaudeSessionJson<'a> {
    ClaudeSessionJson::Said(kind, vec![text.into()])
}
