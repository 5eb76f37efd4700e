"""The rows of the tables of a log, with the names of the columns. What a log does not state is ``None``."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class Session(NamedTuple):
    """A session."""

    session: str | None
    agent: str | None
    version: str | None
    model: str | None
    provider: str | None
    title: str | None
    cwd: str | None
    branch: str | None
    parent_session: str | None
    relation: str | None
    started_at: datetime | None
    ended_at: datetime | None
    duration_ms: int | None
    outcome: str | None
    outcome_reason: str | None
    turns: int | None
    entries: int | None
    calls: int | None
    warnings: int | None
    facts_json: str | None


class Entry(NamedTuple):
    """An entry of a session; ``entry`` is its index."""

    session: str | None
    entry: int | None
    timestamp: datetime | None
    type: str | None
    content: str | None
    corr_id: str | None
    parent_corr_id: str | None
    message_id: str | None
    model: str | None
    images: int | None
    extra_json: str | None


class Call(NamedTuple):
    """A tool call; ``entry`` is the index of its entry."""

    session: str | None
    entry: int | None
    timestamp: datetime | None
    corr_id: str | None
    parent_corr_id: str | None
    child_session: str | None
    message_id: str | None
    tool: str | None
    action: str | None
    title: str | None
    status: str | None
    action_json: str | None
    result: str | None
    exit_code: int | None
    duration_ms: int | None


class Usage(NamedTuple):
    """What a message used."""

    session: str | None
    root_session: str | None
    timestamp: datetime | None
    model: str | None
    message_id: str | None
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cache_write_1h_tokens: int | None
    reasoning_tokens: int | None
    web_searches: int | None
    cost_usd: float | None
    cost_basis: str | None
