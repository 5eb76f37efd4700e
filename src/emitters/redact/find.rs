//! [`Finder`]: finds secrets in a text.

use std::{borrow::Cow, ops::Range};

use regex::{Regex, bytes::RegexSet};

use super::rules::{RANDOM, Rule, hints, is_named, is_random, rules};

/// The minimum length of a string that may be random.
const LONG: usize = 32;

/// Finds secrets with all rules.
#[derive(Clone, Debug)]
pub(super) struct Finder {
    rules: Vec<Rule>,
    hints: Option<RegexSet>,
    /// Strings that are long enough to be tested for randomness.
    long: Option<Regex>,
}

/// The rules that may match a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hints {
    /// One bit for each rule.
    rules: u64,
    has_long: bool,
}

impl Hints {
    /// Whether no rule may match.
    pub(super) fn is_none(self) -> bool {
        self == Self::default()
    }

    /// The union of both.
    pub(super) fn or(self, other: Self) -> Self {
        Self { rules: self.rules | other.rules, has_long: self.has_long || other.has_long }
    }
}

impl Finder {
    pub(super) fn new() -> Self {
        // Hashes with a prefix that names the algorithm do not count, such as those of a lock file.
        let long = Regex::new(r"(?:sha(?:1|256|384|512)[-:])?[A-Za-z0-9+/_=-]{32,}").ok();
        Self { rules: rules(), hints: hints(), long }
    }

    /// The rules that may match a text, or any part of it. It need not be valid UTF-8.
    pub(super) fn hints(&self, text: &[u8]) -> Hints {
        let hinted = self.hints.as_ref().map(|hints| hints.matches(text));
        let rules = hinted.iter().flatten().fold(0, |rules, number| rules | 1 << number);
        Hints { rules, has_long: has_long(text) }
    }

    /// The subset of rules that find a secret by its name.
    pub(super) fn named(&self, hints: Hints) -> Hints {
        let named = self.rules.iter().enumerate().filter(|(_, rule)| is_named(rule.kind));
        let named = named.fold(0, |named, (number, _)| named | 1 << number);
        Hints { rules: hints.rules & named, has_long: false }
    }

    /// Calls `found` for each rule that matches, with the kind and the range in the text. Later rules see the text
    /// that `found` returns. Identifiers are not tested for randomness, because most look random.
    pub(super) fn each<'t>(
        &self,
        text: &mut Cow<'t, str>,
        hints: Hints,
        is_id: bool,
        mut found: impl FnMut(&mut Cow<'t, str>, &'static str, &[Range<usize>]),
    ) {
        let mut apply = |kind, pattern: &Regex, counts: fn(&str) -> bool| {
            let secrets = pattern.captures_iter(text).filter_map(|captures| {
                let secret = captures.name("s").or(captures.get(0))?;
                let is_one = counts(secret.as_str()) && !is_harmless(kind, secret.as_str());
                is_one.then(|| secret.range())
            });
            let secrets: Vec<_> = secrets.collect();
            if !secrets.is_empty() {
                found(text, kind, &secrets);
            }
        };
        for (number, Rule { kind, pattern }) in self.rules.iter().enumerate() {
            if hints.rules & (1 << number) != 0 {
                apply(kind, pattern, |_| true);
            }
        }
        if let Some(long) = self.long.as_ref().filter(|_| hints.has_long && !is_id) {
            apply(RANDOM, long, |found| !found.starts_with("sha") && is_random(found));
        }
    }
}

/// Whether there is a string that is long enough to be tested for randomness.
fn has_long(text: &[u8]) -> bool {
    let is_of = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/_=-".contains(byte);
    let mut begin = 0;
    while let Some(next) = text.get(begin..begin + LONG) {
        // Backwards: a short string lets the search skip most of its length.
        match next.iter().rposition(|byte| !is_of(byte)) {
            Some(other) => begin += other + 1,
            None => return true,
        }
    }
    false
}

