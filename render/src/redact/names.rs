//! Secrets that are known by their names: `PASSWORD=..`, `"apiKey": ".."`, `--token ..`, `password is ..`.

use std::ops::Range;

use super::{
    harmless::{is_code, is_expression, is_opaque, is_path, is_placeholder},
    words::{Naming, naming},
};

/// The maximum length of the part of a name before or after a word for a secret.
const MOST: usize = 64;

/// The maximum number of names in a value that is not a secret, which bounds the time.
const MOST_NAMES: usize = 16;

/// The minimum length of a secret with a name.
const LEAST: usize = 3;

/// A value and how it is written.
struct Written {
    range: Range<usize>,
    is_quoted: bool,
    /// There is no white space between the name and the value.
    is_tight: bool,
    /// It is an argument after an option.
    is_argument: bool,
    /// It is all that a line has.
    is_line: bool,
    /// It follows a word such as `is`.
    is_said: bool,
}

/// The secrets in a text, of which `hits` are the positions of words in names, in ascending order. From `string` on, the
/// text is the content of a string.
pub(super) fn secrets(text: &str, hits: &[usize], string: Option<usize>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut done = 0;
    // The last value, and the number of names in it.
    let (mut last, mut names) = (0, 0);
    for hit in hits.iter().copied() {
        if hit < done {
            continue;
        }
        let name = name(text.as_bytes(), hit);
        done = name.end.max(hit + 1);
        let Some(value) = named_value(text, name, string) else { continue };
        match value {
            Ok(secret) => {
                done = secret.end;
                found.push(secret);
            }
            Err(value) if value.end <= last && names >= MOST_NAMES => done = value.end,
            Err(value) if value.end <= last => names += 1,
            Err(value) => (last, names) = (value.end, 0),
        }
    }
    found
}

/// The name around a word.
fn name(bytes: &[u8], hit: usize) -> Range<usize> {
    let is_of = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let before = bytes.get(..hit).unwrap_or_default().iter().rev().take(MOST).take_while(is_of);
    let after = bytes.get(hit..).unwrap_or_default().iter().take(MOST).take_while(is_of);
    let (begin, end) = (hit - before.count(), hit + after.count());
    let after = bytes.get(begin..end).unwrap_or_default().iter().rev();
    let trimmed = after.take_while(|byte| b"-.".contains(byte)).count();
    begin..(end - trimmed).max(begin)
}

/// The value of a name of a secret: a secret, or something else.
fn named_value(
    text: &str,
    name: Range<usize>,
    string: Option<usize>,
) -> Option<Result<Range<usize>, Range<usize>>> {
    let bytes = text.as_bytes();
    let named = text.get(name.clone())?;
    let is_option = named.starts_with('-');
    let before = name.start.checked_sub(1).and_then(|at| bytes.get(at)).copied();
    let naming = naming(named.trim_start_matches(['-', '.']), before)?;
    let value = value(text, &name, is_option, string)?;
    Some(if is_secret(text, &value, naming) { Ok(value.range) } else { Err(value.range) })
}

/// Moves a position over bytes.
fn skip(bytes: &[u8], at: usize, is: impl Fn(u8) -> bool) -> usize {
    at + bytes.get(at..).unwrap_or_default().iter().take_while(|byte| is(**byte)).count()
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// The position after an optional quote, which may be escaped, and the quote.
fn quote(bytes: &[u8], at: usize) -> (usize, Option<u8>) {
    let after = skip(bytes, at, |byte| byte == b'\\');
    match bytes.get(after) {
        Some(byte) if is_quote(*byte) => (after + 1, Some(*byte)),
        _ => (at, None),
    }
}

/// The value after a name.
fn value(
    text: &str,
    name: &Range<usize>,
    is_option: bool,
    string: Option<usize>,
) -> Option<Written> {
    let bytes = text.as_bytes();
    let rest = |at: usize| bytes.get(at..).unwrap_or_default();
    let (closed, closing) = quote(bytes, name.end);
    let closed = skip(bytes, closed, |byte| byte == b']');
    let blank = skip(bytes, closed, is_blank);
    let mut is_said = false;
    let mut is_argument = false;
    let after = match rest(blank) {
        [b':', b':', ..] => return None,
        [b'=', b'=', b'=', ..] => blank + 3,
        [b':', b'=', ..] | [b'=', b'>' | b'=', ..] | [b'!' | b'?', b'=', ..] => blank + 2,
        [b'=' | b':', ..] => typed(text, blank),
        [b'%', b'3', b'D' | b'd', ..] => blank + 3,
        [b'>', ..] if name.start.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b'<') => {
            blank + 1
        }
        [b'i', b's', b' ', ..] => {
            is_said = true;
            blank + 2
        }
        [b'w', b'a', b's', b' ', ..] => {
            is_said = true;
            blank + 3
        }
        [b',', ..] if closing.is_some() && (is_option || is_first(bytes, name.start)) => {
            is_argument = true;
            blank + 1
        }
        _ if is_option && closing.is_none() && blank > closed => {
            is_argument = true;
            blank
        }
        _ => return None,
    };
    let start = skip(bytes, after, is_blank);
    let is_tight = start == closed + 1 && !is_argument || after > start;
    // Prefixes of strings: `b"`, `f"`.
    let prefixed = match rest(start) {
        [b'b' | b'r' | b'f' | b'u' | b'L' | b'@' | b'B' | b'F' | b'R', b'"' | b'\'', ..] => {
            start + 1
        }
        _ => start,
    };
    let (inner, opening) = quote(bytes, prefixed);
    if opening.is_none() && is_argument && closing.is_some() {
        return None;
    }
    let (range, is_line) = match opening {
        Some(_) if string.is_some_and(|string| string == inner) => (inner..text.len(), false),
        Some(quote) => (inner..quoted_end(bytes, inner, quote), false),
        None => {
            let line = line(bytes, name.start, start);
            let end = line.unwrap_or_else(|| unquoted_end(bytes, start));
            (start..end, line.is_some())
        }
    };
    let is_quoted = opening.is_some();
    Some(Written { range, is_quoted, is_tight, is_argument, is_line, is_said })
}

