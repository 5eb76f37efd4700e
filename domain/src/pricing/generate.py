#!/usr/bin/env python3
"""Renews prices.json, the table of prices that the program is built with:

    domain/src/pricing/generate.py domain/src/pricing/prices.json

The source is the table of LiteLLM (MIT licence), `model_prices_and_context_window_backup.json` in its packages, which
`pip download` fetches: every release of the last 90 days, and before that the last one of each minor version. The
newest release that has a model counts: an older one adds the models that were withdrawn since. Of all tables, the models
that coding agents use are taken, under the names that agents log, and of each model the rates and the context
window that the module `pricing` reads.
"""

import datetime
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

# The last minor version that is read: older tables have no coding models of their own.
OLDEST = (1, 60)
# Minor versions of about the last 90 days.
RECENT = 14

# Providers whose own prices count, and what their models' names begin with.
PROVIDERS = {
    "anthropic": "claude-",
    "openai": "gpt-|o1|o3|o4|codex",
    "gemini": "gemini-",
    "xai": "grok-",
    "dashscope": "qwen",
    "moonshot": "kimi-",
    "deepseek": "deepseek-",
    "zai": "glm-",
    "mistral": "devstral-|codestral-|mistral-(large|medium)",
    "minimax": "minimax-",
    "groq": "gpt-oss-|kimi-",
}
# Models that agents do not write code with.
OTHERS = re.compile(r"audio|image|live|realtime|research|robotics|search|tts|transcribe|-vl-|computer-use|gpt-(3|4-)|beta|-exp|gemma|vision|mamba|multi-agent|speech|safeguard")
RATES = re.compile(
    r"(input_cost_per_token|output_cost_per_token|cache_read_input_token_cost|cache_creation_input_token_cost"
    r"|cache_creation_input_token_cost_above_1hr)(_above_\d+k_tokens|_batches|_flex|_priority)?"
)
# Prices that models had before, as their makers announced the changes: the tables have the newest, and their own errors.
EARLIER = {
    # https://openai.com/index/introducing-o3-and-o4-mini, 80 % less since 10 June 2025
    "o3": [{"until": "2025-06-10", "input_cost_per_token": 1e-05, "cache_read_input_token_cost": 2.5e-06, "output_cost_per_token": 4e-05}],
    # https://api-docs.deepseek.com/quick_start/pricing, changed on 5 and 29 September 2025
    "deepseek-chat": [
        {"until": "2025-09-05", "input_cost_per_token": 2.7e-07, "cache_read_input_token_cost": 7e-08, "output_cost_per_token": 1.1e-06},
        {"until": "2025-09-29", "input_cost_per_token": 5.6e-07, "cache_read_input_token_cost": 7e-08, "output_cost_per_token": 1.68e-06},
    ],
}
# Factors of all rates under other terms.
TERMS = ("fast", "us")
DATED = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$")


def releases():
    """The releases to read, the newest first."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "index", "versions", "litellm"], check=True, capture_output=True, text=True
    ).stdout
    versions = re.search(r"Available versions: (.*)", listed)[1].split(", ")
    numbered = [(tuple(map(int, version.split("."))), version) for version in versions if re.fullmatch(r"\d+\.\d+\.\d+", version)]
    numbered.sort(reverse=True)
    minors = []
    for number, version in numbered:
        minor = number[:2]
        if minor not in minors:
            minors.append(minor)
            yield version
        elif len(minors) <= RECENT:
            yield version
        if minor < OLDEST:
            return


def table(version, folder):
    """The table of a release; None if its package cannot be had any more."""
    kept = os.path.join(folder, f"{version}.json")
    if not os.path.exists(kept):
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"litellm=={version}", "--dest", folder]
        if subprocess.run(download, capture_output=True).returncode != 0:
            return None
        for package in glob.glob(os.path.join(folder, f"litellm-{version}-*.whl")):
            with zipfile.ZipFile(package) as content:
                names = [name for name in content.namelist() if name.endswith("model_prices_and_context_window_backup.json")]
                with open(kept, "wb") as file:
                    file.write(content.read(names[0]))
            os.remove(package)
    if not os.path.exists(kept):
        return None
    with open(kept) as file:
        return json.load(file)


def rates(entry):
    kept = {key: value for key, value in entry.items() if RATES.fullmatch(key) and value is not None}
    factors = entry.get("provider_specific_entry") or {}
    factors = {name: factors[name] for name in TERMS if name in factors}
    if kept and factors:
        kept["provider_specific_entry"] = factors
    window = entry.get("max_input_tokens")
    if kept and isinstance(window, int):
        kept["max_input_tokens"] = window
    tiers = entry.get("tiered_pricing")
    if tiers:
        kept["tiered_pricing"] = [
            {key: value for key, value in tier.items() if RATES.fullmatch(key) or key == "range"} for tier in tiers
        ]
    return kept


def models(entries):
    """The models of a table, by the names that agents log."""
    found = {}
    for provider in PROVIDERS:
        for key, entry in entries.items():
            name = key.rsplit("/", 1)[-1].lower()
            if entry.get("litellm_provider") != provider or entry.get("mode") not in ("chat", "responses"):
                continue
            if provider == "anthropic" and "input_cost_per_token" in entry:
                # The tables have the price of Sonnet for some older models. It is twice that of the input.
                entry["cache_creation_input_token_cost_above_1hr"] = 2 * entry["input_cost_per_token"]
            is_model = re.match(PROVIDERS[provider], name) and not OTHERS.search(name) and ":" not in name
            if is_model and rates(entry):
                found.setdefault(name, rates(entry))
    return found


def main():
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    prices, read = {}, []
    for version in releases():
        entries = table(version, folder)
        if entries is None:
            continue
        read.append(version)
        found = models(entries)
        # A name with a date is read as the one without, unless its prices differ.
        for name, entry in found.items():
            if found.get(DATED.sub("", name)) != entry or not DATED.search(name):
                prices.setdefault(name, entry)
    for name, earlier in EARLIER.items():
        if name in prices:
            prices[name]["earlier"] = earlier
    source = f"LiteLLM {read[0]} to {read[-1]}, {len(read)} releases: the newest that has a model counts"
    lines = [f"{json.dumps(name)}: {json.dumps(prices[name], sort_keys=True, separators=(',', ':'))}" for name in sorted(prices)]
    head = f'{{"source": {json.dumps(source)}, "date": "{datetime.date.today()}", "prices": {{'
    with open(sys.argv[1], "w") as file:
        file.write(head + "\n" + ",\n".join(lines) + "\n}}\n")


main()
