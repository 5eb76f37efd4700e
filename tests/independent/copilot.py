#!/usr/bin/env python3
"""Counts what is in a log of the Copilot CLI: its session events.

A second reading of the format that shares no code with the crate: it holds the whole file, decides at the
end, and prints {"calls", "by_status", "assistant_texts", "user_texts", "thinking", "usage"}.
Usage: copilot.py FILE
"""
import collections, json, re, sys

def values(line):
    decoder, at = json.JSONDecoder(), 0
    while at < len(line):
        try:
            value, at = decoder.raw_decode(line, at)
        except ValueError:
            return
        yield value

events = [(e["type"], e["data"]) for line in open(sys.argv[1], encoding="utf-8").read().split("\n")
          for e in values(line) if isinstance(e, dict) and isinstance(e.get("data"), dict)]

# Texts: those that stand in a record, and pieces of what no record says as a whole.
messages = [d for kind, d in events if kind == "assistant.message"]
pieces = {("messageId" in d, d.get("messageId", d.get("reasoningId"))) for kind, d in events
          if kind.endswith("_delta") and d.get("deltaContent")}
whole = {(field == "messageId", d.get(field)) for _, d in events for field in ("messageId", "reasoningId")
         if "content" in d}
left = [is_answer for is_answer, of in pieces - whole if of]
thoughts = [d["content"] if kind == "assistant.reasoning" else d.get("reasoningText") or ""
            for kind, d in events if kind in ("assistant.reasoning", "assistant.message")]
thinking = sum(bool(text) and text != before for text, before in zip(thoughts, [None] + thoughts))
users = [d for kind, d in events if kind == "user.message" and d.get("source", "user") == "user"]
answers = [d for kind, d in events if kind == "permission.completed" and "feedback" in d["result"]]

# Calls: the first event that names one counts, and the first result that names it.
calls, results = {}, {}
for kind, data in events:
    asked = data.get("toolRequests", []) if kind == "assistant.message" else []
    asked = [(r.get("toolCallId"), r["name"]) for r in asked if isinstance(r, dict)]
    if kind in ("tool.execution_start", "tool.user_requested"):
        asked = [(data["toolCallId"], data["toolName"])]
    for id, name in asked:
        calls.setdefault(id or f"#{len(calls)}", name)
    if kind == "tool.execution_complete":
        open_calls = [id for id in calls if id not in results]
        results.setdefault(data.get("toolCallId") or open_calls[0], data)
denied = {d.get("toolCallId") for kind, d in events if kind == "permission.completed"
          and not d["result"]["kind"].startswith("approved")}

def ended(id):
    if id not in results:
        return "unfinished"
    data, result = results[id], results[id].get("result", {})
    error = data.get("error", {})
    code = error.get("code") if isinstance(error, dict) else None
    if not data.get("success", result.get("result_type", "success") == "success"):
        return "denied" if id in denied or code in ("denied", "rejected") else "failed"
    text = result.get("content") or result.get("text_result_for_llm") or ""
    exit_code = re.search(r"<.*exit code (-?\d+)>\s*$", text)
    return "failed" if calls[id] == "bash" and exit_code and exit_code[1] != "0" else "success"

# Tokens: the ends of the runs state them, or else each call of the model, or else each message its output.
FIELDS = {field + "_tokens": field.replace("_r", "R").replace("_w", "W") + "Tokens"
          for field in ("input", "output", "cache_read", "cache_write", "reasoning")}

def tokens(stated):
    return {ours: stated[theirs] for ours, theirs in FIELDS.items() if theirs in stated}

usage, counted, stated, exact = (collections.Counter(), collections.defaultdict(collections.Counter),
                                 collections.defaultdict(collections.Counter), False)
for kind, data in events:
    if kind == "assistant.message" and isinstance(data.get("outputTokens"), int) and not exact:
        stated[data.get("model")]["output_tokens"] += data["outputTokens"]
    elif kind == "assistant.usage":
        usage.update(tokens(data)), counted[data["model"]].update(tokens(data))
        exact = True
        stated.clear()
    elif kind == "session.compaction_complete":
        usage.update(tokens(data.get("compactionTokensUsed", {})))
    elif kind == "session.shutdown":
        totals = {model: tokens(m["usage"]) for model, m in data["modelMetrics"].items()
                  if isinstance(m, dict) and "usage" in m}
        details = {kind: d["tokenCount"] for kind, d in data.get("tokenDetails", {}).items()}
        if not totals and details:
            # Cached input stands beside the input here, and is a part of it there.
            read, written = details.get("cache_read", 0), details.get("cache_write", 0)
            models = list(data["modelMetrics"])
            totals[models[0] if len(models) == 1 else ""] = collections.Counter({
                "input_tokens": details["input"] + read + written, "output_tokens": details["output"],
                "cache_read_tokens": read, "cache_write_tokens": written})
        for model, total in (totals or stated).items():
            goes_on = total["output_tokens"] >= (counted[model] + stated[model])["output_tokens"]
            for field, n in total.items():
                more = max(n - (counted[model][field] if totals and goes_on else 0), stated[model][field])
                usage[field] += more
                counted[model][field] += more
        stated.clear()
        exact = False
for used in stated.values():
    usage.update(used)

# The requests in the database of all sessions, where a session has some there.
requests = [data for kind, data in events if kind == "usage_store.request"]
if requests:
    usage = collections.Counter()
    for request in requests:
        usage.update({field: request[field] for field in FIELDS if request.get(field)})

print(json.dumps({"calls": len(calls), "by_status": collections.Counter(map(ended, calls)),
                  "assistant_texts": sum(bool(m.get("content")) for m in messages) + sum(left),
                  "user_texts": len(users) + len(answers),
                  "thinking": thinking + len(left) - sum(left), "usage": usage}))
