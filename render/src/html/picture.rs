//! The pictures of an entry.

use std::borrow::Cow;

use foldline_domain::{EntryIdx, Image, NormalizedEntry};
use maud::{Markup, html};

use super::{icon::icon, text::line};
use crate::text::human;

/// The longest base64 text of a picture in a file, in bytes. A page of a server links its pictures instead.
const MOST_EMBEDDED: usize = 3 << 20;

/// The pictures of an entry.
pub(super) fn of(entry: &NormalizedEntry) -> &[Image] {
    entry.metadata.as_ref().map_or(&[], |metadata| &metadata.images)
}

/// The pictures below the text of an entry: in the page itself, or at an address of its server.
pub(super) fn pictures(index: EntryIdx, entry: &NormalizedEntry, is_served: bool) -> Markup {
    let images = of(entry);
    html! {
        @if !images.is_empty() {
            div.pictures {
                @for (number, image) in images.iter().enumerate() {
                    @let kind = image.media_type.decode();
                    @let size = human::bytes(image.bytes() as u64);
                    @let about = format!("Picture {} of {}, {kind}, {size}", number + 1, images.len());
                    @if is_served {
                        @let address = format!("?picture={}.{number}", index.get());
                        a href=(address) title="Open the picture" {
                            img src=(address) alt=(line(&*about)) loading="lazy" decoding="async";
                        }
                    } @else if image.data.size() <= MOST_EMBEDDED {
                        @let address = format!("data:{kind};base64,{}", image.data.decode());
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

/// The text without the placeholders of its pictures, which are shown instead.
pub(super) fn without_placeholders<'w>(words: Cow<'w, str>, images: &[Image]) -> Cow<'w, str> {
    if images.is_empty() {
        return words;
    }
    let ends: Vec<_> = images.iter().map(|image| format!("{} bytes]", image.bytes())).collect();
    let is_shown =
        |row: &&str| row.starts_with("[image: ") && ends.iter().any(|end| row.ends_with(end));
    let rows = words.lines().filter(|row| !is_shown(row));
    Cow::Owned(rows.collect::<Vec<_>>().join("\n"))
}
