//! Encloses content so that it cannot break out.

use crate::terminal::{neutralise, neutralise_line};

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
