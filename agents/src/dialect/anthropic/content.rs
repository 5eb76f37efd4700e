//! Messages, their content blocks and their token usage.

use foldline_domain::Image;

use crate::{content, dialect::usage::with_cache, prelude::*};

/// A message from or to the model.
#[derive(Clone, Debug, Default)]
pub struct Message<'a> {
    /// `msg_..`, or a UUID if the program generated the message. Several lines share it.
    pub id: Option<Text>,
    /// The model, or a name in angle brackets if the program generated the message.
    pub model: Option<Text>,
    /// The blocks, usually one per line.
    pub content: Vec<Block<'a>>,
    /// The usage of the message, as known when the line was written.
    pub usage: Option<TokenUsage>,
    /// The terms of its price: `fast`, `priority`, `us`.
    pub terms: Option<Text>,
    /// Unknown fields.
    pub unknown: Fields<'a>,
}

/// A content block with its unknown fields.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// The block.
    pub kind: BlockKind<'a>,
    /// Unknown fields.
    pub unknown: Fields<'a>,
}

/// A content block, by its type.
#[derive(Clone, Debug)]
pub enum BlockKind<'a> {
    /// `text`, and content that is a plain string, with the pictures that belong to it.
    Text(Content),
    /// `thinking`; empty if only its signature is present.
    Thinking(Text),
    /// `redacted_thinking`: encrypted.
    RedactedThinking,
    /// `tool_use`, `server_tool_use` and `mcp_tool_use`.
    ToolUse(ToolUse<'a>),
    /// `tool_result`, and the results of the provider's own tools (`web_search_tool_result`, ...).
    ToolResult(ToolResult<'a>),
    /// `image` or `document`, as a placeholder, with its picture.
    Media(Content),
    /// An unknown type.
    Unknown {
        /// The type.
        name: Cow<'a, str>,
        /// The whole block.
        raw: Raw<'a>,
    },
}

/// A tool call.
#[derive(Clone, Debug, Default)]
pub struct ToolUse<'a> {
    /// The call's id.
    pub id: Option<CorrId>,
    /// The tool's name.
    pub name: Cow<'a, str>,
    /// The input of the tool.
    pub input: Option<Raw<'a>>,
}

/// A tool result.
#[derive(Clone, Debug, Default)]
pub struct ToolResult<'a> {
    /// The id of the call.
    pub id: Option<CorrId>,
    /// Whether the tool failed; usually absent after a success.
    pub is_error: bool,
    /// The result as text, with its pictures.
    pub body: Content,
    /// Parts of unknown types, by type; `body` contains them unchanged.
    pub unknown_parts: Fields<'a>,
}

impl<'a> Message<'a> {
    /// Reads a message object.
    pub fn take(mut object: Object<'a>) -> Self {
        let id = object.text("id");
        let model = object.text("model");
        let content = object.raw("content").map(read_content).unwrap_or_default();
        let terms = object.get("usage").and_then(value::object).and_then(|it| terms(&it));
        let usage = take_usage(&mut object);
        object.ignore(&[
            "container",
            "context_management",
            "diagnostics",
            "role",
            "stop_details",
            "stop_reason",
            "stop_sequence",
            "type",
        ]);
        Self { id, model, content, usage, terms, unknown: object.rest() }
    }
}

/// Reads content, which is a string or an array of blocks.
fn read_content(raw: Raw<'_>) -> Vec<Block<'_>> {
    match value::elements(raw) {
        Some(blocks) => with_media(blocks.into_iter().map(Block::read)),
        None => vec![Block::read(raw)],
    }
}

/// Joins each picture with the text before it, or else with the text after it: they are one message. A text that the
/// program added, within an element, stays alone.
fn with_media<'a>(blocks: impl Iterator<Item = Block<'a>>) -> Vec<Block<'a>> {
    let mut joined: Vec<Block<'a>> = Vec::new();
    for block in blocks {
        let is_media = matches!(block.kind, BlockKind::Media(_));
        if let (Some(last), Some(words)) = (joined.last_mut(), block.words())
            && let Some(before) = last.words()
            && (is_media || matches!(last.kind, BlockKind::Media(_)))
        {
            let mut whole = before.clone();
            whole.push("\n", words.clone());
            last.kind = match is_media && matches!(last.kind, BlockKind::Media(_)) {
                true => BlockKind::Media(whole),
                false => BlockKind::Text(whole),
            };
            last.unknown.extend(block.unknown);
        } else {
            joined.push(block);
        }
    }
    joined
}

