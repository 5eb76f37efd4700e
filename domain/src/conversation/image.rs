//! [`Image`]: a picture of a log.

use std::ops::Range;

use foldline_json::Text;
use serde::{Deserialize, Serialize};

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
