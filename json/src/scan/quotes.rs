//! [`Quotes`]: finds the ends of strings, 64 bytes at a time.

use memchr::memchr;
use wide::u8x64;

/// The size of a block in bytes.
const BLOCK: usize = 64;

/// Finds the unescaped quotes of a text, from its beginning on.
///
/// Bytes are converted to bits, with simdjson's arithmetic for escapes (Langdale and Lemire, "Parsing Gigabytes of
/// JSON per Second", 2019).
#[derive(Clone, Copy, Debug)]
pub(super) struct Quotes<'a> {
    bytes: &'a [u8],
    /// Whether the text is known to be JSON.
    is_known: bool,
    /// The beginning of the block after the current one.
    next: usize,
    /// The quotes of the current block, lowest bit first.
    quotes: u64,
    /// The backslashes of the current block.
    backslashes: u64,
    /// Whether the first byte of the next block is escaped.
    escaped: bool,
    /// Whether the blocks so far contain a control character.
    has_control: bool,
}

impl<'a> Quotes<'a> {
    /// The quotes of a text, which is not checked if it is known to be JSON.
    pub(super) const fn of(text: &'a str, is_known: bool) -> Self {
        Self {
            bytes: text.as_bytes(),
            is_known,
            next: 0,
            quotes: 0,
            backslashes: 0,
            escaped: false,
            has_control: false,
        }
    }

    /// Whether the text is known to be JSON.
    pub(super) const fn is_known(&self) -> bool {
        self.is_known
    }

    /// The position of the first quote from `at` on; `at` never decreases. `None` if there is no quote, or an invalid
    /// escape before it.
    #[inline]
    pub(super) fn find(&mut self, at: usize) -> Option<usize> {
        match self.find_in_block(at) {
            None => self.find_ahead(at),
            found => found,
        }
    }

    #[inline]
    fn find_in_block(&self, at: usize) -> Option<usize> {
        let block = self.next.checked_sub(BLOCK).filter(|_| at < self.next)?;
        let ahead = self.quotes & u64::MAX << at.saturating_sub(block);
        (ahead != 0).then(|| block + ahead.trailing_zeros() as usize)
    }

    /// Like `find`, after the current block.
    #[inline(never)]
    fn find_ahead(&mut self, at: usize) -> Option<usize> {
        loop {
            self.read_block()?;
            let found = match self.find_in_block(at) {
                None if self.is_known => self.find_far(at)?,
                found => found,
            };
            if found.is_some() {
                return found;
            }
        }
    }

    /// Skips the rest of a long string in a text that need not be checked: its end, if the next quote is that. Where a
    /// quote is escaped, others follow, which blocks find faster.
    fn find_far(&mut self, at: usize) -> Option<Option<usize>> {
        let from = self.next.max(at);
        let quote = from + memchr(b'"', self.bytes.get(from..)?)?;
        let is_escaped = is_escaped(self.bytes.get(at..)?, quote - at);
        // The next block begins after the quote; the backslashes before it are unknown.
        self.next = quote + 1;
        (self.quotes, self.backslashes, self.escaped) = (0, u64::MAX, false);
        Some((!is_escaped).then_some(quote))
    }

    #[inline]
    fn read_block(&mut self) -> Option<()> {
        let start = self.next;
        let rest = self.bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let block = u8x64::new(rest.first_chunk().copied().unwrap_or_else(|| {
            let mut padded = [b' '; BLOCK];
            padded[..rest.len()].copy_from_slice(rest);
            padded
        }));
        let is = |byte| block.simd_eq(u8x64::splat(byte)).to_bitmask();
        let (quotes, backslashes) = (is(b'"'), is(b'\\'));
        let escaped = escaped(backslashes, &mut self.escaped);
        if !self.is_known {
            self.has_control |= block.min(u8x64::splat(b' ' - 1)).simd_eq(block).any();
            if escaped != 0 {
                let mut others = escaped & !(quotes | backslashes | is(b'n'));
                while others != 0 {
                    let at = start + others.trailing_zeros() as usize;
                    is_escape(self.bytes.get(at..)?).then_some(())?;
                    others &= others - 1;
                }
            }
        }
        self.quotes = quotes & !escaped;
        self.backslashes = backslashes;
        self.next = start + BLOCK;
        Some(())
    }

    /// Whether there may be an escape between `start` and the quote at `end`, which was just found.
    pub(super) fn may_have_escaped(&self, start: usize, end: usize) -> bool {
        let block = self.next - BLOCK;
        let Some(start) = start.checked_sub(block) else { return true };
        self.backslashes >> start << start << (BLOCK - 1 - (end - block)) != 0
    }

    /// Whether the blocks so far contain a control character, which is invalid in strings.
    pub(super) fn has_control(&self) -> bool {
        self.has_control
    }
}

/// Whether the byte at `at` is escaped: it follows an odd number of backslashes.
pub(crate) fn is_escaped(body: &[u8], at: usize) -> bool {
    let before = body.get(..at).unwrap_or_default().iter().rev();
    before.take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Marks the bytes after a backslash that is not itself escaped. `first` is the carry: whether the first byte of this
/// block is escaped, and on return whether that of the next block is.
pub(crate) const fn escaped(backslashes: u64, first: &mut bool) -> u64 {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    let carried = *first as u64;
    if backslashes == 0 {
        *first = false;
        return carried;
    }
    // The first backslash of each run escapes; a subtraction finds every other backslash of a run.
    let begins = backslashes & !carried;
    let alternating = ((begins << 1 | ODD).wrapping_sub(begins)) ^ ODD;
    *first = (alternating & backslashes) >> 63 == 1;
    alternating ^ (backslashes | carried)
}

/// Whether the beginning of `bytes` is valid after a backslash.
fn is_escape(bytes: &[u8]) -> bool {
    match bytes {
        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => true,
        [b'u', digits @ ..] => {
            digits.first_chunk::<4>().is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        }
        _ => false,
    }
}
