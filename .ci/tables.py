#!/usr/bin/env python3
"""Checks tables with their readers: `.ci/tables.py PROGRAM LOGS..`

All logs are stored in a database, whose sessions are exported as Parquet and as JSON lines. DuckDB, pandas and Polars must
read the same rows from both, and their totals must be those of `foldline usage`. PROGRAM is built with
`--features parquet`. Needs `pip install duckdb pandas polars pyarrow`.
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pandas
import polars

TABLES = ["sessions", "entries", "calls", "usage"]
SUMS = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd"]


def foldline(*arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{arguments}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def with_duckdb(folder):
    for table in TABLES:
        rows = duckdb.sql(f"SELECT * FROM read_parquet('{folder}/{table}*.parquet')")
        yield table, rows.columns, len(rows.fetchall())
    sums = ", ".join(f"coalesce(sum({name}), 0)" for name in SUMS)
    yield "sums", None, duckdb.sql(f"SELECT {sums} FROM read_parquet('{folder}/usage*.parquet')").fetchall()[0]


def with_pandas(folder):
    for table in TABLES:
        rows = pandas.concat(map(pandas.read_parquet, sorted(folder.glob(f"{table}*.parquet"))))
        yield table, list(rows.columns), len(rows)
    yield "sums", None, [rows[name].sum() for name in SUMS]


def with_polars(folder):
    for table in TABLES:
        rows = polars.read_parquet(f"{folder}/{table}*.parquet")
        yield table, rows.columns, len(rows)
    yield "sums", None, [rows[name].sum() for name in SUMS]


def with_lines(path):
    """The same of JSON lines, and of nothing but this file."""
    with open(path) as file:
        header, *rows = map(json.loads, file)
    for table in TABLES:
        columns = list(header["tables"][table])
        of_table = [row for row in rows if row["table"] == table]
        assert all(list(row) == ["table", *columns] for row in of_table), table
        yield table, columns, len(of_table)
    yield "sums", None, [sum(row[name] or 0 for row in of_table) for name in SUMS]


program, *logs = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    database, dataset, lines = folder / "s.db", folder / "dataset", folder / "all.jsonl"
    subprocess.run([program, "ingest", *logs, "--db", database], capture_output=True)
    foldline("export", "--all", "--format", "parquet", "--out", dataset, "--db", database)
    foldline("export", "--all", "--format", "jsonl", "--out", lines, "--db", database)
    usage = json.loads(foldline("usage", "--by", "agent", "--format", "json", "--db", database))
    expected = [sum(row.get(name) or 0 for row in usage) for name in SUMS]
    assert expected[0] > 0, usage
    said = {}
    for reader, given in [
        ("lines", with_lines(lines)),
        ("DuckDB", with_duckdb(dataset)),
        ("pandas", with_pandas(dataset)),
        ("Polars", with_polars(dataset)),
    ]:
        for table, columns, value in given:
            if table == "sums":
                same = all(map(math.isclose, value, expected))
                assert same, f"{reader}: {value}, and `foldline usage` says {expected}"
            else:
                first = said.setdefault(table, (columns, value))
                assert first == (columns, value), f"{reader}, {table}: {(columns, value)}, not {first}"

print(", ".join(f"{number} {table}" for table, (_, number) in said.items()), dict(zip(SUMS, expected)))
