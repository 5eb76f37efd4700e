//! Content blocks of messages and tool results, in the notations of several agents.

use std::borrow::Cow;

use foldline_domain::{Content, Image, Json, Text};
use foldline_json::Raw;

use super::wire::{Object, value};

/// The blocks of a message or of a tool's result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Blocks {
    /// Displayable parts, in order.
    pub parts: Vec<Part>,
    /// Blocks of unknown types, by type.
    pub unknown: Vec<(String, Json)>,
}

/// A displayable block.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text.
    Text(Text),
    /// Content other than text: a placeholder, such as `[image: image/png, 12345 bytes]`, perhaps with its picture.
    Media(Content),
}

impl Blocks {
    /// Reads an array of blocks, a single block, or a plain string.
    pub fn read(raw: Raw<'_>) -> Self {
        Self::read_with_fields(raw).0
    }

    /// Reads blocks together with the unknown fields of known blocks, named after the block type: `text.mood`.
    pub fn read_with_fields(raw: Raw<'_>) -> (Self, Vec<(String, Json)>) {
        let (mut blocks, mut fields) = (Self::default(), Vec::new());
        match value::elements(raw) {
            Some(items) => items.into_iter().for_each(|item| blocks.push(item, &mut fields)),
            None => blocks.push(raw, &mut fields),
        }
        (blocks, fields)
    }

    fn push(&mut self, raw: Raw<'_>, unknown_fields: &mut Vec<(String, Json)>) {
        if let Some(text) = Text::from_raw(raw) {
            self.parts.push(Part::Text(text));
            return;
        }
        let Some(mut block) = value::object(raw) else {
            self.unknown.push(("not an object".to_owned(), raw.into()));
            return;
        };
        let mut kind = block.str("type").unwrap_or_default();
        // The name of the only field is the type.
        if kind.is_empty()
            && let Some((name, inner)) = only_field(&block)
        {
            (kind, block) = (name, inner);
        }
        match &*kind {
            "text" | "Text" | "input_text" | "output_text" | "inputText" | "outputText"
            | "summary_text" | "reasoning_text" | "assistantMessage" => {
                self.parts.extend(block.text("text").map(Part::Text));
            }
            "image" | "input_image" | "inputImage" | "output_image" | "localImage"
            | "local_image" => {
                self.parts.push(Part::Media(image_block(&mut block)));
            }
            "audio" | "input_audio" | "local_audio" | "localAudio" => {
                block.ignore(&["audio_url", "audioUrl", "path"]);
                let media_type = block.str("mimeType").unwrap_or(Cow::Borrowed("audio"));
                let bytes = block.str("data").and_then(|data| base64_bytes(&data));
                self.parts.push(Part::Media(placeholder("audio", &media_type, bytes).into()));
            }
            "resource_link" => {
                // Display hints for a resource that is not in the log.
                block.ignore(&["description", "mimeType", "name", "size", "title"]);
                let uri = block.str("uri").unwrap_or_default();
                self.parts.push(Part::Media(format!("[resource: {uri}]").into()));
            }
            "resource" if block.has("resource") => {
                let mut inner = block.object("resource").unwrap_or_default();
                let uri = inner.str("uri").unwrap_or_default();
                let bytes = inner.str("blob").and_then(|blob| base64_bytes(&blob));
                inner.ignore(&["mimeType"]);
                let size = bytes.map(|bytes| format!(", {bytes} bytes")).unwrap_or_default();
                self.parts.push(Part::Media(format!("[resource: {uri}{size}]").into()));
                self.parts.extend(inner.text("text").map(Part::Text));
                block.adopt("resource", inner);
            }
            // Only the model's provider can read it.
            "encrypted_content" => return,
            "" => return self.unknown.push(("no type".to_owned(), raw.into())),
            _ => return self.unknown.push((kind.into_owned(), raw.into())),
        }
        // Fields for the client or for the model's provider.
        block.ignore(&["_meta", "annotations", "cache_control", "citations", "detail"]);
        let fields = block.into_extra().map(|(name, json)| (format!("{kind}.{name}"), json));
        unknown_fields.extend(fields);
    }

    /// All displayable parts as one content, each on separate lines.
    pub fn content(&self) -> Content {
        join(self.parts.iter())
    }

    /// All text parts as one text, without placeholders.
    pub fn words(&self) -> Text {
        join(self.parts.iter().filter(|part| matches!(part, Part::Text(_)))).text
    }
}

impl FromIterator<Self> for Blocks {
    fn from_iter<I: IntoIterator<Item = Self>>(all: I) -> Self {
        all.into_iter().fold(Self::default(), |mut joined, blocks| {
            joined.parts.extend(blocks.parts);
            joined.unknown.extend(blocks.unknown);
            joined
        })
    }
}

