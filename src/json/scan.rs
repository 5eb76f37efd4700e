//! [`Scanner`]: finds the values of a JSON text without looking into its strings.

use std::borrow::Cow;

use wide::u8x64;

use super::Raw;

/// Walks over a JSON text (RFC 8259), value by value.
///
/// Most of a log is the insides of strings, and of those only the end is of interest: quotes and
/// backslashes are found 64 bytes at a time, with the arithmetic of simdjson (Langdale and Lemire,
/// "Parsing Gigabytes of JSON per Second", 2019) for which of them are escaped.
///
/// The scanner only ever says yes: it takes a text exactly as `serde_json` does, or gives `None`, and
/// then `serde_json` is asked, for a verdict and for the error. So it can leave aside what is rare,
/// such as control characters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Where the block after the current one begins.
    next: usize,
    /// The quotes of the current block that no backslash escapes, from the lowest bit on.
    quotes: u64,
    /// The backslashes of the current block.
    backslashes: u64,
    /// Whether the first byte of the next block is escaped.
    escaped: bool,
    /// Of each place in a block, the lowest byte that any block has there.
    lowest: u8x64,
    /// Whether the text is known to be JSON.
    is_known: bool,
}

impl<'a> Scanner<'a> {
    /// Over any text.
    pub(crate) const fn new(text: &'a str) -> Self {
        let lowest = u8x64::new([u8::MAX; BLOCK]);
        Self {
            text,
            at: 0,
            next: 0,
            quotes: 0,
            backslashes: 0,
            escaped: false,
            lowest,
            is_known: false,
        }
    }

    /// Over a value that is known to be one.
    pub(crate) const fn of(raw: Raw<'a>) -> Self {
        Self { is_known: true, ..Self::new(raw.get()) }
    }

