//! Strings in JSON (RFC 8259, section 7).

use std::fmt;

/// Appends a string with its quotes.
pub(super) fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    contents(out, text);
    out.push(b'"');
}

fn contents(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    while let Some(at) = find_special(rest) {
        let (plain, special) = rest.split_at(at);
        out.extend_from_slice(plain);
        let Some((&byte, after)) = special.split_first() else { break };
        rest = after;
        let short = match byte {
            b'"' | b'\\' => byte,
            0x08 => b'b',
            0x0C => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            _ => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
    out.extend_from_slice(rest);
}

const fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// Where the first byte stands that must be escaped.
pub(super) fn find_special(bytes: &[u8]) -> Option<usize> {
    position(bytes, is_special)
}

/// Where the first byte stands that `is` says yes to.
#[inline]
pub(super) fn position(bytes: &[u8], is: impl Fn(u8) -> bool) -> Option<usize> {
    // Within a block without an early end, so that its bytes are looked at together.
    let has_none = |block: &[u8; 16]| !block.iter().fold(false, |any, byte| any | is(*byte));
    let (blocks, _) = bytes.as_chunks();
    let before = 16 * blocks.iter().take_while(|block| has_none(block)).count();
    // The last block lies over the one before it.
    if before + 16 > bytes.len() && bytes.last_chunk().is_some_and(has_none) {
        return None;
    }
    Some(before + bytes[before..].iter().position(|byte| is(*byte))?)
}

/// Formatted text as the contents of a string.
pub(super) struct Escaped<'b>(pub(super) &'b mut Vec<u8>);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        contents(self.0, text);
        Ok(())
    }
}
