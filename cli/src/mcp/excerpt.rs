//! The text around a match, of an entry without its secrets.

use foldline_database::query::{FoundEntry, MATCH};
use foldline_domain::NormalizedEntry;

use super::{call::Call, quote::clip};
use crate::error::Error;

/// Characters before the match, and after it.
const BEFORE: usize = 60;
const AFTER: usize = 200;

/// The text of a redacted entry around the first word that a snippet marks; its beginning, if the word was redacted.
pub(crate) fn excerpt(call: &Call<'_>, hit: &FoundEntry, snippet: &str) -> Result<String, Error> {
    let mut entry: Option<NormalizedEntry> = None;
    let range = hit.index..hit.index.saturating_add(1);
    call.database.entries(hit.session, range, |stored| entry = Some(stored.entry))?;
    let Some(entry) = entry else { return Ok(String::new()) };
    let entry = call.entry(entry);
    let text = entry.texts().collect::<Vec<_>>().join("\n");
    let marked = snippet.split_once(MATCH[0]).and_then(|(_, rest)| rest.split_once(MATCH[1]));
    Ok(around(&text, marked.map(|(word, _)| word).unwrap_or_default()))
}

/// The text around a word, which is marked.
fn around(text: &str, word: &str) -> String {
    let Some((before, after)) = text.split_once(word).filter(|_| !word.is_empty()) else {
        return clip(text, AFTER).into_owned();
    };
    let start = before.char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    let cut = if start > 0 { "…" } else { "" };
    format!("{cut}{}«{word}»{}", before.get(start..).unwrap_or_default(), clip(after, AFTER))
}

#[cfg(test)]
mod tests {
    use super::around;

    #[test]
    fn the_text_around_a_word_is_cut_between_characters() {
        assert_eq!(around("one two three", "two"), "one «two» three");
        assert_eq!(around("確認です", "です"), "確認«です»");
        let long = "é".repeat(300);
        let (before, after) = ("é".repeat(59), "é".repeat(199));
        let cut = around(&format!("{long} word {long}"), "word");
        assert_eq!(cut, format!("…{before} «word» {after}…"));
        assert_eq!(around("redacted", "gone"), "redacted");
        assert_eq!(around(&long, ""), format!("{}…", "é".repeat(200)));
    }
}
