#!/usr/bin/env python3
"""Counts what is in a log of Codex (exec stream, rollout file) or in a session file of Droid.

A second reading of the formats that shares no code with the crate: it holds the whole file, decides at
the end, and prints {"calls", "by_status", "assistant_texts", "user_texts", "thinking", "usage"}.
Usage: codex.py codex-exec|codex-rollout|droid-session FILE
"""
import collections, datetime, json, re, sys

FIELDS = {"input_tokens": "input_tokens", "output_tokens": "output_tokens",
          "cached_input_tokens": "cache_read_tokens", "cache_write_input_tokens": "cache_write_tokens",
          "reasoning_output_tokens": "reasoning_tokens"}

def records(path):
    decoder = json.JSONDecoder()
    for line in open(path, encoding="utf-8", errors="replace").read().split("\n"):
        at = 0
        while at < len(line):
            try:
                value, at = decoder.raw_decode(line, at)
            except ValueError:
                break
            yield from (v for v in (value if isinstance(value, list) else [value]) if isinstance(v, dict))
            at += len(line[at:]) - len(line[at:].lstrip())

def snake(word):
    return re.sub(r"(?<=.)([A-Z])", r"_\1", word or "").lower()

class Usage:
    """Sums what running totals add."""
    def __init__(self):
        self.sum, self.totals = {}, collections.defaultdict(dict)
    def add(self, thread, now, count=True):
        now = {ours: now[theirs] for theirs, ours in FIELDS.items() if now.get(theirs) is not None}
        old = self.totals[thread]
        if any(now.get(f, 0) < old.get(f, 0) for f in ("input_tokens", "output_tokens")):
            old = {}
        more = {f: max(0, n - old.get(f, 0)) for f, n in now.items()}
        self.totals[thread] = {f: max(now.get(f, 0), old.get(f, 0)) for f in {**now, **old}}
        if count and any(more.values()):
            for field, n in more.items():
                self.sum[field] = self.sum.get(field, 0) + n

class Count:
    def __init__(self):
        self.calls, self.results, self.usage = {}, {}, Usage()
        self.said = collections.defaultdict(collections.Counter)  # (kind, words) -> channel -> times
    def say(self, kind, words, channel=""):
        self.said[kind, words.strip()][channel] += 1
    def spoken(self, kind):
        return sum(max(on.values()) for (k, _), on in self.said.items() if k == kind)
    def show(self):
        searches = self.spoken("search")
        status = collections.Counter(self.results.get(i, "unfinished") for i in self.calls)
        status["success"] += searches
        print(json.dumps({
            "calls": len(self.calls) + searches, "by_status": {s: n for s, n in status.items() if n},
            "assistant_texts": self.spoken("assistant"), "user_texts": self.spoken("user"),
            "thinking": self.spoken("thinking"), "usage": self.usage.sum}))

def exec_stream(path, c):
    run, thread, n, plain = 0, None, 0, ("agent_message", "reasoning", "error")
    for r in records(path):
        if r.get("type") == "thread.started":
            run, thread = run + 1, r.get("thread_id")
        own = r.get("thread_id") or thread
        if r.get("type") == "turn.completed":
            c.usage.add(own, r.get("usage") or {})
        item = r.get("item")
        if not str(r.get("type")).startswith("item.") or not isinstance(item, dict):
            continue
        kind, done = snake(item.get("type")), r["type"] == "item.completed"
        where, n = (own if own != thread else run, item.get("id")), n + 1
        if kind in plain:
            if done and (item.get("text") or item.get("summary")):
                c.say({"agent_message": "assistant"}.get(kind, "thinking"), str(where), str(n))
        elif kind in ("command_execution", "file_change", "mcp_tool_call", "web_search", "todo_list",
                      "collab_tool_call", "collab_agent_tool_call"):
            c.calls.setdefault(where, kind)
            code = item.get("exit_code", item.get("exitCode"))
            failed = item.get("status") == "failed" or item.get("error") or code not in (None, 0)
            if done:
                status = "denied" if item.get("status") == "declined" else "failed" if failed else "success"
                c.results.setdefault(where, status)

def blocks(content):
    if isinstance(content, (str, dict)):
        content = [content]
    texts = [b if isinstance(b, str) else b["text"] for b in content or []
             if isinstance(b, str) or isinstance(b.get("text"), str)]
    if any("image" in str(b.get("type")) for b in content or [] if isinstance(b, dict)):
        texts = [t for t in texts if not re.fullmatch(r"\s*</?image.*>\s*", t)]
    return "".join(t if t.endswith("\n") or i + 1 == len(texts) else t + "\n" for i, t in enumerate(texts))

def outcome(output):
    """Success or not, from the text that the model was given."""
    if isinstance(output, dict) and "success" in output:
        return "success" if output["success"] else "failed"
    text = blocks(output)
    if text.strip() in ("exec command rejected by user", "patch rejected by user"):
        return "denied"
    if re.fullmatch(r"(Wall time: .*\n)?aborted( by user.*)?", text.strip()):
        return "cancelled"
    try:
        code = json.loads(text)["metadata"]["exit_code"]
    except (ValueError, KeyError, TypeError):
        head = re.match(r"((?:Chunk ID|Wall time|Process exited|Exit code|Original|Total).*\n)*", text).group()
        code = int((re.search(r"(?:exited with code|Exit code:) (-?\d+)", head) or [0, 0])[1])
    return "failed" if code else "success"

def ended(p):
    """Success or not, from an event."""
    status, result = p.get("status"), p.get("result")
    if status == "declined":
        return "denied"
    bad = p.get("success") is False or status in ("failed", "errored") or p.get("exit_code") not in (None, 0)
    return "failed" if bad or (isinstance(result, dict) and "Err" in result) else "success"

