//! [`Document`]: a session that is collected in one format, and rendered at the end.

use std::{collections::BTreeMap, convert::Infallible};

use foldline::{
    conversation::{Conversation, DomainEvent},
    emitters::{html::Page, human, markdown::Markdown},
    json,
    pricing::Prices,
    transduce::{Batch, Emitter},
};
use serde::Serialize;

use super::args::Format;
use crate::verbs::usage::Spent;

/// A session in one format.
pub(super) enum Document {
    Html(Box<Page>),
    /// With what was used, and its prices.
    Markdown(Box<(Markdown, Spent)>),
    Json(Box<Conversation>),
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
    /// Creates an empty document. A page uses the prices to estimate costs that are not in the log.
    pub(super) fn new(format: Format, prices: Prices) -> Self {
        match format {
            Format::Html => Self::Html(Box::new(Page::with_prices(prices))),
            Format::Md => Self::Markdown(Box::new((Markdown::default(), Spent::new(prices)))),
            Format::Json => Self::Json(Box::default()),
        }
    }

    /// The whole document, with its redactions.
    pub(super) fn render(
        mut self,
        redacted: &BTreeMap<&'static str, u64>,
    ) -> Result<String, json::Error> {
        let note = note(redacted);
        match &mut self {
            Self::Html(page) => note.into_iter().for_each(|note| page.set_note(note)),
            Self::Markdown(both) => {
                let (document, spent) = &mut **both;
                note.into_iter().for_each(|note| document.set_note(note));
                spent.estimated().into_iter().for_each(|cost| document.set_cost(cost));
            }
            Self::Json(_) => {}
        }
        Ok(match self {
            Self::Html(page) => page.render(),
            Self::Markdown(both) => both.0.render(),
            Self::Json(conversation) if redacted.is_empty() => {
                json::to_string_pretty(&conversation)? + "\n"
            }
            Self::Json(conversation) => {
                let document = Redacted { conversation: &conversation, redacted };
                json::to_string_pretty(&document)? + "\n"
            }
        })
    }
}

/// A human-readable summary of the redactions; `None` if there are none.
pub(super) fn note(redacted: &BTreeMap<&'static str, u64>) -> Option<String> {
    let counts = redacted.iter().map(|(kind, n)| {
        let kind = kind.replace("home-folder", "home directory").replace('-', " ");
        human::number_of(*n, &kind)
    });
    let counts: Vec<_> = counts.collect();
    let counts = (!counts.is_empty()).then(|| counts.join(", "));
    counts.map(|counts| format!("redacted: {counts} (best effort; review before you share it)"))
}

impl Emitter<DomainEvent, Infallible> for Document {
    fn emit(&mut self, event: &DomainEvent) -> Batch<Infallible> {
        match self {
            Self::Html(page) => page.apply(event),
            Self::Markdown(both) => {
                both.0.apply(event);
                both.1.take(event);
            }
            Self::Json(conversation) => conversation.apply(event),
        }
        Batch::EMPTY
    }

    fn finish(&mut self) -> Batch<Infallible> {
        if let Self::Html(page) = self {
            page.end();
        }
        Batch::EMPTY
    }
}
