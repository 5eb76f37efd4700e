//! One entry: an `<article>` with its time.

use std::borrow::Cow;

use foldline_domain::{EntryIdx, NormalizedEntry, NormalizedEntryType};
use maud::{Markup, Render, html};

use super::{
    call,
    fragment::{Rendered, Setting},
    label::icon,
    markdown::{folded_after, markdown},
    output::{folded, output, trim_lines},
    picture::{self, pictures, without_placeholders},
    text::{first_line, line, text},
    time,
};
use crate::text::printed::spoken;

/// Longer prompts are folded: pasted files and instructions are prompts too.
const LONG_PROMPT: usize = 40;
/// The same limit for prompts of sub-agents, which the agent wrote.
const LONG_TASK: usize = 0;

pub(super) fn render(index: EntryIdx, entry: &NormalizedEntry, setting: &Setting<'_>) -> Rendered {
    match &entry.entry_type {
        NormalizedEntryType::ToolUse(tool) => call::render(index, entry, tool, setting),
        _ => said(index, entry, setting),
    }
}

fn said(index: EntryIdx, entry: &NormalizedEntry, setting: &Setting<'_>) -> Rendered {
    let kind = &entry.entry_type;
    let decoded = match shows_pictures(kind, setting) {
        true => without_placeholders(entry.content.decode(), picture::of(entry)),
        false => entry.content.decode(),
    };
    let words = match kind {
        // A part of a log that is not understood is shown as it is.
        NormalizedEntryType::Diagnostic { .. } => Cow::Borrowed(&*decoded),
        _ => spoken(&decoded),
    };
    let is_open = setting.is_open;
    let code = match kind {
        NormalizedEntryType::Diagnostic { code } => Some(code.as_str()),
        _ => None,
    };
    let is_bad = *kind == NormalizedEntryType::ErrorMessage;
    let label = label(kind, setting);
    let mark = divider_mark(kind).filter(|_| setting.is_divider);
    let start = html! {
        article.entry id={ "e" (index.get()) } data-type=(kind.name()) data-code=[code]
            data-turn=[setting.turn] data-bad[is_bad] data-open[is_open]
            data-mark=[mark] aria-busy=[is_open.then_some("true")]
            tabindex="-1" aria-label=(label)
        {
            (time::link(index, entry, &setting.medium.clock, setting.is_new_day))
            @if !is_open {
                (body(kind, &words, setting, &pictures(index, entry, setting.medium.is_served)))
            }
        }
    };
    let mut html = start.into_string();
    if !is_open {
        return Rendered { html, inside: None };
    }
    const END: &str = "</article>";
    html.truncate(html.len() - END.len());
    html.push_str("<div class=\"said md\" dir=\"auto\"><p class=\"raw grows\">");
    text(words).render_to(&mut html);
    let inside = Some(html.len());
    html.push_str("</p></div>");
    html.push_str(END);
    Rendered { html, inside }
}

/// Whether the pictures of an entry are shown, and not only mentioned.
fn shows_pictures(kind: &NormalizedEntryType, setting: &Setting<'_>) -> bool {
    let is_said = *kind == NormalizedEntryType::UserMessage
        || *kind == NormalizedEntryType::AssistantMessage
        || kind.is_system();
    is_said && !setting.is_divider && !setting.is_open
}

/// The speaker, for screen readers.
fn label(kind: &NormalizedEntryType, setting: &Setting<'_>) -> String {
    match (kind, setting.turn) {
        (NormalizedEntryType::UserMessage, Some(turn)) => format!("You, turn {turn}"),
        (NormalizedEntryType::UserMessage, None) => "Prompt".to_owned(),
        (NormalizedEntryType::AssistantMessage, _) => "Agent".to_owned(),
        (
            NormalizedEntryType::SystemMessage
            | NormalizedEntryType::ModelChange { .. }
            | NormalizedEntryType::Compaction
            | NormalizedEntryType::Continuation,
            _,
        ) => "System".to_owned(),
        (NormalizedEntryType::ErrorMessage, _) => "Error".to_owned(),
        (NormalizedEntryType::Thinking, _) => "Thinking".to_owned(),
        (NormalizedEntryType::Diagnostic { .. }, _) => "Warning".to_owned(),
        (NormalizedEntryType::ToolUse(_), _) => "Call".to_owned(),
    }
}

