#!/usr/bin/env python3
"""Counts what is in a log of Qwen Code: a stream, or a session file.

A second reading of the formats that shares no code with the crate: it holds the whole file, decides at the
end, and prints {"calls", "by_status", "assistant_texts", "user_texts", "thinking", "usage"}.
Usage: qwen.py FILE
"""
import collections, json, re, sys

def values(line):
    decoder, at = json.JSONDecoder(), 0
    while at < len(line):
        try:
            value, at = decoder.raw_decode(line, at)
        except ValueError:
            return
        yield from value if isinstance(value, list) else [value]

records = [r for line in open(sys.argv[1], encoding="utf-8").read().split("\n")
           for r in values(line) if isinstance(r, dict)]
said, calls, results, usages = collections.Counter(), {}, {}, []

def call(name, tool):
    calls.setdefault(name or f"#{len(calls)}", tool)

def result(name, tool, status, text, is_command_report=False):
    if not name:
        name = next(i for i in calls if i not in results and tool in (None, calls[i]))
    results.setdefault(name, (status, text or ""))

def ended(name):
    if name not in results:
        return "unfinished"
    status, text = results[name]
    if status != "success":
        no = text.startswith("Qwen Code requires permission") or re.match(r"\[Operation.*(denied|did not allow)", text)
        cancelled = status == "cancelled" or text.startswith("[Operation Cancelled]")
        return "denied" if no or status == "denied" else "cancelled" if cancelled else "failed"
    code = re.match(r"Command exited with code: (-?\d+)$", text)
    code = code or (text.startswith("Command: ") and re.search(r"\nExit Code: (-?\d+)\n", text))
    bad = calls[name] == "run_shell_command" and code and code[1] != "0"
    return "failed" if bad else "success"

def tokens(stated, names):
    names = zip(["input_tokens", "output_tokens", "cache_read_tokens", "reasoning_tokens", "total"], names)
    used = {ours: int(stated[theirs]) for ours, theirs in names if int(stated.get(theirs, -1)) >= 0}
    total, thought = used.pop("total", 0), used.get("reasoning_tokens", 0)
    if "output_tokens" in used and total >= used["input_tokens"] + used["output_tokens"] + thought:
        used["output_tokens"] += thought
    return used

STREAM = ["input_tokens", "output_tokens", "cache_read_input_tokens", None, "total_tokens"]
STATS = ["prompt", "candidates", "cached", "thoughts", "total"]
FILE = [f + "TokenCount" for f in ("prompt", "candidates", "cachedContent", "thoughts", "total")]

def stream():
    shown, written, last = [], {}, None
    told, messages = collections.Counter(), collections.Counter()
    session = None
    def flush():
        usages.append(dict(messages))
        messages.clear()
        for kind, text in shown:
            said[kind] += bool(text)
        for name, tool in written.items():
            call(name, tool)
        shown.clear(), written.clear()
    for r in records:
        kind, message = r.get("type"), r.get("message")
        if session not in (None, r.get("session_id", session)):
            flush(), told.clear()
        session = r.get("session_id", session)
        event = r.get("event") or {}
        if event.get("type") == "content_block_start":
            block = event["content_block"]
            if block["type"] == "tool_use":
                written[block["id"]] = block["name"]
            else:
                shown.append([{"text": "assistant"}.get(block["type"], block["type"]), ""])
        elif event.get("type") == "content_block_delta" and shown:
            delta = event["delta"]
            shown[-1][1] += delta.get("text", delta.get("thinking", ""))
        if kind in ("user", "assistant") and isinstance(message, dict):
            used = tokens(message.get("usage", {}), STREAM)
            messages.update(used)
            content = message["content"]
            for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                what, text = block["type"], block.get("text", block.get("thinking"))
                if what == "tool_use":
                    call(block.get("id"), block["name"])
                    written.pop(block.get("id"), None)
                elif what == "tool_result":
                    body = block["content"]
                    body = body if isinstance(body, str) else json.dumps(body)
                    result(block.get("tool_use_id"), None, "error" if block["is_error"] else "success", body)
                elif what in ("text", "thinking", "image"):
                    name = {"thinking": "thinking"}.get(what, kind)
                    said["error" if text and text.startswith("[API Error: ") else name] += 1
                    if [name, text] in shown:
                        shown.remove([name, text])
                    if (kind, what) == ("assistant", "text") and not r.get("parent_tool_use_id"):
                        last = text
        elif kind == "result":
            for denial in (d for d in r["permission_denials"] if "tool_use_id" in d):
                call(denial["tool_use_id"], denial["tool_name"])
                results.setdefault(denial["tool_use_id"], ("denied", ""))
            words = r.get("result")
            said["assistant"] += bool(words) and words != last
            last = None
            if "models" in r.get("stats", {}):
                for model in r["stats"]["models"].values():
                    usages.append(tokens(model["tokens"], STATS))
            else:
                total = tokens(r["usage"], STREAM)
                used = {f: max(n - told[f], messages[f], 0) for f, n in {**messages, **total}.items()}
                told.update(used)
                usages.append(used)
            messages.clear()
    flush()

def session_file():
    for r in records:
        kind, sub = r.get("type"), r.get("subtype")
        parts = (r.get("message") or {}).get("parts", [])
        detail = r.get("toolCallResult") or {}
        responses = [p["functionResponse"] for p in parts if "functionResponse" in p]
        if kind not in ("user", "assistant", "tool_result"):
            command = sub == "slash_command" and "outputHistoryItems" not in r["systemPayload"]
            said["user"] += command and r["systemPayload"]["phase"] != "result"
            continue
        typed = r.get("provenance", "real_user") == "real_user" and sub in (None, "mid_turn_user_message")
        speaker = "user" if kind == "user" and typed or sub == "agent_launch_prompt" else "program"
        speaker = {"assistant": "assistant"}.get(kind, speaker)
        before = {}
        for part in (p for p in parts if isinstance(p, dict)):
            words, before = before.get("text") and not before.get("thought"), part
            if "text" in part:
                hook = part["text"].startswith("<qwen:user-prompt-submit-context>")
                said["thinking" if part.get("thought") else "program" if hook else speaker] += 1
            elif "inlineData" in part or "fileData" in part:
                # A file belongs to the words before it; a second one, to the same words.
                said[speaker] += not words
                before = {"text": words}
            elif "functionCall" in part:
                call(part["functionCall"].get("id"), part["functionCall"]["name"])
        for response in responses:
            told = response["response"]
            alone = detail if len(responses) == 1 else {}
            status = alone.get("status", "error" if "error" in told else "success")
            status = status if status in ("success", "error", "cancelled") else "success"
            text = told.get("error", told.get("output", ""))
            result(response.get("id") or alone.get("callId"), response["name"], status, str(text))
        if kind == "tool_result" and not responses:
            result(detail["callId"], None, detail["status"], detail.get("error"))
        if "forkedFrom" not in r:
            usages.append(tokens(r.get("usageMetadata", {}), FILE))

is_file = any("sessionId" in r for r in records)
session_file() if is_file else stream()
usage = collections.Counter()
for used in usages:
    usage.update(used)
print(json.dumps({"calls": len(calls), "by_status": collections.Counter(map(ended, calls)),
                  "assistant_texts": said["assistant"], "user_texts": said["user"],
                  "thinking": said["thinking"], "usage": usage}))
