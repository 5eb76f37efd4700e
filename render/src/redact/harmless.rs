//! What looks like a secret, but is not: placeholders, code, addresses without a person.

use super::names::is_listed;

/// Beginnings of code in the place of a value.
const CODE: &str = "\
    os. process. env. env( self. this. config. settings. import.meta System. vars. secrets. \
    http:// https://";

/// Values that are a type, a state or a name.
const WORDS: &str = "\
    any auth basic bearer bool boolean bytes char data default disabled empty enabled env false \
    hidden incorrect inherit input int integer invalid jwt key missing name never nil none null \
    number oauth oauth2 object off optional option passphrase password passwd prompt pwd required \
    secret secretstr self set stdin str string supersecret text this token true undefined unknown \
    unset user username value varchar void wrong yes no password123";

/// Parts of placeholders, whatever else they contain.
const PLACEHOLDERS: &str = "\
    your_ your- yours _here -here changeme change_me change-me placeholder redacted replace_ \
    replace- replaceme insert_ insert- xxxx";

/// Parts of placeholders without digits.
const EXAMPLES: [&str; 8] = ["example", "dummy", "fake", "sample", "foobar", "todo", "test", "my"];

/// Whether a value stands for a secret that is not there.
pub(super) fn is_placeholder(value: &str) -> bool {
    let first = value.chars().next();
    let lower = value.to_ascii_lowercase();
    let is_same = value.chars().all(|c| Some(c) == first);
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    is_same
        || matches!(first, Some('$' | '<' | '{' | '[' | '…' | '('))
        || first == Some('%') && (value.len() < 4 || value.ends_with('%'))
        || value.contains("...")
        || value.contains('…')
        || value.contains("${")
        || value.contains("{{")
        || lower.strip_prefix("your").is_some_and(|rest| !rest.bytes().any(|b| b.is_ascii_digit()))
        || PLACEHOLDERS.split(' ').any(|part| lower.contains(part))
        || !has_digit && EXAMPLES.iter().any(|part| has_word(&lower, part))
        || is_listed(lower.trim_matches(|c: char| !c.is_alphanumeric()), WORDS)
        || is_dummy(&lower)
}

/// Whether a text has a word between separators.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|part| part == word)
}

/// Letters and digits in order, as in documentation: `1234567890`, `abcdef`, `abc123`.
fn is_dummy(lower: &str) -> bool {
    lower.len() > 2 && ["abc123", "abcdef", "foo", "bar", "baz", "abc", "xxx"].contains(&lower)
}

/// Whether a value without quotes is code that results in a secret, or a path.
pub(super) fn is_code(value: &str, next: Option<u8>) -> bool {
    let value = value.trim_start_matches(['&', '*', '!']);
    let is_identifier = |part: &str| {
        part.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'?')
    };
    let lower = || value.to_ascii_lowercase();
    let names_secret = || {
        let lower = lower();
        ["pass", "secret", "token", "key", "pwd", "cred", "auth"]
            .iter()
            .any(|word| lower.contains(word))
    };
    let has_dot = value.contains('.') || value.contains("::") || value.contains("->");
    let parts = || value.split(['.', ':', '>']).map(|part| part.trim_end_matches('-'));
    matches!(next, Some(b'(' | b'['))
        || is_expression(value)
        || value.contains('<') && value.ends_with('>')
        || has_dot && parts().all(|part| part.is_empty() || is_identifier(part)) && names_secret()
        || !has_dot
            && is_identifier(value)
            && names_secret()
            && value.bytes().all(|b| !b.is_ascii_digit())
        || is_path(value)
}

/// Whether this begins like code.
pub(super) fn is_expression(value: &str) -> bool {
    CODE.split(' ').any(|start| value.starts_with(start))
}

/// Whether this is the path of a file.
pub(super) fn is_path(value: &str) -> bool {
    let rest = value.trim_start_matches(['.', '~', '*']);
    let is_start = rest.starts_with('/') && rest.len() > 1
        || value.as_bytes().get(1) == Some(&b':') && value.as_bytes().get(2) == Some(&b'\\');
    let is_of = |byte: u8| byte.is_ascii_alphanumeric() || b"/\\._-*:~@ ".contains(&byte);
    let is_relative = value.split('/').count() > 2
        && value.bytes().all(|byte| byte.is_ascii_lowercase() || b"/-_.".contains(&byte));
    (is_start || is_relative) && value.bytes().all(is_of) && !is_random(value)
}

