//! A document of a single session: as text for a page that is served, and as a file for the picker.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
};

use foldline::{files::replace_file, transduce::Emitter};
use foldline_database::{Store, query::SessionRow};
use foldline_domain::pricing::Prices;
use foldline_render::redact::Redact;
use jiff::tz::TimeZone;

use super::{args::Format, document::Document, numbered, site, unwritten};
use crate::error::Error;

/// Exports a session as a page, to a new file of the current folder that has its name. Returns the name.
pub(crate) fn page(
    database: &dyn Store,
    session: &SessionRow,
    prices: &Arc<Prices>,
    zone: &TimeZone,
) -> Result<PathBuf, Error> {
    let text = document(database, session.number, (Format::Html, false), prices, zone)?;
    let name = PathBuf::from(site::name(session, Format::Html, &mut BTreeSet::new()));
    let free = (1..).map(|number| numbered(&name, number)).find(|path| !path.exists());
    let path = free.unwrap_or(name);
    replace_file(&path, text.as_bytes()).map_err(|error| Error::output(&path, &error))?;
    Ok(path)
}

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
    Ok(document.render(&replaced).map_err(unwritten)?.0)
}
