//! Questions in plain words: words that select nothing, other forms of a word, and words that are spelled nearly alike.

/// English words that a question has for its grammar alone, in order.
const FILLERS: &[&str] = &[
    "a", "about", "again", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been",
    "before", "being", "but", "by", "can", "can't", "cannot", "could", "did", "didn't", "do",
    "does", "doesn't", "doing", "don't", "ever", "for", "from", "get", "gets", "give", "got",
    "had", "has", "have", "having", "he", "her", "his", "how", "i", "i'm", "if", "in", "into",
    "is", "isn't", "it", "it's", "its", "just", "know", "let", "many", "may", "me", "might",
    "much", "must", "my", "need", "of", "on", "or", "our", "out", "please", "shall", "she",
    "should", "show", "since", "so", "some", "such", "tell", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "to", "try", "up", "us", "was",
    "wasn't", "we", "were", "what", "what's", "when", "where", "which", "while", "who", "whom",
    "whose", "why", "will", "wish", "with", "won't", "would", "you",
    "your", // Of the memory itself.
    "happen", "happened", "happens", "remember", "thing", "things",
];

/// What the index may have instead of a word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Term {
    /// Words and phrases.
    pub(super) phrases: Vec<String>,
    /// Beginnings of words.
    pub(super) beginnings: Vec<String>,
}

impl Term {
    /// A word or a phrase as it is.
    pub(super) fn exact(phrase: &str) -> Self {
        Self { phrases: vec![phrase.to_owned()], beginnings: Vec::new() }
    }

    /// The beginning of a word.
    pub(super) fn beginning(beginning: &str) -> Self {
        Self { phrases: Vec::new(), beginnings: vec![beginning.to_owned()] }
    }

    /// An English word with its other forms, such as `fails`, `failing` and `failure` for `failed`. A word of other
    /// letters, a path and a phrase have no forms.
    pub(super) fn inflected(term: &str) -> Self {
        let mut forms = Self::exact(term);
        let word = bare(term).to_ascii_lowercase();
        if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return forms;
        }
        match stem(&word) {
            // A short beginning would be that of other words as well.
            Stem::Beginning(stem) if stem.len() > 3 => forms.beginnings.push(stem.to_owned()),
            Stem::Beginning(stem) => {
                let last = stem.chars().last().into_iter();
                let doubled =
                    last.flat_map(|last| ["ed", "ing", "er"].map(|it| format!("{last}{it}")));
                let endings = ["", "e", "s", "es", "ed", "ing", "er"].map(str::to_owned);
                let endings = endings.into_iter().chain(doubled);
                forms.phrases.extend(endings.map(|ending| format!("{stem}{ending}")));
            }
            Stem::BeforeY(stem) => {
                let endings = ["y", "ies", "ied", "ying", "ier"];
                forms.phrases.extend(endings.map(|ending| format!("{stem}{ending}")));
            }
        }
        forms
    }

    /// What has one of both terms.
    pub(super) fn or(mut self, other: Self) -> Self {
        self.phrases.extend(other.phrases);
        self.beginnings.extend(other.beginnings);
        self
    }
}

/// The part of an English word that its forms share.
enum Stem<'w> {
    /// They begin with it.
    Beginning(&'w str),
    /// They have `y` or `i` after it.
    BeforeY(&'w str),
}

/// Endings, and the fewest letters before each of them.
const ENDINGS: [(&str, usize); 11] = [
    ("ation", 5),
    ("ally", 6),
    ("ure", 4),
    ("ment", 5),
    ("ing", 3),
    ("ion", 5),
    ("edly", 4),
    ("ly", 4),
    ("ed", 3),
    ("er", 4),
    ("e", 3),
];

fn stem(word: &str) -> Stem<'_> {
    let before_y = ["ies", "ied", "y"].iter().find_map(|ending| word.strip_suffix(ending));
    if let Some(stem) =
        before_y.filter(|stem| stem.len() >= 3 && !stem.ends_with(['a', 'e', 'o', 'l']))
    {
        return Stem::BeforeY(stem);
    }
    let word = singular(word);
    let cut = ENDINGS.iter().find_map(|(ending, least)| {
        let stem = word.strip_suffix(ending)?;
        (stem.len() >= *least && !word.ends_with("eed")).then_some((stem, *ending))
    });
    match cut {
        None => Stem::Beginning(word),
        Some((stem, "ing" | "ed" | "er")) => Stem::Beginning(undoubled(stem)),
        // `file` is no form of `fil..`.
        Some((stem, "e")) if stem.len() == 3 => Stem::Beginning(word),
        Some((stem, _)) => Stem::Beginning(stem),
    }
}

