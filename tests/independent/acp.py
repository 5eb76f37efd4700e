#!/usr/bin/env python3
"""Counts what is in a log of the Agent Client Protocol.

A second reading of the format that shares no code with the crate: it holds the whole file, decides at the
end, and prints {"calls", "by_status", "assistant_texts", "user_texts", "thinking", "usage"}.
Usage: acp.py FILE
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

class Call:
    def __init__(self, kind="other", command=False):
        self.kind, self.is_command, self.status, self.code = kind, command, "unfinished", 0
        self.is_over, self.refusal = False, None

    def end(self, status):
        if not self.is_over:
            killed = self.is_command and status == "success" and self.code
            self.status, self.is_over = "failed" if killed else status, True

CHUNKS = {"user_message_chunk": "user", "agent_message_chunk": "assistant", "agent_thought_chunk": "thinking"}
QUIET = ("session_info_update", "config_option_update", "usage_update", "session/new", "session/load")
calls, asked, terminals, texts = {}, {}, {}, []
session, turns, loading, spent, cost, said, group = None, 0, False, 0, None, "", None

def exit_code(output):
    output = output if isinstance(output, dict) else {}
    code = output.get("exitCode", output.get("exit_code"))
    return code if code is not None else bool(output.get("signal"))

def text_of(block):
    return block["text"] if block.get("type") == "text" else "[%s]" % block.get("type", "")

def change(update):
    call = calls.setdefault(update["toolCallId"], Call())
    if call.is_over:
        return
    call.kind = update.get("kind", call.kind)
    if "rawInput" in update or "kind" in update:
        call.is_command = call.kind == "execute" and isinstance(update.get("rawInput", {}), dict)
    call.code = exit_code(update.get("rawOutput")) or call.code
    if update.get("status") in ("completed", "failed"):
        call.end("success" if update["status"] == "completed" else call.refusal or "failed")

for r in records(sys.argv[1]):
    params, result = r.get("params") or {}, r.get("result")
    result = result if isinstance(result, dict) else {}
    update = params.get("update") or {}
    name = update.get("sessionUpdate") or r.get("method") or ""
    here = params.get("sessionId") or result.get("sessionId")
    if here and here != session:
        if session:
            turns, loading, spent, group = 0, False, 0, None
        session = here
    if name in CHUNKS and "content" in update:
        text = text_of(update["content"])
        if loading and turns:
            continue
        if name == "user_message_chunk" and said.lstrip().startswith(text.strip()):
            said = said.lstrip()[len(text.strip()):]
            continue
        if text == "[smell]":
            continue
        if group != (name, update.get("messageId")):
            texts.append([CHUNKS[name], ""])
        group = (name, update.get("messageId"))
        texts[-1][1] += text
        continue
    known = ("tool_call", "tool_call_update", "plan", "current_mode_update", "session/prompt")
    is_work = name.startswith(("fs/", "terminal/"))
    is_answer = not name and ("result" in r or r.get("error") is not None)
    if name in known or name == "session/request_permission" or is_work or is_answer:
        group = None
    if name == "session/prompt":
        turns, loading = turns + 1, False
        said = "\n".join(text_of(block) for block in params["prompt"] if block["type"] != "hologram")
        texts.append(["user", said or " "])
    elif name == "session/load":
        loading = True
    elif name in ("tool_call", "tool_call_update") and "toolCallId" in update and not (loading and turns):
        change(update)
    elif name == "plan" and "entries" in update and not (loading and turns):
        calls["plan", len(calls)] = call = Call("plan")
        call.end("success")
    elif name == "session/request_permission":
        change(params["toolCall"])
        asked[r["id"]] = params["toolCall"]["toolCallId"], {o["optionId"]: o.get("kind") for o in params["options"]}
    elif is_work:
        id = terminals.get(params.get("terminalId"))
        if name == "terminal/release":
            terminals.pop(params.get("terminalId"), None)
        if not id:
            id = name, len(calls)
            calls[id] = Call(name, name == "terminal/create")
        asked[r["id"]] = id, None
    elif name == "usage_update" and (update.get("cost") or {}).get("currency") == "USD":
        amount = update["cost"]["amount"]
        if turns and amount > spent:
            cost = (cost or 0) + amount - spent
        spent = max(spent, amount)
    elif is_answer and r.get("error") is not None:
        id, _ = asked.pop(r.get("id"), (None, None))
        if id:
            calls[id].end("failed")
    elif is_answer:
        is_agent = {"agentInfo", "configOptions", "sessionId", "stopReason"} & result.keys()
        id, options = asked.pop(r.get("id"), (None, None)) if not is_agent else (None, None)
        if id and "outcome" in result:
            chosen = result["outcome"].get("optionId")
            word = options.get(chosen) or chosen or result["outcome"]["outcome"]
            calls[id].refusal = "denied" if word.startswith("reject") else "cancelled" if word.startswith("cancel") else None
        elif id:
            if "terminalId" in result:
                terminals[result["terminalId"]] = id
            calls[id].code = exit_code(result) or exit_code(result.get("exitStatus")) or calls[id].code
            if id not in terminals.values():
                calls[id].end("success")
        else:
            loading = False
        for call in calls.values() if "stopReason" in result else ():
            if call.refusal or result["stopReason"] == "cancelled":
                call.end(call.refusal or "cancelled")

count = collections.Counter(kind for kind, text in texts if text.strip() or kind == "user")
usage = {} if cost is None else {"cost_usd": cost}
print(json.dumps({"calls": len(calls), "by_status": collections.Counter(c.status for c in calls.values()),
                  "assistant_texts": count["assistant"], "user_texts": count["user"],
                  "thinking": count["thinking"], "usage": usage}))