fn body(
    kind: &NormalizedEntryType,
    words: &str,
    setting: &Setting<'_>,
    pictures: &Markup,
) -> Markup {
    match kind {
        NormalizedEntryType::UserMessage => html! {
            div.said {
                h2.who {
                    @match setting.turn {
                        Some(turn) => { "You " small { "turn " (turn) } },
                        None => "Prompt",
                    }
                }
                div.md dir="auto" {
                    @if words.trim().is_empty() && !pictures.0.is_empty() {}
                    @else if setting.is_within { (prompt(words, LONG_TASK)) }
                    @else { (prompt(words, LONG_PROMPT)) }
                    (pictures)
                }
            }
        },
        NormalizedEntryType::AssistantMessage => {
            html! { div class="said md" dir="auto" { (markdown(words)) (pictures) } }
        }
        NormalizedEntryType::Thinking => thinking(words),
        NormalizedEntryType::ErrorMessage => note("fail", words, true),
        NormalizedEntryType::Diagnostic { code } => html! {
            div.note {
                (icon("i", "warn"))
                div {
                    b { (capitalised(&code.as_str().replace('_', " "))) } " "
                    details.fold {
                        summary { "Raw text, " (crate::text::human::bytes(words.len() as u64)) }
                        (output(words))
                    }
                }
            }
        },
        _ if setting.is_divider => divider(kind, words),
        _ => html! { (note("info", words, false)) (pictures) },
    }
}

fn prompt(words: &str, most: usize) -> Markup {
    if words.trim().is_empty() {
        return html! { p { "(empty)" } };
    }
    folded_after(words, most)
}

fn thinking(words: &str) -> Markup {
    let first = first_line(words).0.trim_matches(['*', '#', ' ']);
    html! {
        details.think {
            summary.line {
                (icon("i kind", "think"))
                span.title { span { (line(first)) } }
                span.dur {}
            }
            div.body dir="auto" { (text(words.trim().to_owned())) }
        }
    }
}

/// A message of the program: its first line, and the folded rest if it is long.
fn note(symbol: &str, words: &str, is_strong: bool) -> Markup {
    const LONG: usize = 3;
    let words = words.trim();
    let (first, is_all) = first_line(words);
    let rest = words.get(first.len()..).unwrap_or_default();
    let rest = trim_lines(rest);
    let lines = rest.lines().count();
    html! {
        div.note {
            (icon("i", symbol))
            div dir="auto" {
                @if first.is_empty() { "(empty)" }
                @else if is_strong { b { (line(first)) } }
                @else { (line(first)) }
                @if !is_all && lines <= LONG { p.raw { (text(rest)) } }
                @else if !is_all {
                    (folded(lines, "more line", &html! { div.md dir="auto" { (markdown(rest)) } }))
                }
            }
        }
    }
}

/// The value of `data-mark` of an entry that divides the conversation.
pub(super) fn divider_mark(kind: &NormalizedEntryType) -> Option<&'static str> {
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
            details.fold-divider { summary.divider { (heading) } div.md dir="auto" { (markdown(rest)) } }
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
        assert!(html.contains(
            "<span>Context compacted</span></summary><div class=\"md\" dir=\"auto\"><p><em>a"
        ));
        let html = divider(&NormalizedEntryType::Continuation, "It began with *a*").into_string();
        assert!(html.contains("<span>Continued from an earlier conversation</span></summary>"));
        assert!(html.contains("<p>It began with <em>a"));
        let model = NormalizedEntryType::ModelChange { model: "<b>".into() };
        let html = divider(&model, "model: <b>").into_string();
        assert!(html.ends_with("<span>Model changes to &lt;b&gt;</span></div>"), "{html}");
    }
}
