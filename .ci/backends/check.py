#!/usr/bin/env python3
"""Compares what backends of OpenTelemetry show with `foldline usage`: `.ci/backends/check.py PROGRAM LOGS..`

All logs are stored in a database and sent to a Collector, whose exporter for Prometheus must show the tokens and costs
that `foldline usage` states, and to Phoenix, which adds up the tokens of requests, and estimates their cost from prices
of its own. `.ci/backends/run` builds the Collector and installs Phoenix. PROGRAM is built with `--features otlp`.
"""

import json
import math
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).parent
COLLECTOR = "target/backends/collector/collector"
PHOENIX = "target/backends/phoenix/bin/phoenix"
PATIENCE = 300
TYPES = {"input": "input_tokens", "output": "output_tokens"}


def foldline(*arguments, **variables):
    command = [program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | variables)
    if done.returncode != 0:
        sys.exit(f"{arguments}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def usage(database, by):
    return json.loads(foldline("usage", "--by", by, "--db", database, "-n", 0, "--format", "json"))


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def get(url, question=None):
    """The text at an address; with a question, the answer to it."""
    question = question and json.dumps(question).encode()
    request = urllib.request.Request(url, question, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def wait_for(url, server):
    """Waits until a server that was started answers."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if server.poll() is not None:
            sys.exit(f"{server.args[0]} has ended: see {output.name}")
        try:
            return get(url)
        except OSError:
            time.sleep(0.25)
    sys.exit(f"no answer at {url}: see {output.name}")


def compare(about, shown, stated):
    """Ends the program if two counters differ, beyond the rounding of a sum."""
    different = [
        f"  {key}: {shown[key]} is shown, {stated[key]} is stated"
        for key in sorted(shown.keys() | stated.keys(), key=str)
        if not math.isclose(shown[key], stated[key], rel_tol=1e-9, abs_tol=1e-12)
    ]
    if different:
        sys.exit("\n".join([f"{about}:", *different]))


def samples(text):
    """The samples of a metrics page of Prometheus: name, labels, value."""
    unescaped = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
    for line in text.splitlines():
        found = re.fullmatch(r'(\w+)\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\} (\S+)', line)
        if found:
            labels = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', found[2])
            labels = {key: re.sub(r"\\.", lambda at: unescaped[at[0]], value) for key, value in labels}
            yield found[1], labels, float(found[3])


def check_collector(temporality):
    database = f"{folder}/{temporality}.db"
    ports = {"COLLECTOR_OTLP": str(free_port()), "COLLECTOR_PROMETHEUS": str(free_port())}
    command = [COLLECTOR, "--config", str(FOLDER / "collector.yaml")]
    collector = subprocess.Popen(command, env=os.environ | ports, stdout=output, stderr=output)
    page = f"http://127.0.0.1:{ports['COLLECTOR_PROMETHEUS']}/metrics"
    try:
        wait_for(page, collector)
        sink = f"otlp=http://127.0.0.1:{ports['COLLECTOR_OTLP']}"
        # What one ingest has sent is not sent again by the next one.
        for some in [logs[:1], logs]:
            preference = {"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": temporality}
            foldline("ingest", *some, "--db", database, "--final", "--sink", sink, **preference)
        shown = list(samples(get(page)))
    finally:
        collector.terminate()
        collector.wait()
    tokens, costs, bases = Counter(), Counter(), {}
    for name, labels, value in shown:
        of = labels.get("gen_ai_agent_name"), labels.get("gen_ai_request_model")
        if name == "gen_ai_client_token_usage_sum":
            tokens[(*of, labels["gen_ai_token_type"])] += value
        elif name == "foldline_cost_total":
            costs[of] += value
            bases.setdefault(of, set()).add(labels["foldline_cost_basis"])
    stated, stated_costs = Counter(), Counter()
    for row in usage(database, "agent,model"):
        of = row["agent"], row["model"]
        stated.update({(*of, type): row[column] or 0 for type, column in TYPES.items()})
        stated_costs[of] += row["cost_usd"] or 0
        basis = {"mixed": {"logged", "estimated"}, None: set()}.get(row["cost_basis"], {row["cost_basis"]})
        if bases.get(of, set()) != basis:
            sys.exit(f"the costs of {of} are {bases.get(of)} in the Collector, and {basis} in `usage`")
    compare(f"{temporality} tokens of the Collector", tokens, stated)
    compare(f"{temporality} costs of the Collector", costs, stated_costs)
    total = {type: sum(value for key, value in tokens.items() if key[-1] == type) for type in TYPES}
    tokens = f"{total['input']:.0f} tokens of input, {total['output']:.0f} of output"
    print(f"{temporality} points in the Collector: {tokens}, {sum(costs.values()):.4f} USD")


def of_sessions(address):
    """The tokens that Phoenix shows of each session, and of all that are in none: id, type."""
    sessions = "edges { node { sessionId tokenUsage { prompt completion } } } pageInfo { hasNextPage endCursor }"
    shown, after = Counter(), None
    while True:
        question = f"""query ($after: String) {{ projects {{ edges {{ node {{
            tokenCountPrompt tokenCountCompletion costSummary {{ total {{ cost }} }}
            sessions(first: 100, after: $after) {{ {sessions} }} }} }} }} }}"""
        answer = json.loads(get(f"{address}/graphql", {"query": question, "variables": {"after": after}}))
        (project,) = answer["data"]["projects"]["edges"]
        project = project["node"]
        for session in project["sessions"]["edges"]:
            session, tokens = session["node"]["sessionId"], session["node"]["tokenUsage"]
            shown.update({(session, "input"): int(tokens["prompt"]), (session, "output"): int(tokens["completion"])})
        after = project["sessions"]["pageInfo"]["endCursor"]
        if not project["sessions"]["pageInfo"]["hasNextPage"]:
            break
    for type, total in ("input", project["tokenCountPrompt"]), ("output", project["tokenCountCompletion"]):
        shown[None, type] = int(total) - sum(tokens for key, tokens in shown.items() if key[1] == type)
    return shown, project["costSummary"]["total"]["cost"]


def check_phoenix():
    database = f"{folder}/phoenix.db"
    port = free_port()
    variables = {
        "PHOENIX_WORKING_DIR": f"{folder}/phoenix",
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    phoenix = subprocess.Popen([PHOENIX, "serve"], env=os.environ | variables, stdout=output, stderr=output)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/healthz", phoenix)
        # It takes traces only.
        only = {"OTEL_LOGS_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"}
        foldline("ingest", *logs, "--db", database, "--final", "--sink", f"otlp={address}", **only)
        # It answers before it has stored them.
        polls = []
        while len(polls) < PATIENCE / 5 and not (len(polls) > 2 and polls[-3][0].total() and polls[-3] == polls[-1]):
            time.sleep(5)
            polls.append(of_sessions(address))
        shown, cost = polls[-1]
    finally:
        phoenix.terminate()
        phoenix.wait()
    # A request has a time, and is one of a session with entries. Requests that a fork repeats are in both sessions.
    stated = Counter()
    requests = """SELECT session_id, sum(input_tokens) AS input, sum(output_tokens) AS output
                  FROM message_usage JOIN sessions ON sessions.id = message_usage.session
                  WHERE used_at >= first_at AND entries > 0 GROUP BY session_id"""
    for row in json.loads(foldline("query", "sql", requests, "--db", database, "-n", 0, "--format", "json")):
        stated.update({(row["session_id"], type): row[type] or 0 for type in TYPES})
    counted = Counter()
    for row in usage(database, "agent"):
        counted.update({type: row[column] or 0 for type, column in TYPES.items()})
    for type in TYPES:
        of_type = {key[0]: stated[key] - shown[key] for key in shown.keys() | stated.keys() if key[1] == type}
        more = [session for session, missing in of_type.items() if missing < 0]
        if more:
            sys.exit(f"Phoenix shows more tokens of {type} than the logs state of the sessions {more}")
        missing, total = sum(of_type.values()), sum(tokens for key, tokens in shown.items() if key[1] == type)
        lacking = [session for session, tokens in of_type.items() if tokens]
        # What a log states of all its requests together, or before its first entry, or two logs of one session state.
        if missing > 0.05 * total:
            sys.exit(f"Phoenix lacks {missing} of {total} tokens of {type}, of the sessions {lacking}")
        print(f"Phoenix: {total} tokens of {type}; {counted[type]} in `usage`; it lacks {missing} of {len(lacking)} sessions")
    print(f"Phoenix: {cost:.4f} USD, by its own prices")


program, *logs = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder, open("target/backends/output.log", "w") as output:
    for temporality in ["cumulative", "delta"]:
        if Path(COLLECTOR).exists():
            check_collector(temporality)
    if Path(PHOENIX).exists():
        check_phoenix()
