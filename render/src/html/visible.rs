//! The text that a reader of a rendered entry sees, in which words are found. The script of the page, `marks.js`, reads the same
//! text from the elements.

use std::borrow::Cow;

/// Elements in which a text ends: words do not continue in another one.
const BLOCKS: [&str; 15] = [
    "p",
    "pre",
    "li",
    "td",
    "th",
    "dt",
    "dd",
    "h2",
    "h3",
    "h4",
    "h5",
    "blockquote",
    "figcaption",
    "div",
    "summary",
];

/// Elements whose text is not content, by their names and classes.
const SKIPPED: [&str; 6] = ["vh", "at", "why", "explain", "svg", "button"];

/// Elements without an end.
const VOID: [&str; 4] = ["img", "br", "hr", "input"];

/// The visible text of HTML that was made by the templates: attributes are quoted, and all elements are closed. Texts of
/// different blocks are separated.
pub(super) fn visible(html: &str) -> String {
    let mut text = String::with_capacity(html.len() / 2);
    // The names of open elements, and how many of them are skipped.
    let mut open: Vec<(&str, bool)> = Vec::new();
    let mut skipped = 0_usize;
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('<') {
        if skipped == 0 {
            text.push_str(&unescaped(before));
        }
        let (tag, after) = after.split_once('>').unwrap_or((after, ""));
        rest = after;
        let name = tag.trim_start_matches('/').split(' ').next().unwrap_or_default();
        let is_in_summary = open.last().is_some_and(|(outer, _)| *outer == "summary");
        if tag.starts_with('/') {
            if let Some((_, is_skipped)) = open.pop() {
                skipped -= usize::from(is_skipped);
            }
        } else if !VOID.contains(&name) {
            let class = tag.split_once("class=\"").and_then(|(_, rest)| rest.split('"').next());
            let is_skipped = SKIPPED.contains(&name)
                || class
                    .is_some_and(|class| class.split(' ').any(|class| SKIPPED.contains(&class)));
            skipped += usize::from(is_skipped);
            open.push((name, is_skipped));
        }
        if BLOCKS.contains(&name) || is_in_summary {
            text.push_str("\n\n");
        }
    }
    if skipped == 0 {
        text.push_str(&unescaped(rest));
    }
    text
}

/// Text without the escapes of the templates.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return text.into();
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&#39;", "'").replace("&amp;", "&").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_is_found() {
        let html = "<article class=\"entry\"><a class=\"at\" href=\"#e1\"><time>14:02</time></a><p>Some <em>split</em> \
            words &amp;lt; &lt;b&gt;</p><img src=\"x\"><pre class=\"diff\"><ins>+let <b>a</b> = 1;\n</ins><del>-b</del></pre>\
            <summary class=\"line\"><svg class=\"i\"><use href=\"#i\"></use></svg><span class=\"title\"><span>src/</span>\
            <span>a.rs</span></span><span class=\"vh\">ok</span></summary></article>";
        let text = visible(html);
        for found in ["Some split words &lt; <b>", "+let a = 1;\n-b", "src/a.rs"] {
            assert!(text.contains(found), "{found}: {text}");
        }
        for hidden in ["14:02", "ok", "#i", "-bsrc"] {
            assert!(!text.contains(hidden), "{hidden}: {text}");
        }
    }
}
