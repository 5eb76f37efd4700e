#!/usr/bin/env python3
"""Checks trajectories with the validators of ATIF: `.ci/atif.py PROGRAM LOGS..`

Each log is exported alone, and all of them from a database; each document must be valid for the packages `atif` and
`harbor`, and give the same entries when it is read again. Needs Python 3.12 or later, and
`pip install pydantic && pip install --no-deps atif==1.8.0 harbor==0.26.0`: the validator of `harbor` needs none of its
other dependencies.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.pop(0)  # This file has the name of the package.
import atif
from harbor.utils.trajectory_validator import TrajectoryValidator


def foldline(*arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def errors(path):
    """What the two validators say of a document."""
    validator = TrajectoryValidator()
    if not validator.validate(path):
        yield from (f"harbor: {error}" for error in validator.get_errors()[:3])
    try:
        atif.Trajectory.model_validate_json(path.read_text())
    except ValueError as error:
        yield f"atif: {str(error)[:500]}"


def entries(path):
    """The entries of each session of a log, without the contents of pictures, which are in files."""
    _, said, _ = foldline("export", path, "--format", "json")
    sessions, at, decoder = [], 0, json.JSONDecoder()
    while said[at:].strip():
        value, at = decoder.raw_decode(said, at)
        at += 1  # The line feed.
        sessions.append(value["entries"])
    for entry in (entry for session in sessions for entry in session):
        for image in (entry["content"]["metadata"] or {}).get("images", []):
            image.pop("data", None)
    return sessions


program, *folders = sys.argv[1:]
count = {"documents": 0, "steps": 0, "sub-agents": 0, "pictures": 0, "calls": 0}
failed = []


def check(path):
    document = json.loads(path.read_text())
    nested = document.get("subagent_trajectories", [])
    steps = [step for one in [document, *nested] for step in one["steps"]]
    count["documents"] += 1
    count["steps"] += len(steps)
    count["sub-agents"] += len(nested)
    count["calls"] += sum(len(step.get("tool_calls", [])) for step in steps)
    count["pictures"] += path.read_text().count('"type": "image"')
    failed.extend(f"{path.name}: {error}" for error in errors(path))


with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    logs = [path for given in folders for path in sorted(Path(given).rglob("*"))]
    for number, log in enumerate(path for path in logs if path.is_file()):
        out = folder / str(number) / "log.atif.json"
        out.parent.mkdir()
        code, _, said = foldline("export", log, "--format", "atif", "--out", out)
        if code != 0 and foldline("export", log, "--format", "json")[0] != code:
            failed.append(f"{log}: exit {code}: {said}")
        documents = sorted(out.parent.glob("*.json"), key=lambda path: (len(path.name), path.name))
        for document in documents:
            check(document)
        sessions = entries(log) if documents else []
        for document, expected in zip(documents, sessions, strict=True):
            if entries(document) != [expected]:
                failed.append(f"{log}: {document.name} gives other entries")
    database, site = folder / "s.db", folder / "all"
    foldline("ingest", *folders, "--db", database)
    code, _, said = foldline("export", "--all", "--format", "atif", "--out", site, "--db", database)
    if code != 0:
        failed.append(f"--all: exit {code}: {said}")
    for document in site.glob("*.json"):
        check(document)

print(*failed, sep="\n")
print(", ".join(f"{number} {name}" for name, number in count.items()), f"{len(failed)} failures", sep=", ")
sys.exit(bool(failed) or count["documents"] == 0)
