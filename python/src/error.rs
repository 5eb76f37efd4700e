//! [`Failure`]: an error on its way to Python.

use std::panic::{AssertUnwindSafe, catch_unwind};

use foldline::{source::SourceError, transduce::Fault};
use foldline_cli::shared::Error;
use pyo3::{PyErr, PyResult, Python, create_exception, exceptions::PyException};

create_exception!(
    foldline,
    FoldlineError,
    PyException,
    "A log or a database cannot be read, or a question is wrong. Damage within a log is not an error."
);

/// An error of the program, or an exception of Python.
pub(crate) enum Failure {
    Program(String),
    Python(PyErr),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Program(error.to_string())
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::Program(error.to_string())
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl Failure {
    /// Of anything else that has a message.
    pub(crate) fn of(error: impl ToString) -> Self {
        Self::Program(error.to_string())
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Program(message) => FoldlineError::new_err(message),
            Failure::Python(error) => error,
        }
    }
}

/// Computes without the lock of the interpreter. A panic is an error.
pub(crate) fn compute<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let done = py.detach(|| {
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            Err(Failure::Program(format!("a defect of foldline: {}", Fault::of(&*panic))))
        })
    });
    done.map_err(PyErr::from)
}

/// Fails if a signal has come, such as that of Ctrl-C.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method has one lifetime")]
pub(crate) fn check_signals() -> Result<(), Failure> {
    Ok(Python::attach(|py| py.check_signals())?)
}
