//! Messages and blocks of streams and session files.

use foldline_testkit::generate::{
    FieldsStrategy, Tool, field, fields, json, kind, list, literal, maybe, number, object, quote,
    word,
};
use proptest::{collection::vec, prelude::*};

use super::tools;

/// The concatenation of several JSON strings.
pub(super) fn join(pieces: &[String]) -> String {
    let inner = |piece: &String| piece.get(1..piece.len() - 1).unwrap_or_default().to_owned();
    format!("\"{}\"", pieces.iter().map(inner).collect::<String>())
}

pub(super) fn text() -> BoxedStrategy<String> {
    let markup = prop_oneof![
        Just("<command-name>/model</command-name>\n<command-args>opus</command-args>"),
        Just("<local-command-stdout>ok</local-command-stdout>"),
        Just("<system-reminder>read</system-reminder>"),
    ];
    let text = prop_oneof![6 => literal(), 1 => markup.prop_map(quote)];
    object(vec![kind("text"), field("text", text)])
}

pub(super) fn thinking() -> BoxedStrategy<String> {
    let thought = prop_oneof![4 => literal(), 1 => Just(quote(""))];
    object(vec![kind("thinking"), field("thinking", thought), maybe("signature", literal())])
}

/// A block that is not a text, thought, call or result.
pub(super) fn odd() -> BoxedStrategy<String> {
    let source = object(vec![
        maybe("type", word(&["base64", "url", "text", "file"])),
        maybe("media_type", word(&["image/png", "application/pdf"])),
        maybe("data", literal()),
        maybe("url", literal()),
    ]);
    prop_oneof![
        2 => object(vec![
            prop_oneof![kind("image"), kind("document")].boxed(),
            maybe("title", literal()),
            maybe("source", source),
        ]),
        1 => object(vec![kind("redacted_thinking"), maybe("data", literal())]),
        1 => object(vec![kind("novel"), maybe("text", literal())]),
        1 => json(),
    ]
    .boxed()
}

pub(super) fn tool_use(id: FieldsStrategy) -> BoxedStrategy<String> {
    let kind = prop_oneof![8 => kind("tool_use"), 1 => kind("server_tool_use")].boxed();
    tool_use_of(kind, id, tools::tool())
}

/// A call that starts a sub-agent.
pub(super) fn agent_use(id: FieldsStrategy) -> BoxedStrategy<String> {
    tool_use_of(kind("tool_use"), id, tools::agent())
}

fn tool_use_of(kind: FieldsStrategy, id: FieldsStrategy, tool: Tool) -> BoxedStrategy<String> {
    let tool = tool.prop_map(|(name, input)| vec![("name", quote(&name)), ("input", input)]);
    object(vec![kind, id, tool.boxed()])
}

pub(super) fn tool_result(id: FieldsStrategy) -> BoxedStrategy<String> {
    let reference = object(vec![kind("tool_reference"), maybe("tool_name", literal())]);
    let parts = list(prop_oneof![4 => text(), 1 => odd(), 1 => reference].boxed());
    let said = prop_oneof![
        Just("Exit code 2\nno such file"),
        Just("<tool_use_error>Sibling tool call errored</tool_use_error>"),
        Just("The user doesn't want to proceed with this tool use."),
        Just("Permission to use Bash with command rm has been denied."),
    ];
    let content = prop_oneof![
        4 => literal(),
        2 => parts,
        2 => said.prop_map(quote),
        1 => json(),
    ];
    let is_error = any::<bool>().prop_map(|is_error| is_error.to_string());
    object(vec![kind("tool_result"), id, maybe("content", content), maybe("is_error", is_error)])
}

/// The tool-specific form of a result.
pub(super) fn detail() -> BoxedStrategy<String> {
    let numbers = || (1..40_u8).prop_map(|line| line.to_string());
    let hunk = object(vec![
        maybe("oldStart", numbers()),
        field("oldLines", numbers()),
        field("newStart", numbers()),
        field("newLines", numbers()),
        field("lines", list(literal())),
    ]);
    prop_oneof![
        3 => object(vec![
            maybe("stdout", literal()),
            maybe("stderr", literal()),
            maybe("interrupted", prop_oneof![4 => Just("false"), 1 => Just("true")].prop_map(str::to_owned)),
            maybe("exit_code", number()),
        ]),
        1 => object(vec![maybe("backgroundTaskId", literal()), maybe("stdout", literal())]),
        3 => object(vec![maybe("filePath", literal()), maybe("structuredPatch", list(hunk))]),
        1 => object(vec![maybe("totalDurationMs", number()), maybe("content", list(text()))]),
        1 => literal(),
        1 => json(),
    ]
    .boxed()
}

/// The reason why the call `id` did not run.
pub(super) fn meta(id: String) -> BoxedStrategy<String> {
    let kinds = word(&["user-rejected", "permission-rule", "cancelled", "novel"]);
    let meta = vec![
        field("id", Just(id)),
        maybe("non_execution_kind", kinds),
        maybe("user_feedback", literal()),
    ];
    list(object(meta))
}

pub(super) fn usage() -> BoxedStrategy<String> {
    let ephemeral = object(vec![maybe("ephemeral_5m_input_tokens", number())]);
    object(vec![
        maybe("input_tokens", number()),
        maybe("output_tokens", number()),
        maybe("cache_read_input_tokens", number()),
        maybe("cache_creation_input_tokens", number()),
        maybe("cache_creation", ephemeral),
        maybe("service_tier", word(&["standard"])),
    ])
}

/// A message of the model.
pub(super) fn assistant(
    id: FieldsStrategy,
    content: BoxedStrategy<String>,
) -> BoxedStrategy<String> {
    object(vec![
        kind("message"),
        field("role", Just(quote("assistant"))),
        id,
        maybe("model", model()),
        field("content", content),
        maybe("stop_reason", Just("null".to_owned())),
        maybe("usage", usage()),
    ])
}

fn model() -> BoxedStrategy<String> {
    let models = word(&["claude-opus-4-8", "claude-opus-4-8[1m]", "claude-haiku-4-5"]);
    prop_oneof![8 => models, 1 => word(&["<synthetic>"])].boxed()
}

/// A message to the model.
pub(super) fn user(content: BoxedStrategy<String>) -> BoxedStrategy<String> {
    object(vec![field("role", Just(quote("user"))), field("content", content)])
}

/// Any content: blocks of every kind, a string, or another value.
pub(super) fn any_content(ids: &'static [&'static str]) -> BoxedStrategy<String> {
    let id = maybe("id", word(ids));
    let answered = maybe("tool_use_id", word(ids));
    let block = prop_oneof![
        2 => text(),
        1 => thinking(),
        3 => tool_use(id),
        3 => tool_result(answered),
        1 => odd(),
    ];
    let blocks = vec(block, 0..3).prop_map(|blocks| format!("[{}]", blocks.join(",")));
    prop_oneof![8 => blocks, 1 => literal(), 1 => json()].boxed()
}

/// A message of the program about a failed request.
pub(super) fn api_error() -> FieldsStrategy {
    let inner = object(vec![maybe("message", literal()), maybe("type", literal())]);
    let error = object(vec![maybe("status", number()), maybe("error", inner)]);
    fields(vec![maybe("error", prop_oneof![3 => error, 1 => literal(), 1 => json()])])
}
