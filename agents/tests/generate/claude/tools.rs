//! Claude Code's tools and their input.

use foldline_testkit::generate::{
    Tool, json, list, literal, maybe, number, object, path, tool as named, word,
};
use proptest::prelude::*;

/// A tool's name and its input as JSON text: the tools that are known, MCP tools, and others.
pub(crate) fn tool() -> Tool {
    prop_oneof![
        3 => command(),
        3 => edits(),
        2 => reads(),
        1 => todos(),
        1 => agent(),
        1 => others(),
    ]
    .boxed()
}

fn command() -> Tool {
    named(
        &["Bash"],
        object(vec![
            maybe("command", literal()),
            maybe("description", literal()),
            maybe("timeout", number()),
            maybe("run_in_background", word(&["true"])),
        ]),
    )
}

fn edits() -> Tool {
    let change = || vec![maybe("old_string", literal()), maybe("new_string", literal())];
    let changes = list(prop_oneof![4 => object(change()), 1 => json()].boxed());
    let edit = [vec![maybe("file_path", path()), maybe("replace_all", json())], change()].concat();
    let notebook = vec![maybe("notebook_path", path()), maybe("new_source", literal())];
    prop_oneof![
        named(&["Write"], object(vec![maybe("file_path", path()), maybe("content", literal())])),
        named(&["Edit"], object(edit)),
        named(&["MultiEdit"], object(vec![maybe("file_path", path()), maybe("edits", changes)])),
        named(&["NotebookEdit"], object(notebook)),
    ]
    .boxed()
}

fn reads() -> Tool {
    let read = object(vec![
        maybe("file_path", path()),
        maybe("path", path()),
        maybe("offset", number()),
        maybe("limit", number()),
    ]);
    let search = object(vec![maybe("pattern", literal()), maybe("path", path())]);
    let web = object(vec![
        maybe("query", literal()),
        maybe("url", literal()),
        maybe("prompt", literal()),
    ]);
    prop_oneof![
        named(&["Read", "LS"], read),
        named(&["Grep", "Glob"], search),
        named(&["WebSearch", "WebFetch", "web_search"], web),
    ]
    .boxed()
}

fn todos() -> Tool {
    let item = object(vec![
        maybe("content", literal()),
        maybe("status", word(&["pending", "in_progress", "completed"])),
        maybe("activeForm", literal()),
    ]);
    let task = object(vec![maybe("taskId", word(&["1"])), maybe("subject", literal())]);
    prop_oneof![
        named(
            &["TodoWrite"],
            object(vec![maybe("todos", prop_oneof![3 => list(item), 1 => json()])])
        ),
        named(&["TaskCreate", "TaskUpdate", "TaskGet", "TaskList", "TodoRead"], task),
    ]
    .boxed()
}

/// The tool that starts sub-agents.
pub(super) fn agent() -> Tool {
    named(
        &["Task", "Agent"],
        object(vec![
            maybe("description", literal()),
            maybe("prompt", literal()),
            maybe("subagent_type", word(&["Explore", "general-purpose"])),
        ]),
    )
}

fn others() -> Tool {
    let plan = object(vec![maybe("plan", literal()), maybe("questions", list(json()))]);
    prop_oneof![
        named(&["ExitPlanMode", "AskUserQuestion", "Skill", "BashOutput", "KillShell"], plan),
        named(&["mcp__linear__get_issue", "FutureTool", ""], json()),
    ]
    .boxed()
}
