"""The examples run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
from common import DROID, ROOT
from nbclient import NotebookClient

EXAMPLES = ROOT / "python" / "examples"


def test_pandas_in_one_line() -> None:
    said = subprocess.run(
        [sys.executable, EXAMPLES / "pandas_in_one_line.py", DROID], check=True, capture_output=True, text=True
    ).stdout
    assert "Execute" in said


def test_the_notebook(tmp_path: Path) -> None:
    notebook = nbformat.read(EXAMPLES / "questions.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    assert not any(cell.get("outputs") for cell in notebook.cells)
    os.environ["FOLDLINE_LOGS"] = str(ROOT / "examples" / "home" / ".claude" / "projects")
    done = NotebookClient(notebook, timeout=60, kernel_name="python3").execute(cwd=tmp_path)
    assert all(cell.outputs for cell in done.cells if cell.cell_type == "code")
