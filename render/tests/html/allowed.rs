//! (a) According to an HTML5 parser, a hostile page has only the elements and attributes of the templates.

use std::collections::{BTreeMap, BTreeSet};

use scraper::{ElementRef, Html, Node};

use super::hostile::{page_of, vectors};

/// The elements of a page, with their attributes.
const ALLOWED: &[(&str, &str)] = &[
    ("a", "class href id rel title"),
    (
        "article",
        "aria-busy aria-label class data-action data-bad data-bad-within data-code data-kind \
     data-mark data-open data-par data-status data-tool data-turn data-type id tabindex",
    ),
    ("aside", "aria-label class id popover"),
    ("b", ""),
    ("blockquote", ""),
    ("body", ""),
    ("br", ""),
    ("button", "aria-pressed class data-tool popovertarget popovertargetaction title type"),
    ("caption", "class"),
    ("circle", "cx cy r stroke-dasharray"),
    ("code", "data-language"),
    ("dd", "class dir"),
    ("del", "data-n data-o"),
    ("details", "class open"),
    ("div", "aria-label class data-language dir id role tabindex"),
    ("dl", "class"),
    ("dt", ""),
    ("em", ""),
    ("fieldset", "class"),
    ("figcaption", ""),
    ("figure", ""),
    ("footer", "class"),
    ("form", "class id role"),
    ("h1", "dir"),
    ("h2", "class"),
    ("h3", ""),
    ("h4", ""),
    ("h5", ""),
    ("head", ""),
    ("header", "class data-bad data-calls data-two"),
    ("hr", ""),
    ("html", "data-page data-show lang"),
    ("input", "aria-label autocomplete checked class name placeholder type value"),
    ("ins", "data-n data-o"),
    ("label", ""),
    ("legend", "class"),
    ("li", "class data-status"),
    ("main", "class"),
    ("mark", ""),
    ("meta", "charset content http-equiv name"),
    ("ol", "class start"),
    ("p", "class"),
    ("path", "d fill stroke-width"),
    ("pre", "class tabindex"),
    ("rect", "height rx width x y"),
    ("s", ""),
    ("script", ""),
    ("section", ""),
    ("small", ""),
    ("span", "class data-agent data-mag data-n data-o data-state dir role title"),
    ("strong", ""),
    ("style", ""),
    ("summary", "class"),
    ("svg", "aria-hidden class focusable"),
    ("symbol", "id viewBox"),
    ("table", ""),
    ("tbody", ""),
    ("td", "class colspan"),
    ("th", "class colspan scope"),
    ("thead", ""),
    ("time", "datetime"),
    ("title", ""),
    ("tr", ""),
    ("ul", "class"),
    ("use", "href"),
];

/// Checks a page with this number of entries, and returns its elements.
fn check(html: &str, entries: usize) -> BTreeSet<String> {
    let allowed: BTreeMap<_, BTreeSet<_>> = ALLOWED
        .iter()
        .map(|(name, attributes)| (*name, attributes.split_ascii_whitespace().collect()))
        .collect();
    let page = Html::parse_document(html);
    let mut found = BTreeMap::<String, usize>::new();
    for node in page.tree.nodes() {
        match node.value() {
            Node::Element(element) => {
                let name = element.name();
                *found.entry(name.to_owned()).or_default() += 1;
                let attributes = allowed.get(name).unwrap_or_else(|| panic!("<{name}>"));
                for (attribute, value) in element.attrs() {
                    assert!(attributes.contains(attribute), "<{name} {attribute}={value:?}>");
                    check_value(attribute, value);
                }
                if name == "article" {
                    let parent = node.parent().and_then(ElementRef::wrap).unwrap();
                    assert_eq!(parent.attr("class"), Some("feed"), "an entry broke out");
                }
            }
            Node::Text(text) => check_text(text),
            Node::Comment(comment) => panic!("a comment: {:?}", &**comment),
            _ => {}
        }
    }
    assert_eq!(found["article"], entries);
    assert_eq!(
        [
            found["html"],
            found["head"],
            found["body"],
            found["style"],
            found["title"],
            found["script"]
        ],
        [1; 6]
    );
    assert_eq!(found["meta"], 5);
    found.into_keys().collect()
}

fn check_value(attribute: &str, value: &str) {
    check_text(value);
    if attribute == "href" {
        let lower = value.to_ascii_lowercase();
        let is_within = value.strip_prefix('#').is_some_and(|id| {
            id == "feed" || id.starts_with("i-") || id.strip_prefix('e').is_some_and(is_number)
        });
        assert!(
            is_within || lower.starts_with("http://") || lower.starts_with("https://"),
            "{value}"
        );
    }
    if attribute == "id" {
        let is_ours = ["feed", "find", "side"].contains(&value)
            || value.starts_with("i-")
            || value.strip_prefix('e').is_some_and(is_number);
        assert!(is_ours, "{value}");
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<usize>().is_ok()
}

/// Checks that no character affects the display of the text around it.
pub(crate) fn check_text(text: &str) {
    let acts = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
    };
    assert!(!text.contains(acts), "{text:?}");
}

#[test]
fn a_hostile_page_has_the_elements_of_the_templates_only() {
    let mut found = BTreeSet::new();
    for some in vectors().chunks(32) {
        let (page, entries) = page_of(some);
        found.extend(check(&page.render(), entries));
    }
    // Every element of the list occurs, so that all of them are checked.
    let never: Vec<_> = ALLOWED.iter().filter(|(name, _)| !found.contains(*name)).collect();
    assert!(never.is_empty(), "{never:?}");
}
