//! [`Table`]: record batches of Arrow, and their rows as objects of Python.

use arrow_array::{
    Array, ArrayRef, RecordBatch, RecordBatchIterator,
    cast::AsArray,
    ffi::FFI_ArrowSchema,
    ffi_stream::FFI_ArrowArrayStream,
    types::{Float64Type, Int64Type, TimestampMillisecondType},
};
use arrow_schema::{DataType, FieldRef, SchemaRef};
use pyo3::{
    Bound, IntoPyObject, Py, PyAny, PyResult, Python,
    exceptions::PyKeyError,
    pyclass, pymethods,
    types::{PyAnyMethods, PyCapsule, PyDateTime, PyDict, PyDictMethods, PyTuple, PyTzInfo},
};

use crate::error::Failure;

/// A table in the memory of Arrow. Others read it there, by the interface for streams.
#[pyclass(frozen, module = "foldline", name = "Table")]
pub(crate) struct Table {
    name: String,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    pub(crate) fn new(name: &str, schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { name: name.to_owned(), schema, batches }
    }

    /// The values of each column, one batch after another.
    fn column_of<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let arrays = self.batches.iter().map(|batch| values(py, batch.column(at)));
        Ok(arrays.collect::<PyResult<Vec<_>>>()?.concat())
    }
}

#[pymethods]
impl Table {
    /// The name of the table, or of the question that it answers.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    /// The kinds of the columns: `text`, `integer`, `number` or `time`.
    #[getter]
    fn kinds(&self) -> Vec<&'static str> {
        let kind = |field: &FieldRef| match field.data_type() {
            DataType::Int64 => "integer",
            DataType::Float64 => "number",
            DataType::Timestamp(..) => "time",
            _ => "text",
        };
        self.schema.fields().iter().map(kind).collect()
    }

    /// The values of a column; times in UTC.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let at = self.schema.index_of(name).map_err(|_| PyKeyError::new_err(name.to_owned()))?;
        self.column_of(py, at)
    }

    /// The rows as tuples.
    fn tuples<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let columns = (0..self.schema.fields().len()).map(|at| self.column_of(py, at));
        let mut columns: Vec<_> =
            columns.map(|column| column.map(Vec::into_iter)).collect::<PyResult<_>>()?;
        let none = || py.None().into_bound(py);
        let row = |_| {
            let values = columns.iter_mut().map(|column| column.next().unwrap_or_else(none));
            PyTuple::new(py, values.collect::<Vec<_>>())
        };
        (0..self.__len__()).map(row).collect()
    }

    /// The rows as dictionaries.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let rows: Vec<_> = (0..self.__len__()).map(|_| PyDict::new(py)).collect();
        for (at, name) in self.columns().into_iter().enumerate() {
            let values = self.column_of(py, at)?;
            rows.iter().zip(values).try_for_each(|(row, value)| row.set_item(name, value))?;
        }
        Ok(rows)
    }

    /// The rows as a `DataFrame` of pandas, with types that have missing values.
    fn to_pandas<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("foldline._pandas")?.getattr("to_pandas")?.call1((slf,))
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!(
            "<Table {}: {} rows, columns {}>",
            self.name,
            self.__len__(),
            self.columns().join(", ")
        )
    }

    /// The schema, for Arrow.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(Failure::of)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The rows, for Arrow. The schema is always that of the table.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// The values of an array.
fn values<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Vec<Bound<'py, PyAny>>> {
    match array.data_type() {
        DataType::Int64 => objects(py, array.as_primitive::<Int64Type>().iter()),
        DataType::Float64 => objects(py, array.as_primitive::<Float64Type>().iter()),
        DataType::Timestamp(..) => {
            let utc = PyTzInfo::utc(py)?;
            // A moment that Python cannot state is `None`; Arrow has it.
            let moment =
                |millis: i64| PyDateTime::from_timestamp(py, millis as f64 / 1e3, Some(&utc)).ok();
            let array = array.as_primitive::<TimestampMillisecondType>();
            objects(py, array.iter().map(|millis| millis.and_then(moment)))
        }
        _ => objects(py, array.as_string::<i32>().iter()),
    }
}

fn objects<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    values: impl Iterator<Item = Option<T>>,
) -> PyResult<Vec<Bound<'py, PyAny>>>
where
    Option<T>: IntoPyObject<'py, Target = PyAny, Output = Bound<'py, PyAny>>,
    <Option<T> as IntoPyObject<'py>>::Error: Into<pyo3::PyErr>,
{
    values.map(|value| value.into_pyobject(py).map_err(Into::into)).collect()
}
