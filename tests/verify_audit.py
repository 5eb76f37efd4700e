#!/usr/bin/env python3
"""Verifies audit trails of foldline without foldline: by the description of the format alone.

usage: verify_audit.py [--log LOG] AUDIT...

Prints a line for each trail: "good <count> <head>", or "line <n>: <what is wrong>". Exits with 1 if
any is not good. With --log, the raw lines of that log are compared too.
"""
import hashlib
import json
import sys


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def canonical(value):
    """RFC 8785, for what a record holds: strings, and integers that a double holds."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def check(line, count, prev, log):
    assert line.endswith(b"\n"), "it has no line end"
    value = json.loads(line[:-1].decode())
    assert canonical(value) == line[:-1], "it is not canonical JSON"
    assert set(value) == {"hash", "record"}, "it is not a hash and a record"
    record = value["record"]
    assert value["hash"] == sha256(canonical(record)), "its hash is not that of its contents"
    assert record["v"] == 1, "its version is not known"
    assert record["seq"] == count + 1, f"record {record['seq']} stands where {count + 1} should"
    assert record["prev"] == prev, "it was not made after the record before it"
    if log is not None and "line_sha256" in record:
        assert record["line"] <= len(log), "the log has no such line"
        assert record["line_sha256"] == sha256(log[record["line"] - 1]), "its line was changed"
    return value["hash"]


def verify(path, log):
    count, head = 0, "0" * 64
    with open(path, "rb") as trail:
        for count, line in enumerate(trail):
            try:
                head = check(line, count, head, log)
            except (AssertionError, KeyError, TypeError, ValueError, RecursionError) as error:
                return f"line {count + 1}: {error}"
            count += 1
    return f"good {count} {head}"


def main(args):
    log = None
    if args[0] == "--log":
        with open(args[1], "rb") as file:
            lines = file.read().removeprefix(b"\xef\xbb\xbf").split(b"\n")
            log = [line.removesuffix(b"\r") for line in lines]
        args = args[2:]
    verdicts = [verify(path, log) for path in args]
    print("\n".join(verdicts))
    return 0 if all(verdict.startswith("good") for verdict in verdicts) else 1


sys.exit(main(sys.argv[1:]))
