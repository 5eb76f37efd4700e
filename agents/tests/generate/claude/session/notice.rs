//! Records without messages: actions of the program and bookkeeping.

use foldline_testkit::generate::{
    FieldsStrategy, field, fields, json, kind, list, literal, maybe, number, object, time, word,
};
use proptest::prelude::*;

use crate::generate::claude::blocks;

/// `system`: compaction, failed requests, hooks, commands of the user.
pub(super) fn system(author: FieldsStrategy) -> BoxedStrategy<String> {
    let subtype = word(&[
        "compact_boundary",
        "microcompact_boundary",
        "api_error",
        "turn_duration",
        "stop_hook_summary",
        "local_command",
        "away_summary",
        "novel",
    ]);
    let compaction = object(vec![
        maybe("trigger", word(&["auto", "manual"])),
        maybe("preTokens", number()),
        maybe("postTokens", number()),
    ]);
    object(vec![
        kind("system"),
        field("subtype", subtype),
        maybe("content", literal()),
        maybe("compactMetadata", compaction),
        blocks::api_error(),
        maybe("retryInMs", number()),
        maybe("retryAttempt", number()),
        maybe("hookErrors", list(json())),
        maybe("preventedContinuation", word(&["true"])),
        maybe("stopReason", literal()),
        maybe("durationMs", number()),
        author,
    ])
}

/// `progress` of the call in `call`; `message` is a message of a sub-agent.
pub(super) fn progress(
    message: BoxedStrategy<String>,
    call: FieldsStrategy,
    author: FieldsStrategy,
) -> BoxedStrategy<String> {
    let output = vec![maybe("output", literal()), maybe("fullOutput", literal())];
    let data = prop_oneof![
        3 => object([vec![kind("bash_progress")], output].concat()),
        2 => object(vec![kind("agent_progress"), field("message", message)]),
        1 => object(vec![kind("mcp_progress"), maybe("serverName", literal())]),
        1 => object(vec![kind("waiting_for_task"), maybe("taskDescription", literal())]),
        1 => object(vec![kind("query_update"), maybe("query", literal())]),
        1 => object(vec![kind("hook_progress"), maybe("hookName", literal())]),
        1 => object(vec![kind("novel"), maybe("x", json())]),
        1 => json(),
    ];
    object(vec![
        kind("progress"),
        maybe("data", data),
        maybe("toolUseID", word(&["bash-progress-0"])),
        call,
        author,
    ])
}

/// `attachment`: context in addition to a prompt.
pub(super) fn attachment(author: FieldsStrategy) -> BoxedStrategy<String> {
    let name = word(&[
        "hook_success",
        "hook_non_blocking_error",
        "hook_additional_context",
        "file",
        "selected_lines_in_ide",
        "queued_command",
        "task_reminder",
        "date_change",
        "novel",
    ]);
    let attachment = object(vec![
        field("type", name),
        maybe("content", prop_oneof![literal(), list(literal()), json()]),
        maybe("stderr", literal()),
        maybe("exitCode", number()),
        maybe("filename", literal()),
        maybe("lineStart", number()),
        maybe("lineEnd", number()),
        maybe("prompt", literal()),
        maybe("commandMode", word(&["prompt", "task-notification"])),
    ]);
    let attachment = prop_oneof![8 => attachment, 1 => json()];
    object(vec![kind("attachment"), maybe("attachment", attachment), author])
}

/// Lines that are not records of the tree.
pub(super) fn bookkeeping() -> BoxedStrategy<String> {
    let session =
        || fields(vec![maybe("sessionId", word(&["7f0c5c1e-0000-4000-8000-000000000001"]))]);
    prop_oneof![
        object(vec![kind("summary"), maybe("summary", literal()), maybe("leafUuid", literal())]),
        object(vec![kind("ai-title"), maybe("aiTitle", literal()), session()]),
        object(vec![
            kind("pr-link"),
            maybe("prUrl", literal()),
            maybe("prNumber", number()),
            session()
        ]),
        object(vec![kind("file-history-snapshot"), maybe("snapshot", json())]),
        object(vec![
            kind("queue-operation"),
            maybe("content", literal()),
            maybe("timestamp", time()),
            session()
        ]),
        object(vec![kind("last-prompt"), maybe("lastPrompt", literal()), session()]),
        object(vec![kind("mode"), maybe("mode", literal()), session()]),
    ]
    .boxed()
}
