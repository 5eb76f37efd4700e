//! Converts Markdown to HTML with an allow list.
//!
//! The parser's events are written one by one as one of a few elements; everything else, above all raw HTML, is
//! written as text. No sanitiser follows: there is no tree of unknown elements to clean, and nothing is parsed a
//! second time, which is how mutations bypass sanitisers. Nothing is loaded: an image is shown as its description and
//! its address.

use maud::{Markup, PreEscaped, Render, html};
use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd,
    TextMergeWithOffset,
};

use super::{
    label::{icon, language_named},
    text::{line, text},
};
use crate::text::terminal::is_web;

/// Elements nested deeper than this are omitted; their text is kept.
const MOST_DEPTH: usize = 24;

/// The elements of a text in Markdown.
pub(super) fn markdown(source: &str) -> Markup {
    folded_after(source, usize::MAX)
}

/// Like `markdown`; blocks that begin after `most` lines are folded.
pub(super) fn folded_after(source: &str, most: usize) -> Markup {
    let source = source.trim();
    let lines = source.lines().count();
    let mut writer = Writer::default();
    let mut is_folded = false;
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut line_of = LineOf { source, at: 0, line: 0 };
    let parser = Parser::new_ext(source, options).into_offset_iter();
    let merged = TextMergeWithOffset::new(parser);
    for (event, range) in merged {
        if !is_folded && writer.open.is_empty() && lines > most.saturating_add(8) {
            let begins = line_of.offset(range.start);
            if begins >= most {
                is_folded = true;
                let more = crate::human::number_of(lines - begins, "more line");
                html! { summary { (more) } }.render_to(writer.element("<details class=\"fold\">"));
            }
        }
        writer.event(event);
    }
    if is_folded {
        writer.html.push_str("</details>");
    }
    PreEscaped(writer.html)
}

/// Counts lines up to increasing offsets.
struct LineOf<'s> {
    source: &'s str,
    at: usize,
    line: usize,
}

impl LineOf<'_> {
    fn offset(&mut self, offset: usize) -> usize {
        let between = self.source.as_bytes().get(self.at..offset).unwrap_or_default();
        self.line += between.iter().filter(|byte| **byte == b'\n').count();
        self.at = self.at.max(offset);
        self.line
    }
}

/// The end tags of a code block.
const CODE_END: &str = "</code></pre></figure>";

/// Text in which addresses of the web are links.
fn linked(words: &str, html: &mut String) {
    let mut rest = words;
    while let Some((before, begin)) = rest.find("http").and_then(|at| rest.split_at_checked(at)) {
        let is_end = |c: char| c.is_whitespace() || "\"'<>\\^`{|}".contains(c);
        let whole = begin.split(is_end).next().unwrap_or_default();
        let marks: &[char] = if whole.contains('(') { &['.', ','] } else { &['.', ',', ')'] };
        let address =
            whole.trim_end_matches([';', ':', '!', '?', ']', '*', '_']).trim_end_matches(marks);
        let is_word = before.ends_with(|c: char| c.is_alphanumeric());
        let has_host = address.split_once("://").is_some_and(|(_, host)| !host.is_empty());
        text(before).render_to(html);
        rest = if !is_word && has_host && is_web(address) {
            html! { a rel="noopener noreferrer" href=(line(address)) { (line(address)) } }
                .render_to(html);
            begin.get(address.len()..).unwrap_or_default()
        } else {
            html.push_str("http");
            begin.get("http".len()..).unwrap_or_default()
        };
    }
    text(rest).render_to(html);
}

