"""Questions to the database: the answers of the program."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path
from typing import Any, Callable

import pytest
from common import CLAUDE, FIXTURES, ROOT, answer, program

import foldline


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("database") / "sessions.db"
    program("ingest", FIXTURES / "droid", FIXTURES / "claude-session", CLAUDE / "projects", "--db", path)
    return path


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    def text(value: Any) -> Any:
        return datetime.fromisoformat(value.replace("Z", "+00:00")) if isinstance(value, str) and is_time(value) else value

    return [{name: text(value) for name, value in row.items()} for row in rows]


def is_time(value: str) -> bool:
    return len(value) >= 20 and value[4] == value[7] == "-" and value[10] == "T" and value.endswith("Z")


def padded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Python before 3.11 reads three or six decimals only."""
    for row in rows:
        for name, value in row.items():
            if isinstance(value, str) and is_time(value) and "." in value:
                whole, rest = value[:-1].split(".")
                row[name] = f"{whole}.{rest:0<6}Z"
    return rows


@pytest.mark.parametrize("verb", ["sessions", "usage", "tools", "errors", "files", "prompts", "commands"])
def test_answers_are_those_of_the_program(db: Path, verb: str) -> None:
    found = foldline.ask(verb, db=db)
    assert len(found) > 0
    assert found.rows() == plain(padded(answer(verb, "--db", db)))


def test_sessions_and_usage_take_the_options_of_the_program(db: Path) -> None:
    sessions = foldline.sessions(db, agent="claude", sort="tokens")
    assert sessions.rows() == plain(padded(answer("sessions", "--db", db, "--agent", "claude", "--sort", "tokens")))
    usage = foldline.usage(["model", "agent"], db=db, until="2100-01-01", timezone="UTC")
    assert usage.columns[:2] == ["model", "agent"]
    assert usage.rows() == answer("usage", "--by", "model,agent", "--db", db, "--until", "2100-01-01")
    assert len(foldline.sessions(db, limit=1)) == 1
    assert len(foldline.sessions(logs=[FIXTURES / "droid", CLAUDE / "projects"])) > 1
    found = foldline.ask("search", "fix", db=db)
    assert found.rows() == plain(padded(answer("search", "fix", "--db", db)))


def test_the_database_of_the_program_is_updated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples" / "home", tmp_path / "home")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    found = foldline.sessions()
    assert len(found) > 1
    assert found.rows() == plain(padded(answer("sessions", "--no-refresh")))


def test_sql(db: Path) -> None:
    found = foldline.sql("-- a comment\nSELECT 1 AS a, 2.5 AS b, 'x' AS \"c d\", NULL AS e UNION SELECT 3, 4, 'y', NULL", db)
    assert found.rows() == [{"a": 1, "b": 2.5, "c d": "x", "e": None}, {"a": 3, "b": 4.0, "c d": "y", "e": None}]
    assert found.kinds == ["integer", "number", "text", "integer"]
    [(count,)] = foldline.sql("SELECT count(*) FROM sessions", db=db).tuples()
    assert count >= len(foldline.sessions(db))


def test_wrong_questions(db: Path) -> None:
    questions: list[tuple[Callable[[], object], str]] = [
        (lambda: foldline.sql("DELETE FROM sessions", db), "the statement would write"),
        (lambda: foldline.sql("SELECT nowhere", db), "no such column: nowhere"),
        (lambda: foldline.sessions(db, colour="red"), "unexpected argument '--colour'"),
        (lambda: foldline.sessions(db, agent="none"), "there is no agent \"none\""),
        (lambda: foldline.usage("colour", db=db), "invalid value 'colour'"),
        (lambda: foldline.sessions("none.db"), "none.db"),
        (lambda: foldline.ask("show", "latest", db=db), "this does not answer with rows"),
        (lambda: foldline.ask("query schema", db=db), "this does not answer with rows"),
    ]
    for ask, message in questions:
        with pytest.raises(foldline.FoldlineError, match=message):
            ask()
