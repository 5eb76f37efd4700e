//! Strings in JSON (RFC 8259, section 7).

use std::fmt;

use super::word::{below_space, equal, first, lowest};

/// Appends a string with its quotes.
pub(super) fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    contents(out, text);
    out.push(b'"');
}

fn contents(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    let Some(plain) = find_special(rest) else { return out.extend_from_slice(rest) };
    out.reserve(rest.len() + rest.len() / 16);
    out.extend_from_slice(&rest[..plain]);
    rest = &rest[plain..];
    while let Some((word, after)) = rest.split_first_chunk() {
        // Appended as a whole, and truncated at the first byte that must be escaped: most runs are short.
        out.extend_from_slice(word);
        match lowest(special(u64::from_le_bytes(*word))) {
            None => rest = after,
            Some(at) => {
                out.truncate(out.len() - word.len() + at);
                escape(out, word[at]);
                rest = &rest[at + 1..];
            }
        }
    }
    for &byte in rest {
        match special(byte.into()) & 0xFF {
            0 => out.push(byte),
            _ => escape(out, byte),
        }
    }
}

fn escape(out: &mut Vec<u8>, byte: u8) {
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
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Marks the bytes that must be escaped.
fn special(word: u64) -> u64 {
    below_space(word) | equal(word, b'"') | equal(word, b'\\')
}

/// The offset of the first byte that must be escaped.
pub(super) fn find_special(bytes: &[u8]) -> Option<usize> {
    first(bytes, special)
}

/// Writes formatted text as the contents of a string.
pub(super) struct Escaped<'b>(pub(super) &'b mut Vec<u8>);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        contents(self.0, text);
        Ok(())
    }
}
