//! The pictures of a record.
//!
//! Agents write pictures in a dozen notations, which all end in one string: the base64 text, alone or in a `data:`
//! address. Executors replace each picture by a placeholder that states its size, and this module gives each entry
//! the pictures that its placeholders mention, so that no executor needs to carry them.

use std::sync::Arc;

use foldline::transduce::Batch;
use foldline_domain::{DomainEvent, Image, NormalizedEntry, Text};
use foldline_json::decode_literal;
use memchr::{memchr2, memmem};

/// The start of the placeholder of a picture.
const PLACEHOLDER: &str = "[image: ";

/// Adds to each entry the pictures that it mentions. `source` is the text of the record.
pub(super) fn attach(source: &str, events: &mut Batch<DomainEvent>) {
    let mut pictures: Option<Vec<(Image, bool)>> = None;
    for event in events.as_mut_slice() {
        let Some(entry) = entry_of(event).filter(|entry| may_mention(entry)) else { continue };
        let sizes = mentioned(entry);
        if sizes.is_empty() {
            continue;
        }
        let pictures = pictures.get_or_insert_with(|| {
            pictures_of(source).into_iter().map(|picture| (picture, false)).collect()
        });
        let found = sizes.into_iter().filter_map(|size| take(pictures, size)).collect::<Vec<_>>();
        if !found.is_empty() {
            Arc::make_mut(entry).metadata_mut().images = found;
        }
    }
}

fn entry_of(event: &mut DomainEvent) -> Option<&mut Arc<NormalizedEntry>> {
    match event {
        DomainEvent::NewEntry { entry }
        | DomainEvent::OpenEntry { entry, .. }
        | DomainEvent::CloseEntry { entry: Some(entry), .. }
        | DomainEvent::NewToolCall { entry, .. }
        | DomainEvent::UpdateToolCall { entry, .. } => Some(entry),
        _ => None,
    }
}

/// The texts of an entry that may contain placeholders.
fn texts(entry: &NormalizedEntry) -> impl Iterator<Item = &Text> {
    let result = entry.tool().and_then(|tool| tool.action_type.result()?.ok());
    std::iter::once(&entry.content).chain(result)
}

/// Whether an entry may contain a placeholder. Most texts are strings of the log, which are not searched.
fn may_mention(entry: &NormalizedEntry) -> bool {
    texts(entry).any(|text| match text.as_created() {
        Some(text) => text.contains(PLACEHOLDER),
        None => text.begins_with(PLACEHOLDER),
    })
}

/// The sizes of the mentioned pictures in bytes.
fn mentioned(entry: &NormalizedEntry) -> Vec<usize> {
    let mut sizes = Vec::new();
    for text in texts(entry) {
        sizes.extend(text.decode().split(PLACEHOLDER).skip(1).filter_map(size));
    }
    sizes
}

/// The size in a placeholder: `image/png, 123 bytes]`.
fn size(rest: &str) -> Option<usize> {
    let facts = rest.split([']', '\n']).next()?;
    facts.rsplit(", ").next()?.strip_suffix(" bytes")?.parse().ok()
}

/// The first picture of a size that no entry has; one that another entry has if there is none.
fn take(pictures: &mut [(Image, bool)], size: usize) -> Option<Image> {
    let is_it = |(picture, _): &(Image, bool)| picture.bytes() == size;
    let at = pictures.iter().position(|picture| is_it(picture) && !picture.1);
    let at = at.or_else(|| pictures.iter().position(is_it))?;
    let (picture, is_taken) = pictures.get_mut(at)?;
    *is_taken = true;
    Some(picture.clone())
}

/// The pictures in the strings of a JSON text, in order.
fn pictures_of(source: &str) -> Vec<Image> {
    let mut pictures = Vec::new();
    let mut rest = source;
    while let Some((literal, after)) = next_string(rest) {
        rest = after;
        // The shortest picture is longer.
        if literal.len() > 32 {
            pictures.extend(picture(literal));
        }
    }
    pictures
}

/// The picture that a string literal is.
fn picture(literal: &str) -> Option<Image> {
    let begin = literal.get(1..)?;
    let is_address = begin.starts_with("data:");
    // An escaped slash is decoded.
    if !is_address && Image::media_type_of(begin).is_none() && !begin.starts_with("\\/9j") {
        return None;
    }
    let text = decode_literal(literal);
    let data = match text.strip_prefix("data:") {
        Some(address) => address.split_at(memmem::find(address.as_bytes(), b";base64,")?).1,
        None => return Image::from_base64(&text),
    };
    Image::from_base64(data.strip_prefix(";base64,")?)
}

/// The next string literal of a JSON text, with its quotes, and the text after it.
fn next_string(text: &str) -> Option<(&str, &str)> {
    let begin = text.find('"')?;
    let mut end = begin + 1;
    loop {
        let at = end + memchr2(b'"', b'\\', text.as_bytes().get(end..)?)?;
        if text.as_bytes().get(at) == Some(&b'"') {
            return Some((text.get(begin..=at)?, text.get(at + 1..)?));
        }
        end = at + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_domain::NormalizedEntryType;

    const GIF: &str = "R0lGODlhAQABAAAAACwAAAAAAQABAAA=";

    fn attached(source: &str, texts: &[&str]) -> Vec<usize> {
        let entry = |text: &&str| {
            let text = Text::from((*text).to_owned());
            DomainEvent::entry(NormalizedEntry::new(NormalizedEntryType::UserMessage, text))
        };
        let mut events: Batch<_> = texts.iter().map(entry).collect();
        attach(source, &mut events);
        let images = |event: &mut DomainEvent| {
            let metadata = entry_of(event)?.metadata.as_ref();
            Some(metadata.map_or(0, |metadata| metadata.images.len()))
        };
        events.as_mut_slice().iter_mut().filter_map(images).collect()
    }

    #[test]
    fn every_notation_is_found() {
        let said = "see\n[image: image/gif, 23 bytes]";
        for source in [
            format!(r#"{{"source":{{"type":"base64","media_type":"image/gif","data":"{GIF}"}}}}"#),
            format!(r#"{{"image_url":"data:image/gif;base64,{GIF}"}}"#),
            format!(r#"{{"x":"\"\\","images":["data:image\/gif;base64,{GIF}"]}}"#),
        ] {
            assert_eq!(attached(&source, &[said, "x"]), [1, 0], "{source}");
            assert_eq!(attached(&source, &["[image: image/gif, 24 bytes]"]), [0]);
            assert_eq!(attached(&source, &["[image: a, b, image/gif, 23 bytes]", said]), [1, 1]);
        }
        for source in ["", "{\"a", "{\"data:", "\"data:;base64,\"", "\"data:image/png;base64,x y\""]
        {
            assert_eq!(attached(source, &[said]), [0], "{source}");
        }
    }

    #[test]
    fn an_escaped_slash_is_a_slash() {
        let data = format!(r"\/9j\/{}", "A".repeat(35));
        assert_eq!(
            attached(&format!(r#"{{"data":"{data}"}}"#), &["[image: image/png, 30 bytes]"]),
            [0]
        );
        assert_eq!(
            attached(&format!(r#"{{"data":"{data}"}}"#), &["[image: image/png, 29 bytes]"]),
            [1]
        );
    }
}
