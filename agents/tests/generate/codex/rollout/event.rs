//! `event_msg`: output of the interface, much of which items repeat.

use foldline_testkit::generate::{
    FieldsStrategy, field, fields, json, kind, list, literal, maybe, number, object, word,
};
use proptest::prelude::*;

use super::record::{IDS, event_of, texts};
use crate::generate::codex::tools;

/// An event; `id` is its call, if any.
pub(super) fn event(id: FieldsStrategy) -> BoxedStrategy<String> {
    let item = fields(vec![
        maybe(
            "type",
            word(&["AgentMessage", "UserMessage", "Reasoning", "CommandExecution", "Odd"]),
        ),
        maybe("id", word(IDS)),
        maybe("content", texts("text")),
        maybe("summary_text", list(literal())),
        tools::command(),
    ]);
    let payload = prop_oneof![
        1 => object(vec![kind("task_started"), maybe("turn_id", literal())]),
        2 => object(vec![
            prop_oneof![kind("task_complete"), kind("turn_aborted")].boxed(),
            maybe("last_agent_message", literal()),
            maybe("reason", word(&["interrupted", "budget_limited"])),
            maybe("error", object(vec![maybe("message", literal())])),
            maybe("duration_ms", number()),
        ]),
        1 => object(vec![
            kind("user_message"),
            maybe("message", literal()),
            maybe("images", list(literal())),
        ]),
        1 => object(vec![kind("agent_message"), maybe("message", literal())]),
        1 => object(vec![kind("agent_reasoning"), maybe("text", literal())]),
        1 => object(vec![kind("error"), maybe("message", literal()), maybe("codex_error_info", json())]),
        1 => object(vec![kind("context_compacted")]),
        1 => object(vec![kind("thread_name_updated"), maybe("thread_name", literal())]),
        1 => object(vec![kind("item_completed"), maybe("item", object(vec![item]))]),
        6 => object(vec![end(), id.clone()]),
        1 => object(vec![
            kind("dynamic_tool_call_request"),
            id,
            maybe("tool", word(&["search"])),
            maybe("arguments", json()),
        ]),
        1 => object(vec![
            prop_oneof![kind("warning"), kind("entered_review_mode"), kind("novel")].boxed(),
            maybe("message", literal()),
        ]),
        1 => json(),
    ];
    event_of(payload.boxed())
}

/// The end of a call with all its data.
fn end() -> FieldsStrategy {
    prop_oneof![
        2 => fields(vec![kind("exec_command_end"), tools::command()]),
        2 => fields(vec![kind("patch_apply_end"), tools::changes()]),
        1 => fields(vec![kind("mcp_tool_call_end"), tools::mcp()]),
        1 => fields(vec![kind("web_search_end"), tools::search()]),
        1 => fields(vec![kind("dynamic_tool_call_response"), tools::mcp()]),
        1 => fields(vec![kind("view_image_tool_call"), maybe("path", literal())]),
        1 => fields(vec![
            prop_oneof![kind("collab_agent_spawn_end"), kind("collab_waiting_end")].boxed(),
            maybe("new_thread_id", literal()),
            maybe("prompt", literal()),
            maybe("status", json()),
        ]),
    ]
    .boxed()
}

/// The end of a call of a custom tool, or of a function.
pub(super) fn ended(custom: bool, id: FieldsStrategy) -> BoxedStrategy<String> {
    let end = match custom {
        true => fields(vec![kind("patch_apply_end"), tools::changes()]),
        false => fields(vec![kind("exec_command_end"), tools::command()]),
    };
    event_of(object(vec![end, id]))
}

/// The tokens of the thread so far.
pub(super) fn token_count() -> BoxedStrategy<String> {
    let info = object(vec![
        maybe("total_token_usage", tools::usage()),
        maybe("last_token_usage", tools::usage()),
        maybe("model_context_window", number()),
    ]);
    let info = prop_oneof![3 => info, 1 => Just("null".to_owned())];
    let limits = prop_oneof![3 => limits(), 1 => json()];
    event_of(object(vec![kind("token_count"), field("info", info), maybe("rate_limits", limits)]))
}

/// The limits of the account, or of a model.
fn limits() -> BoxedStrategy<String> {
    let window = || {
        object(vec![
            maybe("used_percent", number()),
            maybe("window_minutes", number()),
            maybe("resets_at", number()),
            maybe("resets_in_seconds", number()),
        ])
    };
    object(vec![
        maybe("limit_id", word(&["codex", "codex_other"])),
        maybe("primary", window()),
        maybe("secondary", window()),
        maybe("primary_used_percent", number()),
    ])
}
