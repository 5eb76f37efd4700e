//! Escapes within a JSON literal, found and counted without decoding it.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use wide::u8x64;

use super::{
    scan::{escaped, is_escaped},
    word::{equal, first},
};

const BLOCK: usize = 64;

/// Whether there is a backslash in the text between the quotes.
pub fn has_escape(body: &str) -> bool {
    first(body.as_bytes(), |word| equal(word, b'\\')).is_some()
}

/// Whether a character may be written as a `\\u` escape.
pub(super) fn has_code(body: &str) -> bool {
    static CODE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\\u"));
    // Most short texts contain no escape, and setting up a search takes longer than scanning them.
    const SHORT: usize = 128;
    (body.len() > SHORT || has_escape(body)) && CODE.find(body.as_bytes()).is_some()
}

/// The part before `escape`, if `body` ends with it.
pub(super) fn strip_escape<'b>(body: &'b str, escape: &[u8; 2]) -> Option<&'b str> {
    let before = body.len().checked_sub(escape.len())?;
    let bytes = body.as_bytes();
    let is_last = bytes.last_chunk() == Some(escape) && !is_escaped(bytes, before);
    body.get(..before).filter(|_| is_last)
}

/// The number of escaped line feeds between the quotes of a string.
pub fn count_line_feeds(body: &str) -> usize {
    let mut count = 0;
    each_block(body, |block, escaped| {
        count += (escaped & is(block, b'n')).count_ones() as usize;
    });
    count
}

/// The number of escapes between the quotes of a string, if each has two bytes, so that none is a `\u` code.
pub(super) fn count_short(body: &str) -> Option<usize> {
    let (mut count, mut codes) = (0, 0);
    each_block(body, |block, escaped| {
        count += escaped.count_ones() as usize;
        codes |= escaped & is(block, b'u');
    });
    (codes == 0).then_some(count)
}

/// Calls `each` with every block of 64 bytes that contains an escape, and a mask of the bytes after a backslash.
#[inline]
fn each_block(body: &str, mut each: impl FnMut(u8x64, u64)) {
    let (blocks, rest) = body.as_bytes().as_chunks();
    let mut last = [b' '; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    let last = (!rest.is_empty()).then_some(&last);
    let mut carry = false;
    for block in blocks.iter().chain(last) {
        let block = u8x64::new(*block);
        let escaped = escaped(is(block, b'\\'), &mut carry);
        if escaped != 0 {
            each(block, escaped);
        }
    }
}

#[inline]
fn is(block: u8x64, byte: u8) -> u64 {
    block.simd_eq(u8x64::splat(byte)).to_bitmask()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_counted_one_by_one(
            pieces in prop::collection::vec(prop::sample::select(vec!["a", "n", "u", "\\n", "\\\\", "\\t", "\\\"", "é"]), 0..200),
            has_code in prop::bool::weighted(0.2),
        ) {
            let count = |of: &dyn Fn(&str) -> bool| pieces.iter().filter(|piece| of(piece)).count();
            let body = pieces.concat();
            prop_assert_eq!(count_line_feeds(&body), count(&|piece| piece == "\\n"));
            prop_assert_eq!(count_short(&body), Some(count(&|piece| piece.starts_with('\\'))));
            if has_code {
                prop_assert_eq!(count_short(&(body + "\\u0041")), None);
            }
        }
    }
}
