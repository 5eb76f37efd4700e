#!/usr/bin/env python3
"""Counts what is in a log of Gemini's stream.

A second reading of the format that shares no code with the crate: it holds the whole file, decides at the
end, and prints {"calls", "by_status", "assistant_texts", "user_texts", "thinking", "usage"}.
Usage: gemini.py FILE
"""
import collections, json, re, sys

def records(path):
    for line in open(path, encoding="utf-8").read().split("\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value

def ended(result, is_command):
    error = result.get("error") or {}
    if error.get("type") == "policy_violation":
        return "denied"
    code = re.fullmatch(r"Command exited with code: (-?\d+)", str(result.get("output")))
    bad = result.get("status") == "error" or error or (is_command and code and code[1] != "0")
    return "failed" if bad else "success"

calls, results = {}, {}
answers, prompts, usage = [], 0, collections.Counter()
pieces = None
for r in records(sys.argv[1]):
    kind, role, text = r.get("type"), r.get("role"), r.get("content")
    known = ("init", "message", "tool_use", "tool_result", "error", "result")
    if kind not in known:
        continue
    if kind == "message" and role == "assistant" and r.get("delta"):
        if text and pieces is None:
            pieces = ""
            answers.append(None)
        if text:
            pieces += text
        continue
    if kind == "message" and role == "assistant":
        if pieces is None or not str(text).startswith(pieces):
            answers.append(text)
    elif kind == "message" and role == "user":
        prompts += 1
    elif kind == "tool_use":
        if r.get("tool_id"):
            calls.setdefault(r["tool_id"], r["tool_name"])
        else:
            calls[len(calls)] = r["tool_name"]
    elif kind == "tool_result":
        waiting = [i for i in calls if i not in results]
        name = r.get("tool_id") or (waiting or [None])[0]
        results.setdefault(name, r)
    elif kind == "result":
        stats = r.get("stats") or {}
        for s in (stats.get("models") or {"": stats}).values():
            if "total_tokens" in s:
                thought = max(0, s["total_tokens"] - s["input_tokens"] - s["output_tokens"])
                usage.update({"input_tokens": s["input_tokens"], "cache_read_tokens": s["cached"],
                              "output_tokens": s["output_tokens"] + thought, "reasoning_tokens": thought})
    pieces = None

status = collections.Counter(
    ended(results[i], name == "run_shell_command") if i in results else "unfinished"
    for i, name in calls.items())
print(json.dumps({"calls": len(calls), "by_status": status, "assistant_texts": len(answers),
                  "user_texts": prompts, "thinking": 0, "usage": usage}))