impl From<Text> for Blocks {
    fn from(text: Text) -> Self {
        Self { parts: vec![Part::Text(text)], unknown: Vec::new() }
    }
}

fn join<'p>(parts: impl Iterator<Item = &'p Part>) -> Content {
    let parts = parts.map(|part| match part {
        Part::Text(text) => text.clone().into(),
        Part::Media(content) => content.clone(),
    });
    let joined = parts.reduce(|mut joined: Content, part| {
        let is_line = joined.is_empty() || joined.text.decode().ends_with('\n');
        joined.push(if is_line { "" } else { "\n" }, part);
        joined
    });
    joined.unwrap_or_default()
}

/// Reads a block whose only field is its type: `{"text": {"text": ".."}}`, `{"image": {..}}`.
fn only_field<'a>(block: &Object<'a>) -> Option<(Cow<'a, str>, Object<'a>)> {
    let mut fields = block.clone().rest().into_iter();
    let (name, inner) = fields.next().filter(|_| fields.next().is_none())?;
    Some((name, value::object(inner)?))
}

/// The picture of an image block: `{data, mimeType}` (MCP), `{source: {media_type, data}}` (Anthropic), `{image_url}`
/// (OpenAI).
fn image_block(block: &mut Object<'_>) -> Content {
    if let Some(mut source) = block.object("source") {
        let media_type = source.str("media_type").or_else(|| source.str("mediaType"));
        let data = source.str("data");
        source.ignore(&["type"]);
        let url = source.str("url");
        block.adopt("source", source);
        let media_type = media_type.unwrap_or_default();
        return match (data, url) {
            (Some(data), _) => image_of_base64(&media_type, &data),
            (None, Some(url)) => image_of_url(&url),
            (None, None) => image_without_data(&media_type),
        };
    }
    if let Some(data) = block.str("data") {
        block.ignore(&["uri"]);
        let media_type = block.str("mimeType").or_else(|| block.str("media_type"));
        return image_of_base64(&media_type.unwrap_or_default(), &data);
    }
    let url = ["image_url", "imageUrl", "url", "path"].into_iter().find_map(|key| block.str(key));
    match url {
        Some(url) => image_of_url(&url),
        None => image_without_data(""),
    }
}

/// The picture of an image URL: `data:image/png;base64,..` or an address.
pub fn image_of_url(url: &str) -> Content {
    let Some(data) = url.strip_prefix("data:") else {
        return Content::picture(format!("[image: {url}]"), Image::without_content(""));
    };
    let (head, body) = data.split_once(',').unwrap_or((data, ""));
    let media_type = head.split(';').next().unwrap_or_default();
    if head.ends_with("base64") {
        return image_of_base64(media_type, body);
    }
    let text = placeholder("image", media_type, Some(body.len()));
    Content::picture(text, Image::without_content(media_type))
}

/// The picture of a base64 text.
pub fn image_of_base64(media_type: &str, data: &str) -> Content {
    let text = placeholder("image", media_type, base64_bytes(data));
    Content::picture(text, image(media_type, data))
}

/// The picture of a base64 text, without a placeholder.
pub(crate) fn image(media_type: &str, data: &str) -> Image {
    Image::from_base64(data).unwrap_or_else(|| Image::without_content(media_type))
}

fn image_without_data(media_type: &str) -> Content {
    Content::picture(placeholder("image", media_type, None), Image::without_content(media_type))
}

/// A base64 file of any media type: a picture, or a placeholder.
pub fn media_of_base64(media_type: &str, data: &str) -> Content {
    match media_type.split('/').next() {
        Some("image") => image_of_base64(media_type, data),
        Some(what @ ("audio" | "video")) => {
            placeholder(what, media_type, base64_bytes(data)).into()
        }
        _ => placeholder("file", media_type, base64_bytes(data)).into(),
    }
}

fn placeholder(what: &str, media_type: &str, bytes: Option<usize>) -> String {
    let media_type = if media_type.is_empty() { "unknown type" } else { media_type };
    match bytes {
        Some(bytes) => format!("[{what}: {media_type}, {bytes} bytes]"),
        None => format!("[{what}: {media_type}]"),
    }
}

/// The decoded size of a base64 text in bytes; `None` for another text, such as one that was shortened.
pub(crate) fn base64_bytes(data: &str) -> Option<usize> {
    let digits = data.bytes().filter(|b| !b.is_ascii_whitespace() && *b != b'=').count();
    data.is_ascii().then_some(digits / 4 * 3 + (digits % 4) * 3 / 4)
}
