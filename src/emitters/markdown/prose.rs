//! What the agent said, as Markdown that ends where it ends and has no HTML in it.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::emitters::terminal::neutralise;

/// To escape HTML may make HTML of what was code before.
const ROUNDS: usize = 4;

/// Appends a message in Markdown. Raw HTML in it becomes text, and a fence that is left open is closed.
pub(super) fn prose(document: &mut String, words: &str) {
    let words = words.replace("\r\n", "\n");
    let mut words = neutralise(words.trim_end()).into_owned();
    for _ in 0..ROUNDS {
        match without_html(&words) {
            Some(escaped) => words = escaped,
            None => break,
        }
    }
    if without_html(&words).is_some() {
        words = words.replace('<', "&lt;");
    }
    document.push_str(&words);
    if let Some(fence) = open_fence(&words) {
        document.push('\n');
        document.push_str(fence);
    }
    document.push_str("\n\n");
}

/// The text with its raw HTML escaped; `None` if there is none.
fn without_html(words: &str) -> Option<String> {
    let mut escaped = String::new();
    let mut at = 0;
    for (event, range) in Parser::new_ext(words, Options::ENABLE_TABLES).into_offset_iter() {
        if matches!(event, Event::Html(_) | Event::InlineHtml(_)) && range.start >= at {
            escaped.push_str(words.get(at..range.start)?);
            escaped.push_str(&words.get(range.clone())?.replace('<', "&lt;"));
            at = range.end;
        }
    }
    // HTML without a `<` is the rest of a block whose beginning was escaped.
    escaped.push_str(words.get(at..)?);
    (escaped != words && at > 0).then_some(escaped)
}

/// The fence that the text leaves open.
fn open_fence(words: &str) -> Option<&str> {
    let mut fence = None;
    for (event, range) in Parser::new(words).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                let block = words.get(range)?;
                let mark = block.chars().next()?;
                let length = block.len() - block.trim_start_matches(mark).len();
                let last = block.trim_end().lines().next_back()?.trim_start_matches([' ', '>']);
                let closes = last.chars().all(|c| c == mark) && last.len() >= length;
                let is_closed = closes && block.trim_end().lines().count() > 1;
                fence = if is_closed { None } else { block.get(..length) };
            }
            Event::End(TagEnd::CodeBlock) => {}
            // Something follows: the end of what held the block has closed it.
            _ if fence.is_some() && matches!(event, Event::Start(_)) => fence = None,
            _ => {}
        }
    }
    fence
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(words: &str) -> String {
        let mut document = String::new();
        prose(&mut document, words);
        document
    }

    #[test]
    fn markdown_stays_and_html_is_text() {
        assert_eq!(written("*a* `<b>` <b>c</b>"), "*a* `<b>` &lt;b>c&lt;/b>\n\n");
        assert_eq!(
            written("<div>\n```\n\n```\n<b>\n```"),
            "&lt;div>\n```\n\n```\n&lt;b>\n```\n```\n\n"
        );
        assert_eq!(written("a <https://example.org>"), "a <https://example.org>\n\n");
    }

    #[test]
    fn what_is_left_open_is_closed() {
        assert_eq!(written("a\n\n````sh\nls\n```"), "a\n\n````sh\nls\n```\n````\n\n");
        assert_eq!(written("```\nls\n```"), "```\nls\n```\n\n");
        assert_eq!(written("~~~\nls"), "~~~\nls\n~~~\n\n");
    }
}
