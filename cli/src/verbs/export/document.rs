//! [`Document`]: a session that is collected in one format, and rendered at the end.

use std::{collections::BTreeMap, convert::Infallible, sync::Arc};

use foldline::transduce::{Batch, Emitter};
use foldline_domain::{
    Conversation, DomainEvent, NormalizedEntry, NormalizedEntryType, pricing::Prices,
};
use foldline_render::{html::Page, markdown::Markdown};
use foldline_trajectory::{Atif, Picture};
use jiff::tz::TimeZone;
use serde::Serialize;

use super::{args::Format, report::note, rows::Rows};
use crate::{only::Only, verbs::usage::Spent};

/// The largest number of diagnostics in a document. A log of invalid records has one for every few bytes, and a page
/// takes 1.7 KB for each.
const MOST_DIAGNOSTICS: u64 = 10_000;

/// A session in one format.
pub(super) struct Document {
    content: Content,
    /// The number of diagnostics.
    diagnostics: u64,
    /// The id of the session.
    session: Option<String>,
    only: Only,
}

enum Content {
    Html(Box<Page>),
    /// With what was used, and its prices.
    Markdown(Box<(Markdown, Spent)>),
    Json(Box<Conversation>),
    /// With what was used, and its prices.
    Atif(Box<(Atif, Spent)>),
    Rows(Box<Rows>),
}

/// A conversation, and its redactions.
#[derive(Serialize)]
struct Redacted<'d> {
    #[serde(flatten)]
    conversation: &'d Conversation,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    redacted: &'d BTreeMap<&'static str, u64>,
}

impl Document {
    /// Creates an empty document. A page uses the prices to estimate costs that are not in the log, and the zone for
    /// its times.
    pub(super) fn new(format: Format, prices: &Arc<Prices>, zone: &TimeZone) -> Self {
        let content = match format {
            Format::Html => {
                let page = Page::with_prices(Arc::clone(prices)).in_zone(zone.clone());
                Content::Html(Box::new(page))
            }
            Format::Md => {
                Content::Markdown(Box::new((Markdown::default(), Spent::new(Arc::clone(prices)))))
            }
            Format::Json => Content::Json(Box::default()),
            Format::Atif => {
                let document = Atif::default().with_prices(Arc::clone(prices));
                Content::Atif(Box::new((document, Spent::new(Arc::clone(prices)))))
            }
            Format::Jsonl | Format::Parquet => Content::Rows(Box::new(Rows::new(prices))),
        };
        Self { content, diagnostics: 0, session: None, only: Only::default() }
    }

    /// The same, with these entries only.
    pub(super) fn with_only(self, only: Only) -> Self {
        Self { only, ..self }
    }

    /// The id of the session, if it is known.
    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The page, if it is one.
    pub(super) fn page(&self) -> Option<&Page> {
        match &self.content {
            Content::Html(page) => Some(page),
            Content::Markdown(_) | Content::Json(_) | Content::Atif(_) | Content::Rows(_) => None,
        }
    }

    /// Puts pictures into files of a folder beside the document, if they are not in it.
    pub(super) fn set_folder(&mut self, folder: String) {
        if let Content::Atif(both) = &mut self.content {
            both.0.set_folder(folder);
        }
    }

    /// The whole document, with its redactions, and the pictures beside it.
    pub(super) fn render(
        mut self,
        redacted: &BTreeMap<&'static str, u64>,
    ) -> Result<(String, Vec<Picture>), foldline_json::Error> {
        let note = note(redacted);
        match &mut self.content {
            Content::Html(page) => note.into_iter().for_each(|note| page.set_note(note)),
            Content::Markdown(both) => {
                let (document, spent) = &mut **both;
                note.into_iter().for_each(|note| document.set_note(note));
                spent.estimated().into_iter().for_each(|cost| document.set_cost(cost));
            }
            Content::Json(_) | Content::Rows(_) => {}
            Content::Atif(both) => {
                let (document, spent) = &mut **both;
                note.into_iter().for_each(|note| document.set_note(note));
                spent.cost().into_iter().for_each(|cost| document.set_cost(cost));
            }
        }
        let text = match self.content {
            Content::Atif(both) => return both.0.render(),
            Content::Rows(rows) => rows.lines()?,
            Content::Html(page) => page.render(),
            Content::Markdown(both) => both.0.render(),
            Content::Json(conversation) if redacted.is_empty() => {
                foldline_json::to_string_pretty(&conversation)? + "\n"
            }
            Content::Json(conversation) => {
                let document = Redacted { conversation: &conversation, redacted };
                foldline_json::to_string_pretty(&document)? + "\n"
            }
        };
        Ok((text, Vec::new()))
    }
}

impl Content {
    fn apply(&mut self, event: &DomainEvent) {
        match self {
            Self::Html(page) => page.apply(event),
            Self::Markdown(both) => {
                both.0.apply(event);
                both.1.take(event);
            }
            Self::Json(conversation) => conversation.apply(event),
            Self::Atif(both) => {
                both.0.apply(event);
                both.1.take(event);
            }
            Self::Rows(rows) => rows.apply(event),
        }
    }
}

impl Emitter<DomainEvent, Infallible> for Document {
    fn emit(&mut self, event: &DomainEvent) -> Batch<Infallible> {
        if let DomainEvent::Session(session) = event
            && let Some(id) = &session.session_id
        {
            self.session = Some(id.as_str().to_owned());
        }
        if let DomainEvent::NewEntry { entry } = event
            && matches!(entry.entry_type, NormalizedEntryType::Diagnostic { .. })
        {
            self.diagnostics += 1;
            if self.diagnostics > MOST_DIAGNOSTICS {
                return Batch::EMPTY;
            }
        }
        if let Some(call) = self.only.begun(event, |_| true) {
            self.content.apply(&call);
        }
        if self.only.chooses(event, |_| true) {
            self.content.apply(event);
        }
        Batch::EMPTY
    }

    fn finish(&mut self) -> Batch<Infallible> {
        if let Some(further @ 1..) = self.diagnostics.checked_sub(MOST_DIAGNOSTICS) {
            let message = format!("{further} further diagnostics are left out of this document");
            let entry = NormalizedEntry::new(NormalizedEntryType::SystemMessage, message);
            self.content.apply(&DomainEvent::entry(entry));
        }
        if let Content::Html(page) = &mut self.content {
            page.end();
        }
        Batch::EMPTY
    }
}
