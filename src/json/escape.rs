//! Strings in JSON (RFC 8259, section 7).

use std::fmt;

/// Appends a string with its quotes.
pub(super) fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    contents(out, text);
    out.push(b'"');
}

fn contents(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let mut start = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[start..at]);
        start = at + 1;
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
    out.extend_from_slice(&bytes[start..]);
}

/// Formatted text as the contents of a string.
pub(super) struct Escaped<'b>(pub(super) &'b mut Vec<u8>);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        contents(self.0, text);
        Ok(())
    }
}
