#!/usr/bin/env python3
"""Counts what is in a log of opencode's stream.

A second reading of the format that shares no code with the crate: it holds the whole file, decides at the
end, and prints {"calls", "by_status", "assistant_texts", "user_texts", "thinking", "usage"}.
Usage: opencode.py FILE
"""
import collections, json, sys

def records(path):
    for line in open(path, encoding="utf-8").read().split("\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and isinstance(value.get("part"), dict):
            yield value["type"], value["part"]

def ended(state):
    if state["status"] == "error":
        error = state["error"]
        refused = error.startswith(("The user rejected permission", "The user has specified a rule"))
        return "denied" if refused else "cancelled" if error == "Tool execution aborted" else "failed"
    return "failed" if (state.get("metadata") or {}).get("exit") not in (None, 0) else "success"

calls, said, usage = {}, collections.Counter(), collections.Counter()
for kind, part in records(sys.argv[1]):
    said[kind] += 1
    if kind == "tool_use":
        name, state = part.get("callID") or part.get("id") or len(calls), part["state"]
        calls.setdefault(name, ended(state))
    elif kind == "step_finish":
        t = part["tokens"]
        prompt = t["input"] + t["cache"]["read"] + t["cache"]["write"]
        apart = "total" in t and t["total"] - prompt >= t["output"] + t["reasoning"]
        apart = apart or t["reasoning"] > t["output"]
        step = {"input_tokens": prompt, "output_tokens": t["output"] + (t["reasoning"] if apart else 0),
                "cache_read_tokens": t["cache"]["read"], "cache_write_tokens": t["cache"]["write"],
                "reasoning_tokens": t["reasoning"], "cost_usd": float(part["cost"])}
        for field, count in step.items():
            usage[field] += count
print(json.dumps({"calls": len(calls), "by_status": collections.Counter(calls.values()),
                  "assistant_texts": said["text"], "user_texts": 0, "thinking": said["reasoning"],
                  "usage": usage}))
