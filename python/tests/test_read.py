"""Logs as objects, tables and documents: those of the program."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections import Counter
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from common import DROID, FIXTURES, captures, program

import foldline


@pytest.mark.parametrize("folder", captures(), ids=str)
def test_patches_are_those_of_the_program(folder: Path) -> None:
    counts: Counter[str] = Counter()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        code, expected, error = program("replay", path, "--format", "patches")
        try:
            found = foldline.read(path).patches()
        except foldline.FoldlineError as refused:
            assert code != 0 and str(refused) in error, (path, str(refused), error)
            counts["no log for both"] += 1
        else:
            assert code == 0 and found == expected, path
            counts["identical"] += 1
    print(f"{folder}: {dict(counts)}")
    assert counts["identical"] > 0


@pytest.mark.parametrize("path", [DROID, FIXTURES / "claude-session", FIXTURES / "codex-rollout"], ids=str)
def test_tables_and_documents_are_those_of_the_program(path: Path) -> None:
    for log in [path] if path.is_file() else sorted(path.glob("*.jsonl")):
        code, lines, _ = program("export", log, "--format", "jsonl")
        assert code == 0
        exported: dict[str, list[Any]] = {"sessions": [], "entries": [], "calls": [], "usage": []}
        for row in map(json.loads, lines.splitlines()):
            if "table" in row:
                exported[row.pop("table")].append(row)
        read = foldline.read(log)
        for name, rows in exported.items():
            assert [plain(row) for row in read.table(name).rows()] == rows, (log, name)
        _, documents, _ = program("replay", log, "--format", "conversation")
        assert read.conversation() == json.JSONDecoder().raw_decode(documents.decode())[0]
        _, events, _ = program("replay", log, "--format", "events")
        assert list(read.events()) == [json.loads(line) for line in events.splitlines()]


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row with times as in the lines of the program."""

    def text(moment: datetime) -> str:
        whole = moment.strftime("%Y-%m-%dT%H:%M:%S")
        return f"{whole}.{moment.microsecond // 1000:03}".rstrip("0").rstrip(".") + "Z" if moment.microsecond else whole + "Z"

    return {name: text(value) if isinstance(value, datetime) else value for name, value in row.items()}


def test_rows_are_typed_objects() -> None:
    log = foldline.read(DROID)
    assert log.format == "droid" and repr(log).endswith("execute.jsonl: droid>")
    assert [log.session] == log.sessions and log.session.agent == "droid"
    call = log.calls[0]
    assert call.tool and repr(call).startswith("Call(session=")
    assert isinstance(call.timestamp, datetime) and call.timestamp.tzinfo is timezone.utc
    with pytest.raises(AttributeError):
        call.tool = "another"  # type: ignore[misc]
    records = {"sessions": foldline.Session, "entries": foldline.Entry, "calls": foldline.Call, "usage": foldline.Usage}
    kinds = {"text": "str | None", "integer": "int | None", "number": "float | None", "time": "datetime | None"}
    for name, record in records.items():
        table = log.table(name)
        fields = {field: getattr(of, "__forward_arg__", of) for field, of in record.__annotations__.items()}
        assert fields == dict(zip(table.columns, (kinds[kind] for kind in table.kinds))), name
        assert len(getattr(log, name)) == len(table)


def test_errors_say_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n')
    for path, message in [
        ("none.jsonl", "there is no file "),
        ("", "is a folder, not a log"),
        ("empty.jsonl", "the file is empty"),
        ("other.jsonl", "cannot tell which agent wrote "),
    ]:
        with pytest.raises(foldline.FoldlineError, match=message):
            foldline.read(tmp_path / path)
    with pytest.raises(foldline.FoldlineError, match="there is no executor \"none\""):
        foldline.read(DROID, executor="none")
    with pytest.raises(foldline.FoldlineError, match="there is no table 'call' "):
        foldline.read(DROID).table("call")


def test_a_compressed_log_is_a_log(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress(DROID.read_bytes()))
    assert foldline.read(path).patches() == foldline.read(DROID).patches()


def test_the_database_of_an_agent_is_a_log(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(OPENCODE)
    log = foldline.read(path)
    assert [session.session for session in log.sessions] == ["ses_a", "ses_b"]
    assert [(entry.session, entry.content) for entry in log.entries] == [("ses_a", "hi"), ("ses_b", "ho")]
    assert len(log.conversations()) == 2
    assert log.patches() == program("replay", path, "--format", "patches")[1]


OPENCODE = """
    CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,
                          time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    INSERT INTO session VALUES ('ses_a', 'p', NULL, '/srv', 'A', 1, 1), ('ses_b', 'p', NULL, '/srv', 'B', 2, 2);
    INSERT INTO message VALUES ('m1', 'ses_a', 3, '{"role": "user", "time": {"created": 3}}'),
                               ('m2', 'ses_b', 4, '{"role": "user", "time": {"created": 4}}');
    INSERT INTO part VALUES ('p1', 'm1', 'ses_a', 3, '{"type": "text", "text": "hi"}'),
                            ('p2', 'm2', 'ses_b', 4, '{"type": "text", "text": "ho"}');
"""
