"""The logs of coding agents as objects, as tables of Arrow, and as events.

    >>> import foldline
    >>> log = foldline.read("session.jsonl")
    >>> log.table("calls").to_pandas()
    >>> [call.title for call in log.calls if call.status == "failed"]
    >>> foldline.usage(by="model", since="this week").to_pandas()

Tables are read without copies by everything that knows the interface of Arrow for streams: ``polars.DataFrame(table)``,
``pyarrow.table(table)``, ``pandas.DataFrame.from_arrow(table)``, and DuckDB by the name of a variable.
"""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import Any, Dict, Iterator, List, Union

from . import _foldline
from ._foldline import FoldlineError, Table
from ._records import Call, Entry, Session, Usage
from ._transduce import Emitter, EmitterError, Reducer, fan_out, transduce

__all__ = [
    "Call", "Emitter", "EmitterError", "Entry", "FoldlineError", "Log", "Reducer", "Session", "Table", "Usage", "ask",
    "fan_out", "follow", "read", "sessions", "sql", "transduce", "usage",
]  # fmt: skip

Path = Union[str, "os.PathLike[str]"]


class Log:
    """A log. The tables, the patches and the documents are each made when they are first asked for, by reading it."""

    def __init__(self, path: Path, executor: str = "auto") -> None:
        self.path = os.fspath(path)
        #: The name of the format.
        self.format = _foldline.recognise(self.path, executor)

    def __repr__(self) -> str:
        return f"<Log {self.path}: {self.format}>"

    @cached_property
    def _tables(self) -> Dict[str, Table]:
        return _foldline.tables(self.path, self.format)

    def table(self, name: str) -> Table:
        """The table ``sessions``, ``entries``, ``calls`` or ``usage``: the columns of ``foldline export --format jsonl``."""
        if name not in self._tables:
            raise FoldlineError(f"there is no table {name!r} (there are: {', '.join(sorted(self._tables))})")
        return self._tables[name]

    @cached_property
    def sessions(self) -> List[Session]:
        """The sessions of the log, often one."""
        return [Session._make(row) for row in self.table("sessions").tuples()]

    @property
    def session(self) -> Session:
        """The session of the log, the first if there are several."""
        if not self.sessions:
            raise FoldlineError(f"{self.path} has no session")
        return self.sessions[0]

    @cached_property
    def entries(self) -> List[Entry]:
        """The entries of all sessions, in the order in which each is complete."""
        return [Entry._make(row) for row in self.table("entries").tuples()]

    @cached_property
    def calls(self) -> List[Call]:
        """The tool calls of all sessions, in the order in which each is complete."""
        return [Call._make(row) for row in self.table("calls").tuples()]

    @cached_property
    def usage(self) -> List[Usage]:
        """What each message used; a cost that the log does not state is estimated."""
        return [Usage._make(row) for row in self.table("usage").tuples()]

    def patches(self) -> bytes:
        """The JSON Patches of the sessions, one on each line: those of ``foldline replay --format patches``, byte for byte."""
        patches: bytes = fan_out(self.path, ["patches"], executor=self.format)[0]
        return patches

    def conversations(self) -> List[Dict[str, Any]]:
        """The document of each session."""
        documents: List[Dict[str, Any]] = json.loads(_foldline.conversations(self.path, self.format))
        return documents

    def conversation(self) -> Dict[str, Any]:
        """The document of the session, the first if there are several."""
        return next(iter(self.conversations()), {"entries": []})

    def events(self) -> Iterator[Dict[str, Any]]:
        """The events, as the log is read."""
        return map(json.loads, _foldline.Events(self.path, self.format))


def read(path: Path, executor: str = "auto") -> Log:
    """Opens a log of any agent: a file, compressed or not, or the database of an agent.

    ``executor`` names the format; else it is recognised.
    """
    return Log(path, executor)


def follow(path: Path, *, idle: float | None = None, executor: str = "auto") -> Iterator[Dict[str, Any]]:
    """The events of a log while it grows, is rotated or replaced.

    It ends when the log has not grown for ``idle`` seconds; else by an exception, such as ``KeyboardInterrupt``. Other
    threads of Python run while it waits.
    """
    return map(json.loads, _foldline.Events(os.fspath(path), executor, is_followed=True, idle=idle))


def ask(verb: str, *arguments: str, db: Path | None = None, limit: int = 0, **options: Any) -> Table:
    """The answer of a verb of the program, such as ``ask("tools", since="today")`` or ``ask("files", "src/main.rs")``.

    Options are those of the command line: ``no_refresh=True`` is ``--no-refresh``, and a list is an option that is given
    several times. ``db`` is a database, by default the one that the program keeps; ``logs`` are asked instead of it.
    All rows are returned, unless ``limit`` is given.
    """
    words = [*verb.split(), f"--limit={limit}"]
    for name, value in {"db": db, **options}.items():
        option = f"--{name.replace('_', '-')}"
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is True:
                words.append(option)
            elif each is not None and each is not False:
                words.append(f"{option}={os.fspath(each) if isinstance(each, os.PathLike) else each}")
    return _foldline.ask([*words, *(["--", *arguments] if arguments else [])])


def sessions(db: Path | None = None, **filters: Any) -> Table:
    """The sessions of the database, latest first: ``sessions(project=".", since="this week", agent="codex")``."""
    return ask("sessions", db=db, **filters)


def usage(by: str | List[str] = "day", db: Path | None = None, **filters: Any) -> Table:
    """Tokens and costs by ``day``, ``week``, ``month``, ``model``, ``agent``, ``project``, ``session``, ``task`` or ``branch``."""
    return ask("usage", db=db, by=by, **filters)


def sql(query: str, db: Path | None = None, **options: Any) -> Table:
    """The answer of the database to a statement that reads; ``foldline query schema`` prints the tables."""
    return ask("query sql", query, db=db, **options)
