//! [`find`]: the secrets in a text.

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use regex::Regex;

use super::{
    harmless::{entropy, is_dummy_token, is_impersonal, is_placeholder, is_random, is_shared_home},
    names,
    rules::{HOME, LONG, PASSWORD, RANDOM, Rule, Rules},
    view::{View, encoded_words, is_encoded_prose},
};

/// The maximum number of passes over a text until nothing more is found.
pub(super) const PASSES: usize = 8;

/// The number of characters before and after a secret that are kept.
const AROUND: usize = 40;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Secret {
    pub(super) kind: &'static str,
    /// What is replaced.
    pub(super) whole: Range<usize>,
    /// What is masked: of a home directory, the name of its user.
    pub(super) cover: Range<usize>,
    /// The replaced text.
    pub(super) text: String,
    /// The end of the text before it, and the beginning of the text after it, in which secrets are masked.
    pub(super) around: (String, String),
}

/// The circumstances of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Only what follows this position is searched. The text before it may name what follows.
    pub(super) from: usize,
    /// It is the content of a string.
    pub(super) is_string: bool,
    /// It is an identifier. Most of them look random.
    pub(super) is_id: bool,
    /// It was decoded from base64.
    pub(super) is_decoded: bool,
}

/// A match of a rule.
struct Match {
    kind: &'static str,
    whole: Range<usize>,
    cover: Range<usize>,
}

/// The secrets in a text, in the order of their positions.
///
/// The text is searched as it is, without escapes and colours, and with its broken lines joined. What was found is
/// masked, and the rest is searched again, until nothing more is found: a result does not change when it is searched
/// again.
pub(super) fn find(text: &str, place: Place) -> Vec<Secret> {
    let mut rest = Cow::Borrowed(text);
    let mut matches = Vec::new();
    let mut new = search(&rest, place);
    if !new.is_empty() {
        // Few texts have secrets, and fewer have marks.
        rest = without_marks(text);
        if let Cow::Owned(rest) = &rest {
            new = search(rest, place);
        }
    }
    for _ in 0..PASSES {
        if new.is_empty() {
            break;
        }
        for found in &new {
            mask(&mut rest, &found.cover);
        }
        matches.extend(new);
        new = search(&rest, place);
    }
    secrets(text, &rest, merged(matches))
}

/// One pass over a text and what it looks like.
fn search(text: &str, place: Place) -> Vec<Match> {
    let mut found = scan(text, place, false);
    let plain = View::plain(text);
    if let Some(view) = &plain {
        // Positions in the view are not those of the text.
        let viewed = scan(&view.text, Place { from: 0, is_string: false, ..place }, false);
        found.extend(viewed.into_iter().map(|found| found.from(view)));
    }
    let shown = plain.as_ref().map_or(text, |view| &view.text);
    if let Some(joined) = View::joined(shown) {
        let whole = scan(&joined.text, Place { from: 0, is_string: false, ..place }, true);
        let whole = whole.into_iter().filter(|found| is_joined(&joined, found));
        let to_text = |found: Match| {
            let found = found.from(&joined);
            match &plain {
                Some(view) => found.from(view),
                None => found,
            }
        };
        found.extend(whole.map(to_text));
    }
    found.retain(|found| {
        found.cover.start >= place.from
            && text.get(found.cover.clone()).is_some_and(|text| text.bytes().any(|b| b != b'*'))
            && text.get(found.whole.clone()).is_some()
    });
    found
}

/// Whether a token continues on the next line: the next line does not begin with a word.
fn is_joined(joined: &View, found: &Match) -> bool {
    let parts: Vec<_> = joined.parts(found.whole.clone()).collect();
    let is_word = |part: &&str| {
        let rest = part.get(1..).unwrap_or_default();
        part.len() < 16 && rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'.')
    };
    parts.len() > 1 && !parts.iter().skip(1).any(is_word)
}

impl Match {
    /// The match in the text that a view shows.
    fn from(self, view: &View) -> Self {
        Self { whole: view.origin(&self.whole), cover: view.origin(&self.cover), ..self }
    }
}

/// Replaces a range by asterisks.
fn mask(text: &mut Cow<'_, str>, range: &Range<usize>) {
    if text.get(range.clone()).is_some() {
        text.to_mut().replace_range(range.clone(), &"*".repeat(range.len()));
    }
}

/// The text with masks in place of marks, such as `[email 1]`.
fn without_marks(text: &str) -> Cow<'_, str> {
    static MARK: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\[[a-z0-9]+(?:-[a-z0-9]+)* [0-9]+\]").ok());
    let mut masked = Cow::Borrowed(text);
    for mark in MARK.iter().flat_map(|mark| mark.find_iter(text)) {
        let is_kind = mark.as_str().get(1..).and_then(|mark| mark.split(' ').next());
        if is_kind.is_some_and(|kind| Rules::get().is_kind(kind)) {
            mask(&mut masked, &mark.range());
        }
    }
    masked
}