/// The position after the separator at `at`, and after a type: `password: &str = "..`.
fn typed(text: &str, at: usize) -> usize {
    let rest = text.get(at + 1..).unwrap_or_default();
    let is_of = |c: char| c.is_ascii_alphanumeric() || " &'<>_[]|?".contains(c);
    let end = rest.find(|c| !is_of(c)).unwrap_or(rest.len());
    let is_typed = end > 2
        && end < 32
        && text.as_bytes().get(at) == Some(&b':')
        && rest.get(end..).is_some_and(|rest| rest.starts_with("= \"") || rest.starts_with("= '"));
    if is_typed { at + 1 + end + 1 } else { at + 1 }
}

/// Whether a quoted name is the first argument of a call.
fn is_first(bytes: &[u8], name: usize) -> bool {
    let before = bytes.get(..name).unwrap_or_default().iter().rev();
    before.copied().find(|byte| !is_quote(*byte) && *byte != b'\\') == Some(b'(')
}

/// The end of a string.
fn quoted_end(bytes: &[u8], begin: usize, quote: u8) -> usize {
    let mut end = begin;
    while let Some(byte) = bytes.get(end) {
        match *byte {
            b'\n' => break,
            byte if byte == quote => {
                let slashes = bytes.get(begin..end).unwrap_or_default().iter().rev();
                return end - slashes.take_while(|byte| **byte == b'\\').count();
            }
            // Escapes within a string that is not itself escaped.
            b'\\' if bytes.get(begin.wrapping_sub(2)) != Some(&b'\\') => {
                end += 1 + usize::from(bytes.get(end + 1).is_some_and(u8::is_ascii));
            }
            _ => end += 1,
        }
    }
    end.min(bytes.len())
}

fn unquoted_end(bytes: &[u8], begin: usize) -> usize {
    skip(bytes, begin, |byte| !byte.is_ascii_whitespace() && !b"\"'`,;&<>(){}[]|\\".contains(&byte))
}

/// The end of a value that is, with its name, all that a line has, as in a file of settings.
fn line(bytes: &[u8], name: usize, value: usize) -> Option<usize> {
    let before = bytes.get(..name).unwrap_or_default();
    let near = name.saturating_sub(MOST);
    let end = before.get(near..)?.iter().rposition(|byte| *byte == b'\n');
    let begin = match end {
        Some(at) => near + at + 1,
        None if near == 0 => 0,
        None => return None,
    };
    let is_first =
        matches!(before.get(begin..)?.trim_ascii(), b"" | b"-" | b"export" | b"set" | b"+");
    let end = skip(bytes, value, |byte| !byte.is_ascii_whitespace());
    let next = skip(bytes, end, |byte| is_blank(byte) || byte == b'\r');
    let is_last = matches!(bytes.get(next), None | Some(b'\n'));
    let is_call = bytes.get(value..end)?.iter().any(|byte| b"(){}[\"'`\\,".contains(byte));
    (is_first && is_last && !is_call).then_some(end)
}

fn is_secret(text: &str, value: &Written, naming: Naming) -> bool {
    let Some(secret) = text.get(value.range.clone()) else { return false };
    let next = text.as_bytes().get(value.range.end).copied();
    if secret.len() < LEAST || is_placeholder(secret) {
        return false;
    }
    if secret.contains(char::is_whitespace) {
        return naming == Naming::Certain && is_sentence_secret(secret);
    }
    if secret.starts_with("http://") || secret.starts_with("https://") || is_path(secret) {
        return false;
    }
    let has_digit = secret.bytes().any(|byte| byte.is_ascii_digit());
    let has_sign =
        secret.bytes().any(|byte| byte.is_ascii_punctuation() && !b".:?!/_-*".contains(&byte));
    match naming {
        Naming::Possible if !value.is_quoted && !value.is_tight => false,
        Naming::Likely | Naming::Possible if value.is_quoted => is_opaque(secret),
        Naming::Likely | Naming::Possible => is_opaque(secret) && !is_code(secret, next),
        Naming::Certain if value.is_quoted => !is_expression(secret),
        Naming::Certain if is_code(secret, next) => false,
        Naming::Certain if value.is_said => has_digit || has_sign,
        Naming::Certain if value.is_tight || value.is_argument => secret.len() > LEAST || has_digit,
        Naming::Certain if value.is_line => !secret.ends_with([';', ',', ':']) && secret.len() > 4,
        Naming::Certain => {
            has_digit && !secret.bytes().all(|byte| byte.is_ascii_digit()) || has_sign
        }
    }
}

/// Whether a text with white space may be a passphrase, and not a message.
fn is_sentence_secret(text: &str) -> bool {
    const MESSAGE: [&str; 22] = [
        "a",
        "an",
        "is",
        "the",
        "your",
        "must",
        "enter",
        "please",
        "for",
        "to",
        "of",
        "not",
        "or",
        "incorrect",
        "invalid",
        "wrong",
        "required",
        "here",
        "new",
        "confirm",
        "with",
        "and",
    ];
    let words = || text.split_whitespace();
    let is_message = words().any(|word| MESSAGE.contains(&&*word.to_ascii_lowercase()));
    !is_message && (words().count() > 3 || text.bytes().any(|byte| byte.is_ascii_digit()))
}
