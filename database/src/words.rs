//! The words of a text, for a search index without its own tokenizer: in lower case and without accents, as in the
//! index of SQLite.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use unicode_normalization::UnicodeNormalization;

use crate::query::tolerance;

/// The part of a text whose words are indexed, in bytes.
const INDEXED: usize = 1 << 20;

/// The greatest number of words in a vector; a place in a vector is at most 16,383.
const PIECE: usize = 16_000;

/// The longest word of a vector, in bytes.
const LONGEST: usize = 2_000;

/// The greatest number of places of a word in a vector.
const PLACES: usize = 255;

/// Accents of Latin letters, when a text is decomposed.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !is_accent(c));
    let plain = words.map(|word| {
        let letters = word.nfd().filter(|c| !is_accent(*c)).flat_map(char::to_lowercase);
        start(&letters.collect::<String>(), LONGEST).to_owned()
    });
    plain.filter(|word| !word.is_empty())
}

/// At most this many bytes of a text.
fn start(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// The vectors of texts, in the syntax of `tsvector`, and the words that a misspelled one may stand for. Texts are apart, so
/// that no phrase spans two of them.
pub(crate) fn vectors<'t>(
    texts: impl Iterator<Item = &'t str>,
    terms: &mut BTreeSet<String>,
) -> Vec<String> {
    let mut vectors = Vec::new();
    let (mut places, mut at) = (BTreeMap::<String, Vec<usize>>::new(), 0);
    for text in texts {
        for word in words(start(text, INDEXED)) {
            if at >= PIECE {
                vectors.push(vector(&std::mem::take(&mut places)));
                at = 0;
            }
            at += 1;
            if tolerance(&word).is_some() && !terms.contains(&word) {
                terms.insert(word.clone());
            }
            let known = places.entry(word).or_default();
            if known.len() < PLACES {
                known.push(at);
            }
        }
        at += 1;
    }
    if !places.is_empty() {
        vectors.push(vector(&places));
    }
    vectors
}

fn vector(places: &BTreeMap<String, Vec<usize>>) -> String {
    let mut vector = String::new();
    for (word, at) in places {
        let at: Vec<String> = at.iter().map(ToString::to_string).collect();
        // Writing to a string cannot fail.
        let _ = write!(vector, "'{word}':{} ", at.join(","));
    }
    vector
}

/// A query for a phrase, in the syntax of `tsquery`.
pub(super) fn phrase(phrase: &str) -> String {
    query(words(phrase).map(|word| format!("'{word}'")), " <-> ")
}

/// A query for words that begin like this one.
pub(super) fn beginning(word: &str) -> String {
    query(words(word).map(|word| format!("'{word}':*")), " & ")
}

fn query(words: impl Iterator<Item = String>, operator: &str) -> String {
    let words: Vec<_> = words.collect();
    match words.is_empty() {
        // No text has this word.
        true => "' '".to_owned(),
        false => format!("({})", words.join(operator)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors_of(texts: &[&str]) -> Vec<String> {
        vectors(texts.iter().copied(), &mut BTreeSet::new())
    }

    #[test]
    fn words_have_places_and_no_accents() {
        let mut terms = BTreeSet::new();
        assert_eq!(
            vectors(["Ärger, x86-64!", "it's ärger"].into_iter(), &mut terms),
            ["'64':3 'arger':1,7 'it':5 's':6 'x86':2 "]
        );
        assert_eq!(terms.into_iter().collect::<Vec<_>>(), ["arger"]);
        assert_eq!(phrase("Foo bar"), "('foo' <-> 'bar')");
        assert_eq!(beginning("Käs"), "('kas':*)");
    }

    #[test]
    fn a_long_text_has_several_vectors() {
        let text: String = (0..20_000).map(|number| format!("w{number} ")).collect();
        assert_eq!(vectors_of(&[&text]).len(), 2);
        let same = "a ".repeat(15_000);
        assert!(vectors_of(&[&same]).iter().all(|vector| vector.len() < 2_000));
    }
}