/// The matches of all rules in a text, or of those for tokens.
fn scan(text: &str, place: Place, is_token: bool) -> Vec<Match> {
    let rules = Rules::get();
    let hits = rules.hits(text.as_bytes().get(place.from..).unwrap_or_default());
    let hits = match place.from {
        0 => hits,
        // The text before names it.
        _ => rules.hits(text.as_bytes()),
    };
    if hits.is_none() {
        return Vec::new();
    }
    let mut rest = Cow::Borrowed(text);
    let mut found = Vec::new();
    for rule in rules.of(&hits).filter(|rule| rule.is_token || !is_token) {
        let mut search = |from| {
            let mut matches = rule_matches(rule, &rest, from);
            matches.retain(|found| found.cover.start >= place.from);
            matches.iter().for_each(|found| mask(&mut rest, &found.cover));
            found.extend(matches);
        };
        if place.from > 0 && !rule.is_token {
            search(0);
        }
        // A match that begins before the text may hide another.
        search(place.from);
    }
    if !is_token {
        let string = place.is_string.then_some(place.from);
        let named = names::secrets(&rest, &hits.names, string);
        add(&mut found, &mut rest, PASSWORD, named);
    }
    if hits.has_long && !place.is_decoded && !is_token {
        for (range, decoded) in encoded_words(&rest) {
            let place = Place { is_decoded: true, ..Place::default() };
            // The whole word: a part of it may not be decoded by others.
            if let Some(secret) = find(&decoded, place).into_iter().next() {
                add(&mut found, &mut rest, secret.kind, vec![range]);
            }
        }
    }
    if hits.has_long && !place.is_id && !place.is_decoded && !is_token {
        let random = random(&rest);
        add(&mut found, &mut rest, RANDOM, random);
    }
    found
}

fn add(
    found: &mut Vec<Match>,
    rest: &mut Cow<'_, str>,
    kind: &'static str,
    ranges: Vec<Range<usize>>,
) {
    for range in ranges {
        mask(rest, &range);
        found.push(Match { kind, whole: range.clone(), cover: range });
    }
}

/// The matches of a rule that begin at a position or later.
fn rule_matches(rule: &Rule, text: &str, from: usize) -> Vec<Match> {
    let Some(pattern) = rule.pattern() else { return Vec::new() };
    let text = text.get(from..).unwrap_or_default();
    let moved = |range: Range<usize>| range.start + from..range.end + from;
    let matches = pattern.captures_iter(text).filter_map(|captures| {
        let whole = captures.name("s").or(captures.name("m")).or(captures.get(0))?;
        let cover = captures.name("n").or(captures.name("m")).unwrap_or(whole);
        let is_harmless = match rule.kind {
            HOME => is_shared_home(cover.as_str()),
            "email" => {
                let before = text.get(..whole.start()).unwrap_or_default();
                is_impersonal(whole.as_str()) || before.ends_with('\\') && is_escape(whole.as_str())
            }
            "url-credentials" => {
                whole.as_str().contains(['$', '{', '%']) && is_variable(whole.as_str())
            }
            _ if entropy(whole.as_str()) < rule.entropy => true,
            _ if rule.is_token || rule.kind == "password-hash" => is_dummy_token(whole.as_str()),
            _ => is_placeholder(whole.as_str()),
        };
        let (whole, cover) = (moved(whole.range()), moved(cover.range()));
        (!is_harmless).then_some(Match { kind: rule.kind, whole, cover })
    });
    matches.collect()
}

/// Whether the first letter belongs to a backslash before it.
fn is_escape(text: &str) -> bool {
    text.starts_with(['n', 't', 'r', 'u'])
}

/// Whether the password of a URL is a variable.
fn is_variable(credentials: &str) -> bool {
    let password = credentials.rsplit(':').next().unwrap_or_default();
    password.starts_with(['$', '{']) || password.contains("${") || password.starts_with("%s")
}

/// Strings that look random.
fn random(text: &str) -> Vec<Range<usize>> {
    static PATTERN: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(&format!("[A-Za-z0-9+/_=-]{{{LONG},}}")).ok());
    /// Beginnings of public keys and of hashes, as in lock files.
    const PUBLIC: [&str; 5] = ["sha", "AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "AAAAGnNr"];
    const BEFORE: [&str; 4] = ["h1:", "SHA256:", "SHA512:", "sha256:"];
    let found = PATTERN.iter().flat_map(|pattern| pattern.find_iter(text));
    let found = found.filter(|found| {
        let before = text.get(..found.start()).unwrap_or_default();
        is_random(found.as_str())
            && !PUBLIC.iter().any(|public| found.as_str().starts_with(public))
            && !BEFORE.iter().any(|end| before.ends_with(end))
            && !is_encoded_prose(found.as_str())
    });
    found.map(|found| found.range()).collect()
}

/// The matches without overlaps, in order.
fn merged(mut matches: Vec<Match>) -> Vec<Match> {
    matches.sort_by_key(|found| (found.whole.start, usize::MAX - found.whole.end));
    let mut merged: Vec<Match> = Vec::new();
    for found in matches {
        match merged.last_mut() {
            Some(last) if found.whole.start < last.whole.end => {
                if last.kind != found.kind {
                    last.cover = last.whole.clone();
                }
                if found.whole.len() > last.whole.len() {
                    last.kind = found.kind;
                }
                last.whole.end = last.whole.end.max(found.whole.end);
                last.cover.start = last.cover.start.min(found.cover.start);
                last.cover.end = last.cover.end.max(found.cover.end).max(match last.kind {
                    HOME => 0,
                    _ => last.whole.end,
                });
            }
            _ => merged.push(found),
        }
    }
    merged
}

/// The secrets with their texts.
fn secrets(text: &str, rest: &str, matches: Vec<Match>) -> Vec<Secret> {
    let secrets = matches.into_iter().map(|Match { kind, whole, cover }| {
        let before = rest.get(..whole.start).unwrap_or_default();
        let before = before
            .char_indices()
            .rev()
            .take(AROUND)
            .last()
            .map_or("", |(at, _)| before.get(at..).unwrap_or_default());
        let after = rest.get(whole.end..).unwrap_or_default();
        let after = after.chars().take(AROUND).collect();
        let text = text.get(whole.clone()).unwrap_or_default().to_owned();
        Secret { kind, whole, cover, text, around: (before.to_owned(), after) }
    });
    secrets.collect()
}