ENDS = ("exec_command_end", "mcp_tool_call_end", "patch_apply_end", "dynamic_tool_call_response",
        "image_generation_end", "image_generation_call", "collab_agent_spawn_end",
        "collab_agent_interaction_end", "collab_waiting_end", "collab_close_end",
        "command_execution", "mcp_tool_call", "file_change", "plan", "image_generation")
INJECTED = re.compile(r"# AGENTS\.md instructions|<([a-z]+_\w+|skill|INSTRUCTIONS)[ >\n].*</\1>$", re.S)

def moment(of):
    try:
        return datetime.datetime.fromisoformat(str(of.get("timestamp")).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None

def rollout(path, c):
    own, began, forked, replay, unnamed = None, None, False, None, 0
    for r in records(path):
        p, kind, item = r.get("payload"), r.get("type"), r.get("type") == "response_item"
        if not isinstance(p, dict):
            continue
        at = moment(r)
        if kind == "session_meta":
            if own is None:
                own, forked = p.get("id"), bool(p.get("forked_from_id"))
                began = moment(p) or at
            elif p.get("id") != own:
                replay, forked = at, True
            continue
        replay = at if replay is not None and at is not None and at - replay < 1 else None
        t, channel = p.get("type"), kind
        if t == "item_completed":
            p, channel = p.get("item") or {}, "completed"
            t = snake(p.get("type"))
        said = p.get("message") if isinstance(p.get("message"), str) else blocks(p.get("content"))
        role = p.get("role") or {"user_message": "user", "agent_message": "assistant"}.get(t)
        images = p.get("images") or p.get("local_images") or "input_image" in str(p.get("content"))
        if kind not in ("response_item", "event_msg") or (item and t == "agent_message"):
            continue
        if role == "user" and p.get("kind") not in ("environment_context", "user_instructions"):
            if (said or images) and not (channel != "event_msg" and INJECTED.match(said.strip())):
                c.say("user", said, channel)
        elif role == "assistant" and said:
            c.say("assistant", said, channel)
        elif t in ("task_complete", "turn_aborted") and p.get("last_agent_message"):
            c.say("assistant", p["last_agent_message"], t)
        elif t in ("agent_reasoning", "reasoning"):
            parts = p.get("summary") or p.get("content") or p.get("summary_text") or p.get("text") or []
            for part in [parts] if isinstance(parts, str) else parts:
                c.say("thinking", blocks(part), channel)
        elif t in ("web_search_call", "web_search_end", "extension"):
            a = p.get("action") or {}
            query = ", ".join(a.get("queries") or []) or a.get("query") or p.get("query")
            if (p.get("call_id") or p.get("id")) in c.calls:
                continue  # another call's id
            c.say("search", str((snake(a.get("type")), a.get("pattern") or a.get("url") or query)), channel)
        elif t in ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call",
                   "dynamic_tool_call_request", "view_image_tool_call"):
            i = p.get("call_id") or p.get("callId") or p.get("id")
            if t == "view_image_tool_call" and i not in c.calls:
                c.results[i] = "success"
            c.calls.setdefault(i, p.get("name"))
        elif t in ("function_call_output", "custom_tool_call_output", "tool_search_output"):
            c.results.setdefault(p.get("call_id"), outcome(p.get("output", "")))
        elif t in ENDS:
            i = p.get("call_id") or p.get("id")
            if i is None:
                waiting = [k for k, name in c.calls.items() if name == "apply_patch" and k not in c.results]
                if not waiting and not p.get("changes"):
                    continue
                unnamed += 1
                i = waiting[0] if waiting else unnamed
            c.calls.setdefault(i, t)
            c.results.setdefault(i, ended(p))
        elif t == "token_count" and (p.get("info") or {}).get("total_token_usage"):
            total, last = p["info"]["total_token_usage"], p["info"].get("last_token_usage") or {}
            if forked and not c.usage.totals[own]:
                c.usage.add(own, {f: n - last.get(f, 0) for f, n in total.items()}, count=False)
            older = forked and at is not None and began is not None and at < began
            c.usage.add(own, total, count=replay is None and not older)

def turns(blocks):
    """The blocks without those that are one message with the block before: a picture and the words around it."""
    kept, last = [], (False, False)
    for block in blocks:
        name, text = block.get("type"), block.get("text") or ""
        media = name in ("image", "document")
        words = media or name == "text" and text != "" and not text.startswith("<")
        if words and last[0] and (media or last[1]):
            last = (True, last[1] and media)
            continue
        kept.append(block)
        last = (words, media)
    return kept

def droid_session(path, c):
    n = 0
    for r in records(path):
        m = r.get("message")
        if r.get("type") != "message" or not isinstance(m, dict):
            continue
        content = m.get("content")
        for b in [{"type": "text", "text": content}] if isinstance(content, str) else turns(content):
            n += 1
            hidden = m.get("visibility") == "llm_only" or "<system-reminder>" in str(b.get("text"))
            if b.get("type") in ("text", "image") and not hidden:
                c.say(m["role"], str(n))
            elif b.get("type") == "thinking" and b.get("thinking"):
                c.say("thinking", str(n))
            elif b.get("type") == "tool_use":
                c.calls.setdefault(b["id"], b["name"])
            elif b.get("type") == "tool_result":
                code = re.search(r"\[Process exited with code (-?\d+)\]$", str(b.get("content")))
                bad = b.get("is_error") or (code and code[1] != "0")
                c.results.setdefault(b["tool_use_id"], "failed" if bad else "success")

count = Count()
{"codex-exec": exec_stream, "codex-rollout": rollout, "droid-session": droid_session}[sys.argv[1]](sys.argv[2], count)
count.show()
