//! `stream_event`: parts of messages in progress.

use foldline_testkit::generate::{
    FieldsStrategy, concat, field, json, kind, list, literal, maybe, number, object, quote, word,
};
use proptest::{collection::vec, prelude::*};

use super::envelope::{common, one};
use crate::generate::claude::blocks;

/// A `stream_event` line.
pub(super) fn partial(
    event: BoxedStrategy<String>,
    envelope: FieldsStrategy,
) -> BoxedStrategy<String> {
    object(vec![kind("stream_event"), field("event", event), envelope])
}

/// Any event of a message in progress, in any order.
pub(super) fn delta(
    calls: BoxedStrategy<String>,
    messages: BoxedStrategy<String>,
) -> BoxedStrategy<String> {
    let index = || maybe("index", (0..3_u8).prop_map(|index| index.to_string()));
    let message = blocks::assistant(maybe("id", messages), list(blocks::text()));
    let block = prop_oneof![
        blocks::text(),
        blocks::thinking(),
        blocks::tool_use(maybe("id", calls)),
        blocks::odd(),
    ];
    let delta = object(vec![
        maybe(
            "type",
            word(&["text_delta", "thinking_delta", "input_json_delta", "signature_delta", "novel"]),
        ),
        maybe("text", literal()),
        maybe("thinking", literal()),
        maybe("partial_json", literal()),
    ]);
    let usage = || maybe("usage", blocks::usage());
    prop_oneof![
        2 => object(vec![kind("message_start"), maybe("message", message)]),
        3 => object(vec![kind("content_block_start"), index(), maybe("content_block", block)]),
        6 => object(vec![kind("content_block_delta"), index(), maybe("delta", delta)]),
        1 => object(vec![kind("content_block_stop"), index()]),
        1 => object(vec![kind("message_delta"), maybe("delta", json()), usage()]),
        1 => object(vec![kind("message_stop")]),
        1 => object(vec![kind("ping")]),
        1 => object(vec![kind("error"), maybe("error", json())]),
        1 => object(vec![maybe("type", literal()), maybe("index", number())]),
    ]
    .boxed()
}

/// A block: its beginning, its chunks and the whole block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    start: Option<String>,
    deltas: Vec<String>,
    whole: String,
}

/// A block without chunks.
pub(super) fn whole(block: BoxedStrategy<String>) -> BoxedStrategy<Block> {
    block.prop_map(|whole| Block { start: None, deltas: Vec::new(), whole }).boxed()
}

/// A streamed text or thought.
pub(super) fn text(kind: &'static str, delta: &'static str) -> BoxedStrategy<Block> {
    vec(literal(), 0..5)
        .prop_map(move |pieces| Block {
            start: Some(format!(r#"{{"type":"{kind}","{kind}":""}}"#)),
            deltas: pieces
                .iter()
                .map(|piece| format!(r#"{{"type":"{delta}","{kind}":{piece}}}"#))
                .collect(),
            whole: format!(r#"{{"type":"{kind}","{kind}":{}}}"#, blocks::join(&pieces)),
        })
        .boxed()
}

/// A call with streamed input.
pub(super) fn call(id: &str, block: BoxedStrategy<String>) -> BoxedStrategy<Block> {
    let start = format!(r#"{{"type":"tool_use","id":{id},"name":"Bash","input":{{}}}}"#);
    let inputs = vec(literal(), 0..3);
    (block, inputs)
        .prop_map(move |(whole, inputs)| Block {
            start: Some(start.clone()),
            deltas: inputs
                .iter()
                .map(|input| format!(r#"{{"type":"input_json_delta","partial_json":{input}}}"#))
                .collect(),
            whole,
        })
        .boxed()
}

/// A message with these blocks, one line each, after the chunks of each block if `written`. Sometimes the end of a
/// block precedes the whole block.
pub(super) fn message(
    id: &str,
    parent: String,
    written: bool,
    blocks: Vec<BoxedStrategy<Block>>,
) -> BoxedStrategy<Vec<String>> {
    let id = quote(id);
    (blocks, any::<bool>())
        .prop_flat_map(move |(blocks, early_stop)| {
            let event = |event: String| {
                let parent = field("parent_tool_use_id", Just(parent.clone()));
                one(object(vec![
                    kind("stream_event"),
                    field("event", Just(event)),
                    parent,
                    common(),
                ]))
            };
            let mut lines = Vec::new();
            if written {
                lines.push(event(format!(
                    r#"{{"type":"message_start","message":{{"id":{id},"content":[]}}}}"#
                )));
            }
            for (index, Block { start, deltas, whole }) in blocks.into_iter().enumerate() {
                let stop = format!(r#"{{"type":"content_block_stop","index":{index}}}"#);
                let written = written && start.is_some();
                if let Some(start) = start.filter(|_| written) {
                    lines.push(event(format!(
                        r#"{{"type":"content_block_start","index":{index},"content_block":{start}}}"#
                    )));
                    lines.extend(deltas.into_iter().map(|delta| {
                        event(format!(
                            r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#
                        ))
                    }));
                    if early_stop {
                        lines.push(event(stop.clone()));
                    }
                }
                let id = field("id", Just(id.clone()));
                let message = blocks::assistant(id, Just(format!("[{whole}]")).boxed());
                lines.push(one(object(vec![
                    kind("assistant"),
                    field("message", message),
                    field("parent_tool_use_id", Just(parent.clone())),
                    common(),
                ])));
                if written && !early_stop {
                    lines.push(event(stop));
                }
            }
            if written {
                lines.push(event(r#"{"type":"message_stop"}"#.to_owned()));
            }
            concat(lines)
        })
        .boxed()
}
