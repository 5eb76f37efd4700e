"""Tables of Arrow in the libraries that read them."""

from __future__ import annotations

import sys

import duckdb
import foldline
import pandas
import polars
import pyarrow
import pytest
from common import DROID


@pytest.fixture
def table() -> foldline.Table:
    return foldline.read(DROID).table("calls")


def test_all_libraries_read_the_same(table: foldline.Table) -> None:
    rows = table.rows()
    assert len(rows) == len(table) > 0
    assert pyarrow.table(table).to_pylist() == rows
    assert polars.DataFrame(table).to_dicts() == rows
    asked = duckdb.sql('SELECT tool, count(*) FROM "table" GROUP BY ALL ORDER BY 1')
    tools = [row["tool"] for row in rows]
    assert asked is not None and asked.fetchall() == [(tool, tools.count(tool)) for tool in sorted(set(tools), key=str)]
    if hasattr(pandas.DataFrame, "from_arrow"):
        assert list(pandas.DataFrame.from_arrow(table)["tool"]) == tools


def test_nothing_is_copied(table: foldline.Table) -> None:
    def addresses() -> list[int]:
        columns = pyarrow.table(table).columns
        buffers = [buffer for column in columns for chunk in column.chunks for buffer in chunk.buffers()]
        return [buffer.address for buffer in buffers if buffer is not None and buffer.size]

    assert addresses() == addresses()
    assert pyarrow.schema(table) == pyarrow.table(table).schema


def test_a_table_outlives_its_log() -> None:
    frame = pyarrow.table(foldline.read(DROID).table("entries"))
    assert frame.num_rows == len(foldline.read(DROID).entries)


def test_data_frames_have_types_with_missing_values(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["sessions", "entries", "calls", "usage"]:
        table = foldline.read(DROID).table(name)
        with_pyarrow = table.to_pandas()
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "pyarrow", None)
            without = table.to_pandas()
        pandas.testing.assert_frame_equal(with_pyarrow, without)
        types = {"text": "string", "integer": "Int64", "number": "Float64", "time": "datetime64[ms, UTC]"}
        assert [str(of).replace("str", "string", 1) if str(of) == "str" else str(of) for of in without.dtypes] == [
            types[kind] for kind in table.kinds
        ]
    empty = foldline.sql("SELECT 1 AS a WHERE 0", logs=DROID)
    assert len(empty.to_pandas()) == 0 and empty.columns == ["a"]
