//! Dividers of a conversation: its context was replaced, it continues an earlier one, or the model changes.

use foldline_domain::NormalizedEntryType;
use maud::{Markup, html};

use super::{
    icon::icon,
    markdown::markdown,
    output::trim_lines,
    text::{first_line, line},
};

/// The value of `data-mark` of an entry that divides the conversation.
pub(super) fn mark(kind: &NormalizedEntryType) -> Option<&'static str> {
    Some(match kind {
        NormalizedEntryType::Compaction => "compaction",
        NormalizedEntryType::Continuation => "continuation",
        NormalizedEntryType::ModelChange { .. } => "model",
        _ => return None,
    })
}

/// A line across the page, expandable if there is more text.
pub(super) fn divider(kind: &NormalizedEntryType, words: &str) -> Markup {
    let (first, is_all) = first_line(words);
    let after = words.trim().get(first.len()..).unwrap_or_default();
    let (heading, rest) = match kind {
        NormalizedEntryType::ModelChange { model } => {
            (format!("Model changes to {}", model.decode()), "")
        }
        // Its first line is a sentence of the summary.
        NormalizedEntryType::Continuation => {
            ("Continued from an earlier conversation".to_owned(), words)
        }
        _ => (capitalised(first), if is_all { "" } else { after }),
    };
    let heading = html! { (icon("i", "divider")) span { (line(heading)) } };
    let rest = trim_lines(rest);
    html! {
        @if rest.is_empty() { div.divider { (heading) } }
        @else {
            details.fold-divider { summary.divider { (heading) } div.md { (markdown(rest)) } }
        }
    }
}

fn capitalised(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_divider_is_a_line_that_opens() {
        let html = divider(&NormalizedEntryType::Compaction, "context compacted\n*a*");
        let html = html.into_string();
        assert!(
            html.contains("<span>Context compacted</span></summary><div class=\"md\"><p><em>a")
        );
        let html = divider(&NormalizedEntryType::Continuation, "It began with *a*").into_string();
        assert!(html.contains("<span>Continued from an earlier conversation</span></summary>"));
        assert!(html.contains("<p>It began with <em>a"));
        let model = NormalizedEntryType::ModelChange { model: "<b>".into() };
        let html = divider(&model, "model: <b>").into_string();
        assert!(html.ends_with("<span>Model changes to &lt;b&gt;</span></div>"), "{html}");
    }
}
