//! `foldline export --format jsonl` and `parquet`: the tables of sessions.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use foldline::transduce::{Batch, Emitter};
use foldline_database::{
    query::{SessionFilter, SessionOrder, SessionRow},
    usage::{PricedMessage, RootSession},
};
use foldline_domain::{DomainEvent, SessionId, Text, pricing::Prices};
use foldline_render::{human, redact::Redact};
use foldline_tables::{Row, SessionRows, Table, UsageRow, json};
use tempfile::NamedTempFile;

use super::{
    args::{ExportArgs, Format},
    read,
    report::note,
    temporary::{replace, temporary_beside},
};
use crate::{
    answer::Opened,
    error::Error,
    program::Program,
    say::say,
    verbs::usage::{Spent, Used},
};

/// The rows of a session that is read from one log, or of one with its parts.
pub struct Rows {
    emitter: SessionRows,
    done: Vec<Row>,
    spent: Spent,
}

impl Rows {
    /// Rows with the costs that these prices estimate, where the log does not state them.
    pub fn new(prices: &Arc<Prices>) -> Self {
        let spent = Spent::new(Arc::clone(prices));
        Self { emitter: SessionRows::default(), done: Vec::new(), spent }
    }

    /// Applies one event.
    pub(super) fn apply(&mut self, event: &DomainEvent) {
        self.spent.take(event);
        self.emitter.emit(event).drain_with(|row| self.done.push(row));
    }

    /// All rows; those of usage with their costs.
    pub fn end(mut self) -> Vec<Row> {
        self.emitter.finish().drain_with(|row| self.done.push(row));
        self.done.retain(|row| row.table != Table::Usage);
        self.spent.each(|message| self.done.push(usage(message)));
        self.done
    }

    /// All rows as lines.
    pub(super) fn lines(self) -> Result<String, foldline_json::Error> {
        let mut lines = json::header()? + "\n";
        for row in self.end() {
            lines.push_str(&json::line(&row)?);
            lines.push('\n');
        }
        Ok(lines)
    }
}

impl Emitter<DomainEvent, Infallible> for Rows {
    fn emit(&mut self, event: &DomainEvent) -> Batch<Infallible> {
        self.apply(event);
        Batch::EMPTY
    }
}

/// The row of a message.
fn usage(message: &PricedMessage<'_>) -> Row {
    let of = &message.message.of;
    let text = |text: Option<&str>| text.map(Text::from);
    let root = match message.root {
        RootSession::Named(id) => Some(id),
        RootSession::Unnamed(_) => None,
    };
    let row = UsageRow {
        session: text(message.session.session_id.as_ref().map(SessionId::as_str)),
        root_session: text(root),
        timestamp: of.at,
        model: text(of.model.as_deref()),
        message_id: text(of.message_id.as_deref()),
        usage: message.message.usage,
        cost: message.cost,
    };
    row.into()
}

/// Writes the tables of one session or of all into the file or the folder of `--out`.
pub(super) fn run(program: &Program, args: &ExportArgs) -> Result<u8, Error> {
    let Some(path) = args.out.as_deref() else {
        let message = "a dataset is several files: give --out FOLDER";
        return Err(Error::WrongUse(message.to_owned()));
    };
    let mut output = Output::new(args.format, path)?;
    let prices = Arc::new(args.prices.load()?.into_owned());
    let mut replaced = BTreeMap::<_, u64>::new();
    let code = if args.all {
        all(program, args, &prices, &mut output, &mut replaced)?
    } else if args.redact {
        let (sessions, code) = read(program, args, || Redact::new(Rows::new(&prices)))?;
        for redact in sessions {
            redact.replaced().for_each(|(kind, count)| *replaced.entry(kind).or_default() += count);
            redact.into_inner().end().into_iter().try_for_each(|row| output.push(row))?;
        }
        code
    } else {
        let (sessions, code) = read(program, args, || Rows::new(&prices))?;
        let mut rows = sessions.into_iter().flat_map(Rows::end);
        rows.try_for_each(|row| output.push(row))?;
        code
    };
    output.finish()?;
    if args.redact {
        say(&note(&replaced).unwrap_or_else(|| "nothing to replace was found".to_owned()));
    }
    Ok(code)
}

