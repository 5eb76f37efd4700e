//! [`BuiltIn`]: a consumer of the program, for events that come from Python.

use std::sync::Mutex;

use foldline::transduce::Emitter;
use foldline_cli::Program;
use foldline_domain::{DomainEvent, DynEmitter, Located};
use pyo3::{Bound, PyResult, Python, pyclass, pymethods, types::PyBytes};

use crate::error::{Failure, compute};

/// A built-in consumer, by its name.
#[pyclass(module = "foldline._foldline")]
pub(crate) struct BuiltIn(Mutex<Working>);

struct Working {
    emitter: DynEmitter,
    take: Box<dyn FnMut() -> Vec<u8> + Send>,
}

#[pymethods]
impl BuiltIn {
    #[new]
    fn new(py: Python<'_>, name: &str, log: String) -> PyResult<Self> {
        compute(py, || {
            let (emitter, take) = Program::builtin().emitter(name, log)?;
            Ok(Self(Mutex::new(Working { emitter, take: Box::new(take) })))
        })
    }

    /// Takes an event as JSON.
    fn emit(&mut self, py: Python<'_>, event: &str) -> PyResult<()> {
        let working = self.0.get_mut().map_err(Failure::of)?;
        compute(py, || {
            let event: Located<DomainEvent> = serde_json::from_str(event)
                .map_err(|error| Failure::Program(format!("this is not an event: {error}")))?;
            working.emitter.emit(&event).into_iter().next().map_or(Ok(()), |e| Err(Failure::of(e)))
        })
    }

    /// All that it has written.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let working = self.0.get_mut().map_err(Failure::of)?;
        let bytes = compute(py, || {
            let failed = Emitter::<Located<DomainEvent>, _>::finish(&mut working.emitter);
            failed.into_iter().next().map_or(Ok(()), |error| Err(Failure::of(error)))?;
            working.emitter.flush().map_err(Failure::of)?;
            Ok((working.take)())
        })?;
        Ok(PyBytes::new(py, &bytes))
    }
}
