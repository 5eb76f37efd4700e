//! Codex's tools in items and events, which are almost the same.

use foldline_testkit::generate::{
    FieldsStrategy, Tool, field, fields, json, list, literal, maybe, number, object, path, quote,
    tool as named, word,
};
use proptest::prelude::*;

pub(super) fn status() -> FieldsStrategy {
    maybe("status", word(&["in_progress", "inProgress", "completed", "failed", "declined", "odd"]))
}

pub(super) fn command() -> FieldsStrategy {
    let line = prop_oneof![
        3 => literal(),
        2 => literal().prop_map(|line| format!(r#"["bash","-lc",{line}]"#)),
    ];
    fields(vec![
        maybe("command", line),
        maybe("aggregated_output", literal()),
        maybe("exit_code", prop_oneof![Just("null".to_owned()), Just("0".to_owned()), number()]),
        status(),
    ])
}

/// Changes as a list of kinds.
pub(super) fn kinds() -> FieldsStrategy {
    let change =
        object(vec![maybe("path", path()), maybe("kind", word(&["add", "update", "delete"]))]);
    fields(vec![maybe("changes", prop_oneof![4 => list(change), 1 => json()]), status()])
}

/// Changes by path, with their content.
pub(super) fn changes() -> FieldsStrategy {
    let change = || {
        let kinds = word(&["add", "update", "delete"]);
        object(vec![
            maybe("type", kinds),
            maybe("content", literal()),
            maybe("unified_diff", literal()),
            maybe("move_path", path()),
        ])
    };
    let by_path = object(vec![maybe("/home/me/project/a.rs", change()), maybe("b.txt", change())]);
    fields(vec![
        maybe("changes", by_path),
        maybe("success", any::<bool>().prop_map(|success| success.to_string())),
        maybe("stdout", literal()),
        maybe("stderr", literal()),
    ])
}

pub(super) fn mcp() -> FieldsStrategy {
    let block = prop_oneof![
        3 => object(vec![field("type", Just(quote("text"))), maybe("text", literal())]),
        1 => json(),
    ];
    let result = object(vec![
        maybe("content", list(block.boxed())),
        maybe("structured_content", json()),
        maybe("isError", any::<bool>().prop_map(|is_error| is_error.to_string())),
    ]);
    fields(vec![
        maybe("server", word(&["docs", "linear"])),
        maybe("tool", word(&["search", "get"])),
        maybe("arguments", json()),
        maybe("result", prop_oneof![3 => result, 1 => Just("null".to_owned())]),
        maybe(
            "error",
            prop_oneof![Just("null".to_owned()), object(vec![maybe("message", literal())]),],
        ),
        status(),
    ])
}

pub(super) fn search() -> FieldsStrategy {
    let action = object(vec![
        maybe("type", word(&["search", "open_page", "openPage", "other"])),
        maybe("query", literal()),
        maybe("queries", list(literal())),
        maybe("url", literal()),
    ]);
    fields(vec![maybe("query", literal()), maybe("action", action), status()])
}

pub(super) fn todos() -> FieldsStrategy {
    let item = object(vec![
        maybe("text", literal()),
        maybe("completed", any::<bool>().prop_map(|done| done.to_string())),
    ]);
    maybe("items", list(prop_oneof![4 => item, 1 => json()].boxed()))
}

pub(super) fn agents() -> FieldsStrategy {
    let state = object(vec![
        maybe("status", word(&["pending_init", "running", "completed"])),
        maybe("message", literal()),
    ]);
    fields(vec![
        maybe("tool", word(&["spawn_agent", "spawnAgent", "wait", "close_agent"])),
        maybe("sender_thread_id", word(&["t1"])),
        maybe("receiver_thread_ids", Just(r#"["t2"]"#.to_owned())),
        maybe("prompt", literal()),
        maybe("agents_states", object(vec![maybe("t2", state)])),
        status(),
    ])
}

/// The name of a function and its arguments as JSON; in a log, they are text.
pub(super) fn function() -> Tool {
    let command = object(vec![
        maybe("cmd", literal()),
        maybe("command", list(literal())),
        maybe("workdir", path()),
        maybe("session_id", number()),
        maybe("chars", literal()),
    ]);
    let plan = object(vec![
        maybe("explanation", literal()),
        maybe(
            "plan",
            list(object(vec![
                maybe("step", literal()),
                maybe("status", word(&["pending", "completed"])),
            ])),
        ),
    ]);
    let file =
        object(vec![maybe("path", path()), maybe("file_path", path()), maybe("dir_path", path())]);
    let query = object(vec![maybe("pattern", literal()), maybe("query", literal())]);
    let agent = object(vec![maybe("message", literal()), maybe("agent_type", word(&["worker"]))]);
    prop_oneof![
        4 => named(&["exec_command", "shell", "shell_command", "write_stdin"], command),
        1 => named(&["update_plan"], plan),
        1 => named(&["view_image", "read_file", "list_dir"], file),
        1 => named(&["grep_files", "tool_search"], query),
        1 => named(&["spawn_agent", "wait", "close_agent", "send_input"], agent),
        1 => named(&["request_user_input", "mcp__docs__search", "future_tool", ""], json()),
    ]
    .boxed()
}

/// The name of a custom tool and its input, which is any text.
pub(super) fn custom() -> Tool {
    let patch = quote(
        "*** Begin Patch\n*** Add File: n.txt\n+new\n*** Update File: /home/me/project/a.rs\n\
         *** Move to: b.rs\n@@\n-x\n+y\n*** Delete File: c\n*** End Patch",
    );
    let script = quote("await tools.exec_command({cmd: 'ls'})");
    prop_oneof![
        3 => named(&["apply_patch"], prop_oneof![3 => Just(patch), 1 => literal()].boxed()),
        1 => named(&["exec"], prop_oneof![Just(script), literal()].boxed()),
        1 => named(&["future_tool"], literal()),
    ]
    .boxed()
}

/// Tokens of a thread or a turn.
pub(super) fn usage() -> BoxedStrategy<String> {
    object(vec![
        maybe("input_tokens", number()),
        maybe("cached_input_tokens", number()),
        maybe("output_tokens", number()),
        maybe("reasoning_output_tokens", number()),
        maybe("total_tokens", number()),
    ])
}