/// Adds the rows of all sessions. Those of usage are the ones that `foldline usage` adds up.
fn all(
    program: &Program,
    args: &ExportArgs,
    prices: &Prices,
    output: &mut Output,
    replaced: &mut BTreeMap<&'static str, u64>,
) -> Result<u8, Error> {
    let database = args.database.open(program)?;
    args.filters.check_agent(program, Some(&*database))?;
    let filter = args.filters.chosen()?;
    let listed = SessionFilter { is_listed: true, ..filter.clone() };
    let sessions = database.sessions(&listed, SessionOrder::Latest)?;
    for session in &sessions {
        let rows = SessionRows::new(session.session.as_deref().map(Text::from));
        if args.redact {
            let redact = one(&database, session, Redact::new(rows), output)?;
            redact.replaced().for_each(|(kind, count)| *replaced.entry(kind).or_default() += count);
        } else {
            one(&database, session, rows, output)?;
        }
    }
    let messages = database.usage(&filter)?;
    let used = Used::new(&messages, &filter, prices);
    used.rows.iter().try_for_each(|message| output.push(usage(message)))?;
    database.confirm()?;
    say(&format!("{} exported", human::number_of(sessions.len(), "session")));
    Ok(database.exit_code())
}

/// Adds the rows of a session without its usage, as they come.
fn one<M: Emitter<DomainEvent, Row>>(
    database: &Opened,
    session: &SessionRow,
    mut emitter: M,
    output: &mut Output,
) -> Result<M, Error> {
    let mut written = Ok(());
    let mut push = |row: Row| {
        if written.is_ok() && row.table != Table::Usage {
            written = output.push(row);
        }
    };
    database.nested_events(session.number, |event| emitter.emit(&event).drain_with(&mut push))?;
    emitter.finish().drain_with(&mut push);
    written.map(|()| emitter)
}

/// Files that replace others when all rows have come.
enum Output {
    Lines(BufWriter<NamedTempFile>, PathBuf),
    #[cfg(feature = "parquet")]
    Dataset(Box<super::dataset::Dataset>),
}

impl Output {
    fn new(format: Format, path: &Path) -> Result<Self, Error> {
        let failed = |error: io::Error| Error::output(path, &error);
        if format == Format::Jsonl {
            let mut file = BufWriter::new(temporary_beside(path).map_err(failed)?);
            writeln!(file, "{}", json::header().map_err(super::unwritten)?).map_err(failed)?;
            return Ok(Self::Lines(file, path.to_owned()));
        }
        #[cfg(feature = "parquet")]
        return Ok(Self::Dataset(Box::new(super::dataset::Dataset::new(path)?)));
        #[cfg(not(feature = "parquet"))]
        Err(Error::WrongUse(
            "this build writes no Parquet: build it with --features parquet".to_owned(),
        ))
    }

    fn push(&mut self, row: Row) -> Result<(), Error> {
        match self {
            Self::Lines(file, path) => {
                let line = json::line(&row).map_err(super::unwritten)?;
                writeln!(file, "{line}").map_err(|error| Error::output(path, &error))
            }
            #[cfg(feature = "parquet")]
            Self::Dataset(dataset) => dataset.push(row),
        }
    }

    fn finish(self) -> Result<(), Error> {
        match self {
            Self::Lines(file, path) => {
                let failed = |error: io::Error| Error::output(&path, &error);
                let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
                replace(file, &path).map_err(failed)
            }
            #[cfg(feature = "parquet")]
            Self::Dataset(dataset) => dataset.finish(),
        }
    }
}