    /// The whole text as one value.
    pub(crate) fn whole(mut self) -> Option<Raw<'a>> {
        self.skip_space();
        let value = self.value()?;
        self.end().then_some(value)
    }

    /// Whether nothing more follows, and no string held a control character, which none may.
    pub(crate) fn end(&mut self) -> bool {
        self.skip_space();
        let has_control = || self.lowest.to_array().iter().fold(false, |any, b| any | (*b < b' '));
        self.at == self.text.len() && (self.is_known || !has_control())
    }

    /// Goes through an object: each key and its value; `each` may end it by `None`.
    pub(crate) fn object(
        &mut self,
        mut each: impl FnMut(Key<'a>, Raw<'a>) -> Option<()>,
    ) -> Option<()> {
        self.skip_space();
        self.expect(b'{')?;
        self.skip_space();
        if self.peek() == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            self.skip_space();
            let literal = self.string()?;
            let key = Key { literal, may_hold_escape: self.may_hold_escape(literal) };
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            let value = self.value()?;
            each(key, value)?;
            self.skip_space();
            if self.comma_or(b'}')? {
                return Some(());
            }
        }
    }

    /// Goes through an array; `each` may end it by `None`.
    pub(crate) fn array(&mut self, mut each: impl FnMut(Raw<'a>) -> Option<()>) -> Option<()> {
        self.skip_space();
        self.expect(b'[')?;
        self.skip_space();
        if self.peek() == b']' {
            self.at += 1;
            return Some(());
        }
        loop {
            self.skip_space();
            each(self.value()?)?;
            self.skip_space();
            if self.comma_or(b']')? {
                return Some(());
            }
        }
    }

    /// The next byte; NUL, which stands nowhere between values, at the end.
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek() == byte).then(|| self.at += 1)
    }

    /// Whether the container ends here; otherwise a comma must stand here.
    fn comma_or(&mut self, close: u8) -> Option<bool> {
        let byte = self.peek();
        self.at += 1;
        match byte {
            b',' => Some(false),
            _ => (byte == close).then_some(true),
        }
    }

    fn skip_space(&mut self) {
        while let b' ' | b'\n' | b'\t' | b'\r' = self.peek() {
            self.at += 1;
        }
    }

    fn since(&self, start: usize) -> Option<Raw<'a>> {
        self.text.get(start..self.at).map(Raw::known)
    }

    /// A value that begins here.
    fn value(&mut self) -> Option<Raw<'a>> {
        let start = self.at;
        match self.peek() {
            b'"' => return self.string(),
            b'{' | b'[' => self.nested()?,
            _ => self.scalar()?,
        }
        self.since(start)
    }

    #[inline]
    fn string(&mut self) -> Option<Raw<'a>> {
        let start = self.at;
        self.expect(b'"')?;
        self.at = self.quote()? + 1;
        self.since(start)
    }

    /// Where the next quote stands that no backslash escapes.
    #[inline]
    fn quote(&mut self) -> Option<usize> {
        loop {
            if self.at < self.next {
                let block = self.next - BLOCK;
                let ahead = self.quotes & u64::MAX << self.at.saturating_sub(block);
                if ahead != 0 {
                    return Some(block + ahead.trailing_zeros() as usize);
                }
            }
            self.read_block()?;
        }
    }

    /// Reads the next block; `None` at the end, or if a backslash escapes what cannot be escaped.
    #[inline(never)]
    fn read_block(&mut self) -> Option<()> {
        let start = self.next;
        let rest = self.text.as_bytes().get(start..).filter(|rest| !rest.is_empty())?;
        let block = u8x64::new(rest.first_chunk().copied().unwrap_or_else(|| {
            let mut padded = [b' '; BLOCK];
            padded[..rest.len()].copy_from_slice(rest);
            padded
        }));
        let is = |byte| block.simd_eq(u8x64::splat(byte)).to_bitmask();
        let (quotes, backslashes) = (is(b'"'), is(b'\\'));
        let escaped = escaped(backslashes, &mut self.escaped);
        if !self.is_known {
            self.lowest = self.lowest.min(block);
            if escaped != 0 {
                let mut others = escaped & !(quotes | backslashes | is(b'n'));
                while others != 0 {
                    let at = start + others.trailing_zeros() as usize;
                    is_escape(self.text.as_bytes().get(at..)?).then_some(())?;
                    others &= others - 1;
                }
            }
        }
        self.quotes = quotes & !escaped;
        self.backslashes = backslashes;
        self.next = start + BLOCK;
        Some(())
    }

    /// Whether the string that was just read may hold an escape.
    fn may_hold_escape(&self, literal: Raw<'_>) -> bool {
        let block = self.next - BLOCK;
        let (start, end) = (self.at - literal.get().len(), self.at - 1 - block);
        match start.checked_sub(block) {
            Some(start) => self.backslashes >> start << start << (BLOCK - 1 - end) != 0,
            None => true,
        }
    }

    /// An object or an array and all that is in it, without recursion.
    fn nested(&mut self) -> Option<()> {
        let mut open = Stack::default();
        loop {
            // Here a value begins.
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
                b'"' => {
                    self.string()?;
                }
                _ => self.scalar()?,
            }
            // Here one has ended.
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

    /// A key and its colon, up to where the value begins.
    fn key(&mut self) -> Option<()> {
        self.string()?;
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
pub(crate) struct Key<'a> {
    literal: Raw<'a>,
    may_hold_escape: bool,
}

impl<'a> Key<'a> {
    /// The key itself; `None` if it cannot be unescaped.
    #[inline]
    pub(crate) fn name(self) -> Option<Cow<'a, str>> {
        let literal = self.literal.get();
        let body = literal.get(1..literal.len() - 1)?;
        match self.may_hold_escape && body.contains('\\') {
            true => serde_json::from_str(literal).ok().map(Cow::Owned),
            false => Some(Cow::Borrowed(body)),
        }
    }
}

/// How many bytes are looked at together.
const BLOCK: usize = 64;

