//! Messages as Markdown that is self-contained and harmless.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::{fence::fence, harmless::harmless};
use crate::terminal::neutralise;

/// Appends a message in Markdown. Active markup becomes text, and an open fence is closed.
pub(super) fn prose(document: &mut String, words: &str) {
    let shown = words.replace("\r\n", "\n");
    let Some(shown) = harmless(neutralise(shown.trim_end()).into_owned()) else {
        return fence(document, "", words);
    };
    document.push_str(&shown);
    if let Some(fence) = open_fence(&shown) {
        document.push('\n');
        document.push_str(fence);
    }
    document.push_str("\n\n");
}

/// Appends a message in Markdown as a quotation, line by line.
pub(super) fn quote(document: &mut String, words: &str) {
    let shown = words.replace("\r\n", "\n");
    let mut quoted = String::with_capacity(shown.len() + shown.len() / 8);
    for line in neutralise(shown.trim()).lines() {
        quoted.push_str(if line.is_empty() { ">" } else { "> " });
        quoted.push_str(line);
        quoted.push('\n');
    }
    match harmless(quoted) {
        Some(quoted) => {
            document.push_str(&quoted);
            document.push('\n');
        }
        None => fence(document, "", words),
    }
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
            // Something follows: the end of the containing block has closed it.
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
        let mut document = String::new();
        quote(&mut document, "<a>\r\n\r\n# b");
        assert_eq!(document, "> &lt;a>\n>\n> # b\n\n");
    }

    #[test]
    fn what_is_left_open_is_closed() {
        assert_eq!(written("a\n\n````sh\nls\n```"), "a\n\n````sh\nls\n```\n````\n\n");
        assert_eq!(written("```\nls\n```"), "```\nls\n```\n\n");
        assert_eq!(written("~~~\nls"), "~~~\nls\n~~~\n\n");
    }
}
