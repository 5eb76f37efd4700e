//! [`Rules`]: the patterns of secrets, and the keywords that select them.

use std::{
    collections::BTreeMap,
    sync::{LazyLock, OnceLock},
};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{
    Regex,
    bytes::{RegexSet, RegexSetBuilder},
};

/// Tokens of known shapes.
const TOKENS: &str = include_str!("data/tokens.tsv");

/// Secrets that are known by the text around them.
const PHRASES: &str = include_str!("data/phrases.tsv");

/// Rules that others maintain: tokens, and values that are named.
const GITLEAKS: &str = include_str!("data/gitleaks.tsv");

/// Words in names of secrets.
const NAMES: [&str; 8] = ["pass", "pwd", "pw", "secret", "token", "key", "credential", "auth"];

/// The kind of a home directory, which is replaced by `~`.
pub(super) const HOME: &str = "home-folder";

/// The kind of a secret that is known by its name.
pub(super) const PASSWORD: &str = "password";

/// The kind of a string without a known shape that looks random.
pub(super) const RANDOM: &str = "random-string";

/// The number of 64-bit words in a set of rules.
const SETS: usize = 7;

/// The memory limit for the automaton of the rules for long strings. With less, its states are computed repeatedly.
const LONG_LIMIT: usize = 16 << 20;

/// One pattern.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    words: &'static str,
    /// It is the shape of a token, which contains no white space.
    pub(super) is_token: bool,
    source: &'static str,
    /// A secret has at least this entropy, in bits a character.
    pub(super) entropy: f64,
    /// Compiled when a keyword occurs for the first time: most processes need few of the patterns.
    pattern: OnceLock<Option<Regex>>,
}

/// What a keyword selects.
#[derive(Debug, Default)]
struct Selection {
    rules: [u64; SETS],
    is_name: bool,
}

/// All patterns.
#[derive(Debug)]
pub(super) struct Rules {
    rules: Vec<Rule>,
    keywords: Option<AhoCorasick>,
    selections: Vec<Selection>,
    /// The numbers of the rules for long strings, and their patterns, which are tried in one pass.
    long: Vec<usize>,
    long_set: OnceLock<Option<RegexSet>>,
}

/// The keywords in a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Hits {
    rules: [u64; SETS],
    /// The positions of words that occur in names of secrets.
    pub(super) names: Vec<usize>,
    pub(super) has_long: bool,
}

impl Rule {
    /// The compiled pattern.
    pub(super) fn pattern(&self) -> Option<&Regex> {
        self.pattern.get_or_init(|| Regex::new(self.source).ok()).as_ref()
    }
}

impl Hits {
    /// Whether no rule may match.
    pub(super) fn is_none(&self) -> bool {
        self.rules == [0; SETS] && self.names.is_empty() && !self.has_long
    }

    /// Whether the text names what follows it.
    pub(super) fn is_naming(&self) -> bool {
        self.rules != [0; SETS] || !self.names.is_empty()
    }
}

/// Adds a number to a set.
fn add(set: &mut [u64; SETS], number: usize) {
    if let Some(bits) = set.get_mut(number / 64) {
        *bits |= 1 << (number % 64);
    }
}

