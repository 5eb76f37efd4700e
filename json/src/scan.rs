//! [`Scanner`]: finds the values of a JSON text without inspecting its strings.

mod quotes;

use std::borrow::Cow;

use self::quotes::Quotes;
pub(super) use self::quotes::{escaped, is_escaped};
use super::value::Raw;

impl<'a> Raw<'a> {
    /// Parses a text that is one JSON value, and trims the surrounding white space.
    ///
    /// # Errors
    /// The text is not one JSON value.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        if let Some(raw) = Scanner::new(text).whole() {
            return Ok(raw);
        }
        serde_json::from_str(text)
    }
}

/// Scans a JSON text (RFC 8259), value by value.
///
/// Most bytes of a log are inside strings. The scanner only needs the end of a string, which [`Quotes`] finds many
/// bytes at a time.
///
/// The scanner never rejects: it accepts a text that `serde_json` accepts, or returns `None`, in which case the
/// caller parses with `serde_json`, which decides and supplies the error. The scanner therefore need not handle rare
/// cases, such as control characters.
#[derive(Clone, Copy, Debug)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
    quotes: Quotes<'a>,
}

impl<'a> Scanner<'a> {
    /// A scanner of any text.
    pub fn new(text: &'a str) -> Self {
        let text = text.trim_matches([' ', '\t', '\r', '\n']);
        Self { text, at: 0, quotes: Quotes::of(text, false) }
    }

    /// A scanner of a text that is known to be valid JSON.
    pub const fn of(raw: Raw<'a>) -> Self {
        let text = raw.get();
        Self { text, at: 0, quotes: Quotes::of(text, true) }
    }

