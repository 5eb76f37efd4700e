//! Text that is encoded as base64.

use std::{ops::Range, sync::LazyLock};

use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use regex::Regex;

/// The number of characters that are decoded to see whether a word is text.
const FIRST: usize = 16;

/// The words that are encoded text, with the text.
pub(super) fn words(text: &str) -> Vec<(Range<usize>, String)> {
    /// A word, also one that is broken into lines of a usual length.
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let line = |length| format!("[A-Za-z0-9+/]{{{length}}}\\r?\\n");
        let lines = format!("(?:{}|{}|{})+[A-Za-z0-9+/]*={{0,2}}", line(76), line(64), line(60));
        Regex::new(&format!("{lines}|[A-Za-z0-9+/_-]{{24,}}={{0,2}}")).ok()
    });
    let words = WORD.iter().flat_map(|word| word.find_iter(text));
    words.filter_map(|word| Some((word.range(), decoded(word.as_str())?))).collect()
}

/// Whether a word is the encoding of several words.
pub(super) fn is_prose(word: &str) -> bool {
    decoded(word).is_some_and(|text| text.split(' ').count() > 2)
}

/// The text of a word; `None` if it is not text.
fn decoded(word: &str) -> Option<String> {
    let first = bytes(word.as_bytes().get(..FIRST)?)?;
    if !first.iter().all(|byte| matches!(byte, b'\n' | b'\r' | b'\t' | 0x20..=0x7e | 0x80..)) {
        return None;
    }
    let word: Vec<u8> = word.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    String::from_utf8(bytes(&word)?).ok()
}

/// The bytes of a word, in either alphabet, with or without padding.
fn bytes(word: &[u8]) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let is_url_safe = word.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let alphabet = if is_url_safe { &URL_SAFE } else { &STANDARD };
    GeneralPurpose::new(alphabet, config).decode(word).ok()
}
