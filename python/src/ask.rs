//! Questions to the database.

use foldline_cli::{Program, shared::Answer};
use foldline_tables::arrow::{batch_of, schema_of};
use pyo3::{PyResult, Python, pyfunction};

use crate::{
    error::{Failure, compute},
    table::Table,
};

/// The answer of a verb of the program, with its options as on the command line.
#[pyfunction]
pub(crate) fn ask(py: Python<'_>, words: Vec<String>) -> PyResult<Table> {
    compute(py, || {
        let Answer { columns, rows } = Program::builtin().ask(&words)?;
        let columns: Vec<_> = columns.iter().map(|(name, kind)| (&**name, *kind)).collect();
        let batch = batch_of(&columns, rows.iter().map(|row| &**row)).map_err(Failure::of)?;
        let name = words.first().map_or("answer", |verb| &**verb);
        Ok(Table::new(name, schema_of(columns), vec![batch]))
    })
}
