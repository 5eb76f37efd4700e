//! [`LineInputs`]: the inputs that a decoder extracts from a line of a log, one after another.

use std::borrow::Cow;

use super::{FramerState, Line, encoding::Offsets, framer::HEAD, shift};
use crate::{
    position::{Digest, Located, Position},
    processor::decode::{Damage, Decode},
};

/// The unread inputs of a line; `C` is the decoder's cursor.
#[derive(Clone, Debug)]
pub(in crate::processor) struct LineInputs<'b, C> {
    position: Position,
    text: Cow<'b, str>,
    offsets: Offsets,
    cursor: C,
    /// The input of which `text` is only the beginning was read, so the rest is skipped.
    has_ended: bool,
    /// The first invalid UTF-8 byte, until it was reported.
    invalid: Option<usize>,
    /// The length and the digest of a line of which parts were left out, until that was reported.
    too_long: Option<(u64, Option<Digest>)>,
    /// `text` is the line without the ends of long strings.
    is_shortened: bool,
    /// The number of inputs read, without the report of invalid UTF-8.
    read: u64,
}

impl<'b, C: Default> LineInputs<'b, C> {
    pub(in crate::processor) fn new(line: Line<'b>) -> Self {
        let Line { position, bytes, skipped, is_shortened, sha256, lines, next } = line;
        let FramerState { encoding, .. } = next;
        let mut too_long =
            (skipped > 0 || is_shortened).then(|| (bytes.len() as u64 + skipped, sha256));
        let (mut offsets, mut invalid) = (Offsets::of(encoding), None);
        let mut text = match simdutf8::compat::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(error) => {
                invalid = Some(error.valid_up_to());
                if is_binary(bytes) {
                    too_long = Some((bytes.len() as u64, Some(Digest::of(bytes))));
                }
                let kept = if too_long.is_some() { bytes.len().min(HEAD) } else { bytes.len() };
                let (repaired, text) = Offsets::repair(bytes.get(..kept).unwrap_or(bytes));
                offsets = repaired;
                Cow::Owned(text)
            }
        };
        if lines > 1 {
            // Between the lines of a record there is only white space: no string contains a line break.
            text = Cow::Owned(text.replace('\n', " "));
        }
        let (cursor, has_ended) = (C::default(), false);
        Self {
            position,
            text,
            offsets,
            cursor,
            has_ended,
            invalid,
            too_long,
            is_shortened,
            read: 0,
        }
    }

    /// The text of the line exactly as in the log, with a function from an offset to a position; `None` if it was
    /// repaired or truncated.
    pub(in crate::processor) fn verbatim(&self) -> Option<(&'b str, impl Fn(usize) -> Position)> {
        let Cow::Borrowed(text) = self.text else { return None };
        let (at, offsets) = (self.position, &self.offsets);
        let position = move |byte| offsets.position(at, text, byte);
        (self.too_long.is_none() && !self.is_shortened).then_some((text, position))
    }

    /// Shifts the position of the line by `before`.
    pub(in crate::processor) fn shift(&mut self, before: Position) {
        shift(&mut self.position, before);
    }

    /// The same, with owned text.
    pub(in crate::processor) fn into_owned(self) -> LineInputs<'static, C> {
        let text = Cow::Owned(self.text.into_owned());
        LineInputs { text, ..self }
    }

    pub(in crate::processor) fn next<D>(&mut self, decoder: &D) -> Option<Located<D::Input<'_>>>
    where
        D: Decode<Cursor = C>,
    {
        let Self { position, text, offsets, cursor, has_ended, invalid, too_long, .. } = self;
        let read = &mut self.read;
        if let Some(input) =
            invalid.take().and_then(|at| decoder.damage(Damage::InvalidUtf8 { at }))
        {
            return Some(Located::new(*position, input));
        }
        if let Some((bytes, sha256)) = too_long.take() {
            if !self.is_shortened {
                *has_ended = true;
                *read += 1;
                let damage = Damage::TooLong { head: text, bytes, sha256 };
                return Some(Located::new(*position, decoder.damage(damage)?));
            }
            if let Some(input) = decoder.damage(Damage::Shortened { bytes, sha256 }) {
                return Some(Located::new(*position, input));
            }
        }
        let (at, input) = if *has_ended { None } else { decoder.next(cursor, text) }?;
        *read += 1;
        Some(Located::new(offsets.reach(*position, text, at), input))
    }

    /// The number of inputs read, without the report of invalid UTF-8.
    pub(in crate::processor) fn read(&self) -> u64 {
        self.read
    }

    /// Whether the line was read to its end without any input.
    pub(in crate::processor) fn is_blank(&self) -> bool {
        self.read == 0 && !self.offsets.is_repaired()
    }

    /// Skips inputs that were read earlier.
    pub(in crate::processor) fn skip(&mut self, decoder: &impl Decode<Cursor = C>, inputs: u64) {
        let Self { text, cursor, invalid, too_long, is_shortened, read, .. } = self;
        // A truncated line was not read in parts.
        if inputs > 0 && too_long.is_none() && !*is_shortened {
            *invalid = None;
            while *read < inputs && decoder.next(cursor, text).is_some() {
                *read += 1;
            }
        }
    }

    /// The position of the next input, if reading can be interrupted before it: not between the report of invalid
    /// UTF-8 and the first input, which have the same position.
    pub(in crate::processor) fn pause(
        &self,
        decoder: &impl Decode<Cursor = C>,
    ) -> Option<Position> {
        let Self { position, text, offsets, cursor, has_ended, invalid, too_long, read, .. } = self;
        if *read == 0 && (invalid.is_some() || !offsets.is_repaired()) {
            return Some(*position);
        }
        let is_within = *read > 0 && too_long.is_none() && !has_ended && !self.is_shortened;
        let at = decoder.peek(cursor, text).filter(|_| is_within)?;
        Some(offsets.position(*position, text, at))
    }
}

/// Whether a long line is binary: too much of it is invalid UTF-8 for replacement to be useful.
fn is_binary(bytes: &[u8]) -> bool {
    const REPAIRED: usize = 1000;
    bytes.len() > 64 << 10
        && bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).nth(REPAIRED).is_some()
}
