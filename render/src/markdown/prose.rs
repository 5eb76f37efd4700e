//! Messages as Markdown that is self-contained and harmless.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::harmless::harmless;
use crate::terminal::{neutralise, neutralise_line};

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

/// Encloses content in a fence that it cannot close.
pub(super) fn fence(document: &mut String, language: &str, content: &str) {
    let content = content.replace("\r\n", "\n");
    let content = neutralise(&content);
    let content = content.trim_end();
    if content.is_empty() {
        return;
    }
    let ticks = "`".repeat(longest_run(content).max(2) + 1);
    for part in [&*ticks, language, "\n", content, "\n", &*ticks, "\n\n"] {
        document.push_str(part);
    }
}

/// Text on one line without markup.
pub(super) fn inline(text: &str) -> String {
    let text = neutralise_line(text.trim());
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation()
            && !matches!(c, '/' | '.' | ',' | ':' | '-' | '\'' | '"' | '?' | '=')
        {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Text on one line as code, in backticks that it cannot close.
pub(super) fn code(text: &str) -> String {
    let text = neutralise_line(text.trim());
    if text.is_empty() {
        return String::new();
    }
    let ticks = "`".repeat(longest_run(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    [&*ticks, space, &*text, space, &*ticks].concat()
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
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

    #[test]
    fn nothing_closes_its_fence() {
        let mut document = String::new();
        fence(&mut document, "sh", "a\n````\nb\x1b[2J\n");
        assert_eq!(document, "`````sh\na\n````\nb␛[2J\n`````\n\n");
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(inline("<b>*x*\n# y"), "\\<b\\>\\*x\\*⏎\\# y");
    }
}