    /// Scans the whole text as one value.
    pub fn whole(mut self) -> Option<Raw<'a>> {
        self.skip_space();
        let value = self.value()?;
        self.end().then_some(value)
    }

    /// Whether the end is reached, and no string contained a control character.
    pub fn end(&mut self) -> bool {
        self.skip_space();
        self.at == self.text.len() && !self.quotes.has_control()
    }

    /// Calls `each` with every key and value of an object, until `each` returns `None`.
    pub fn object(&mut self, mut each: impl FnMut(Key<'a>, Raw<'a>) -> Option<()>) -> Option<()> {
        self.skip_space();
        self.expect(b'{')?;
        self.skip_space();
        if self.peek() == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            let start = self.at + 1;
            self.skip_string()?;
            let end = self.at - 1;
            let may_hold_escape = self.quotes.may_have_escaped(start, end);
            let key = Key { body: self.text.get(start..end)?, may_hold_escape };
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            each(key, self.value()?)?;
            self.skip_space();
            if self.comma_or(b'}')? {
                return Some(());
            }
            self.skip_space();
        }
    }

    /// Calls `each` with every element of an array, until `each` returns `None`.
    pub fn array(&mut self, mut each: impl FnMut(Raw<'a>) -> Option<()>) -> Option<()> {
        self.skip_space();
        self.expect(b'[')?;
        self.skip_space();
        if self.peek() == b']' {
            self.at += 1;
            return Some(());
        }
        loop {
            each(self.value()?)?;
            self.skip_space();
            if self.comma_or(b']')? {
                return Some(());
            }
            self.skip_space();
        }
    }

    /// The next byte; NUL, which is invalid between values, at the end.
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek() == byte).then(|| self.at += 1)
    }

    /// Whether the container ends at this position; otherwise consumes a comma.
    fn comma_or(&mut self, close: u8) -> Option<bool> {
        let byte = self.peek();
        self.at += 1;
        match byte {
            b',' => Some(false),
            _ => (byte == close).then_some(true),
        }
    }

    #[inline]
    fn skip_space(&mut self) {
        // Agents write no white space here.
        if self.peek() <= b' ' {
            self.skip_some_space();
        }
    }

    #[cold]
    fn skip_some_space(&mut self) {
        while let b' ' | b'\n' | b'\t' | b'\r' = self.peek() {
            self.at += 1;
        }
    }

    fn since(&self, start: usize) -> Option<Raw<'a>> {
        self.text.get(start..self.at).map(Raw::known)
    }

    /// Scans a value.
    #[inline]
    fn value(&mut self) -> Option<Raw<'a>> {
        let start = self.at;
        match self.peek() {
            b'"' => self.skip_string()?,
            other => self.skip_other(other)?,
        }
        self.since(start)
    }

    /// Skips a value other than a string that begins with `first`.
    #[inline(never)]
    fn skip_other(&mut self, first: u8) -> Option<()> {
        match (first, self.quotes.is_known()) {
            (b'{' | b'[', true) => self.skip_nested(),
            (b'{' | b'[', false) => self.nested(),
            _ => self.scalar(),
        }
    }

    #[inline]
    fn skip_string(&mut self) -> Option<()> {
        self.expect(b'"')?;
        self.at = self.quotes.find(self.at)? + 1;
        Some(())
    }

    /// Skips an object or an array that is known to be valid: it ends at the bracket that closes the first one.
    fn skip_nested(&mut self) -> Option<()> {
        let mut open = 0usize;
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            self.at += 1;
            match byte {
                b'"' => self.at = self.quotes.find(self.at)? + 1,
                b'{' | b'[' => open += 1,
                b'}' | b']' => {
                    open = open.checked_sub(1)?;
                    if open == 0 {
                        return Some(());
                    }
                }
                _ => {}
            }
        }
    }

    /// Skips an object or an array with its contents, without recursion.
    fn nested(&mut self) -> Option<()> {
        let mut open = Stack::default();
        loop {
            // The beginning of a value.
            match self.peek() {
                b'{' => {
                    self.at += 1;
                    self.skip_space();
                    if self.peek() != b'}' {
                        open.push(true);
                        self.key()?;
                        continue;
                    }
                    self.at += 1;
                }
                b'[' => {
                    self.at += 1;
                    self.skip_space();
                    if self.peek() != b']' {
                        open.push(false);
                        continue;
                    }
                    self.at += 1;
                }
                b'"' => self.skip_string()?,
                _ => self.scalar()?,
            }
            // The end of a value.
            loop {
                let Some(in_object) = open.last() else { return Some(()) };
                self.skip_space();
                if self.comma_or(if in_object { b'}' } else { b']' })? {
                    open.pop();
                    continue;
                }
                self.skip_space();
                if in_object {
                    self.key()?;
                }
                break;
            }
        }
    }

    /// Scans a key and its colon, up to the beginning of the value.
    fn key(&mut self) -> Option<()> {
        self.skip_string()?;
        self.skip_space();
        self.expect(b':')?;
        self.skip_space();
        Some(())
    }

    fn scalar(&mut self) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let word = |word: &[u8]| rest.starts_with(word).then_some(word.len());
        self.at += match rest.first()? {
            b't' => word(b"true")?,
            b'f' => word(b"false")?,
            b'n' => word(b"null")?,
            _ => number(rest)?,
        };
        Some(())
    }
}

/// A key of an object.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// The text between the quotes.
    body: &'a str,
    may_hold_escape: bool,
}

impl<'a> Key<'a> {
    /// The decoded key; `None` if it cannot be unescaped.
    #[inline]
    pub fn name(self) -> Option<Cow<'a, str>> {
        match self.may_hold_escape && self.body.contains('\\') {
            true => serde_json::from_str(&format!("\"{}\"", self.body)).ok().map(Cow::Owned),
            false => Some(Cow::Borrowed(self.body)),
        }
    }
}

/// The length of the number at the beginning of `bytes`.
fn number(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        let digits = bytes.get(from..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (digits > 0).then_some(from + digits)
    };
    let start = usize::from(bytes.first() == Some(&b'-'));
    let mut end = match bytes.get(start)? {
        b'0' => start + 1,
        _ => digits(start)?,
    };
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        end = digits(end + 1 + signed)?;
    }
    Some(end)
}

/// The open brackets, one bit each, so that nesting costs little.
#[derive(Default)]
struct Stack {
    depth: usize,
    top: u64,
    below: Vec<u64>,
}

impl Stack {
    fn push(&mut self, is_object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.below.push(self.top);
        }
        self.top = self.top << 1 | u64::from(is_object);
        self.depth += 1;
    }

    fn last(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.top & 1 == 1)
    }

    fn pop(&mut self) {
        self.top >>= 1;
        self.depth = self.depth.saturating_sub(1);
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.top = self.below.pop().unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests;
