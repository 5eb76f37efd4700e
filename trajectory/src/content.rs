//! Texts with their pictures, as content parts.

use foldline_domain::{Image, Json, Text};
use serde::Serialize;

/// A message, or the result of a call.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Text(Text),
    Parts(Vec<Part>),
}

/// A part of a content.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Part {
    Text { text: String },
    Image { source: Source },
}

/// Where a picture is.
#[derive(Debug, Serialize)]
pub(crate) struct Source {
    media_type: Text,
    path: String,
}

/// A picture in a file beside the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The path of the file, relative to the document.
    pub path: String,
    /// The content of the file, in base64.
    pub data: Text,
}

/// A picture of an entry without its content.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ImageRest<'i> {
    #[serde(flatten)]
    image: &'i Image,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'i str>,
}

/// The pictures of a document.
#[derive(Debug, Default)]
pub(crate) struct Pictures<'f> {
    /// The folder of their files; without one, they are in the document.
    pub(crate) folder: Option<&'f str>,
    pub(crate) files: Vec<Picture>,
}

impl Pictures<'_> {
    /// The parts of a text, and what is left of its pictures.
    pub(crate) fn content(&mut self, text: &Text, images: &[Image]) -> (Content, Vec<Json>) {
        let (whole, mut parts, mut rest, mut at) = (text.decode(), Vec::new(), Vec::new(), 0);
        for image in images {
            let Some(data) = &image.data else {
                rest.extend(Json::of(&ImageRest { image, text: None }));
                continue;
            };
            let place = image.placeholder.clone().filter(|place| place.start >= at);
            let placeholder = place.clone().and_then(|place| whole.get(place));
            if let (Some(place), Some(_)) = (place, placeholder) {
                push(&mut parts, whole.get(at..place.start));
                at = place.end;
            }
            let text = Some(placeholder.unwrap_or_default());
            let without = Image { data: None, ..image.clone() };
            rest.extend(Json::of(&ImageRest { image: &without, text }));
            let path = self.path(&image.media_type.decode(), data);
            let source = Source { media_type: image.media_type.clone(), path };
            parts.push(Part::Image { source });
        }
        if parts.is_empty() {
            return (Content::Text(text.clone()), rest);
        }
        push(&mut parts, whole.get(at..));
        (Content::Parts(parts), rest)
    }

    fn path(&mut self, media_type: &str, data: &Text) -> String {
        let Some(folder) = self.folder else { return format!("data:{media_type};base64,{data}") };
        let ending = media_type.split_once('/').map_or("png", |(_, ending)| ending);
        let path = format!("{folder}/{}.{ending}", self.files.len() + 1);
        self.files.push(Picture { path: path.clone(), data: data.clone() });
        path
    }
}

fn push(parts: &mut Vec<Part>, text: Option<&str>) {
    let text = text.filter(|text| !text.is_empty());
    parts.extend(text.map(|text| Part::Text { text: text.to_owned() }));
}
