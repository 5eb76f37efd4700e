//! Search terms for entries, and the marks of matches.

use super::question;

/// The marks before and after a match in a snippet: noncharacters, which do not occur in texts.
pub const MATCH: [char; 2] = ['\u{fdd0}', '\u{fdd1}'];

/// Search terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchTerms {
    /// Words and phrases, all of which an entry must contain.
    All(Vec<String>),
    /// A query in the syntax of SQLite's FTS5.
    Raw(String),
}

impl SearchTerms {
    /// Every word, and every phrase in double quotes; `None` if there are none.
    pub fn of(text: &str) -> Option<Self> {
        let mut terms = Vec::new();
        for (number, part) in text.split('"').enumerate() {
            let is_phrase = number % 2 == 1;
            if is_phrase {
                terms.push(part);
            } else {
                terms.extend(part.split_whitespace());
            }
        }
        // A word without letters and digits would match nothing. No word contains a double quote, so each is a
        // valid string of the query syntax between double quotes.
        let terms = terms.into_iter().filter(|term| term.contains(char::is_alphanumeric));
        let terms: Vec<_> = terms.map(|term| term.replace('\0', " ")).collect();
        (!terms.is_empty()).then_some(Self::All(terms))
    }

    /// Whether it is a question in plain words: some of them are there for the grammar alone, and others are not.
    pub fn is_in_words(&self) -> bool {
        let Self::All(terms) = self else { return false };
        let fillers = terms.iter().filter(|term| question::is_filler(term)).count();
        fillers > 0 && fillers < terms.len()
    }
}

/// Whether words of this script are not separated by spaces: those of China, Japan and Thailand, for instance.
pub(super) fn is_unseparated(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{3ffff}')
}

/// The text around the first term, which is marked.
pub(super) fn excerpt(text: &str, terms: &[String]) -> String {
    /// Characters before the match, and after it.
    const BEFORE: usize = 30;
    const AFTER: usize = 120;
    let lower = text.to_ascii_lowercase();
    let found = terms.iter().find_map(|term| {
        let at = lower.find(&term.to_ascii_lowercase())?;
        Some((text.get(..at)?, text.get(at..at + term.len())?, text.get(at + term.len()..)?))
    });
    let Some((before, term, after)) = found else { return text.chars().take(AFTER).collect() };
    let start = before.char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    let end = after.char_indices().nth(AFTER).map_or(after.len(), |(at, _)| at);
    let cut = |is_cut| if is_cut { "…" } else { "" };
    let (before, rest) =
        (before.get(start..).unwrap_or_default(), after.get(..end).unwrap_or_default());
    let [begin, close] = MATCH;
    format!("{}{before}{begin}{term}{close}{rest}{}", cut(start > 0), cut(end < after.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_shows_the_match() {
        let [begin, end] = MATCH;
        let excerpt = |text: &str, term: &str| excerpt(text, &[term.to_owned()]);
        assert_eq!(
            excerpt("Das Überfallkommando", "FALL"),
            format!("Das Über{begin}fall{end}kommando")
        );
        assert_eq!(excerpt("これは確認です", "確認"), format!("これは{begin}確認{end}です"));
        let long = "x".repeat(200);
        let cut = excerpt(&format!("{long}é-match-{long}"), "match");
        assert!(cut.starts_with("…x") && cut.ends_with("x…"), "{cut}");
    }
}