/// Whether a value is more than a word: it has letters and digits, or mixed letters.
pub(super) fn is_opaque(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let has_digit = has(u8::is_ascii_digit);
    let has_letter = has(u8::is_ascii_alphabetic);
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let length = value.len();
    let is_run =
        value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/_=-.~".contains(&byte));
    distinct(value) > 4 && (length >= 8 && has_digit && has_letter || length >= 16 && has_digit)
        || length >= 20 && is_mixed && is_run && entropy(value) > 3.8
}

/// Whether a token of a known shape is one of documentation.
pub(super) fn is_dummy_token(token: &str) -> bool {
    let lower = token.to_ascii_lowercase();
    let body = token.get(4..).unwrap_or(token);
    distinct(body) < 5
        || ["your", "placeholder", "redacted", "xxxxxx", "......"]
            .iter()
            .any(|part| lower.contains(part))
}

/// Whether an address is not that of a person.
pub(super) fn is_impersonal(address: &str) -> bool {
    const ROLES: [&str; 7] =
        ["git", "noreply", "no-reply", "no_reply", "donotreply", "do-not-reply", "notifications"];
    /// Ends of file names and of versions, which are no domains.
    const ENDS: &str = "\
        bar c cfg cjs conf cpp css exe gif gz html java jpeg jpg js json jsx log mjs png scss \
        service svg tgz toml ts tsx webp xml yaml";
    let lower = address.to_ascii_lowercase();
    let Some((name, domain)) = lower.split_once('@').or_else(|| lower.split_once("%40")) else {
        return false;
    };
    let end = domain.rsplit('.').next().unwrap_or_default();
    ROLES.contains(&name)
        || domain.ends_with("noreply.github.com")
        || domain.ends_with("noreply.gitlab.com")
        || is_listed(end, ENDS)
}

/// Whether a home directory is not that of a person.
pub(super) fn is_shared_home(name: &str) -> bool {
    ["Public", "Shared", "Default", "linuxbrew", "...", "..", ".", "*"].contains(&name)
        || name.bytes().all(|byte| byte == b'*')
}

/// The number of different bytes.
fn distinct(text: &str) -> u32 {
    let set = text.bytes().fold([0_u128; 2], |mut set, byte| {
        if let Some(bits) = set.get_mut(usize::from(byte >> 7)) {
            *bits |= 1 << (byte & 127);
        }
        set
    });
    set.into_iter().map(u128::count_ones).sum()
}

/// Whether a string is probably random, and not an identifier, a path or a plain hash.
pub(super) fn is_random(text: &str) -> bool {
    const LEAST: usize = 32;
    /// Bits per character. Words joined in camel case have about 4, random letters and digits about 5.
    const ENTROPY: f64 = 4.25;
    let has = |is: fn(&u8) -> bool| text.bytes().filter(is).count();
    let is_mixed = has(u8::is_ascii_lowercase) > 2
        && has(u8::is_ascii_uppercase) > 2
        && has(u8::is_ascii_digit) > 2;
    text.len() >= LEAST
        && is_mixed
        && has(|byte| *byte == b'/') <= text.len() / 16
        && entropy(text) > ENTROPY
}

/// Shannon's entropy, in bits per byte.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let total = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    let shares = counts.into_iter().filter(|count| *count > 0).map(|n| f64::from(n) / total);
    shares.map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_strings_are_told_from_names_and_hashes() {
        assert!(is_random("wJalrXUtnFEMI7K7MDENGbPxRfiCYzEXAMPLEKEY9q"));
        for text in [
            "da39a3ee5e6b4b0d3255bfef95601890afd80709da39a3ee5e6b4b0d3255bfef",
            "123e4567-e89b-12d3-a456-426614174000",
            "a_very_long_name_of_a_function_with_words",
            "src/emitters/transcript/result/of/Some/Kind2",
            "aLongNameInCamelCaseOfSomethingLikeAnInterface2",
            "================================================",
        ] {
            assert!(!is_random(text), "{text} {}", entropy(text));
        }
    }
}
