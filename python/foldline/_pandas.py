"""Tables as data frames of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._foldline import Table


def to_pandas(table: Table) -> Any:
    """A data frame with the same types with and without pyarrow, which makes it faster."""
    import pandas

    types = {"text": pandas.StringDtype(), "integer": pandas.Int64Dtype(), "number": pandas.Float64Dtype()}
    try:
        import pyarrow
    except ImportError:
        kinds = zip(table.columns, table.kinds)
        columns = {
            name: pandas.Series(table.column(name), dtype=types.get(kind, "datetime64[ms, UTC]")) for name, kind in kinds
        }
        return pandas.DataFrame(columns, columns=table.columns, index=pandas.RangeIndex(len(table)))
    arrow = {pyarrow.string(): "text", pyarrow.int64(): "integer", pyarrow.float64(): "number"}
    return pyarrow.table(table).to_pandas(types_mapper=lambda type: types.get(arrow.get(type, "")))
