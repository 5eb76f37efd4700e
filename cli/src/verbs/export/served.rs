//! A document of a session for a page that is served.

use std::{collections::BTreeMap, sync::Arc};

use foldline::transduce::Emitter;
use foldline_database::Store;
use foldline_domain::pricing::Prices;
use foldline_render::redact::Redact;
use jiff::tz::TimeZone;

use super::{args::Format, document::Document, unwritten};
use crate::error::Error;

/// A session of the database with its parts, as a document.
pub(crate) fn document(
    database: &dyn Store,
    session: i64,
    (format, is_redacted): (Format, bool),
    prices: &Arc<Prices>,
    zone: &TimeZone,
) -> Result<String, Error> {
    let mut document = Document::new(format, prices, zone);
    let mut replaced = BTreeMap::new();
    if is_redacted {
        let mut redact = Redact::new(document);
        database.nested_events(session, |event| drop(redact.emit(&event)))?;
        drop(redact.finish());
        replaced = redact.replaced().collect();
        document = redact.into_inner();
    } else {
        database.nested_events(session, |event| drop(document.emit(&event)))?;
        drop(document.finish());
    }
    document.render(&replaced).map_err(unwritten)
}
