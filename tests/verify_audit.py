#!/usr/bin/env python3
"""Verifies audit trails of foldline without foldline: by the description of the format alone.

usage: verify_audit.py [--log LOG] [--key PUBKEY]... AUDIT...

Prints a line for each trail: "good <count> <head>", or "line <n>: <what is wrong>". Exits with 1 if
any is not good. With --log, the raw lines of that log are compared too. With --key, the signatures must be
of these keys, in this order, and the last record must be a signature of the last one.
"""
import base64
import hashlib
import json
import sys


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def canonical(value):
    """RFC 8785, for what a record holds: strings, and integers that a double holds."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


# Ed25519 as in RFC 8032, section 5.1.4: a point has four coordinates, x = X/Z, y = Y/Z and xy = T/Z.
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def add(a, b):
    first = (a[1] - a[0]) * (b[1] - b[0]) % P
    second = (a[1] + a[0]) * (b[1] + b[0]) % P
    third, fourth = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = second - first, fourth - third, fourth + third, second + first
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(number, point):
    result = (0, 1, 1, 0)
    for bit in bin(number)[2:]:
        result = add(result, result)
        if bit == "1":
            result = add(result, point)
    return result


def is_equal(a, b):
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def point(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert y < P and (x * x - square) % P == 0, "it is no point of the curve"
    x = x if x & 1 == sign else P - x
    return x, y, 1, x * y % P


BASE = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def is_signature(signature, message, key):
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    digest = hashlib.sha512(r + key + message).digest()
    number = int.from_bytes(digest, "little") % ORDER
    return s < ORDER and is_equal(
        multiply(s, BASE), add(point(r), multiply(number, point(key)))
    )


def public_key(path):
    """The last 32 bytes of the DER form, which the lines between the first and the last encode."""
    with open(path) as file:
        return base64.b64decode("".join(file.read().split("\n")[1:-2]))[-32:]


class Keys:
    """The given keys, in the order of their ranges: each key signs one range of a trail."""

    def __init__(self, keys):
        self.keys = keys
        self.last = None

    def check(self, record):
        assert {"commits", "key", "signature"} <= set(record), "it is no signature"
        signed = {name: value for name, value in record.items() if name != "signature"}
        signature, its = bytes.fromhex(record["signature"]), bytes.fromhex(record["key"])
        assert len(signature) == 64 and len(its) == 32, "it is no signature"
        assert is_signature(signature, canonical(signed), its), "its signature is wrong"
        if self.keys:
            assert its in self.keys, "it is signed with another key"
            at = self.keys.index(its)
            assert self.last is None or at >= self.last, "a later key has succeeded its key"
            self.last = at


class Log:
    """The lines of a log, with which records are compared."""

    def __init__(self, path):
        with open(path, "rb") as file:
            lines = file.read().removeprefix(b"\xef\xbb\xbf").split(b"\n")
        self.lines = [line.removesuffix(b"\r") for line in lines]
        self.unfinished = None

    def check(self, number, digest):
        """A line that was read before it was ended has several parts, each with records of its own."""
        if self.unfinished and self.unfinished[0] != number:
            before, end, _ = self.unfinished
            is_read = not self.lines[before - 1][end:].strip()
            assert number < before or is_read, "something was added to a line before it"
            self.unfinished = None
        assert number <= len(self.lines), "the log has no such line"
        line = self.lines[number - 1]
        if sha256(line) == digest:
            self.unfinished = None
            return
        _, start, parts = self.unfinished or (number, 0, set())
        ends = range(start + 1, len(line) + 1)
        end = next((end for end in ends if sha256(line[start:end]) == digest), None)
        assert digest in parts or end is not None, "its line was changed"
        if digest not in parts:
            self.unfinished = number, end, parts | {digest}


def check(line, count, prev, log, keys):
    assert len(line) <= 1 << 20, "it is longer than any record"
    assert line.endswith(b"\n"), "it has no line end"
    value = json.loads(line[:-1].decode())
    assert canonical(value) == line[:-1], "it is not canonical JSON"
    assert set(value) == {"hash", "record"}, "it is not a hash and a record"
    record = value["record"]
    assert value["hash"] == sha256(canonical(record)), "its hash is not that of its contents"
    assert record["v"] in (1, 2), "its version is not known"
    assert record["seq"] == count + 1, f"found record {record['seq']}, expected {count + 1}"
    assert record["prev"] == prev, "it is not linked to the previous record"
    if record["event"] == "trail":
        assert {"ledger", "trail", "commits"} <= set(record), "it does not say whose trail it is"
        assert count == 0, "a trail begins within a trail"
    elif record["event"] == "gap":
        assert {"after", "commits"} <= set(record), "it does not say what is missing"
    elif record["event"] == "signature":
        keys.check(record)
    else:
        assert "line" in record, "it does not say where its event comes from"
    if log is not None and "line_sha256" in record:
        log.check(record["line"], record["line_sha256"])
    return value["hash"], record["event"] == "signature"


def verify(path, log, keys):
    log, keys = log and Log(log), Keys(keys)
    count, head, is_signed = 0, "0" * 64, False
    with open(path, "rb") as trail:
        for count, line in enumerate(trail):
            try:
                head, is_signed = check(line, count, head, log, keys)
            except (AssertionError, KeyError, TypeError, ValueError, RecursionError) as error:
                return f"line {count + 1}: {error}"
            count += 1
    if keys.keys and not is_signed:
        return f"the end is not signed, at record {count}"
    if keys.keys and keys.last != len(keys.keys) - 1:
        return "the last signature is not of the last key"
    return f"good {count} {head}"


def main(args):
    log, keys = None, []
    while args[0] in ("--key", "--log"):
        if args[0] == "--key":
            keys.append(public_key(args[1]))
        else:
            log = args[1]
        args = args[2:]
    verdicts = [verify(path, log, keys) for path in args]
    print("\n".join(verdicts))
    return 0 if all(verdict.startswith("good") for verdict in verdicts) else 1


sys.exit(main(sys.argv[1:]))
