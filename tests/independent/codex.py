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
        self.sum, self.totals, self.fell = {}, collections.defaultdict(dict), set()
    def add(self, thread, now, count=True, last=None):
        now, last = ({ours: of[theirs] for theirs, ours in FIELDS.items() if of.get(theirs) is not None}
                     for of in (now, last or {}))
        old = self.totals[thread]
        repeated = all(n <= old.get(f, -1) for f, n in now.items())
        if any(now.get(f, 0) < old.get(f, 0) for f in ("input_tokens", "output_tokens")):
            old, repeated = {}, False
            self.fell.add(thread)
        more = {f: max(0, n - old.get(f, 0)) for f, n in now.items()}
        if last and thread in self.fell and not repeated:
            more = last
        self.totals[thread] = {f: max(now.get(f, 0), old.get(f, 0)) for f in {**now, **old}}
        if count and any(more.values()):
            for field, n in more.items():
                self.sum[field] = self.sum.get(field, 0) + n

class Count:
    def __init__(self):
        self.calls, self.results, self.usage = {}, {}, Usage()
        self.said = collections.defaultdict(collections.Counter)  # (kind, words) -> channel -> times
        self.names = {}
    def say(self, kind, words, channel="", name=None):
        words = re.sub(r"\s*\[Image #\d+\]\s*", "", words).strip()
        self.said[kind, self.names.setdefault(name, words) if name else words][channel] += 1
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
        "command_execution", "mcp_tool_call", "file_change", "plan", "image_generation",
        "dynamic_tool_call", "collab_agent_tool_call")
INJECTED = re.compile(r"# AGENTS\.md|<([a-z]+_\w+|skill|INSTRUCTIONS)[ >\n].*</\1>$"
                      r"|<(environment_context|INSTRUCTIONS|user_instructions|skill|recommended_plugins"
                      r"|codex_internal_context|turn_aborted|hook_prompt|subagent_notification)[ >\n]", re.S)

def item_type(p):
    return p["item"].get("type") if isinstance(p.get("item"), dict) else None

def states_prompts(p):
    """Whether an event or item states what a person typed, or will."""
    return (p.get("history_mode") == "paginated" or item_type(p) == "UserMessage"
            or p.get("type") == "user_message" and p.get("kind") not in ("environment_context", "user_instructions"))

def is_prompt(p):
    return p.get("role") == "user" or p.get("type") == "user_message" or item_type(p) in ("UserMessage", "HookPrompt")

def typed(r, stated):
    """The blocks of a message of the user that a person typed."""
    p, item = r["payload"], r["payload"].get("item") or {}
    if any((of.get("metadata") or {}).get("inherited_user_message") for of in (r, p)) or p.get("kind") in (
            "environment_context", "user_instructions"):
        return []
    content = p.get("message") or item.get("content") or p.get("content") or []
    kinds = (p.get("internal_chat_message_metadata_passthrough") or {}).get("content_item_kinds") or []
    if kinds and "unknown" not in kinds and len(kinds) == len(content):
        return [b for b, k in zip(content, kinds) if k == "user.text" or k.startswith("user.") and "image" in str(b)]
    if r["type"] == "response_item" and (stated or INJECTED.match(blocks(content).strip())):
        return None  # stated by another record, if at all
    return content

def moment(of):
    try:
        return datetime.datetime.fromisoformat(str(of.get("timestamp")).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None

def rollout(path, c):
    own, began, forked, replay, unnamed, responses, others = None, None, False, None, 0, set(), set()
    log = list(records(path))
    payloads = [r["payload"] if isinstance(r.get("payload"), dict) else {} for r in log]
    stated, ahead = False, 0
    for at, r in enumerate(log):
        # What was typed is stated until the end of a run of messages of the user.
        ahead = max(ahead, at)
        while ahead < len(log) and not stated and (ahead == at or is_prompt(payloads[ahead - 1])):
            stated, ahead = states_prompts(payloads[ahead]), ahead + 1
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
        if kind == "token_usage_record" and replay is None and p.get("response_id") not in responses:
            responses.add(p.get("response_id"))
            c.usage.add(p.get("response_id"), p.get("usage") or {})
        t, channel, message = p.get("type"), kind, r
        if t == "item_completed":
            p, channel = p.get("item") or {}, "completed"
            t = snake(p.get("type"))
        said = p.get("message") if isinstance(p.get("message"), str) else blocks(p.get("content"))
        role = p.get("role") or {"user_message": "user", "agent_message": "assistant"}.get(t)
        images = p.get("images") or p.get("local_images") or "input_image" in str(p.get("content"))
        name = p.get("id")
        if kind not in ("response_item", "event_msg") or (item and t == "agent_message"):
            continue
        if role == "user":
            content = typed(message, stated) if name is None or name not in others else []
            if content == [] and name and item:
                others.add(name)  # of the program, or the parent
            if content or images and not item:
                c.say("user", blocks(content).split("\n## My request for Codex:\n")[-1], channel, name)
        elif role == "assistant" and said:
            c.say("assistant", said, channel, name)
        elif t in ("task_complete", "turn_aborted") and p.get("last_agent_message"):
            c.say("assistant", p["last_agent_message"], t)
        elif t in ("agent_reasoning", "reasoning"):
            parts = p.get("summary") or p.get("content") or p.get("summary_text")
            parts = parts or p.get("raw_content") or p.get("text") or []
            for part in [parts] if isinstance(parts, str) else parts:
                c.say("thinking", blocks(part), channel)
        elif t in ("web_search_call", "web_search_end", "extension", "web_search"):
            a = p.get("action") or {}
            query = ", ".join(a.get("queries") or []) or a.get("query") or p.get("query")
            if (p.get("call_id") or p.get("id")) in c.calls:
                continue  # another call's id
            c.say("search", str((snake(a.get("type")), a.get("pattern") or a.get("url") or query)), channel, p.get("id"))
        elif t in ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call",
                   "dynamic_tool_call_request", "view_image_tool_call", "image_view"):
            i = p.get("call_id") or p.get("callId") or p.get("id")
            if t in ("view_image_tool_call", "image_view") and i not in c.calls:
                c.results[i] = "success"
            c.calls.setdefault(i, p.get("name"))
        elif t in ("function_call_output", "custom_tool_call_output", "tool_search_output"):
            i = p.get("call_id") or p.get("id")
            if channel == "completed":
                c.calls.setdefault(i, p.get("name"))
            c.results.setdefault(i, outcome(p.get("output", "")))
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
        elif t == "token_count" and (p.get("info") or {}) and not responses:
            total, last = p["info"].get("total_token_usage"), p["info"].get("last_token_usage") or {}
            if not total:
                before = c.usage.totals[own]
                total = {f: n + before.get(FIELDS.get(f), 0) for f, n in last.items()}
            if last and not c.usage.totals[own]:
                c.usage.add(own, {f: n - last.get(f, 0) for f, n in total.items()}, count=False)
            older = forked and at is not None and began is not None and at < began
            c.usage.add(own, total, count=replay is None and not older, last=last)

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