fn singular(word: &str) -> &str {
    let is_sibilant =
        ["ches", "shes", "xes", "sses", "zes"].iter().any(|ending| word.ends_with(ending));
    match word.strip_suffix(if is_sibilant { "es" } else { "s" }) {
        Some(stem) if stem.len() >= 3 && (is_sibilant || !stem.ends_with(['s', 'u', 'i'])) => stem,
        _ => word,
    }
}

/// `run` of `runn`, but `fill` and `miss` as they are.
fn undoubled(stem: &str) -> &str {
    let mut letters = stem.chars().rev();
    let (last, other) = (letters.next(), letters.next());
    let is_kept = match last {
        Some('s' | 'z') => true,
        Some('l') => stem.len() < 6,
        _ => stem.len() < 4,
    };
    if last == other && !is_kept { &stem[..stem.len() - 1] } else { stem }
}

/// A term without the punctuation around it.
pub(super) fn bare(term: &str) -> &str {
    term.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Whether a term is a word that selects nothing.
pub(super) fn is_filler(term: &str) -> bool {
    let word = bare(term).to_ascii_lowercase().replace('’', "'");
    FILLERS.contains(&word.as_str())
}

/// The most letters that may differ in a word of this length; `None` for a word that is too short, or no word.
pub(crate) fn tolerance(word: &str) -> Option<usize> {
    match word.len() {
        _ if !word.bytes().all(|byte| byte.is_ascii_lowercase()) => None,
        4..=7 => Some(1),
        8..=40 => Some(2),
        _ => None,
    }
}

/// The number of letters that were left out, added, replaced or swapped with the next one, if it is at most `most`.
pub(super) fn distance(one: &str, other: &str, most: usize) -> Option<usize> {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    let mut before = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, with) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != with);
            let mut least = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            let is_swapped =
                row > 0 && column > 0 && (one[row - 1], letter) == (*with, &other[column - 1]);
            if is_swapped {
                least = least.min(before[column - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut last, next);
    }
    last.pop().filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_a_term() {
        let has = |term: &str, word: &str| {
            let Term { phrases, beginnings } = Term::inflected(term);
            phrases.iter().any(|phrase| phrase == word)
                || beginnings.iter().any(|beginning| word.starts_with(beginning))
        };
        for (term, word) in [
            ("failing", "fail"),
            ("failing?", "failures"),
            ("tests", "test"),
            ("test", "testing"),
            ("retries", "retry"),
            ("retry", "retried"),
            ("fixes", "fix"),
            ("fix", "fixed"),
            ("logged", "logs"),
            ("run", "running"),
            ("files", "file"),
            ("decided", "decide"),
            ("cancelled", "canceled"),
            ("connection", "connect"),
            ("automatically", "automatic"),
            ("configuration", "configure"),
            ("classes", "class"),
        ] {
            assert!(has(term, word), "{term}: {word}, {:?}", Term::inflected(term));
        }
        for (term, word) in
            [("files", "filter"), ("using", "us"), ("retry", "retrieve"), ("logs", "logic")]
        {
            assert!(!has(term, word), "{term}: {word}, {:?}", Term::inflected(term));
        }
        for term in ["src/main.rs", "überfallen", "E0308", "a b"] {
            assert_eq!(Term::inflected(term), Term::exact(term));
        }
    }

    #[test]
    fn a_filler_selects_nothing() {
        assert!(is_filler("How") && is_filler("doesn’t") && is_filler("why?"));
        assert!(!is_filler("not") && !is_filler("test") && !is_filler("C++"));
    }

    #[test]
    fn a_distance_counts_letters() {
        for (one, other, most, is) in [
            ("freind", "friend", 2, Some(1)),
            ("tets", "test", 2, Some(1)),
            ("automaticaly", "automatically", 2, Some(1)),
            ("optoins", "option", 2, Some(2)),
            ("kitten", "sitting", 2, None),
            ("", "ab", 2, Some(2)),
            ("same", "same", 0, Some(0)),
        ] {
            assert_eq!(distance(one, other, most), is, "{one} {other}");
        }
        assert_eq!(
            (tolerance("fix"), tolerance("flaky"), tolerance("x86-64")),
            (None, Some(1), None)
        );
    }
}