#[derive(Default)]
struct Writer {
    html: String,
    /// The end tags of the open elements.
    open: Vec<&'static str>,
    /// The addresses of open links, if they have to be shown.
    links: Vec<Option<String>>,
    is_in_head: bool,
    /// The alignments of the columns of the open table, and the number of the next cell in its row.
    columns: Vec<Alignment>,
    column: usize,
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(end),
            Event::Text(words) => self.words(&words),
            Event::Code(code) => html! { code { (line(&*code)) } }.render_to(&mut self.html),
            Event::InlineHtml(raw) => text(&*raw).render_to(&mut self.html),
            Event::Html(raw) => text(&*raw).render_to(&mut self.html),
            Event::SoftBreak => self.html.push('\n'),
            Event::HardBreak => self.html.push_str("<br>"),
            Event::Rule => self.html.push_str("<hr>"),
            Event::TaskListMarker(is_done) => {
                self.html.extend([if is_done { '☑' } else { '☐' }, ' ']);
            }
            Event::InlineMath(source) | Event::DisplayMath(source) => {
                text(&*source).render_to(&mut self.html);
            }
            Event::FootnoteReference(name) => text(format!("[^{name}]")).render_to(&mut self.html),
        }
    }

    fn words(&mut self, words: &CowStr<'_>) {
        match self.links.is_empty() && self.open.last() != Some(&CODE_END) {
            true => linked(words, &mut self.html),
            false => text(&**words).render_to(&mut self.html),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let (begin, end) = match tag {
            Tag::Paragraph => ("<p>", "</p>"),
            // Entries have headings of the second level.
            Tag::Heading { level: HeadingLevel::H1, .. } => ("<h3>", "</h3>"),
            Tag::Heading { level: HeadingLevel::H2, .. } => ("<h4>", "</h4>"),
            Tag::Heading { .. } => ("<h5>", "</h5>"),
            Tag::BlockQuote(_) => ("<blockquote>", "</blockquote>"),
            Tag::CodeBlock(kind) => return self.code_block(&kind),
            Tag::HtmlBlock => ("<p class=\"raw\">", "</p>"),
            Tag::List(None) => ("<ul>", "</ul>"),
            Tag::List(Some(1)) => ("<ol>", "</ol>"),
            Tag::List(Some(first)) => return self.numbered(first),
            Tag::Item => ("<li>", "</li>"),
            Tag::Table(columns) => {
                self.columns = columns;
                (
                    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>",
                    "</table></div>",
                )
            }
            Tag::TableHead => {
                (self.is_in_head, self.column) = (true, 0);
                ("<thead><tr>", "</tr></thead>")
            }
            Tag::TableRow => {
                self.column = 0;
                ("<tr>", "</tr>")
            }
            Tag::TableCell => self.cell(),
            Tag::Emphasis => ("<em>", "</em>"),
            Tag::Strong => ("<strong>", "</strong>"),
            Tag::Strikethrough => ("<s>", "</s>"),
            Tag::Link { dest_url, .. } => return self.link(&dest_url),
            Tag::Image { dest_url, .. } => return self.begin_image(&dest_url),
            _ => ("", ""),
        };
        self.push(begin, end);
    }

    /// Opens an element, unless the nesting is too deep.
    fn push(&mut self, begin: &str, end: &'static str) {
        let is_too_deep = self.open.len() >= MOST_DEPTH;
        self.html.push_str(if is_too_deep { "" } else { begin });
        self.open.push(if is_too_deep { "" } else { end });
    }

    /// Begins an element whose end is written elsewhere, and returns the page so far.
    fn element(&mut self, begin: &str) -> &mut String {
        self.html.push_str(begin);
        &mut self.html
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::TableHead => self.is_in_head = false,
            TagEnd::Link | TagEnd::Image => {
                if let Some(Some(address)) = self.links.pop() {
                    html! { " (" (line(address)) ")" }.render_to(&mut self.html);
                }
            }
            _ => {}
        }
        self.html.push_str(self.open.pop().unwrap_or_default());
    }

    fn code_block(&mut self, kind: &CodeBlockKind<'_>) {
        let language = match kind {
            CodeBlockKind::Fenced(language) => &**language,
            CodeBlockKind::Indented => "",
        };
        let caption = html! {
            @if !language.is_empty() { figcaption { (line(language)) } }
        };
        let name = language.split([' ', ',', '{']).next().unwrap_or_default();
        let coloured = language_named(name)
            .map(|name| format!(" data-language=\"{name}\""))
            .unwrap_or_default();
        let caption = caption.into_string();
        self.push(&format!("<figure>{caption}<pre tabindex=\"0\"><code{coloured}>"), CODE_END);
    }

    /// The tags of the next cell of a row.
    fn cell(&mut self) -> (&'static str, &'static str) {
        let alignment = self.columns.get(self.column).copied().unwrap_or(Alignment::None);
        self.column += 1;
        match (self.is_in_head, alignment) {
            (true, Alignment::Center) => ("<th class=\"center\">", "</th>"),
            (true, Alignment::Right) => ("<th class=\"right\">", "</th>"),
            (true, _) => ("<th>", "</th>"),
            (false, Alignment::Center) => ("<td class=\"center\">", "</td>"),
            (false, Alignment::Right) => ("<td class=\"right\">", "</td>"),
            (false, _) => ("<td>", "</td>"),
        }
    }

    fn numbered(&mut self, first: u64) {
        self.push(&format!("<ol start=\"{first}\">"), "</ol>");
    }

    fn link(&mut self, address: &str) {
        let is_within = self.links.last().is_some();
        if is_web(address) && !is_within {
            self.links.push(None);
            let mut begin = String::from("<a rel=\"noopener noreferrer\" href=\"");
            line(address).render_to(&mut begin);
            self.push(&(begin + "\">"), "</a>");
        } else {
            // The address is shown, unless the link text contains it.
            self.links.push(Some(address.to_owned()));
            self.push("", "");
        }
    }

    fn begin_image(&mut self, address: &str) {
        self.links.push(Some(address.to_owned()));
        let icon = icon("i", "image").into_string();
        self.push(
            &format!("<span class=\"image\"><span class=\"thumb\">{icon}</span><span>"),
            "</span></span>",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(source: &str) -> String {
        markdown(source).into_string()
    }

    #[test]
    fn what_people_write() {
        assert_eq!(
            html("# A *b*\n\n1. `x<y`\n2. [c](https://example.org/?a&b)"),
            "<h3>A <em>b</em></h3><ol><li><code>x&lt;y</code></li><li>\
             <a rel=\"noopener noreferrer\" href=\"https://example.org/?a&amp;b\">c</a></li></ol>"
        );
        assert_eq!(
            html("```sh\nls <dir>\n```"),
            "<figure><figcaption>sh</figcaption><pre tabindex=\"0\"><code data-language=\"sh\">ls &lt;dir&gt;\n\
             </code></pre></figure>"
        );
        assert!(html("|a|b|c|\n|-|-:|:-:|\n|1|2|3|").contains(
            "<th>a</th><th class=\"right\">b</th><th class=\"center\">c</th></tr></thead>\
             <tr><td>1</td><td class=\"right\">2</td><td class=\"center\">3</td></tr>"
        ));
    }

    #[test]
    fn markup_is_text_and_nothing_is_loaded() {
        assert_eq!(html("a <b>c</b>"), "<p>a &lt;b&gt;c&lt;/b&gt;</p>");
        assert_eq!(
            html("<script>alert(1)</script>"),
            "<p class=\"raw\">&lt;script&gt;alert(1)&lt;/script&gt;</p>"
        );
        assert_eq!(html("[a](javascript:alert%281%29)"), "<p>a (javascript:alert%281%29)</p>");
        assert!(!html("![a](https://example.org/x.png)").contains("<img"));
        assert!(html("![a](https://example.org/x.png)").contains("a (https://example.org/x.png)"));
        assert!(html("see [image: image/png, 12 bytes] and").contains("[image: image/png"));
        assert_eq!(html("[image: image/png, 12 bytes]"), "<p>[image: image/png, 12 bytes]</p>");
    }

    #[test]
    fn depth_is_bounded_and_text_is_not_lost() {
        let deep = html(&format!("{}x", "> ".repeat(5000)));
        assert_eq!(deep.matches("<blockquote>").count(), MOST_DEPTH);
        assert!(deep.contains('x'));
    }

    #[test]
    fn bare_addresses_are_links() {
        let link = |address: &str| {
            format!(r#"<a rel="noopener noreferrer" href="{address}">{address}</a>"#)
        };
        let (one, two) = (link("https://a.example/x_(y)?b=1"), link("http://b.example"));
        assert_eq!(
            html("see https://a.example/x_(y)?b=1, and (http://b.example)."),
            format!("<p>see {one}, and ({two}).</p>")
        );
        for plain in [
            "https://",
            "xhttps://a.example",
            "http",
            "`https://a.example`",
            "```\nhttps://a.example\n```",
        ] {
            assert!(!html(plain).contains("<a"), "{plain}");
        }
        let within = html("[https://a.example](https://b.example)");
        assert_eq!(within.matches("<a").count(), 1);
        assert_eq!(html("https://a.example/<b>").matches("href=\"https://a.example/\"").count(), 1);
    }

    #[test]
    fn long_texts_are_folded_between_blocks() {
        let long = (0..30).map(|n| format!("p{n}\n\n")).collect::<String>();
        let html = folded_after(&long, 10).into_string();
        assert!(html.contains(
            "<p>p4</p><details class=\"fold\"><summary>49 more lines</summary><p>p5</p>"
        ));
        assert!(html.ends_with("<p>p29</p></details>"));
    }
}
