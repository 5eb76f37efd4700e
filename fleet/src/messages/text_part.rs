//! [`TextPart`]: a part of an item that exceeds the size of a message.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The maximum length of a part in bytes: as a JSON string, with its quotes escaped, it is at most twice as long.
const MOST: usize = 440 << 10;

/// A part of an item: the texts of all parts, joined in their order, are the JSON of the item.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct TextPart<'a> {
    /// The number of the part, from 1.
    pub(super) part: usize,
    /// The number of parts.
    pub(super) parts: usize,
    /// A piece of the JSON of the item, which has the fields that this message lacks.
    #[serde(borrow)]
    pub(super) text: Cow<'a, str>,
}

impl<'a> TextPart<'a> {
    /// The parts of a text.
    pub(super) fn all(text: &'a str) -> Vec<Self> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let most = MOST.min(rest.len());
            let end = (0..=most).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(most);
            let (piece, after) = rest.split_at(end);
            pieces.push(piece);
            rest = after;
        }
        let parts = pieces.len();
        let part =
            |(index, text): (usize, &'a str)| Self { part: index + 1, parts, text: text.into() };
        pieces.into_iter().enumerate().map(part).collect()
    }
}