/// Which bytes stand after a backslash that is not itself escaped. `first` says so of the first byte,
/// and then of the first byte of what follows.
const fn escaped(backslashes: u64, first: &mut bool) -> u64 {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    let carried = *first as u64;
    if backslashes == 0 {
        *first = false;
        return carried;
    }
    // Each run of backslashes begins with one that escapes; a subtraction finds every other of a run.
    let begins = backslashes & !carried;
    let alternating = ((begins << 1 | ODD).wrapping_sub(begins)) ^ ODD;
    *first = (alternating & backslashes) >> 63 == 1;
    alternating ^ (backslashes | carried)
}

/// Whether a backslash may stand before what `bytes` begin with.
fn is_escape(bytes: &[u8]) -> bool {
    match bytes {
        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => true,
        [b'u', digits @ ..] => {
            digits.first_chunk::<4>().is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        }
        _ => false,
    }
}

/// The length of the number that `bytes` begin with.
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

/// What brackets are open: a bit for each, so that depth costs next to nothing.
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
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    fn scan(text: &str) -> Option<&str> {
        Scanner::new(text).whole().map(Raw::get)
    }

    fn reference(text: &str) -> Option<&str> {
        serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get)
    }

    #[test]
    fn takes_what_serde_json_takes() {
        let deep = format!("{}1{}", "[{\"a\":".repeat(1000), "}]".repeat(1000));
        for text in [
            r#"{"a":1,"b":[true,false,null,{}],"c":"x\"y\\","d":{"e":[[],[[]]]}}"#,
            "[1, -0, 0.5, 1e5, 1E+5, 12.25e-7]",
            r#" "caf\u00e9 \ud800 \/ \b\f\n\r\t" "#,
            "[]",
            "{ }",
            "0",
            "null",
            &deep,
        ] {
            assert!(scan(text).is_some(), "{text}");
            assert_eq!(scan(text), reference(text), "{text}");
        }
    }

    #[test]
    fn leaves_what_is_no_json() {
        for text in [
            "",
            " ",
            "{",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "[1]]",
            "[1}",
            "{\"a\":1]",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "1e+",
            "+1",
            "tru",
            "truex",
            "nul",
            "\"",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"a\"b",
            "1 2",
            "\"a\u{1}\"",
            "\u{feff}1",
        ] {
            assert_eq!(scan(text), None, "{text}");
            assert_eq!(reference(text), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// Strings with runs of backslashes of every length, at every place of a block.
        #[test]
        fn knows_what_is_escaped(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "\\", "\\\\", "\"", "n", "u00e9", "x", "é", "................", "\u{1}", "\n",
            ]), 0..100),
        ) {
            let text = format!("[\"{}\"]", pieces.concat());
            let of_one = Scanner::new(&text).whole().map(Raw::get);
            prop_assert!(of_one.is_none() || of_one == reference(&text));
            if !text.contains(['\u{1}', '\n']) {
                prop_assert_eq!(of_one, reference(&text));
            }
        }

        /// Texts of JSON's own pieces are, now and then, JSON.
        #[test]
        fn says_what_serde_json_says(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "{", "}", "[", "]", ":", ",", "\"a\"", "\"", "\\", "\\u", "00e9", "\"\\n\"", "1", "-", "0",
                ".", "e", "+", "true", "null", " ", "é", "\"k\":", "[1,", "{\"a\":", "}]", "\"x\\\\\"",
            ]), 0..12),
        ) {
            let text = pieces.concat();
            prop_assert_eq!(scan(&text), reference(&text));
        }

        #[test]
        fn every_value_is_taken(
            value in crate::json::tests::any_json(),
            cut in any::<prop::sample::Index>(),
        ) {
            let text = value.to_string();
            prop_assert_eq!(scan(&text), Some(text.as_str()));
            let cut: String = text.chars().take(cut.index(text.len() + 1)).collect();
            prop_assert_eq!(scan(&cut), reference(&cut));
        }
    }
}
