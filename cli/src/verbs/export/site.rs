//! `foldline export --all`: a folder with a document for each session; of pages with a table of contents.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    fs, io,
    sync::Arc,
};

use foldline::{files::replace_file, transduce::Emitter};
use foldline_database::query::{SessionFilter, SessionOrder, SessionRow};
use foldline_domain::{DomainEvent, pricing::Prices};
use foldline_render::{html::Contents, human, redact::Redact};
use jiff::tz::TimeZone;

use super::{
    args::{ExportArgs, Format},
    document::Document,
    report::note,
    write_file,
};
use crate::{answer::Opened, error::Error, only::Only, program::Program, say::say};

/// Writes the documents into the folder of `--out`.
pub(super) fn run(program: &Program, args: &ExportArgs) -> Result<u8, Error> {
    let Some(folder) = args.out.as_deref() else {
        let message = "--all writes documents into a folder: give --out FOLDER";
        return Err(Error::WrongUse(message.to_owned()));
    };
    let failed = |error: io::Error| Error::output(folder, &error);
    let is_site = args.format == Format::Html;
    let documents = if is_site { folder.join("sessions") } else { folder.to_owned() };
    fs::create_dir_all(&documents).map_err(failed)?;
    let database = args.database.open(program)?;
    args.filters.check_agent(program, Some(&*database))?;
    let filter = SessionFilter { is_listed: true, ..args.filters.chosen()? };
    let sessions = database.sessions(&filter, SessionOrder::Latest)?;
    let zone = args.filters.zone();
    let site = Site {
        args,
        database: &database,
        prices: Arc::new(args.prices.load()?.into_owned()),
        zone,
    };
    let mut contents = Contents::default().in_zone(site.zone.clone());
    let mut replaced = BTreeMap::<_, u64>::new();
    let mut names = BTreeSet::new();
    for session in &sessions {
        let (document, counts) = site.document(session.number)?;
        let name = name(session, args.format, &mut names);
        if let Some(page) = document.page() {
            contents.add(page, format!("sessions/{name}"));
        }
        counts.iter().for_each(|(kind, count)| *replaced.entry(*kind).or_default() += count);
        write_file(document, &counts, &documents.join(&name))?;
    }
    if args.redact {
        let note = note(&replaced).unwrap_or_else(|| "nothing to replace was found".to_owned());
        contents.set_note(&note);
        say(&note);
    }
    let index = if is_site { folder.join("index.html") } else { folder.to_owned() };
    if is_site {
        replace_file(&index, contents.render().as_bytes())
            .map_err(|error| Error::output(&index, &error))?;
    }
    database.confirm()?;
    say(&format!("{} exported: {}", human::number_of(sessions.len(), "session"), index.display()));
    Ok(database.exit_code())
}

struct Site<'a> {
    args: &'a ExportArgs,
    database: &'a Opened,
    prices: Arc<Prices>,
    zone: TimeZone,
}

impl Site<'_> {
    /// The document of a session, and its redactions.
    fn document(&self, session: i64) -> Result<(Document, BTreeMap<&'static str, u64>), Error> {
        let document = Document::new(self.args.format, &self.prices, &self.zone)
            .with_only(Only::new(&self.args.only));
        if !self.args.redact {
            return Ok((self.read(session, document)?, BTreeMap::new()));
        }
        let redact = self.read(session, Redact::new(document))?;
        let replaced = redact.replaced().collect();
        Ok((redact.into_inner(), replaced))
    }

    fn read<M>(&self, session: i64, mut emitter: M) -> Result<M, Error>
    where
        M: Emitter<DomainEvent, Infallible>,
    {
        self.database.nested_events(session, |event| drop(emitter.emit(&event)))?;
        drop(emitter.finish());
        Ok(emitter)
    }
}

/// The name of the file of a session: the agent's id where it can be one, so that a link stays valid, or else the
/// number in the database.
pub(super) fn name(session: &SessionRow, format: Format, taken: &mut BTreeSet<String>) -> String {
    let ending = format.ending();
    let is_plain = |id: &&str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        (1..=100).contains(&id.len()) && id.bytes().all(is_plain)
    };
    let id = session.session.as_deref().filter(is_plain);
    let name =
        id.map(|id| format!("{id}.{ending}")).filter(|name| !taken.contains(&name.to_lowercase()));
    let name = name.unwrap_or_else(|| format!("session.{}.{ending}", session.number));
    taken.insert(name.to_lowercase());
    name
}