impl<'a> Block<'a> {
    /// The words of a text by a person or the model, or media.
    fn words(&self) -> Option<&Content> {
        match &self.kind {
            BlockKind::Text(content) => {
                Some(content).filter(|said| !said.is_empty() && !said.text.begins_with("<"))
            }
            BlockKind::Media(content) => Some(content),
            _ => None,
        }
    }

    /// Reads a block; a string is a text block.
    pub fn read(raw: Raw<'a>) -> Self {
        let Some(mut object) = value::object(raw) else {
            let kind = match Text::from_raw(raw) {
                Some(text) => BlockKind::Text(text.into()),
                None => BlockKind::Unknown { name: Cow::Borrowed("no object"), raw },
            };
            return Self { kind, unknown: Fields::new() };
        };
        object.ignore(&["cache_control"]);
        let name = object.str("type").unwrap_or_default();
        let kind = match &*name {
            "text" => {
                object.ignore(&["citations"]);
                BlockKind::Text(object.text("text").unwrap_or_default().into())
            }
            "thinking" => {
                object.ignore(&["signature", "signatureProvider", "durationMs"]);
                BlockKind::Thinking(object.text("thinking").unwrap_or_default())
            }
            "redacted_thinking" => {
                object.ignore(&["data", "redacted_thinking"]);
                BlockKind::RedactedThinking
            }
            // Another model answers, which the message names.
            "fallback" => {
                object.ignore(&["from", "to"]);
                BlockKind::Text(Content::default())
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                BlockKind::ToolUse(ToolUse::take(&mut object))
            }
            "image" | "document" => BlockKind::Media(describe_media(&name, &mut object)),
            _ if name.ends_with("tool_result") => {
                BlockKind::ToolResult(ToolResult::take(&mut object))
            }
            _ => return Self { kind: BlockKind::Unknown { name, raw }, unknown: Fields::new() },
        };
        // The id of the block itself, which is not referenced.
        object.ignore(&["id"]);
        Self { kind, unknown: object.rest() }
    }
}

impl<'a> ToolUse<'a> {
    fn take(object: &mut Object<'a>) -> Self {
        object.ignore(&["caller", "server_name", "thoughtSignature"]);
        Self {
            id: object.corr_id("id"),
            name: object.str("name").unwrap_or_default(),
            input: object.raw("input"),
        }
    }
}

impl<'a> ToolResult<'a> {
    fn take(object: &mut Object<'a>) -> Self {
        object.ignore(&["caller"]);
        let content = object.raw("content");
        let failed = content.is_some_and(is_error_object);
        let mut unknown_parts = Fields::new();
        let body = content.map(|content| read_body(content, &mut unknown_parts));
        Self {
            id: object.corr_id("tool_use_id").or_else(|| object.corr_id("toolUseId")),
            is_error: object.bool("is_error").or_else(|| object.bool("isError")).unwrap_or(failed),
            body: body.unwrap_or_default(),
            unknown_parts,
        }
    }
}

/// Whether a result of the provider's own tools is an object of type `.._error`.
fn is_error_object(content: Raw<'_>) -> bool {
    let object = value::object(content);
    let name = object.and_then(|object| object.get_str("type"));
    name.is_some_and(|name| name.ends_with("_error"))
}

/// Reads a body, which is a string or an array of parts that are joined by line breaks.
fn read_body<'a>(raw: Raw<'a>, unknown: &mut Fields<'a>) -> Content {
    let Some(parts) = value::elements(raw) else { return value::into_text(raw).into() };
    Content::lines(parts.into_iter().map(|part| read_part(part, unknown))).unwrap_or_default()
}

/// Reads a part of a result. An unknown part is kept unchanged.
fn read_part<'a>(raw: Raw<'a>, unknown: &mut Fields<'a>) -> Content {
    let Some(mut object) = value::object(raw) else { return value::into_text(raw).into() };
    let name = object.str("type").unwrap_or_default();
    let part = match &*name {
        "text" => object.text("text").map(Content::from),
        "image" | "document" => Some(describe_media(&name, &mut object)),
        "tool_reference" => object.str("tool_name").map(|tool| format!("[tool: {tool}]").into()),
        "web_search_result" => object
            .str("title")
            .and_then(|title| Some(format!("{title} {}", object.str("url")?).into())),
        _ => None,
    };
    part.unwrap_or_else(|| {
        unknown.push((name, raw));
        raw.get().into()
    })
}

