//! [`Events`]: the events of a log as they are read.

use std::{collections::VecDeque, convert::Infallible, path::PathBuf, sync::Mutex, time::Duration};

use foldline::{
    processor::DEFAULT_MAX_LINE,
    source::Until,
    transduce::{Batch, Emitter},
};
use foldline_cli::{
    Program,
    shared::{
        Log,
        pipeline::{LogProcessor, Moved, advance, begin, emitter_mut},
    },
};
use foldline_domain::{DomainEvent, Located};
use pyo3::{PyRef, PyResult, Python, pyclass, pymethods};

use crate::{
    error::{Failure, check_signals, compute},
    log::{executor, open},
};

/// An iterator of the events of a log, each as JSON.
#[pyclass(module = "foldline._foldline")]
pub(crate) struct Events(Mutex<Reading>);

struct Reading {
    log: Log,
    /// `None` before the format is known, and after the end.
    processor: Option<LogProcessor<Lines>>,
    name: Option<String>,
    ready: VecDeque<String>,
}

/// Holds events until they are taken.
#[derive(Default)]
struct Lines(VecDeque<String>);

impl Emitter<Located<DomainEvent>, Infallible> for Lines {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        // Events always have a JSON form.
        self.0.extend(foldline_json::to_string(event));
        Batch::EMPTY
    }
}

#[pymethods]
impl Events {
    /// The events of a log up to its end or, if it is followed, until it has not grown for `idle` seconds.
    #[new]
    #[pyo3(signature = (path, name, *, is_followed = false, idle = None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        name: String,
        is_followed: bool,
        idle: Option<f64>,
    ) -> PyResult<Self> {
        compute(py, || {
            let program = Program::builtin();
            let log = if is_followed {
                let idle =
                    idle.map(Duration::try_from_secs_f64).transpose().map_err(Failure::of)?;
                let until = idle.map_or(Until::Stopped, Until::Idle);
                Log::Followed(Box::new(program.openers().follow(&path, until)?))
            } else {
                open(&program, &path)?
            };
            let (processor, name) = (None, Some(name));
            Ok(Self(Mutex::new(Reading { log, processor, name, ready: VecDeque::new() })))
        })
    }

    fn __iter__(events: PyRef<'_, Self>) -> PyRef<'_, Self> {
        events
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<String>> {
        let reading = self.0.get_mut().map_err(Failure::of)?;
        if let Some(event) = reading.ready.pop_front() {
            return Ok(Some(event));
        }
        compute(py, || reading.read())
    }
}

impl Reading {
    /// Reads up to the next event. `None` at the end.
    fn read(&mut self) -> Result<Option<String>, Failure> {
        if let Some(name) = self.name.take() {
            let executor = executor(&Program::builtin(), &mut self.log, &name)?;
            let span = self.log.span();
            self.processor = Some(begin(executor, Lines::default(), DEFAULT_MAX_LINE, span));
        }
        while self.ready.is_empty() {
            let Some(processor) = &mut self.processor else { return Ok(None) };
            match advance(&mut self.log, processor, |never: Infallible| match never {})? {
                Moved::Noticed(notice) | Moved::NextFile(notice) => {
                    Log::report(self.log.path(), &notice);
                }
                Moved::Read(_) | Moved::Idle => {}
                Moved::End | Moved::Done => {
                    let ended = self.processor.take();
                    let lines = ended.map(|it| it.finish(|never| match never {}).emitter);
                    self.ready.extend(lines.into_iter().flat_map(|lines| lines.into_inner().0));
                    continue;
                }
            }
            self.ready.append(&mut emitter_mut(processor).0);
            check_signals()?;
        }
        Ok(self.ready.pop_front())
    }
}
