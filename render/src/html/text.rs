//! Text of a log in a page: control characters are made visible, and all markup is escaped.

use std::{borrow::Cow, fmt::Write};

use maud::{Escaper, Render};

use crate::{
    terminal::{neutralise, neutralise_line},
    text::call_text::edit,
};

/// Text of a log, neutralised and escaped when it is rendered, in elements and in attributes.
///
/// All text outside of templates passes through it.
#[derive(Clone, Debug)]
pub(super) struct PageText<'t>(Cow<'t, str>);

/// Text with its line feeds.
pub(super) fn text<'t>(text: impl Into<Cow<'t, str>>) -> PageText<'t> {
    let text = text.into();
    let text = if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text };
    PageText(edit(text, neutralise))
}

/// Text on one line.
pub(super) fn line<'t>(text: impl Into<Cow<'t, str>>) -> PageText<'t> {
    PageText(edit(text.into(), neutralise_line))
}

/// The first line that is not empty, and whether it is the only one.
pub(super) fn first_line(text: &str) -> (&str, bool) {
    let text = text.trim();
    match text.split_once('\n') {
        Some((first, _)) => (first.trim_end(), false),
        None => (text, true),
    }
}

impl Render for PageText<'_> {
    fn render_to(&self, html: &mut String) {
        // Writing to a string cannot fail.
        let _ = Escaper::new(html).write_str(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_markup_and_never_acts() {
        let shown = |t| text(t).render().into_string();
        assert_eq!(shown("<b a=\"'\">&amp;"), "&lt;b a=&quot;'&quot;&gt;&amp;amp;");
        assert_eq!(shown("a\r\nb\u{202e}c\x1b[2J"), "a\nb\\u{202e}c␛[2J");
        assert_eq!(line("a\nb").render().into_string(), "a⏎b");
    }
}
