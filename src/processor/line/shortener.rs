//! [`JsonShortener`]: a JSON text of any length in bounded memory.

/// Copies a JSON text, in chunks of any length, without the ends of long strings and without the white space between
/// its tokens. What it makes of JSON is JSON; of other text it makes no more than other text.
///
/// ```
/// use foldline::processor::JsonShortener;
///
/// let (mut shortener, mut short) = (JsonShortener::new(3), Vec::new());
/// shortener.push(b"{\"id\": \"a\", \"t\": \"abcde", &mut short);
/// shortener.push(b"fgh\"}", &mut short);
/// assert_eq!(short, "{\"id\":\"a\",\"t\":\"abc…[5 bytes left out]\"}".as_bytes());
/// assert_eq!(shortener.left_out(), 5);
/// ```
#[derive(Clone, Debug)]
pub struct JsonShortener {
    /// The bytes of a string, as it is written, that are kept.
    max_string: usize,
    place: Place,
    /// The bytes of the current string.
    length: usize,
    /// The bytes of the current string that were left out.
    cut: u64,
    left_out: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Between strings.
    Outside,
    /// Between the characters of a string.
    Inside,
    /// After the `\` of an escape.
    Escape,
    /// After this many digits of a Unicode escape, with their value.
    Digits(u8, u16),
    /// After the first of two escapes that are one character.
    Half,
}

impl JsonShortener {
    /// Keeps this many bytes of each string, and the rest of the character there.
    pub fn new(max_string: usize) -> Self {
        Self { max_string, place: Place::Outside, length: 0, cut: 0, left_out: 0 }
    }

    /// How many bytes of strings were left out so far.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Appends to `out` what is kept of the next bytes.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            match self.place {
                Place::Outside => {
                    let end = rest.iter().position(|byte| *byte == b'"' || is_space(*byte));
                    let (kept, next) = rest.split_at(end.unwrap_or(rest.len()));
                    out.extend_from_slice(kept);
                    let Some((&byte, after)) = next.split_first() else { return };
                    if byte == b'"' {
                        out.push(byte);
                        (self.place, self.length, self.cut) = (Place::Inside, 0, 0);
                    }
                    rest = after;
                }
                Place::Inside | Place::Half if byte != b'"' && byte != b'\\' => {
                    self.place = Place::Inside;
                    let end = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                    let (text, after) = rest.split_at(end);
                    self.text(text, out);
                    rest = after;
                }
                _ => {
                    self.special(byte, out);
                    rest = after;
                }
            }
        }
    }

    /// Text without escapes.
    fn text(&mut self, text: &[u8], out: &mut Vec<u8>) {
        let room = self.max_string.saturating_sub(self.length).min(text.len());
        let is_inner = |byte: &u8| *byte & 0b1100_0000 == 0b1000_0000;
        let mut end = if self.cut > 0 { 0 } else { room };
        if self.cut == 0 {
            end += text[end..].iter().take_while(|byte| is_inner(byte)).count();
        }
        out.extend_from_slice(&text[..end]);
        self.length += end;
        self.leave_out(text.len() - end);
    }

    /// A quote, or a byte of an escape.
    fn special(&mut self, byte: u8, out: &mut Vec<u8>) {
        self.place = match (self.place, byte) {
            (Place::Escape, b'u') => Place::Digits(0, 0),
            (Place::Digits(3, value), _) => match value << 4 | digit(byte) {
                0xD800..=0xDBFF => Place::Half,
                _ => Place::Inside,
            },
            (Place::Digits(count, value), _) => Place::Digits(count + 1, value << 4 | digit(byte)),
            (Place::Inside | Place::Half, b'"') => return self.end_string(out),
            (before @ (Place::Inside | Place::Half), _) => {
                // An escape is kept or left out as a whole, and so are both halves of a character.
                if before == Place::Inside && self.cut == 0 && self.length >= self.max_string {
                    self.leave_out(1);
                    self.place = Place::Escape;
                    return;
                }
                Place::Escape
            }
            _ => Place::Inside,
        };
        match self.cut {
            0 => {
                self.length += 1;
                out.push(byte);
            }
            _ => self.leave_out(1),
        }
    }

    fn leave_out(&mut self, count: usize) {
        self.cut += count as u64;
        self.left_out += count as u64;
    }

    fn end_string(&mut self, out: &mut Vec<u8>) {
        if self.cut > 0 {
            out.extend_from_slice(format!("…[{} bytes left out]", self.cut).as_bytes());
        }
        out.push(b'"');
        self.place = Place::Outside;
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The value of a hexadecimal digit; 0 for what is none.
fn digit(byte: u8) -> u16 {
    char::from(byte).to_digit(16).and_then(|digit| digit.try_into().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(json: &str, max_string: usize, chunk: usize) -> (String, u64) {
        let (mut shortener, mut short) = (JsonShortener::new(max_string), Vec::new());
        json.as_bytes().chunks(chunk).for_each(|bytes| shortener.push(bytes, &mut short));
        (String::from_utf8(short).unwrap(), shortener.left_out())
    }

    #[test]
    fn no_character_is_cut_in_two_whatever_the_chunks() {
        let json = r#" { "a" : "ä€😀\ud83d\ude00\n\"\\x", "b":[1, true ,"", "xyz"] } "#;
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        for chunk in 1..json.len() {
            assert_eq!(shortened(json, 100, chunk), (json.replace(' ', ""), 0));
        }
        for max_string in 1..40 {
            let (whole, left_out) = shortened(json, max_string, json.len());
            let short: serde_json::Value = serde_json::from_str(&whole).unwrap();
            let kept = short["a"].as_str().unwrap();
            let kept = kept.split_once("…[").map_or(kept, |(kept, _)| kept);
            assert!(value["a"].as_str().unwrap().starts_with(kept), "{max_string}: {whole}");
            assert_eq!(left_out == 0, short == value);
            for chunk in 1..8 {
                assert_eq!(shortened(json, max_string, chunk), (whole.clone(), left_out));
            }
        }
    }

    #[test]
    fn escapes_count_as_text() {
        assert_eq!(
            shortened(r#"["\n\n\n\n"]"#, 4, 100),
            (r#"["\n\n…[4 bytes left out]"]"#.into(), 4)
        );
    }
}
