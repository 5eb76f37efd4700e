"""Logs that grow."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from common import DROID

import foldline


def test_events_come_while_the_log_grows(tmp_path: Path) -> None:
    lines = DROID.read_bytes().splitlines(keepends=True)
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines[0])
    events = foldline.follow(log, idle=1.0)
    found = [next(events)]

    # The thread runs while the other one waits for the log.
    def grow() -> None:
        for line in lines[1:]:
            time.sleep(0.02)
            with log.open("ab") as file:
                file.write(line)

    writer = threading.Thread(target=grow)
    writer.start()
    found.extend(events)
    writer.join()
    assert found == list(foldline.read(DROID).events())
    assert list(events) == []


@pytest.mark.parametrize("content", [b"", DROID.read_bytes()], ids=["before it is recognised", "at its end"])
def test_an_interrupt_ends_the_wait(tmp_path: Path, content: bytes) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(content)
    timer = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(foldline.follow(log))
    assert time.monotonic() - begun < 5


def test_a_log_that_is_missing() -> None:
    with pytest.raises(foldline.FoldlineError, match="none.jsonl"):
        foldline.follow("none.jsonl")
    with pytest.raises(foldline.FoldlineError):
        foldline.follow(DROID, idle=-1)
