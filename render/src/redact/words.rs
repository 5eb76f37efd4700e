//! The words of a name, which tell whether it names a secret.

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
const CERTAIN: [&str; 16] = [
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "secrets",
    "credential",
    "credentials",
    "apikey",
    "apisecret",
    "mnemonic",
    "storepass",
    "keypass",
    "passw",
];

/// Endings of words for secrets.
const ENDINGS: [&str; 8] =
    ["password", "passwd", "passphrase", "secret", "apikey", "pwd", "secretkey", "privatekey"];

/// Words for secrets that also mean something else.
const LIKELY: [&str; 7] = ["token", "accesskey", "authkey", "authtoken", "creds", "cred", "otp"];

/// What is before `key` in names of secrets.
const KEYS: [&str; 46] = [
    "access",
    "account",
    "admin",
    "aes",
    "anon",
    "api",
    "app",
    "application",
    "auth",
    "cipher",
    "client",
    "consumer",
    "crypto",
    "decryption",
    "deploy",
    "encrypt",
    "encryption",
    "hmac",
    "integration",
    "jwt",
    "license",
    "management",
    "master",
    "migration",
    "org",
    "personal",
    "private",
    "project",
    "provisioning",
    "publishable",
    "role",
    "root",
    "secret",
    "security",
    "server",
    "service",
    "session",
    "shared",
    "sign",
    "signing",
    "storage",
    "subscription",
    "user",
    "webhook",
    "write",
    "x",
];

/// What is before `key` in other names.
const OTHER_KEYS: [&str; 22] = [
    "public",
    "primary",
    "foreign",
    "sort",
    "partition",
    "cache",
    "group",
    "row",
    "unique",
    "index",
    "hot",
    "arrow",
    "map",
    "hash",
    "range",
    "lookup",
    "idempotency",
    "translation",
    "composite",
    "registry",
    "object",
    "pub",
];

/// Last words of names of something else: a property of a secret, or its place.
const OTHERS: [&str; 84] = [
    "file",
    "filename",
    "path",
    "name",
    "names",
    "id",
    "ids",
    "count",
    "counts",
    "length",
    "len",
    "size",
    "url",
    "uri",
    "endpoint",
    "field",
    "fields",
    "policy",
    "type",
    "types",
    "expires",
    "expiry",
    "expiration",
    "ttl",
    "hint",
    "prompt",
    "regex",
    "pattern",
    "min",
    "max",
    "limit",
    "limits",
    "header",
    "manager",
    "env",
    "var",
    "exists",
    "enabled",
    "required",
    "valid",
    "invalid",
    "at",
    "in",
    "budget",
    "usage",
    "used",
    "ref",
    "arn",
    "version",
    "stdin",
    "dir",
    "store",
    "provider",
    "label",
    "placeholder",
    "input",
    "error",
    "errors",
    "reset",
    "changed",
    "algorithm",
    "alg",
    "format",
    "prefix",
    "suffix",
    "index",
    "strength",
    "rotation",
    "age",
    "score",
    "cost",
    "price",
    "per",
    "total",
    "message",
    "page",
    "form",
    "class",
    "handler",
    "service",
    "method",
    "mode",
    "status",
    "flow",
];

/// Whether a name, of which `before` is the character before it, names a secret.
pub(super) fn naming(name: &str, before: Option<u8>) -> Option<Naming> {
    let words = words(name);
    let last = words.last().map(String::as_str)?;
    let last = match last.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "" => words.iter().rev().nth(1)?.as_str(),
        last => last,
    };
    if OTHERS.contains(&last) {
        return None;
    }
    let is_certain =
        |word: &str| CERTAIN.contains(&word) || ENDINGS.iter().any(|ending| word.ends_with(ending));
    let previous = words.iter().rev().nth(1).map(String::as_str);
    let has_certain = words.iter().any(|word| is_certain(word.trim_end_matches(char::is_numeric)));
    let is_upper = name.contains('_') && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_key = match previous {
        Some(previous) if OTHER_KEYS.contains(&previous) => false,
        Some(previous) => is_upper || KEYS.contains(&previous),
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
