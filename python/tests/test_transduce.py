"""Reducers and emitters in Python, in a fan-out with the built-in ones."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Iterable

import pytest
from common import DROID, program

import foldline


class Names(foldline.Emitter[dict[str, Any], str]):
    """The name of each event, and their number at the end."""

    def __init__(self) -> None:
        self.count = 0

    def emit(self, event: dict[str, Any]) -> Iterable[str]:
        self.count += 1
        return [event["event"]]

    def finish(self) -> Iterable[str]:
        yield str(self.count)


class Changing(foldline.Emitter[dict[str, Any], str]):
    """Takes everything from its events."""

    def emit(self, event: dict[str, Any]) -> None:
        event.clear()


class Failing(foldline.Emitter[dict[str, Any], str]):
    """Fails at the third event."""

    def __init__(self, error: BaseException) -> None:
        self.error, self.left = error, 3

    def emit(self, event: dict[str, Any]) -> Iterable[str]:
        self.left -= 1
        if self.left == 0:
            raise self.error
        return ["it worked"]


class Lines(foldline.Reducer[int, str, dict[str, Any]]):
    """Lines of text as messages of the user."""

    def initial(self) -> int:
        return 0

    def reduce(self, state: int, item: str) -> tuple[int, list[dict[str, Any]]]:
        entry = {"timestamp": None, "entry_type": {"type": "user_message"}, "content": item}
        return state + 1, [{"event": "new_entry", "data": {"entry": entry}}]


def test_one_pass_for_both_kinds() -> None:
    _, patches, names, metrics = foldline.fan_out(DROID, [Changing(), "patches", Names(), "metrics"])
    assert patches == foldline.read(DROID).patches()
    events = list(foldline.read(DROID).events())
    assert names == [*(event["event"] for event in events), str(len(events))]
    assert metrics == program("replay", DROID, "--format", "metrics")[1]


def test_every_built_in_emitter_writes_what_the_program_writes() -> None:
    from foldline._foldline import sinks

    for name in sinks():
        assert foldline.fan_out(DROID, [name]) == [program("replay", DROID, "--format", name)[1]], name


def test_an_emitter_that_fails_disturbs_no_other() -> None:
    with pytest.raises(foldline.EmitterError, match="1 of 3 emitters failed: emitter 1: ValueError: too much") as raised:
        foldline.fan_out(DROID, ["patches", Failing(ValueError("too much")), Names()])
    patches, failed, names = raised.value.outputs
    assert patches == foldline.read(DROID).patches()
    assert failed == ["it worked"] * 2
    assert names == foldline.fan_out(DROID, [Names()])[0]
    assert isinstance(raised.value.__cause__, ValueError)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log that is read on two threads."""
    path = tmp_path_factory.mktemp("log") / "long.jsonl"
    lines = DROID.read_bytes()
    path.write_bytes(lines * (2_000_000 // len(lines)))
    return path


def test_a_long_log(long: Path) -> None:
    patches, names, _ = foldline.fan_out(long, ["patches", Names(), Changing()])
    assert patches == program("replay", long, "--format", "patches")[1]
    assert names[-1] == str(len(list(foldline.read(long).events())))
    with ThreadPoolExecutor(4) as threads:
        assert all(other == patches for other in threads.map(lambda _: foldline.read(long).patches(), range(4)))


def test_an_interrupt_ends_the_run(long: Path) -> None:
    for log in [DROID, long]:
        with pytest.raises(KeyboardInterrupt):
            foldline.fan_out(log, [Failing(KeyboardInterrupt()), "patches"])


def test_a_signal_ends_the_run(long: Path) -> None:
    class Slow(Changing):
        def emit(self, event: dict[str, Any]) -> None:
            time.sleep(0.01)

    threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        foldline.fan_out(long, ["patches", Slow()])


def test_names_of_emitters() -> None:
    with pytest.raises(foldline.FoldlineError, match="there is no output \"none\" "):
        foldline.fan_out(DROID, ["none"])
    with pytest.raises(foldline.FoldlineError, match="patches is named twice"):
        foldline.fan_out(DROID, ["patches", "patches"])


def test_a_reducer_in_python_has_built_in_emitters() -> None:
    lines = ["hello", "world"]
    patches, conversation, names = foldline.transduce(Lines(), ["patches", "conversation", Names()], lines)
    assert [json.loads(line)["position"]["line"] for line in patches.splitlines()] == [1, 2]
    document = json.loads(conversation)
    assert [entry["content"]["content"] for entry in document["entries"]] == lines
    assert names == ["new_entry", "new_entry", "2"]


def test_events_of_a_log_can_be_reduced_further() -> None:
    class Same(foldline.Reducer[None, dict[str, Any], dict[str, Any]]):
        def initial(self) -> None:
            return None

        def reduce(self, state: None, item: dict[str, Any]) -> tuple[None, list[dict[str, Any]]]:
            return state, [item]

    log = foldline.read(DROID)
    assert foldline.transduce(Same(), ["patches"], log.events()) == [log.patches()]


def test_events_may_be_anything() -> None:
    class Sums:
        def initial(self) -> int:
            return 0

        def reduce(self, state: int, item: int) -> tuple[int, list[int]]:
            return state + item, [state + item]

        def finish(self, state: int) -> tuple[int, list[int]]:
            return state, [-state]

    class All:
        def emit(self, event: int) -> Iterable[int]:
            yield event

        def finish(self) -> None:
            return None

    assert foldline.transduce(Sums(), [All()], [1, 2, 3]) == [[1, 3, 6, -6]]

    class Wrong(Lines):
        def reduce(self, state: int, item: str) -> tuple[int, list[dict[str, Any]]]:
            return state, [{"event": item}]

    with pytest.raises(foldline.EmitterError, match="this is not an event: ") as raised:
        foldline.transduce(Wrong(), ["patches", Names()], ["none"])
    assert raised.value.outputs == [b"", ["none", "1"]]
