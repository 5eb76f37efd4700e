//! [`Image`]: a picture of a log.

use foldline_json::Text;
use serde::{Deserialize, Serialize};

/// A picture that an entry mentions, with its content. Serialised in camelCase.
///
/// Only kinds of pictures that contain pixels and no program: PNG, JPEG, GIF and WebP. The kind is read from the
/// content, whatever the log calls it.
///
/// ```
/// use foldline_domain::Image;
///
/// let image = Image::from_base64("R0lGODlhAQABAAAAACwAAAAAAQABAAA=").expect("a GIF");
/// assert_eq!((&*image.media_type.decode(), image.bytes()), ("image/gif", 23));
/// assert_eq!(Image::from_base64("PHN2Zz48L3N2Zz4="), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// The media type of the content, such as `image/png`.
    pub media_type: Text,
    /// The content in base64, without white space.
    pub data: Text,
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
    /// The longest base64 text of a picture that an entry carries, in bytes. A longer one is only mentioned.
    pub const MOST: usize = 8 << 20;

    /// The picture of a base64 text; `None` for any other content, and for one longer than [`MOST`](Self::MOST).
    pub fn from_base64(data: &str) -> Option<Self> {
        let media_type = Self::media_type_of(data)?;
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        let is_one = data.len() <= Self::MOST && data.bytes().all(is_digit);
        is_one.then(|| Self { media_type: media_type.into(), data: data.into() })
    }

    /// The media type of a base64 text that begins like a picture.
    pub fn media_type_of(data: &str) -> Option<&'static str> {
        KINDS.iter().find(|(start, _)| data.starts_with(start)).map(|(_, kind)| *kind)
    }

    /// The size of the picture in bytes.
    pub fn bytes(&self) -> usize {
        let data = self.data.decode();
        data.trim_end_matches('=').len() * 3 / 4
    }
}
