//! Secrets that are known by their names: `PASSWORD=..`, `"apiKey": ".."`, `--token ..`, `password is ..`.

use std::ops::Range;

use super::harmless::{is_code, is_expression, is_opaque, is_path, is_placeholder};

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
    const MESSAGE: &str = "\
        a an is the your must enter please for to of not or incorrect invalid wrong required here \
        new confirm with and";
    let words = || text.split_whitespace();
    let is_message = words().any(|word| is_listed(&word.to_ascii_lowercase(), MESSAGE));
    !is_message && (words().count() > 3 || text.bytes().any(|byte| byte.is_ascii_digit()))
}

/// How certain it is that a name names a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// It names a secret, whatever the value looks like.
    Certain,
    /// It names a secret if the value looks like one.
    Likely,
    /// It may name a secret if the value looks like one and is written like one: `pass='..'`, but not `PASS: TestOne`.
    Possible,
}

/// Words for secrets.
const CERTAIN: &str = "\
    password passwords passwd passphrase passcode pwd secret secrets credential credentials apikey \
    apisecret mnemonic storepass keypass passw";

/// Endings of words for secrets.
const ENDINGS: [&str; 8] =
    ["password", "passwd", "passphrase", "secret", "apikey", "pwd", "secretkey", "privatekey"];

/// Words for secrets that also mean something else.
const LIKELY: [&str; 7] = ["token", "accesskey", "authkey", "authtoken", "creds", "cred", "otp"];

/// What is before `key` in names of secrets.
const KEYS: &str = "\
    access account admin aes anon api app application auth cipher client consumer crypto \
    decryption deploy encrypt encryption hmac integration jwt license management master migration \
    org personal private project provisioning publishable role root secret security server service \
    session shared sign signing storage subscription user webhook write x";

/// What is before `key` in other names.
const OTHER_KEYS: &str = "\
    public primary foreign sort partition cache group row unique index hot arrow map hash range \
    lookup idempotency translation composite registry object pub";

/// Last words of names of something else: a property of a secret, or its place.
const OTHERS: &str = "\
    file filename path name names id ids count counts length len size url uri endpoint field \
    fields policy type types expires expiry expiration ttl hint prompt regex pattern min max limit \
    limits header manager env var exists enabled required valid invalid at in budget usage used \
    ref arn version stdin dir store provider label placeholder input error errors reset changed \
    algorithm alg format prefix suffix index strength rotation age score cost price per total \
    message page form class handler service method mode status flow";

/// Whether a name, of which `before` is the character before it, names a secret.
pub(super) fn naming(name: &str, before: Option<u8>) -> Option<Naming> {
    let words = words(name);
    let last = words.last().map(String::as_str)?;
    let last = match last.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "" => words.iter().rev().nth(1)?.as_str(),
        last => last,
    };
    if is_listed(last, OTHERS) {
        return None;
    }
    let is_certain = |word: &str| {
        is_listed(word, CERTAIN) || ENDINGS.iter().any(|ending| word.ends_with(ending))
    };
    let previous = words.iter().rev().nth(1).map(String::as_str);
    let has_certain = words.iter().any(|word| is_certain(word.trim_end_matches(char::is_numeric)));
    let is_upper = name.contains('_') && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_key = match previous {
        Some(previous) if is_listed(previous, OTHER_KEYS) => false,
        Some(previous) => is_upper || is_listed(previous, KEYS),
        None => matches!(before, Some(b'?' | b'&')),
    };
    let is_pass = matches!(last, "pass" | "pw") && previous.is_some();
    match last {
        _ if has_certain || is_pass => Some(Naming::Certain),
        "key" if previous == Some("api") => Some(Naming::Certain),
        "key" if is_key => Some(Naming::Likely),
        "key" => None,
        "auth" | "pass" | "pw" => Some(Naming::Possible),
        _ if LIKELY.contains(&last) || last.ends_with("token") => Some(Naming::Likely),
        _ => None,
    }
}

/// Whether a word is in a list, whose words are separated by spaces.
pub(super) fn is_listed(word: &str, list: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// The words of a name in snake, kebab or camel case, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut characters = name.chars().peekable();
    let mut last = ' ';
    while let Some(c) = characters.next() {
        let is_next_lower = characters.peek().is_some_and(char::is_ascii_lowercase);
        let is_start = c.is_ascii_uppercase()
            && (last.is_ascii_lowercase() || last.is_ascii_uppercase() && is_next_lower);
        if (is_start || !c.is_ascii_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        }
        last = c;
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        for (name, expected) in [
            ("maxTokens", "max tokens"),
            ("AWSSecretKey", "aws secret key"),
            ("STRIPE_KEY", "stripe key"),
            ("x-api-key", "x api key"),
            ("db.pass2", "db pass2"),
            ("", ""),
        ] {
            assert_eq!(words(name).join(" "), expected);
        }
    }

    #[test]
    fn names_of_secrets() {
        use Naming::{Certain, Likely};
        for (name, expected) in [
            ("password", Some(Certain)),
            ("DB_PASSWORD_2", Some(Certain)),
            ("SECRET_KEY_BASE", Some(Certain)),
            ("clientSecret", Some(Certain)),
            ("MYSQL_PASS", Some(Certain)),
            ("apiKey", Some(Certain)),
            ("MY_TOKEN", Some(Likely)),
            ("STRIPE_KEY", Some(Likely)),
            ("encryptionKey", Some(Likely)),
            ("key", None),
            ("cacheKey", None),
            ("PRIMARY_KEY", None),
            ("max_tokens", None),
            ("token_count", None),
            ("token-file", None),
            ("passwordHint", None),
            ("keyboard", None),
        ] {
            assert_eq!(naming(name, None), expected, "{name}");
        }
        assert_eq!(naming("key", Some(b'?')), Some(Likely));
    }
}