/// Binary data, as a placeholder: `[image: image/png, 12345 bytes]`. An image has its picture.
fn describe_media(name: &str, object: &mut Object<'_>) -> Content {
    object.ignore(&["citations", "context", "generated"]);
    let title = object.str("title");
    let mut source = object.object("source").unwrap_or_default();
    let media_type = source.str("media_type").or_else(|| source.str("mediaType"));
    let place = source.str("url").or_else(|| source.str("file_id"));
    let data = source.raw("data").map(|data| value::as_str(data).unwrap_or_default());
    let size = data.as_ref().and_then(|data| match source.get_str("type").as_deref() {
        Some("base64") | None => content::base64_bytes(data),
        Some(_) => Some(data.len()),
    });
    let size = size.map(|bytes| format!("{bytes} bytes"));
    let facts = [title.as_deref(), media_type.as_deref(), place.as_deref(), size.as_deref()];
    let facts: Vec<_> = facts.into_iter().flatten().collect();
    let placeholder = match facts.is_empty() {
        true => format!("[{name}]"),
        false => format!("[{name}: {}]", facts.join(", ")),
    };
    if name != "image" {
        return placeholder.into();
    }
    let media_type = media_type.unwrap_or_default();
    let image = data.map(|data| content::image(&media_type, &data));
    Content::picture(placeholder, image.unwrap_or_else(|| Image::without_content(&media_type)))
}

/// The terms of a message's price, unless they are the usual ones: `fast`, `priority`, `us`.
fn terms(usage: &Object<'_>) -> Option<Text> {
    let stated = |field: &str, unusual: &[&str]| {
        let value = usage.get_str(field)?;
        unusual.contains(&&*value).then(|| value.into_owned())
    };
    let terms = [
        stated("speed", &["fast"]),
        stated("service_tier", &["batch", "flex", "priority"]),
        stated("inference_geo", &["us"]),
    ];
    let terms: Vec<String> = terms.into_iter().flatten().collect();
    (!terms.is_empty()).then(|| terms.join(" ").into())
}

/// Takes the field `usage`. Its unknown fields stay, as `usage.name`.
///
/// `input_tokens` excludes cached input (a run had 29 input tokens and 1,227,349 cached ones), so it is added here.
pub fn take_usage(object: &mut Object<'_>) -> Option<TokenUsage> {
    object.within("usage", |usage| {
        let kept = usage.object("cache_creation");
        let details = usage.object("output_tokens_details");
        usage.ignore(&["cache_creation", "inference_geo", "iterations", "service_tier", "speed"]);
        let hosted = usage.object("server_tool_use");
        let searches = hosted.and_then(|mut hosted| hosted.u64("web_search_requests"));
        with_cache(TokenUsage {
            input_tokens: usage.u64("input_tokens"),
            output_tokens: usage.u64("output_tokens"),
            cache_read_tokens: usage.u64("cache_read_input_tokens"),
            cache_write_tokens: usage.u64("cache_creation_input_tokens"),
            cache_write_1h_tokens: kept.and_then(|mut kept| kept.u64("ephemeral_1h_input_tokens")),
            reasoning_tokens: details.and_then(|mut details| details.u64("thinking_tokens")),
            web_searches: searches.filter(|searches| *searches > 0),
            cost_usd: None,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(content: &str) -> String {
        let raw = Raw::parse(content).unwrap();
        read_body(raw, &mut Fields::new()).text.decode().into_owned()
    }

    #[test]
    fn bodies_are_texts_whatever_their_shape() {
        assert_eq!(body(r#""plain""#), "plain");
        assert_eq!(body(r#"[{"type":"text","text":"one"}]"#), "one");
        assert_eq!(body("[]"), "");
        assert_eq!(
            body(
                r#"[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAECAwQ="}},{"type":"tool_reference","tool_name":"WebFetch"},{"type":"novel","x":1}]"#
            ),
            "a\n[image: image/png, 5 bytes]\n[tool: WebFetch]\n{\"type\":\"novel\",\"x\":1}"
        );
    }

    #[test]
    fn a_block_of_no_known_type_is_kept_whole() {
        let raw = Raw::parse(r#"["a",{"type":"novel"},7]"#).unwrap();
        let kinds: Vec<_> = read_content(raw).into_iter().map(|block| block.kind).collect();
        assert!(matches!(&kinds[0], BlockKind::Text(content) if content.text == "a"));
        assert!(matches!(&kinds[1], BlockKind::Unknown { name, .. } if name == "novel"));
        assert!(matches!(&kinds[2], BlockKind::Unknown { raw, .. } if raw.get() == "7"));
    }
}
