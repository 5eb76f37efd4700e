"""The repository, its logs, and the program that the tests compare with."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(os.environ.get("FOLDLINE_ROOT", Path(__file__).resolve().parents[2]))
FIXTURES = ROOT / "tests" / "fixtures"
DROID = FIXTURES / "droid" / "execute.jsonl"
CLAUDE = ROOT / "examples" / "home" / ".claude"
PROGRAM = os.environ.get("FOLDLINE", "foldline")


def program(*words: str | Path) -> tuple[int, bytes, str]:
    # The width of transcripts.
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, env=environment)
    return done.returncode, done.stdout, done.stderr.decode()


def answer(*words: str | Path) -> Any:
    code, said, error = program(*words, "--format", "json", "--limit", "0")
    assert code == 0, error
    return json.loads(said)


def captures() -> list[Path]:
    """Folders of logs: the fixtures, and captured logs where there are any."""
    named = os.environ.get("FOLDLINE_CAPTURES")
    return [FIXTURES, *([Path(named)] if named else sorted((ROOT.parent / "shared").glob("captures*")))]
