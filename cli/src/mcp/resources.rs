//! The resources `foldline://session/ID`: sessions as Markdown documents.

use foldline::transduce::Emitter;
use foldline_database::query::{SessionFilter, SessionOrder};
use foldline_domain::DomainEvent;
use foldline_render::{markdown::Markdown, redact::Redact};
use percent_encoding::percent_decode_str;
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::json;

use super::{
    arguments::{self, MOST_TOKENS, Object, Scope},
    call::Call,
    page::Page,
    quote::quoted,
    tokens::Tokens,
};
use crate::error::Error;

/// The type of a document.
pub(crate) const MIME: &str = "text/markdown";

const PREFIX: &str = "foldline://session/";

/// The number of listed sessions.
const LISTED: usize = 20;

/// Any session.
pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{PREFIX}{{id}}"), "session")
        .with_title("A session")
        .with_description("A past session of a coding agent as Markdown. The id is as in the answers of the tools.")
        .with_mime_type(MIME)
}

/// The latest sessions of the caller's project.
pub(crate) fn list(call: &Call<'_>) -> Result<Vec<Resource>, Error> {
    let filter =
        SessionFilter { is_listed: true, limit: Some(LISTED), ..call.filter(&Scope::default())? };
    let sessions = call.database.sessions(&filter, SessionOrder::Latest)?;
    let resource = |session: &foldline_database::query::SessionRow| {
        let name = call.name(session.number, session.session.as_deref())?;
        let title = session.title.as_deref().unwrap_or_default();
        let title = call.line(title, 80);
        let resource = Resource::new(format!("{PREFIX}{name}"), name)
            .with_description(call.minute(session.began))
            .with_mime_type(MIME);
        Ok(if title.is_empty() { resource } else { resource.with_title(title) })
    };
    sessions.iter().map(resource).collect()
}

/// The session that an address names.
pub(crate) fn session(uri: &str) -> Option<String> {
    let id = uri.strip_prefix(PREFIX).filter(|id| !id.is_empty())?;
    Some(percent_decode_str(id).decode_utf8_lossy().into_owned())
}

/// A session as Markdown, quoted line by line: as many of its entries as a budget has room for.
pub(crate) fn document(call: &Call<'_>, name: &str) -> Result<String, Error> {
    let session = call.session(name)?;
    let name = call.name(session.number, session.session.as_deref())?;
    let mut events = Events::default();
    call.database.events(session.number, |event| events.take(event))?;
    let end = |entries: usize| {
        if entries as i64 >= session.entries {
            return String::new();
        }
        let range = [("session", json!(name)), ("from", json!(entries))];
        let next = arguments::call("get_session", &Object::new(), &range);
        format!("Left out: entries {entries} to {}. The next: {next}\n", session.entries - 1)
    };
    call.allow(Tokens::new(MOST_TOKENS));
    let budget = call.budget();
    let redacts = call.redacts();
    let page = || Page::new(budget).keeping(&(end(0) + "0000000000"));
    // The largest number of entries that fit.
    let (mut fits, mut too_many) = (0, events.entries() + 1);
    let mut best = None;
    while too_many - fits > 1 {
        let middle = fits + (too_many - fits) / 2;
        let mut page = page();
        if page.push(&quoted(events.document(middle, redacts).trim_end())) {
            (fits, best) = (middle, Some(page));
        } else {
            too_many = middle;
        }
    }
    Ok(match best {
        Some(page) => page.finish(&end(fits)),
        None => {
            let mut page = page();
            page.push_beginning(&quoted(events.document(1, redacts).trim_end()));
            page.finish(&end(0))
        }
    })
}

/// The events of the beginning of a session, more than a document has room for.
#[derive(Default)]
struct Events {
    events: Vec<DomainEvent>,
    /// The number of events before each entry.
    starts: Vec<usize>,
    /// The bytes of the entries.
    size: usize,
}

impl Events {
    fn take(&mut self, event: DomainEvent) {
        /// Bytes for which no document has room.
        const MOST: usize = MOST_TOKENS as usize * 6;
        if let DomainEvent::NewEntry { entry } | DomainEvent::NewToolCall { entry, .. } = &event {
            if self.size > MOST {
                return;
            }
            self.starts.push(self.events.len());
            let result = entry.tool().and_then(|tool| tool.action_type.result_text());
            self.size +=
                entry.content.decode().len() + result.map_or(0, |text| text.decode().len());
        } else if self.size > MOST {
            return;
        }
        self.events.push(event);
    }

    fn entries(&self) -> usize {
        self.starts.len()
    }

    /// The document of the first entries, and of the facts of the session.
    fn document(&self, entries: usize, redacts: bool) -> String {
        let end = self.starts.get(entries).copied().unwrap_or(self.events.len());
        let events = self.events.get(..end).unwrap_or_default();
        let mut document = Redact::new(Markdown::default());
        for event in events {
            match redacts {
                true => drop(document.emit(event)),
                false => document.get_mut().apply(event),
            }
        }
        document.into_inner().render()
    }
}
