//! Escapes within a JSON literal, found without decoding it.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::has_escape;

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
    let is_last = body.as_bytes().last_chunk() == Some(escape) && begins_escape(body, before);
    body.get(..before).filter(|_| is_last)
}

/// Whether the backslash at `at` is not itself escaped.
pub(super) fn begins_escape(body: &str, at: usize) -> bool {
    let before = body.as_bytes().iter().take(at).rev();
    before.take_while(|byte| **byte == b'\\').count() % 2 == 0
}
