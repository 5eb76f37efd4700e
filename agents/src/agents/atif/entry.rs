//! Entries of a step: those that `foldline export` wrote, and those of other programs.

use std::ops::Range;

use foldline_domain::{self as domain, Image, Metadata};
use serde::Deserialize;

use crate::{content::image_of_url, prelude::*};

/// What `foldline export` adds to an entry.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryRest {
    /// The index of the entry in its session.
    pub(super) entry: u64,
    /// Its time, where it is not that of the step.
    #[serde(default, deserialize_with = "foldline_json::stated")]
    timestamp: Option<Json>,
    entry_type: Option<Json>,
    content: Option<Text>,
    #[serde(default)]
    is_json: bool,
    #[serde(default)]
    metadata: Option<Box<Metadata>>,
    #[serde(default)]
    images: Vec<ImageRest>,
}

/// A picture without its content. One with a text has a part of the content.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ImageRest {
    media_type: Text,
    data: Option<Text>,
    placeholder: Option<Range<usize>>,
    text: Option<Text>,
}

/// The type of a call, without its name and its arguments.
#[derive(Deserialize)]
struct CallRest<'a> {
    #[serde(borrow)]
    action_type: Raw<'a>,
    #[serde(borrow)]
    status: Raw<'a>,
    duration_ms: Option<u64>,
}

/// The parts of a content: texts, and pictures by their paths.
#[derive(Default)]
pub(super) struct Parts(Vec<Part>);

enum Part {
    Text(Text),
    /// A picture, or another medium by its type.
    Medium {
        is_image: bool,
        media_type: Text,
        path: Text,
    },
}

impl From<Text> for Parts {
    fn from(text: Text) -> Self {
        Self(vec![Part::Text(text)])
    }
}

impl Parts {
    /// Reads a text, or a list of parts; `None` for any other value.
    pub(super) fn read(raw: Raw<'_>) -> Option<Self> {
        if let Some(text) = Text::from_raw(raw) {
            return Some(text.into());
        }
        let parts = value::elements(raw)?.into_iter().map(|part| {
            let mut part = value::object(part)?;
            let kind = part.str("type")?;
            let read = match part.object("source") {
                None => Part::Text(part.text("text")?),
                Some(mut source) => {
                    source.ignore(&["duration_sec"]);
                    let (media_type, path) = (source.text("media_type")?, source.text("path")?);
                    part.adopt("source", source);
                    Part::Medium { is_image: kind == "image", media_type, path }
                }
            };
            part.rest().is_empty().then_some(read)
        });
        parts.collect::<Option<_>>().map(Self)
    }

    /// Whether there is no text.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|part| matches!(part, Part::Text(text) if text.is_empty()))
    }

    /// The text with its pictures, each on separate lines.
    pub(super) fn content(self) -> Content {
        let parts = self.0.into_iter().map(|part| match part {
            Part::Text(text) => text.into(),
            Part::Medium { path, .. } if path.begins_with("data:") => image_of_url(&path.decode()),
            Part::Medium { is_image: true, media_type, path } => {
                let image = Image { media_type, ..Image::without_content("") };
                Content::picture(format!("[image: {path}]"), image)
            }
            Part::Medium { media_type, path, .. } => format!("[{media_type}: {path}]").into(),
        });
        Content::lines(parts).unwrap_or_default()
    }

    /// The text as it was, with its pictures.
    fn restored(self, images: Vec<ImageRest>) -> Content {
        if let ([Part::Text(text)], true) = (&*self.0, images.is_empty()) {
            return text.clone().into();
        }
        let mut content = Content::default();
        let mut images = images.into_iter();
        let mut text = String::new();
        let without = |content: &mut Content, images: &mut std::vec::IntoIter<ImageRest>| {
            for ImageRest { media_type, data, placeholder, text } in images {
                content.images.push(Image { media_type, data, placeholder });
                if text.is_some() {
                    return text;
                }
            }
            None
        };
        for part in self.0 {
            match part {
                Part::Text(more) => more.push_to(&mut text),
                Part::Medium { path, .. } => {
                    let replaced = without(&mut content, &mut images);
                    replaced.into_iter().for_each(|replaced| replaced.push_to(&mut text));
                    let read = image_of_url(&path.decode()).images.pop().and_then(|it| it.data);
                    content
                        .images
                        .last_mut()
                        .into_iter()
                        .for_each(|image| image.data = read.clone());
                }
            }
        }
        while without(&mut content, &mut images).is_some() {}
        Content { text: text.into(), ..content }
    }
}