/// Code in the place of a password.
const CODE: [&str; 10] = [
    "os.",
    "process.",
    "env.",
    "self.",
    "this.",
    "config.",
    "settings.",
    "string",
    "String",
    "undefined",
];

/// Reserved addresses, and variables in the place of a password.
fn is_harmless(kind: &str, found: &str) -> bool {
    match kind {
        "email" => found.starts_with("git@"),
        "url-credentials" => found.contains('$'),
        "password" => CODE.iter().any(|start| found.starts_with(start)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn found(text: &str) -> BTreeSet<&'static str> {
        let finder = Finder::new();
        let (mut text, mut kinds) = (Cow::Borrowed(text), BTreeSet::new());
        let hints = finder.hints(text.as_bytes());
        finder.each(&mut text, hints, false, |_, kind, _| kinds.extend([kind]));
        kinds
    }

    #[test]
    fn what_a_rule_finds_is_hinted_at() {
        let letters = "q8Zr2Xk7Lm4Tn9Vb3Wc6Yd1Ge5Hf0Jp".repeat(4);
        let (hex, capitals) = ("0123456789abcdef".repeat(4), "ABCD2345".repeat(8));
        let texts = [
            "-----BEGIN PRIVATE KEY-----".to_owned(),
            "ftp://u:p@h".to_owned(),
            format!("ASIA{}", &capitals[..16]),
            format!("aws_secret_access_key={}/", &letters[..39]),
            format!("AWS Key: {}", &letters[..40]),
            format!("ghs_{}", &letters[..36]),
            format!("gloas-{}", &letters[..20]),
            format!("xapp-1-{}", &letters[..20]),
            format!("https://hooks.slack.com/services/{}", &letters[..20]),
            format!("https://discord.com/api/webhooks/1/{}", &letters[..30]),
            format!("whsec_{}", &letters[..20]),
            format!("sk-ant-{}", &letters[..20]),
            format!("sk-or-{}", &letters[..20]),
            format!("sk-{}", &letters[..20]),
            format!("AIza{}", &letters[..35]),
            format!("ya29.{}", &letters[..20]),
            format!("npm_{}", &letters[..30]),
            format!("pypi-{}", &letters[..32]),
            format!("cio{}", &letters[..32]),
            format!("hf_{}", &letters[..30]),
            format!("SG.{}.{}", &letters[..16], &letters[..16]),
            format!("AC{}", &hex[..32]),
            format!("123456789:AA{}", &letters[..32]),
            format!("dor_v1_{hex}"),
            format!("shpca_{}", &hex[..32]),
            format!("hvs.{}", &letters[..20]),
            format!("dapi{}", &hex[..32]),
            format!("AGE-SECRET-KEY-1{}", &capitals[..50]),
            format!("eyJ{}.{}", &letters[..8], &letters[..8]),
            "BEARER \tabcdefghijklmnop".to_owned(),
            "Api-Key\\\"\t=  'hunter22".to_owned(),
            "Cookie: sid=abcd".to_owned(),
            "curl -su ada:pw x".to_owned(),
            "a@b.org".to_owned(),
            "/home/ada".to_owned(),
            "d:\\\\Users\\\\ada".to_owned(),
            "x/-Users-ada".to_owned(),
            letters.clone(),
        ];
        let all: BTreeSet<_> = texts.iter().flat_map(|text| found(text)).collect();
        let rules: BTreeSet<_> =
            rules().into_iter().map(|rule| rule.kind).chain([RANDOM]).collect();
        assert_eq!(all, rules);
        assert!(texts.iter().all(|text| !found(text).is_empty()));
        assert!(found("nothing is here, and nothing of 32 letters").is_empty());
    }

    #[test]
    fn long_strings_are_seen() {
        for (text, is_long) in [("", false), ("a.b", false), ("é", false)] {
            assert_eq!(has_long(text.as_bytes()), is_long);
        }
        for before in 0..40 {
            let text = |length| format!("{}.{} ", "x".repeat(before % 31), "x".repeat(length));
            assert!(has_long(text(32).as_bytes()) && !has_long(text(31).as_bytes()), "{before}");
        }
    }
}
