//! A session as a Markdown document.
//!
//! Messages stay Markdown, as a quotation if a person wrote them; calls are a heading with their results in fences.
//! No content closes its fence: a fence is longer than any run of backticks within it. Raw HTML, images and links
//! other than to the web become text. Terminal control characters are made visible, as in
//! [`terminal`](super::terminal).
//!
//! ```
//! use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType::UserMessage};
//! use foldline_render::markdown::Markdown;
//!
//! let mut document = Markdown::default();
//! document.apply(&DomainEvent::entry(NormalizedEntry::new(UserMessage, "Why is it *slow*?")));
//! assert!(document.render().contains("> Why is it *slow*?"));
//! ```

mod entry;
mod harmless;
mod prose;

use std::convert::Infallible;

use foldline::transduce::{Batch, Emitter};
use foldline_domain::{
    Conversation, DomainEvent, NormalizedEntry, NormalizedEntryType, Session, Text, Timestamp,
    title::Title,
};

use self::{entry::entry, prose::inline};
use super::human;

/// The number of characters of a prompt used as a title.
const MOST_TITLE: usize = 100;

/// A session as a Markdown document. It holds the conversation.
#[derive(Clone, Debug, Default)]
pub struct Markdown {
    conversation: Conversation,
    note: Option<String>,
    cost: Option<String>,
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

    /// States a cost, where the log does not: an estimate, marked as one.
    pub fn set_cost(&mut self, cost: impl Into<String>) {
        self.cost = Some(cost.into());
    }

    /// The document.
    pub fn render(&self) -> String {
        let mut document = self.head();
        for one in &self.conversation.entries {
            entry(&mut document, one);
        }
        if let Some(note) = &self.note {
            document.push_str("---\n\n");
            prose::fence(&mut document, "", note);
        }
        document.truncate(document.trim_end().len());
        document.push('\n');
        document
    }

    /// The beginning of the title, or of what a person asked first.
    fn title(&self, stated: Option<&Text>) -> Option<String> {
        let is_prompt = |entry: &&NormalizedEntry| {
            entry.entry_type == NormalizedEntryType::UserMessage
                && entry.metadata.as_ref().is_none_or(|known| known.parent_corr_id.is_none())
        };
        let mut title = Title::default();
        stated.into_iter().for_each(|stated| title.state(&stated.decode()));
        let prompts = self.conversation.entries.iter().map(|entry| &**entry).filter(is_prompt);
        prompts.for_each(|prompt| title.ask(&prompt.content.decode()));
        Some(inline(&human::beginning(title.get()?, MOST_TITLE)))
    }

    /// The times in UTC at which the session began and ended, if the log states them.
    fn date(&self) -> Option<String> {
        let session = self.conversation.summary.session.as_deref();
        let entries = self.conversation.entries.iter().filter_map(|entry| entry.timestamp);
        let stated = session.into_iter().flat_map(|session| [session.started_at, session.ended_at]);
        let times: Vec<_> = entries.chain(stated.flatten()).collect();
        let (first, last) = (times.iter().min()?, times.iter().max()?);
        let minute = |at: &Timestamp| {
            let at = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
            Some(at.strftime("%F %H:%M").to_string())
        };
        let (first, last) = (minute(first)?, minute(last)?);
        Some(if first == last { format!("{first} UTC") } else { format!("{first} to {last} UTC") })
    }

    fn head(&self) -> String {
        let none = Session::default();
        let summary = &self.conversation.summary;
        let session = summary.session.as_deref().unwrap_or(&none);
        let said = |text: &Option<Text>| text.as_ref().map(|text| inline(&text.decode()));
        let title = self.title(session.title.as_ref()).unwrap_or_else(|| "Session".to_owned());
        let usage = summary.usage.unwrap_or_default();
        let tokens = |n: Option<u64>| n.map(human::count);
        let facts = [
            ("Agent", said(&session.agent)),
            ("Version", said(&session.version)),
            ("Model", said(&session.model)),
            ("Folder", said(&session.cwd)),
            ("Session", session.session_id.as_ref().map(|id| inline(id.as_str()))),
            ("Date", self.date()),
            ("Input tokens", tokens(usage.input_tokens)),
            ("Output tokens", tokens(usage.output_tokens)),
            ("From cache", tokens(usage.cache_read_tokens)),
            ("Cost", self.cost.clone().or(usage.cost_usd.map(human::dollars))),
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