/// An entry of another program.
pub(super) fn new(
    kind: NormalizedEntryType,
    at: Option<Timestamp>,
    content: Content,
) -> NormalizedEntry {
    let mut entry = NormalizedEntry::new(kind, content.text).at(at);
    if !content.images.is_empty() {
        entry.metadata_mut().images = content.images;
    }
    entry
}

/// Ends a call of another program, which states no status.
pub(super) fn end(
    call: &mut NormalizedEntry,
    content: Option<Parts>,
    child: Option<SessionId>,
    extra: Extra,
) {
    let content = content.map(Parts::content);
    if let Some(tool) = call.tool_mut() {
        tool.status = if content.is_some() { ToolStatus::Unknown } else { ToolStatus::Unfinished };
        let text = content.as_ref().map(|content| content.text.clone());
        text.into_iter().for_each(|text| tool.action_type.set_result(ToolResult::Text(text)));
    }
    let metadata = call.metadata_mut();
    metadata.images = content.unwrap_or_default().images;
    metadata.child_session_id = child.or(metadata.child_session_id.take());
    metadata.extra.extend(extra);
}

impl EntryRest {
    fn at(&self, step: Option<Timestamp>) -> Option<Timestamp> {
        match &self.timestamp {
            Some(stated) => serde_json::from_str(stated.get()).ok(),
            None => step,
        }
    }

    /// The entry that was exported.
    pub(super) fn restore(
        self,
        kind: NormalizedEntryType,
        step: Option<Timestamp>,
        parts: Parts,
    ) -> NormalizedEntry {
        let at = self.at(step);
        let kind =
            self.entry_type.and_then(|kind| serde_json::from_str(kind.get()).ok()).unwrap_or(kind);
        let mut entry = new(kind, at, parts.restored(self.images));
        let images = entry.metadata.take().map(|known| known.images).unwrap_or_default();
        entry.metadata = self.metadata;
        if !images.is_empty() {
            entry.metadata_mut().images = images;
        }
        entry
    }

    /// The call that was exported, without its result; `None` if it is damaged.
    pub(super) fn restore_call(
        &self,
        name: &str,
        arguments: Option<Raw<'_>>,
        step: Option<Timestamp>,
    ) -> Option<NormalizedEntry> {
        let CallRest { action_type, status, duration_ms } =
            serde_json::from_str(self.entry_type.as_ref()?.get()).ok()?;
        let fields: domain::Extra = value::parse(action_type)?;
        let given = arguments.filter(|_| fields.get("has_arguments").is_none());
        let action: domain::Extra = match given {
            // Any other tool.
            Some(given) if fields.get("tool_name").is_some() => {
                fields.into_iter().chain([("arguments".into(), given.into())]).collect()
            }
            Some(given) => {
                fields.into_iter().chain(value::parse::<domain::Extra>(given)?).collect()
            }
            None => fields,
        };
        let tool = domain::ToolUse {
            tool_name: name.into(),
            action_type: serde_json::from_str(Json::of(&action).ok()?.get()).ok()?,
            status: value::parse(status)?,
            duration_ms,
        };
        let content = self.content.clone().unwrap_or_default();
        let mut entry = NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), content);
        (entry.timestamp, entry.metadata) = (self.at(step), self.metadata.clone());
        Some(entry)
    }

    /// Adds the result to a call.
    pub(super) fn complete(self, call: &mut NormalizedEntry, result: Option<Parts>) {
        let has_result = result.is_some();
        let Content { text, images } = result.unwrap_or_default().restored(self.images);
        if let Some(tool) = call.tool_mut().filter(|_| has_result) {
            let json = self.is_json.then(|| serde_json::from_str(&text.decode()).ok()).flatten();
            let result = json.map_or_else(|| ToolResult::Text(text.clone()), ToolResult::Json);
            tool.action_type.set_result(result);
        }
        if !images.is_empty() {
            call.metadata_mut().images = images;
        }
    }
}
