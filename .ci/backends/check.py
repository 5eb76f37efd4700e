#!/usr/bin/env python3
"""Compares what backends of OpenTelemetry show with `foldline usage`: `.ci/backends/check.py PROGRAM LOGS..`

All logs are stored in a database and sent to a Collector, whose exporter for Prometheus must show the tokens and costs that
`foldline usage` states. `.ci/backends/run` builds the Collector. PROGRAM is built with `--features otlp`.
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


def get(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


def wait_for(url, server):
    """Waits until a server that was started answers."""
    deadline = time.monotonic() + 120
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
    print(f"{temporality} points in the Collector: {total['input']:.0f} tokens of input, {total['output']:.0f} of output, "
          f"{sum(costs.values()):.4f} USD")


program, *logs = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder, open("target/backends/output.log", "w") as output:
    for temporality in ["cumulative", "delta"]:
        check_collector(temporality)
