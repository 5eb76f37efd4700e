//! Makes Markdown of a log harmless: a renderer shows text, but executes and loads nothing.

use std::collections::BTreeSet;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag};

use crate::{
    terminal::neutralise,
    text::terminal::{is_mail, is_plain, is_web},
};

/// Escaping may turn other text into markup.
const ROUNDS: usize = 8;

/// The dialects of renderers: the standard, the common extensions, and all extensions.
const DIALECTS: [Options; 3] = [
    Options::empty(),
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS),
    Options::all(),
];

/// The text without raw HTML, images and formulas, and without links other than to the web and to mail addresses:
/// these are escaped, whichever dialect recognises them. `None` if escaping does not converge.
pub(super) fn harmless(mut words: String) -> Option<String> {
    for _ in 0..ROUNDS {
        let mut acting = BTreeSet::new();
        for dialect in DIALECTS {
            find_acting(&words, dialect, &mut acting);
        }
        if acting.is_empty() {
            return Some(words);
        }
        words = escaped(&words, &acting);
    }
    None
}

/// Finds the characters that begin forbidden markup.
fn find_acting(words: &str, dialect: Options, acting: &mut BTreeSet<usize>) {
    let events = Parser::new_ext(words, dialect).into_offset_iter();
    for (_, definition) in events.reference_definitions().iter() {
        let title = definition.title.as_deref().unwrap_or_default();
        if !leads_out(&definition.dest) || !shows_all(title) {
            acting.insert(definition.span.start);
        }
    }
    for (event, range) in events {
        let source = words.get(range.clone()).unwrap_or_default();
        let found = match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                acting.extend(source.match_indices('<').map(|(at, _)| range.start + at));
                None
            }
            Event::InlineMath(_) | Event::DisplayMath(_) | Event::FootnoteReference(_) => Some(0),
            // A character reference may denote a character that hides or reverses the following text.
            Event::Text(text) if source.starts_with('&') && !shows_all(&text) => Some(0),
            Event::Start(tag) => acts(&tag, source),
            _ => None,
        };
        acting.extend(found.map(|at| range.start + at));
    }
}

/// The offset in its source at which a forbidden element has to be escaped.
fn acts(tag: &Tag<'_>, source: &str) -> Option<usize> {
    match tag {
        Tag::Image { .. } | Tag::FootnoteDefinition(_) | Tag::MetadataBlock(_) => Some(0),
        Tag::Link { link_type: LinkType::Email, dest_url, .. } if is_plain(dest_url) => None,
        Tag::Link { dest_url, title, .. } => {
            (!leads_out(dest_url) || !shows_all(title)).then_some(0)
        }
        Tag::Heading { id, classes, attrs, .. } => {
            let is_plain = id.is_none() && classes.is_empty() && attrs.is_empty();
            if is_plain { None } else { source.rfind('}') }
        }
        Tag::CodeBlock(CodeBlockKind::Fenced(language)) if !shows_all(language) => source.find('&'),
        _ => None,
    }
}

fn leads_out(address: &str) -> bool {
    is_web(address) || is_mail(address)
}

fn shows_all(text: &str) -> bool {
    neutralise(text) == text
}

fn escaped(words: &str, acting: &BTreeSet<usize>) -> String {
    let mut escaped = String::with_capacity(words.len() + 4 * acting.len());
    for (at, c) in words.char_indices() {
        match c {
            _ if !acting.contains(&at) => escaped.push(c),
            // Also valid in code, in case the surrounding markup is escaped: a backslash is not an escape there, nor
            // in the attributes of a heading.
            '<' => escaped.push_str("&lt;"),
            '}' => escaped.push_str("&#125;"),
            _ => escaped.extend(['\\', c]),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &str) -> String {
        harmless(words.to_owned()).unwrap_or_else(|| "no end".to_owned())
    }

    #[test]
    fn what_can_be_read_stays() {
        for words in [
            "*a* `<b>` [c](https://example.org \"d\") <https://example.org> <me@example.org>",
            "|a|b|\n|-|-|\n|`c`|~~d~~|\n\n- [x] e\n- 1 < 2 & 3 > 2",
            "    <b>\n\n```html\n<b>$x$</b>\n```\n\n# A {b\n\ncosts $5 or [6]",
        ] {
            assert_eq!(of(words), words);
        }
    }

    #[test]
    fn what_acts_is_text() {
        for (words, expected) in [
            ("<b>c</b>", "&lt;b>c&lt;/b>"),
            ("![a](https://example.org/x.png)", "\\![a](https://example.org/x.png)"),
            ("[a](javascript:b) [c](d.md)", "\\[a](javascript:b) \\[c](d.md)"),
            ("[a]\n\n[a]: file:///b", "\\[a]\n\n\\[a]: file:///b"),
            ("<javascript:a>", "&lt;javascript:a>"),
            ("# a {onclick=b}", "# a {onclick=b&#125;"),
            ("a $b$ [^c]\n\n[^c]: d", "a \\$b$ \\[^c]\n\n\\[^c]: d"),
            ("a &#x202e;b &amp;", "a \\&#x202e;b &amp;"),
            ("---\na: b\n---", "\\---\na: b\n---"),
            ("[[a]]", "\\[[a]]"),
        ] {
            assert_eq!(of(words), expected);
        }
    }
}
