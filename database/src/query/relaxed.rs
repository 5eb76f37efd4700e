//! Questions in plain words, which are answered even if no entry has all of their words.

use super::{
    FoundEntry, SessionFilter,
    question::{self, Term},
    word_search::WordSearch,
};
use crate::{Store, StoreError};

/// How many times as frequent as the rarest word of a question a word may be that alone finds an entry.
const AS_RARE: usize = 10;

/// The number of entries of a word that is rare enough in any question.
const RARE: usize = 2_000;

/// The greatest number of words of a question that are searched: the rarest ones.
const MOST_WORDS: usize = 64;

/// The greatest number of words that are searched instead of an unknown one, and of those that are tried.
const MOST_NEAR: usize = 3;
const MOST_TRIED: usize = 12;

/// The entries that a question in plain words found, and how its words were searched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RelaxedSearch {
    /// Entries with some of the words, in any form. First are those whose words are rarest together; what was said
    /// counts half as much again. Of equal ones, the latest is first.
    pub entries: Vec<FoundEntry>,
    /// Words that are in a question for its grammar alone.
    pub left_out: Vec<String>,
    /// Words that no entry has in any form, and words that are spelled nearly alike.
    pub near: Vec<NearWord>,
    /// Words that no entry has in any form, and none that is spelled nearly alike.
    pub unknown: Vec<String>,
}

/// A word of a question that no entry has, and the words of entries that were searched instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearWord {
    /// The word of the question.
    pub asked: String,
    /// Words with at most two other letters.
    pub near: Vec<String>,
}

impl dyn Store + '_ {
    /// Entries that have some of the terms, in any form: for terms that no entry has all of, and for questions in plain
    /// words. Words without meaning are left out if others remain. Instead of a word that no entry has, words that are
    /// spelled nearly alike are searched.
    pub fn search_relaxed(
        &self,
        terms: &[String],
        filter: &SessionFilter,
    ) -> Result<RelaxedSearch, StoreError> {
        let mut answer = RelaxedSearch::default();
        let (fillers, mut words): (Vec<_>, Vec<_>) =
            terms.iter().cloned().partition(|term| question::is_filler(term));
        match words.is_empty() {
            true => words = fillers,
            false => {
                answer.left_out =
                    fillers.iter().map(|word| question::bare(word).to_owned()).collect();
            }
        }
        let mut known = Vec::new();
        for word in words {
            let term = Term::inflected(&word);
            if known.iter().any(|(_, known, _)| *known == term) {
                continue;
            }
            match self.count_of_terms(std::slice::from_ref(&term), filter)? {
                0 => {
                    let Some((distance, near)) = self.near_words(&word, filter)? else {
                        answer.unknown.push(word);
                        continue;
                    };
                    let term = near.iter().map(|word| Term::inflected(word));
                    let term = term.fold(Term::default(), Term::or);
                    let count = self.count_of_terms(std::slice::from_ref(&term), filter)?;
                    known.push((count, term, if distance > 1 { 1 } else { 3 }));
                    answer.near.push(NearWord { asked: word, near });
                }
                count => known.push((count, term, 4)),
            }
        }
        known.sort_by_key(|(count, ..)| *count);
        known.truncate(MOST_WORDS);
        let Some(rarest) = known.first().map(|(count, ..)| *count) else { return Ok(answer) };
        let most = rarest.saturating_mul(AS_RARE).max(RARE);
        let telling: Vec<_> = known.iter().take_while(|(count, ..)| *count <= most).collect();
        let telling: Vec<_> = telling.into_iter().map(|(_, term, _)| term.clone()).collect();
        let all = self.number_of_entries()?;
        let weighed: Vec<_> = known
            .into_iter()
            .map(|(count, term, certainty)| (term, weight(all, count) * certainty))
            .collect();
        let mut parameters = self.parameters();
        let search = WordSearch::weighed(&telling, &weighed, &mut parameters);
        let words = telling.iter().flat_map(|term| term.phrases.iter().chain(&term.beginnings));
        let words = words.flat_map(|word| word.split(|c: char| !c.is_alphanumeric()));
        let words: Vec<_> = words.collect();
        answer.entries = self.words(&search, &words, filter, parameters)?;
        Ok(answer)
    }

    /// Words of entries that are spelled nearly like this one, which no entry has: those with the fewest other letters,
    /// and how many those are.
    fn near_words(
        &self,
        word: &str,
        filter: &SessionFilter,
    ) -> Result<Option<(usize, Vec<String>)>, StoreError> {
        let word = question::bare(word).to_ascii_lowercase();
        let (Some(most), Some(first)) = (question::tolerance(&word), word.get(..1)) else {
            return Ok(None);
        };
        // A misspelled word seldom begins with another letter, and the index has far fewer words with one.
        let mut found = Vec::new();
        for (from, to) in [(first, format!("{first}\u{10ffff}").as_str()), ("a", "{")] {
            let mut parameters = self.parameters();
            let sql = format!(
                "SELECT term FROM {} WHERE term >= {} AND term < {} AND length(term) BETWEEN {} AND {}",
                self.dialect().vocabulary(),
                parameters.add(from.to_owned()),
                parameters.add(to.to_owned()),
                parameters.add(i64::try_from(word.len() - most).unwrap_or(0)),
                parameters.add(i64::try_from(word.len() + most).unwrap_or(i64::MAX)),
            );
            let terms = self.answer(&sql, &parameters, |row| row.get::<String>(0))?;
            let near = terms.into_iter().filter(|term| question::tolerance(term).is_some());
            found.extend(
                near.filter_map(|term| Some((question::distance(&word, &term, most)?, term))),
            );
            if !found.is_empty() {
                break;
            }
        }
        found.sort_unstable();
        let mut near: Option<(usize, Vec<String>)> = None;
        for (distance, term) in found.into_iter().take(MOST_TRIED) {
            let is_full = near
                .as_ref()
                .is_some_and(|(least, near)| *least < distance || near.len() == MOST_NEAR);
            if is_full {
                break;
            }
            if self.count_of_terms(&[Term::exact(&term)], filter)? > 0 {
                near.get_or_insert((distance, Vec::new())).1.push(term);
            }
        }
        Ok(near)
    }

    fn number_of_entries(&self) -> Result<usize, StoreError> {
        let sql = "SELECT count(*) FROM entries";
        let count = self.answer(sql, &self.parameters(), |row| row.get::<i64>(0))?.pop();
        Ok(count.and_then(|count| usize::try_from(count).ok()).unwrap_or(0))
    }
}

/// The weight of a word that so many of all entries have: what it tells, in hundredths.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "only the order matters"
)]
fn weight(all: usize, with_word: usize) -> i64 {
    let rarity = all.max(1) as f64 / with_word.max(1) as f64;
    (rarity.ln_1p() * 100.0) as i64
}
