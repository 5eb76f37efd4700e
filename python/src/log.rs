//! A log that is read to its end: its tables, its documents, and the consumers of a fan-out.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    path::{Path, PathBuf},
    sync::Arc,
};

use foldline::{
    processor::DEFAULT_MAX_LINE,
    transduce::{Batch, Emitter, KeyedEmitter},
};
use foldline_agents::DynExecutor;
use foldline_cli::{
    Program,
    shared::{Log, Recognition, Rows},
};
use foldline_domain::{
    ByItem, Conversation, DomainEvent, Located, SessionKey, by_item, pricing::Prices,
};
use foldline_tables::{Table as Name, arrow};
use pyo3::{Bound, Py, PyAny, PyErr, PyResult, Python, pyfunction, types::PyBytes};

use crate::{
    error::{Failure, check_signals, compute},
    table::Table,
};

/// The executor of a log: the named one or, for `auto`, the one that recognises it.
pub(crate) fn executor(
    program: &Program,
    log: &mut Log,
    name: &str,
) -> Result<DynExecutor, Failure> {
    let registry = program.registry();
    if registry.named(name).is_some() {
        return Ok(log.executor(registry, name, DEFAULT_MAX_LINE)?);
    }
    if name != "auto" {
        return Err(Failure::Program(format!("there is no executor {name:?}")));
    }
    let mut recognition = Recognition::new(registry, log.path(), DEFAULT_MAX_LINE);
    loop {
        if let Some(executor) = log.recognise(&mut recognition)? {
            return Ok(executor);
        }
        check_signals()?;
    }
}

/// Opens a log that is read once.
pub(crate) fn open(program: &Program, path: &Path) -> Result<Log, Failure> {
    if path.is_dir() {
        return Err(Failure::Program(format!(
            "{} is a folder, not a log; name a log in it",
            path.display()
        )));
    }
    if !path.exists() {
        return Err(Failure::Program(format!("there is no file {}", path.display())));
    }
    Ok(Log::open(&program.openers(), path)?)
}

/// What each consumer has written, or why it failed.
type Outputs = Vec<Result<Vec<u8>, String>>;

/// Reads a log into consumers. Returns what those of the names have written, or why they failed; and the further one.
fn read<M>(path: &Path, name: &str, names: &[String], further: M) -> Result<(Outputs, M), Failure>
where
    M: Emitter<Located<DomainEvent>, Infallible> + Send,
{
    let program = Program::builtin();
    let mut log = open(&program, path)?;
    let executor = executor(&program, &mut log, name)?;
    let (written, further) = program.fan_out(&mut log, &executor, names, further, check_signals)?;
    let written = written.into_iter().map(|written| written.map_err(|error| error.to_string()));
    Ok((written.collect(), further))
}

/// The name of the executor that reads a log.
#[pyfunction]
pub(crate) fn recognise(py: Python<'_>, path: PathBuf, name: &str) -> PyResult<String> {
    compute(py, || {
        let program = Program::builtin();
        let mut log = open(&program, &path)?;
        Ok(executor(&program, &mut log, name)?.format().name.to_owned())
    })
}

/// The names of the built-in consumers.
#[pyfunction]
pub(crate) fn sinks() -> Vec<&'static str> {
    Program::builtin().sinks().collect()
}

/// The tables of a log, by their names.
#[pyfunction]
pub(crate) fn tables(
    py: Python<'_>,
    path: PathBuf,
    name: &str,
) -> PyResult<BTreeMap<&'static str, Table>> {
    compute(py, || {
        let prices = Arc::new(Prices::builtin().clone());
        let sessions = KeyedEmitter::new(
            |event: &Located<DomainEvent>| event.session,
            |_: &SessionKey| by_item(Rows::new(&prices)),
        );
        let sessions =
            foldline::transduce::map(sessions, |(_, never): (_, Infallible)| match never {});
        let (_, sessions) = read(&path, name, &[], sessions)?;
        let mut made: BTreeMap<_, Vec<_>> = Name::ALL.map(|table| (table, Vec::new())).into();
        let mut batches = arrow::Batches::default();
        let rows = sessions.into_inner().into_inner().into_values().map(ByItem::into_inner);
        for row in rows.flat_map(Rows::end) {
            let table = row.table;
            let full = batches.push(row).map_err(Failure::of)?;
            made.entry(table).or_default().extend(full);
        }
        for (table, batch) in batches.finish().map_err(Failure::of)? {
            made.entry(table).or_default().push(batch);
        }
        let named = |(table, batches): (Name, _)| {
            (table.name(), Table::new(table.name(), arrow::schema(table), batches))
        };
        Ok(made.into_iter().map(named).collect())
    })
}

/// The documents of the sessions of a log, as a JSON array.
#[pyfunction]
pub(crate) fn conversations<'py>(
    py: Python<'py>,
    path: PathBuf,
    name: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let json = compute(py, || {
        let (_, Documents(documents)) = read(&path, name, &[], Documents::default())?;
        let documents: Vec<_> = documents.into_values().collect();
        foldline_json::to_string(&documents).map_err(Failure::of)
    })?;
    Ok(PyBytes::new(py, json.as_bytes()))
}

/// The documents of the sessions.
#[derive(Default)]
struct Documents(BTreeMap<SessionKey, Conversation>);

impl Emitter<Located<DomainEvent>, Infallible> for Documents {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        self.0.entry(event.session).or_default().apply(&event.item);
        Batch::EMPTY
    }
}

/// Reads a log into the built-in consumers of these names and, if there is one, a function of Python that takes each event
/// as JSON. Returns what each of the names has written, or why it failed.
#[pyfunction]
pub(crate) fn fan_out<'py>(
    py: Python<'py>,
    path: PathBuf,
    name: &str,
    names: Vec<String>,
    emit: Option<Py<PyAny>>,
) -> PyResult<Vec<(Option<Bound<'py, PyBytes>>, String)>> {
    let written = compute(py, || {
        let (written, function) = read(&path, name, &names, Function { emit, failure: None })?;
        function.failure.map_or(Ok(written), |failure| Err(Failure::Python(failure)))
    })?;
    let each = |written: Result<Vec<u8>, String>| match written {
        Ok(bytes) => (Some(PyBytes::new(py, &bytes)), String::new()),
        Err(message) => (None, message),
    };
    Ok(written.into_iter().map(each).collect())
}

/// A function of Python that takes events. Its exceptions are those that end the reading, such as `KeyboardInterrupt`.
struct Function {
    emit: Option<Py<PyAny>>,
    failure: Option<PyErr>,
}

impl Emitter<Located<DomainEvent>, Infallible> for Function {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        if let Some(emit) = &self.emit
            && self.failure.is_none()
        {
            // Events always have a JSON form.
            let json = foldline_json::to_string(event).unwrap_or_default();
            let called = Python::attach(|py| emit.call1(py, (json,)).map(drop));
            self.failure = called.err();
        }
        Batch::EMPTY
    }
}