impl Rules {
    /// The rules of this process.
    pub(super) fn get() -> &'static Self {
        static RULES: LazyLock<Rules> = LazyLock::new(Rules::read);
        &RULES
    }

    fn read() -> Self {
        let (mut rules, mut long) = (Vec::<Rule>::new(), Vec::new());
        let mut selections = BTreeMap::<String, Selection>::new();
        for (table, is_token) in [(TOKENS, true), (PHRASES, false), (GITLEAKS, false)] {
            for line in table.lines().filter(|line| !line.starts_with('#')) {
                let mut columns = line.split('\t');
                let mut column = || columns.next().unwrap_or_default();
                let (kind, words, keys, source) = (column(), column(), column(), column());
                for keyword in keys.split(' ') {
                    match keyword {
                        "*" => long.push(rules.len()),
                        _ => {
                            let selection = selections.entry(keyword.replace('·', " "));
                            add(&mut selection.or_default().rules, rules.len());
                        }
                    }
                }
                let is_token = is_token || column() == "token";
                let entropy = column().parse().unwrap_or(0.0);
                let pattern = OnceLock::new();
                rules.push(Rule { kind, words, is_token, source, entropy, pattern });
            }
        }
        for name in NAMES {
            selections.entry(name.to_owned()).or_default().is_name = true;
        }
        let mut keywords = AhoCorasick::builder();
        keywords.ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA));
        let keywords = keywords.build(selections.keys()).ok();
        let selections = selections.into_values().collect();
        Self { rules, keywords, selections, long, long_set: OnceLock::new() }
    }

    /// The keywords in a text, found in one pass.
    pub(super) fn hits(&self, text: &[u8]) -> Hits {
        let mut hits = Hits { has_long: has_long(text), ..Hits::default() };
        if hits.has_long {
            let set = self.long_set();
            let matches = set.iter().flat_map(|set| set.matches(text));
            let numbers = matches.filter_map(|at| self.long.get(at));
            numbers.for_each(|number| add(&mut hits.rules, *number));
        }
        for found in self.keywords.iter().flat_map(|keywords| keywords.find_overlapping_iter(text))
        {
            let Some(selection) = self.selections.get(found.pattern().as_usize()) else { continue };
            hits.rules.iter_mut().zip(selection.rules).for_each(|(bits, more)| *bits |= more);
            if selection.is_name {
                hits.names.push(found.start());
            }
        }
        hits
    }

    fn long_set(&self) -> Option<&RegexSet> {
        let sources = || {
            let rules = self.long.iter().filter_map(|number| self.rules.get(*number));
            let mut set = RegexSetBuilder::new(rules.map(|rule| rule.source));
            set.dfa_size_limit(LONG_LIMIT).build().ok()
        };
        self.long_set.get_or_init(sources).as_ref()
    }

    /// The rules that may match, in the order of precedence.
    pub(super) fn of(&self, hits: &Hits) -> impl Iterator<Item = &Rule> {
        let is_hit = |number: usize| {
            hits.rules.get(number / 64).is_some_and(|bits| bits & (1 << (number % 64)) != 0)
        };
        let rules = self.rules.iter().enumerate();
        rules.filter(move |(number, _)| is_hit(*number)).map(|(_, rule)| rule)
    }

    /// Whether marks have this kind.
    pub(super) fn is_kind(&self, kind: &str) -> bool {
        kind == RANDOM || self.rules.iter().any(|rule| rule.kind == kind)
    }

    /// A kind in words.
    pub(super) fn words(&self, kind: &str) -> &'static str {
        match kind {
            RANDOM => "random string",
            _ => {
                self.rules.iter().find(|rule| rule.kind == kind).map_or("secret", |rule| rule.words)
            }
        }
    }
}

/// The minimum length of a string that may be random.
pub(super) const LONG: usize = 32;

/// Whether there is a string that is long enough to be tested for randomness.
fn has_long(text: &[u8]) -> bool {
    let is_of = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/_=-.:@%".contains(byte);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        let rules = Rules::get();
        assert!(rules.rules.len() > 350 && rules.rules.len() <= SETS * 64);
        for rule in &rules.rules {
            assert!(rule.pattern().is_some(), "{}: {:?}", rule.kind, Regex::new(rule.source));
            assert!(!rule.words.is_empty(), "{}", rule.kind);
        }
        assert!(rules.keywords.is_some() && rules.long_set().is_some());
        let keywords = [TOKENS, PHRASES, GITLEAKS].concat();
        let keys = keywords.lines().filter(|line| !line.starts_with('#'));
        for keyword in
            keys.filter_map(|line| line.split('\t').nth(2)).flat_map(|keys| keys.split(' '))
        {
            assert!(!keyword.is_empty() && keyword == keyword.to_lowercase(), "{keyword}");
        }
    }

    #[test]
    fn long_strings_are_seen() {
        for (text, is_long) in [("", false), ("a.b", false), ("\u{e9}", false)] {
            assert_eq!(has_long(text.as_bytes()), is_long);
        }
        for before in 0..40 {
            let text = |length| format!("{} {} ", "x".repeat(before % 31), "x".repeat(length));
            assert!(has_long(text(32).as_bytes()) && !has_long(text(31).as_bytes()), "{before}");
        }
    }
}
