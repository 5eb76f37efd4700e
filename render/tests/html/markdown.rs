//! (c) A hostile session as Markdown, rendered with raw HTML enabled, has only the elements of Markdown. Its links are
//! external, and no entry extends into the next.

use std::collections::{BTreeMap, BTreeSet};

use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType::UserMessage};
use foldline_render::markdown::Markdown;
use pulldown_cmark::{Options, Parser, html::push_html};
use scraper::{ElementRef, Html, Node};

use super::{
    allowed::check_text,
    hostile::{events, vectors},
};

/// The elements that a Markdown renderer emits, with their attributes.
const ALLOWED: &[(&str, &str)] = &[
    ("a", "href title"),
    ("blockquote", "class"),
    ("body", ""),
    ("br", ""),
    ("code", "class"),
    ("dd", ""),
    ("del", ""),
    ("dl", ""),
    ("dt", ""),
    ("em", ""),
    ("h1", ""),
    ("h2", ""),
    ("h3", ""),
    ("h4", ""),
    ("h5", ""),
    ("h6", ""),
    ("head", ""),
    ("hr", ""),
    ("html", ""),
    ("input", "checked disabled type"),
    ("li", ""),
    ("ol", "start"),
    ("p", ""),
    ("pre", ""),
    ("strong", ""),
    ("sub", ""),
    ("sup", ""),
    ("table", ""),
    ("tbody", ""),
    ("td", "style"),
    ("th", "style"),
    ("thead", ""),
    ("tr", ""),
    ("ul", ""),
];

/// The Markdown variants of renderers. GitHub supports tables, tasks, footnotes and formulas, editors only some of
/// them.
fn dialects() -> [Options; 3] {
    [
        Options::empty(),
        Options::ENABLE_TABLES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_MATH
            | Options::ENABLE_GFM,
        Options::all(),
    ]
}

/// The document of a session with each vector in each place, each followed by a landmark.
fn document_of(vectors: &[String]) -> String {
    let mut document = Markdown::default();
    for (n, vector) in vectors.iter().enumerate() {
        events(n, vector).iter().for_each(|event| document.apply(event));
        let landmark = NormalizedEntry::new(UserMessage, format!("landmark {n}"));
        document.apply(&DomainEvent::entry(landmark));
    }
    document.set_note(vectors.concat());
    document.render()
}

/// Checks the rendered HTML, and returns the number of landmarks in their proper place.
fn check(html: &str) -> usize {
    let allowed: BTreeMap<_, BTreeSet<_>> = ALLOWED
        .iter()
        .map(|(name, attributes)| (*name, attributes.split_ascii_whitespace().collect()))
        .collect();
    let page = Html::parse_document(html);
    let mut landmarks = 0;
    for node in page.tree.nodes() {
        match node.value() {
            Node::Element(element) => {
                let name = element.name();
                let attributes = allowed.get(name).unwrap_or_else(|| panic!("<{name}>"));
                for (attribute, value) in element.attrs() {
                    assert!(attributes.contains(attribute), "<{name} {attribute}={value:?}>");
                    check_value(attribute, value);
                }
                let parent = node.parent().and_then(ElementRef::wrap);
                if name == "blockquote" && parent.is_some_and(|is| is.value().name() == "body") {
                    let words: String = ElementRef::wrap(node).unwrap().text().collect();
                    landmarks += usize::from(words.trim().starts_with("landmark "));
                }
            }
            Node::Text(text) => check_text(text),
            Node::Comment(comment) => panic!("a comment: {:?}", &**comment),
            _ => {}
        }
    }
    landmarks
}

fn check_value(attribute: &str, value: &str) {
    check_text(value);
    let starts_with = |start: &str| value.to_ascii_lowercase().starts_with(start);
    let is_fine = match attribute {
        "href" => ["http://", "https://", "mailto:"].into_iter().any(starts_with),
        "style" => starts_with("text-align: "),
        "class" => starts_with("language-") || starts_with("markdown-alert-"),
        _ => true,
    };
    assert!(is_fine, "{attribute}={value:?}");
}

#[test]
fn a_hostile_document_has_the_elements_of_markdown_only() {
    for some in vectors().chunks(16) {
        let document = document_of(some);
        for dialect in dialects() {
            let mut html = String::new();
            push_html(&mut html, Parser::new_ext(&document, dialect));
            assert_eq!(check(&html), some.len(), "an entry broke out: {some:?}");
        }
    }
}
