//! Seams of a conversation: its context was replaced, it continues an earlier one, or the model changes.

use foldline_domain::{NormalizedEntry, NormalizedEntryType};
use maud::{Markup, html};

use super::{
    icon::icon,
    markdown::markdown,
    output::trim_lines,
    text::{first_line, line},
};

/// The prefix with which executors report a change of the model.
const MODEL: &str = "model: ";
/// Prefixes with which executors and agents report a replaced or truncated context.
const COMPACTIONS: [&str; 4] =
    ["context compacted", "conversation compacted", "compaction: ", "context truncated"];
/// The prefix of Claude Code's summary of a previous conversation.
const RESUMES: [&str; 1] = ["This session is being continued from a previous conversation"];

/// Whether the conversation was compacted at an entry, or continues an earlier one there.
pub fn is_seam(entry: &NormalizedEntry) -> bool {
    Seam::of(entry, true).is_some()
}

/// A kind of seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seam {
    Compaction,
    Resume,
    Model,
}

impl Seam {
    /// Whether a message is a seam. The first `model` is not one, because nothing precedes it.
    pub(super) fn of(entry: &NormalizedEntry, is_first_model: bool) -> Option<Self> {
        if entry.entry_type != NormalizedEntryType::SystemMessage {
            return None;
        }
        let words = entry.content.decode();
        let begins = |start: &&str| {
            words.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
        };
        if COMPACTIONS.iter().any(begins) {
            Some(Self::Compaction)
        } else if RESUMES.iter().any(begins) {
            Some(Self::Resume)
        } else {
            (!is_first_model && is_model(entry)).then_some(Self::Model)
        }
    }

    /// The value of `data-mark`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Compaction => "compaction",
            Self::Resume => "resume",
            Self::Model => "model",
        }
    }

    /// A line across the page, expandable if there is more text.
    pub(super) fn render(self, words: &str) -> Markup {
        let (first, is_all) = first_line(words);
        let after = words.trim().get(first.len()..).unwrap_or_default();
        let (heading, rest) = match self {
            Self::Compaction => (capitalised(first), if is_all { "" } else { after }),
            // Its first line is a sentence of the summary.
            Self::Resume => ("Goes on from an earlier conversation".to_owned(), words),
            Self::Model => {
                (format!("Model changes to {}", first.get(MODEL.len()..).unwrap_or(first)), "")
            }
        };
        let heading = html! { (icon("i", "seam")) span { (line(heading)) } };
        let rest = trim_lines(rest);
        html! {
            @if rest.is_empty() { div.seam { (heading) } }
            @else {
                details.fold-seam { summary.seam { (heading) } div.md { (markdown(rest)) } }
            }
        }
    }
}

/// Whether an entry announces the model for the following answers.
pub(super) fn is_model(entry: &NormalizedEntry) -> bool {
    entry.entry_type == NormalizedEntryType::SystemMessage
        && entry.content.decode().strip_prefix(MODEL).is_some_and(|name| !name.contains('\n'))
}

fn capitalised(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &str, is_first_model: bool) -> Option<Seam> {
        let entry = NormalizedEntry::new(NormalizedEntryType::SystemMessage, words);
        Seam::of(&entry, is_first_model)
    }

    #[test]
    fn what_is_a_seam() {
        assert_eq!(of("Conversation compacted (auto)", true), Some(Seam::Compaction));
        assert_eq!(of("context compacted\nThe fix is in a.rs", true), Some(Seam::Compaction));
        assert_eq!(of("model: a", true), None);
        assert_eq!(of("model: a", false), Some(Seam::Model));
        assert_eq!(of("compact", false), None);
        let resumed = "This session is being continued from a previous conversation that ran out.";
        assert_eq!(of(resumed, false), Some(Seam::Resume));
        let said = NormalizedEntry::new(NormalizedEntryType::AssistantMessage, "model: a");
        assert_eq!(Seam::of(&said, false), None);
    }

    #[test]
    fn a_seam_is_a_line_that_opens() {
        let html = Seam::Compaction.render("context compacted\n*a*").into_string();
        assert!(
            html.contains("<span>Context compacted</span></summary><div class=\"md\"><p><em>a")
        );
        let html = Seam::Model.render("model: <b>").into_string();
        assert!(html.ends_with("<span>Model changes to &lt;b&gt;</span></div>"), "{html}");
    }
}
