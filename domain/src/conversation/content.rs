//! [`Content`]: a text with the [`Image`]s in it.

use std::ops::Range;

use foldline_json::Text;
use serde::{Deserialize, Serialize};

/// A text with the pictures in it. A placeholder in the text stands for each picture.
///
/// ```
/// use foldline_domain::{Content, Image};
///
/// let mut content = Content::from("What is this?");
/// content.push("\n", Content::picture("[image: image/png]", Image::without_content("image/png")));
/// assert_eq!(content.text, "What is this?\n[image: image/png]");
/// assert_eq!(content.images[0].placeholder, Some(14..32));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Content {
    /// The text.
    pub text: Text,
    /// Its pictures, in order.
    pub images: Vec<Image>,
}

impl Content {
    /// A picture, for which the whole text stands.
    pub fn picture(placeholder: impl Into<Text>, image: Image) -> Self {
        let text = placeholder.into();
        let placeholder = Some(0..text.length());
        Self { text, images: vec![Image { placeholder, ..image }] }
    }

    /// Whether there is no text. A picture has one.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Appends more, after a separator.
    pub fn push(&mut self, separator: &str, more: Self) {
        let mut text = std::mem::take(&mut self.text).into_string();
        text.push_str(separator);
        let start = text.len();
        more.text.push_to(&mut text);
        self.text = text.into();
        self.images.extend(more.images.into_iter().map(|image| Image {
            placeholder: image.placeholder.map(|place| start + place.start..start + place.end),
            ..image
        }));
    }

    /// Several contents joined by line breaks; `None` for none.
    pub fn lines(parts: impl IntoIterator<Item = Self>) -> Option<Self> {
        parts.into_iter().reduce(|mut joined, part| {
            joined.push("\n", part);
            joined
        })
    }

    /// Replaces the text by a part of it, in which the pictures are where they were.
    #[must_use]
    pub fn cut(self, cut: impl FnOnce(Text) -> Text) -> Self {
        let Self { text, images } = self;
        if images.is_empty() {
            return cut(text).into();
        }
        let before = text.clone();
        let text = cut(text);
        let images = moved(images, &before, &text);
        Self { text, images }
    }
}

impl<T: Into<Text>> From<T> for Content {
    fn from(text: T) -> Self {
        Self { text: text.into(), images: Vec::new() }
    }
}

/// The pictures of a text, of which a part is left. No placeholder stands any longer for pictures outside of it.
pub(super) fn moved(images: Vec<Image>, before: &Text, left: &Text) -> Vec<Image> {
    let (before, left) = (before.decode(), left.decode());
    let begin = match before.strip_suffix(&*left) {
        Some(cut) => Some(cut.len()),
        None => before.find(&*left),
    };
    let within = |place: Range<usize>| {
        let start = place.start.checked_sub(begin?)?;
        let end = place.end.checked_sub(begin?)?;
        (end <= left.len()).then_some(start..end)
    };
    let moved = images
        .into_iter()
        .map(|image| Image { placeholder: image.placeholder.and_then(within), ..image });
    moved.filter(|image| image.placeholder.is_some() || image.data.is_some()).collect()
}

/// A picture of an entry. Serialised in camelCase.
///
/// Its content is kept if it contains pixels and no program: PNG, JPEG, GIF and WebP. The kind is read from the
/// content, whatever the log calls it.
///
/// ```
/// use foldline_domain::Image;
///
/// let image = Image::from_base64("R0lGODlhAQABAAAAACwAAAAAAQABAAA=").expect("a GIF");
/// assert_eq!((&*image.media_type.decode(), image.bytes()), ("image/gif", Some(23)));
/// assert_eq!(Image::from_base64("PHN2Zz48L3N2Zz4="), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// The media type of the content, such as `image/png`; without content, as the log states it.
    pub media_type: Text,
    /// The content in base64, without white space. Absent if it is not in the log, of another kind, or too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Text>,
    /// The place of the text that stands for the picture, in bytes of the decoded text: of the result of a call, of the
    /// content of any other entry. Absent if no text stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<Range<usize>>,
}

/// The first characters of the base64 text of each kind of picture, and its media type.
const KINDS: [(&str, &str); 5] = [
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGODdh", "image/gif"),
    ("R0lGODlh", "image/gif"),
    ("UklGR", "image/webp"),
];

impl Image {
    /// The longest base64 text of a picture that an entry carries, in bytes.
    pub const MOST: usize = 8 << 20;

    /// The picture of a base64 text; `None` for any other content, and for one longer than [`MOST`](Self::MOST).
    pub fn from_base64(data: &str) -> Option<Self> {
        let media_type = Self::media_type_of(data)?;
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        let is_one = data.len() <= Self::MOST && data.bytes().all(is_digit);
        is_one.then(|| Self { data: Some(data.into()), ..Self::without_content(media_type) })
    }

    /// A picture whose content is not kept.
    pub fn without_content(media_type: &str) -> Self {
        Self { media_type: media_type.into(), data: None, placeholder: None }
    }

    /// The media type of a base64 text that begins like a picture.
    fn media_type_of(data: &str) -> Option<&'static str> {
        KINDS.iter().find(|(start, _)| data.starts_with(start)).map(|(_, kind)| *kind)
    }

    /// The size of the picture in bytes, if its content is kept.
    pub fn bytes(&self) -> Option<usize> {
        let data = self.data.as_ref()?.decode();
        Some(data.trim_end_matches('=').len() * 3 / 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Content {
        Content::picture("[image]", Image::without_content(""))
    }

    #[test]
    fn pictures_are_where_their_placeholders_are() {
        let parts = [Content::from("ä"), picture(), Content::from("b"), picture()];
        let whole = Content::lines(parts).unwrap_or_default();
        assert_eq!(whole.text, "ä\n[image]\nb\n[image]");
        let text = whole.text.decode();
        for image in &whole.images {
            assert_eq!(
                image.placeholder.clone().and_then(|place| text.get(place)),
                Some("[image]")
            );
        }
        assert_eq!(Content::lines([]), None);
    }

    #[test]
    fn a_part_has_its_pictures() {
        let whole = || {
            let mut whole = Content::from("Exit code 2\n");
            whole.push("", picture());
            whole.push("\n", Content::from("end"));
            whole
        };
        let places = |content: &Content| {
            content.images.iter().map(|image| image.placeholder.clone()).collect::<Vec<_>>()
        };
        assert_eq!(places(&whole()), [Some(12..19)]);
        assert_eq!(places(&whole().cut(|_| "[image]\nend".into())), [Some(0..7)]);
        assert_eq!(places(&whole().cut(|_| "2\n[image]".into())), [Some(2..9)]);
        assert_eq!(places(&whole().cut(|_| "end".into())), []);
        assert_eq!(places(&whole().cut(|_| "other".into())), []);
    }
}
