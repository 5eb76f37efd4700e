//! A session as a Markdown document.
//!
//! Messages stay Markdown, as a quotation if a person wrote them; calls are a heading with their results in fences.
//! No content closes its fence: a fence is longer than any run of backticks within it. Raw HTML, images and links
//! other than to the web become text. Terminal control characters are made visible, as in
//! [`terminal`](super::terminal).
//!
//! ```
//! use foldline::{
//!     conversation::{DomainEvent, NormalizedEntry, NormalizedEntryType::UserMessage},
//!     emitters::markdown::Markdown,
//! };
//!
//! let mut document = Markdown::default();
//! document.apply(&DomainEvent::entry(NormalizedEntry::new(UserMessage, "Why is it *slow*?")));
//! assert!(document.render().contains("> Why is it *slow*?"));
//! ```

mod entry;
mod fence;
mod harmless;
mod prose;

use std::convert::Infallible;

use self::{entry::entry, fence::inline};
use super::human;
use crate::{
    conversation::{
        Conversation, DomainEvent, NormalizedEntry, NormalizedEntryType, Session, Text,
    },
    transduce::{Batch, Emitter},
};

/// The number of characters of a prompt used as a title.
const MOST_TITLE: usize = 100;

/// A session as a Markdown document. It holds the conversation.
#[derive(Clone, Debug, Default)]
pub struct Markdown {
    conversation: Conversation,
    note: Option<String>,
}

impl Markdown {
    /// Applies one event.
    pub fn apply(&mut self, event: &DomainEvent) {
        self.conversation.apply(event);
    }

    /// Adds a note at the end of the document.
    pub fn set_note(&mut self, note: impl Into<String>) {
        self.note = Some(note.into());
    }

    /// The document.
    pub fn render(&self) -> String {
        let mut document = self.head();
        for one in &self.conversation.entries {
            entry(&mut document, one);
        }
        if let Some(note) = &self.note {
            document.push_str("---\n\n");
            fence::fence(&mut document, "", note);
        }
        document.truncate(document.trim_end().len());
        document.push('\n');
        document
    }

    /// The beginning of the first prompt by a person; a slash command is less descriptive than a request.
    fn first_prompt(&self) -> Option<String> {
        let is_prompt = |entry: &&NormalizedEntry| {
            entry.entry_type == NormalizedEntryType::UserMessage
                && entry.metadata.as_ref().is_none_or(|known| known.parent_corr_id.is_none())
        };
        let prompts = self.conversation.entries.iter().map(|entry| &**entry).filter(is_prompt);
        let first_line = |entry: &NormalizedEntry| {
            let words = entry.content.decode();
            words.trim().lines().next().map(str::to_owned)
        };
        let lines: Vec<String> = prompts.filter_map(first_line).collect();
        let asked = lines.iter().find(|line| !line.starts_with('/')).or(lines.first())?;
        Some(inline(&human::beginning(asked, MOST_TITLE)))
    }

    fn head(&self) -> String {
        let none = Session::default();
        let summary = &self.conversation.summary;
        let session = summary.session.as_deref().unwrap_or(&none);
        let said = |text: &Option<Text>| text.as_ref().map(|text| inline(&text.decode()));
        let title = said(&session.title).or_else(|| self.first_prompt());
        let title = title.unwrap_or_else(|| "Session".to_owned());
        let usage = summary.usage.unwrap_or_default();
        let tokens = |n: Option<u64>| n.map(human::count);
        let facts = [
            ("Agent", said(&session.agent)),
            ("Version", said(&session.version)),
            ("Model", said(&session.model)),
            ("Folder", said(&session.cwd)),
            ("Session", session.session_id.as_ref().map(|id| inline(id.as_str()))),
            ("Input tokens", tokens(usage.input_tokens)),
            ("Output tokens", tokens(usage.output_tokens)),
            ("From cache", tokens(usage.cache_read_tokens)),
            ("Cost", usage.cost_usd.map(human::dollars)),
        ];
        let mut head = format!("# {title}\n\n");
        for (name, value) in facts {
            if let Some(value) = value {
                head.push_str(&format!("- {name}: {value}\n"));
            }
        }
        head.push('\n');
        head
    }
}

/// Emits nothing: the document is [`render`](Markdown::render)ed at the end.
impl Emitter<DomainEvent, Infallible> for Markdown {
    fn emit(&mut self, event: &DomainEvent) -> Batch<Infallible> {
        self.apply(event);
        Batch::EMPTY
    }
}
