//! The points of the tokens and costs of a whole database.

use std::path::Path;

use foldline::position::Digest;
use foldline_database::usage::{SessionUsage, priced};
use foldline_domain::{Text, Timestamp, pricing::Prices};
use foldline_otlp::{Resource, UsageTotals};

use super::{super::kind::SinkOptions, resource};
use crate::{error::Error, origin};

/// The tokens and costs of a database, and the points of those that have changed, as lines of an output.
pub(crate) struct TotalsPoints {
    pub(crate) totals: UsageTotals,
    pub(crate) lines: Vec<u8>,
}

/// Counts the tokens and costs of a database as `foldline usage` does, and returns the points of what has changed since
/// other totals.
pub(crate) fn points(
    sessions: &[SessionUsage],
    before: &UsageTotals,
    options: &SinkOptions,
    database: &Path,
    now: Timestamp,
) -> Result<TotalsPoints, Error> {
    let mut totals = UsageTotals::default();
    for row in priced(sessions, Prices::builtin()) {
        let agent = row.session.agent.as_ref().map(Text::decode).unwrap_or_default();
        let of = &row.message.of;
        totals.count(&agent, of.model.as_deref(), &row.message.usage, row.cost, of.at);
    }
    let temporality = options.variables.temporality()?;
    let resource = of_database(options.variables.resource(), database);
    let mut lines = Vec::new();
    for signal in totals.points(before, now, temporality) {
        let written = serde_json::to_writer(&mut lines, &resource.request(signal));
        written.map_err(|error| Error::Output(error.into()))?;
        lines.push(b'\n');
    }
    Ok(TotalsPoints { totals, lines })
}

/// Adds the identity of a database, so that a backend keeps the series of several databases apart.
fn of_database(resource: Resource, database: &Path) -> Resource {
    let host = origin::host();
    let path = dunce::canonicalize(database).unwrap_or_else(|_| database.to_owned());
    let place = format!("{}\0{}", host.as_deref().unwrap_or_default(), path.display());
    let id = resource::uuid(&Digest::of(place.as_bytes()).to_string());
    let known = [("host.name", host), ("service.instance.id", Some(id))];
    known.into_iter().fold(resource, |resource, (key, value)| {
        match value.filter(|_| !resource.has(key)) {
            Some(value) => resource.with(key, &value),
            None => resource,
        }
    })
}
