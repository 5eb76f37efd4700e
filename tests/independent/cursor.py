#!/usr/bin/env python3
"""Counts what is in a log of Cursor's stream.

A second reading of the format that shares no code with the crate: it holds the whole file, decides at the
end, and prints {"calls", "by_status", "assistant_texts", "user_texts", "thinking", "usage"}.
Usage: cursor.py FILE
"""
import collections, json, sys

def records(path):
    for line in open(path, encoding="utf-8").read().split("\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value

def shown(content):
    kinds = [block["type"] for block in content]
    return "".join(b["text"] for b in content if b["type"] == "text") + "i" * kinds.count("image")

def ended(result):
    if not isinstance(result, dict) or not result:
        return "success"
    outcome = [name for name in result if name != "isBackground"][0]
    answer = result[outcome] if isinstance(result[outcome], dict) else {}
    if answer.get("aborted"):
        return "cancelled"
    if outcome in ("rejected", "permissionDenied"):
        return "denied"
    return "success" if outcome == "success" and not answer.get("isError") else "failed"

answers, prompts, thoughts, steps = [], 0, [], 0
calls, usage = {}, collections.Counter()
pieces, wholes, thought = "", [], ""

def flush():
    global pieces, thought
    answers.extend([pieces] if pieces.strip() else [])
    thoughts.extend([thought] if thought.strip() else [])
    pieces = thought = ""

for r in records(sys.argv[1]):
    kind = (r.get("type"), r.get("subtype"))
    if kind == ("thinking", "delta"):
        if pieces:
            flush()
        thought += r["text"]
    elif kind == ("thinking", "completed"):
        flush()
    elif kind[0] == "user" and "message" in r:
        flush()
        prompts += bool(shown(r["message"]["content"]).strip())
    elif kind[0] == "assistant" and "message" in r:
        text = shown(r["message"]["content"])
        if "timestamp_ms" in r and "model_call_id" not in r:
            if thought:
                flush()
            pieces += text
            continue
        if text.strip():
            if text.startswith(pieces):
                pieces = ""
            flush()
            answers.append(text)
        wholes.append(text)
    elif kind[0] == "tool_call":
        inner = [(n, c) for n, c in r["tool_call"].items() if n.endswith("ToolCall") or n == "function"]
        if not inner:
            continue
        name, call = inner[0]
        key = r.get("call_id") or r["tool_call"].get("toolCallId")
        if kind[1] == "started":
            calls.setdefault(key or ("nameless", len(calls)), [name, None])
            continue
        if not key:
            key = [k for k, (n, status) in calls.items() if n == name and not status][0]
        if key not in calls and "args" in call:
            calls[key] = [name, None]
        if key in calls and not calls[key][1]:
            calls[key][1] = ended(call.get("result"))
            answer = call.get("result")
            answer = answer.get("success") if isinstance(answer, dict) else None
            if name == "taskToolCall" and answer:
                steps += sum("assistantMessage" in s for s in answer.get("conversationSteps", []))
    elif kind[0] == "result":
        flush()
        if r["result"] != "".join(wholes) and not r["is_error"]:
            answers.append(r["result"])
        wholes = []
        u = r.get("usage")
        if u:
            cached = u.get("cacheReadTokens", 0) + u.get("cacheWriteTokens", 0)
            prompt = u["inputTokens"] + (cached if cached > u["inputTokens"] else 0)
            usage.update({"input_tokens": prompt, "output_tokens": u["outputTokens"]})
            if "cacheReadTokens" in u:
                usage.update({"cache_read_tokens": u["cacheReadTokens"],
                              "cache_write_tokens": u["cacheWriteTokens"]})
    elif kind == ("system", "init"):
        flush()
        wholes = []
flush()
print(json.dumps({"calls": len(calls),
                  "by_status": collections.Counter(s or "unfinished" for _, s in calls.values()),
                  "assistant_texts": len(answers) + steps, "user_texts": prompts,
                  "thinking": len(thoughts), "usage": usage}))
