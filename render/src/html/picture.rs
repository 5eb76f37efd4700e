//! The pictures of an entry.

use std::{borrow::Cow, ops::Range};

use foldline_domain::{EntryIdx, Image, NormalizedEntry, Text};
use maud::{Markup, html};

use super::{label::icon, text::line};
use crate::text::human;

/// The longest base64 text of a picture in a file, in bytes. A page of a server links its pictures instead.
const MOST_EMBEDDED: usize = 3 << 20;

/// The pictures of an entry.
pub(super) fn of(entry: &NormalizedEntry) -> &[Image] {
    entry.metadata.as_ref().map_or(&[], |metadata| &metadata.images)
}

/// The pictures below the text of an entry: in the page itself, or at an address of its server. In place of those whose
/// content is not kept, the words that stand for them.
pub(super) fn pictures(index: EntryIdx, entry: &NormalizedEntry, is_served: bool) -> Markup {
    let images = of(entry);
    let words = if images.is_empty() { Text::default() } else { words_of(entry) };
    let words = words.decode();
    html! {
        @if !images.is_empty() {
            div.pictures {
                @for (number, image) in images.iter().enumerate() {
                    @let kind = image.media_type.decode();
                    @let size = human::bytes(image.bytes().unwrap_or_default() as u64);
                    @let about = format!("Picture {} of {}, {kind}, {size}", number + 1, images.len());
                    @let data = image.data.as_ref().map(Text::decode);
                    @if data.is_none() {
                        @let place = image.placeholder.clone().unwrap_or_default();
                        span.image {
                            span.thumb { (icon("i", "image")) }
                            span { (line(words.get(place).unwrap_or_default())) }
                        }
                    } @else if is_served {
                        @let address = format!("?picture={}.{number}", index.get());
                        a href=(address) title="Open the picture" {
                            img src=(address) alt=(line(&*about)) loading="lazy" decoding="async";
                        }
                    } @else if let Some(data) = data.filter(|data| data.len() <= MOST_EMBEDDED) {
                        @let address = format!("data:{kind};base64,{data}");
                        img src=(address) alt=(line(&*about)) decoding="async";
                    } @else {
                        span.image {
                            span.thumb { (icon("i", "image")) }
                            span { b { "Image" } (line(&*kind)) ", " (size) ", too large for this file" }
                        }
                    }
                }
            }
        }
    }
}

/// The words that contain the placeholders: the result of a call, or the content.
fn words_of(entry: &NormalizedEntry) -> Text {
    match entry.tool() {
        Some(tool) => tool.action_type.result_text().unwrap_or_default(),
        None => entry.content.clone(),
    }
}

/// The text without the rows that stand for its pictures, which are shown instead.
pub(super) fn without_placeholders<'w>(words: Cow<'w, str>, images: &[Image]) -> Cow<'w, str> {
    let mut rows: Vec<_> =
        images.iter().filter_map(|image| row(&words, image.placeholder.clone()?)).collect();
    if rows.is_empty() {
        return words;
    }
    rows.sort_by_key(|row| row.start);
    let (mut left, mut at) = (String::new(), 0);
    for row in rows {
        left.push_str(words.get(at..row.start).unwrap_or_default());
        at = at.max(row.end);
    }
    left.push_str(words.get(at..).unwrap_or_default());
    // The last row has no line break of its own.
    if at == words.len() && left.ends_with('\n') {
        left.pop();
    }
    Cow::Owned(left)
}

/// A placeholder, with its line break if it is alone on its row.
fn row(words: &str, place: Range<usize>) -> Option<Range<usize>> {
    words.get(place.clone())?;
    let (before, after) = (words.get(..place.start)?, words.get(place.end..)?);
    let begins = before.is_empty() || before.ends_with('\n');
    Some(match begins && after.starts_with('\n') {
        true => place.start..place.end + 1,
        false => place,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_rows_at_the_places_of_pictures_are_left_out() {
        let shown = |words: &str, places: &[(usize, usize)]| {
            let image = |(start, end): &(usize, usize)| Image {
                placeholder: Some(*start..*end),
                ..Image::without_content("")
            };
            let images: Vec<_> = places.iter().map(image).collect();
            without_placeholders(Cow::Borrowed(words), &images).into_owned()
        };
        assert_eq!(shown("[a]\n[a]\nb", &[(4, 7)]), "[a]\nb");
        assert_eq!(shown("[a]\n[a]\nb", &[(4, 7), (0, 3)]), "b");
        assert_eq!(shown("b\n[a]\n[a]", &[(2, 5), (6, 9)]), "b");
        assert_eq!(shown("see [a], or", &[(4, 7)]), "see , or");
        assert_eq!(shown("ä[a]", &[(1, 4), (2, 99), (5, 2)]), "ä[a]");
        assert_eq!(shown("[a]", &[(0, 3), (0, 3)]), "");
    }
}
