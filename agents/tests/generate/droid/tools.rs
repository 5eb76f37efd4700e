//! Droid's tools and their parameters.

use foldline_testkit::generate::{
    Tool, field, json, list, literal, maybe, number, object, path, quote, tool as named, word,
};
use proptest::prelude::*;

/// A tool's name and its parameters as JSON text: known tools, also under the names of older builds, MCP tools, and
/// others.
pub(crate) fn tool() -> Tool {
    prop_oneof![
        3 => execute(),
        3 => edits(),
        2 => files(),
        2 => searches(),
        1 => todos(),
        1 => others(),
    ]
    .boxed()
}

fn execute() -> Tool {
    let as_object =
        object(vec![maybe("value", word(&["low", "high"])), maybe("reason", literal())]);
    named(
        &["Execute"],
        object(vec![
            maybe("command", literal()),
            maybe("timeout", number()),
            maybe("riskLevel", prop_oneof![as_object, word(&["low", "medium"])]),
            maybe("riskLevelReason", literal()),
        ]),
    )
}

fn edits() -> Tool {
    let change = object(vec![maybe("old_str", literal()), maybe("new_str", literal())]);
    let old = object(vec![field("old_string", literal()), field("new_string", literal())]);
    let change = prop_oneof![3 => change, 1 => old, 1 => json()].boxed();
    let patch = quote(
        "*** Begin Patch\n*** Add File: n.txt\n+new\n*** Update File: /home/me/project/a.rs\n\
         *** Move to: b.rs\n@@\n-x\n+y\n*** Delete File: c\n*** End Patch",
    );
    let patch = prop_oneof![3 => Just(patch), 1 => literal()];
    prop_oneof![
        named(&["Create"], object(vec![maybe("file_path", path()), maybe("content", literal())])),
        named(
            &["Edit"],
            object(vec![
                maybe("file_path", path()),
                maybe("old_str", literal()),
                maybe("new_str", literal()),
            ])
        ),
        named(&["MultiEdit"], object(vec![maybe("path", path()), maybe("changes", list(change))])),
        named(&["ApplyPatch"], object(vec![maybe("input", patch)])),
    ]
    .boxed()
}

fn files() -> Tool {
    let read = object(vec![maybe("file_path", path()), maybe("offset", number())]);
    let ls =
        object(vec![maybe("directory_path", path()), maybe("ignorePatterns", list(literal()))]);
    prop_oneof![named(&["Read"], read), named(&["LS"], ls)].boxed()
}

fn searches() -> Tool {
    let glob = object(vec![
        maybe("folder", path()),
        maybe("patterns", prop_oneof![list(literal()), literal()]),
        maybe("excludePatterns", list(literal())),
    ]);
    let grep = object(vec![maybe("pattern", literal()), maybe("path", path())]);
    let web = object(vec![maybe("query", literal()), maybe("url", literal())]);
    prop_oneof![
        named(&["Glob"], glob),
        named(&["Grep"], grep),
        named(&["WebSearch", "FetchUrl"], web)
    ]
    .boxed()
}

fn todos() -> Tool {
    let item = object(vec![
        maybe("id", literal()),
        maybe("content", literal()),
        maybe("status", word(&["pending", "in_progress", "completed"])),
        maybe("priority", word(&["high", "low"])),
    ]);
    let text = Just(quote("1. [completed] Read\n2. [in_progress] Write"));
    let todos = prop_oneof![3 => list(item), 2 => text, 1 => json()];
    named(&["TodoWrite"], object(vec![maybe("todos", todos)]))
}

fn others() -> Tool {
    let task = object(vec![
        maybe("subagent_type", word(&["worker"])),
        maybe("description", literal()),
        maybe("prompt", literal()),
        maybe("await", word(&["true"])),
    ]);
    let ask = object(vec![maybe("questions", list(json())), maybe("plan", literal())]);
    prop_oneof![
        named(&["Task"], task),
        named(&["AskUser", "ExitSpecMode", "Skill"], ask),
        named(&["linear___get_issue", "FutureTool", ""], json()),
    ]
    .boxed()
}
