#!/usr/bin/env python3
"""Writes prices.json, the table of prices that the program is built with.

The source is the table of LiteLLM (MIT licence), `model_prices_and_context_window_backup.json` in its packages:

    pip download litellm --no-deps && unzip litellm-*.whl
    ./generate.py 1.109.1=NEWER.json 1.77.7=OLDER.json >prices.json

Each argument is a release and its table. The first one that has a model counts: an older release adds the models
that were withdrawn since. Of all tables, the models that coding agents use are taken, under the names that agents
log, and of each model the rates that the module `pricing` reads.
"""

import datetime
import json
import re
import sys

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
}
# Models that nobody writes code with.
OTHERS = re.compile(r"audio|image|live|realtime|research|robotics|search|tts|transcribe|-vl-|computer-use|gpt-(3|4-)|beta|-exp|gemma|vision|mamba|multi-agent")
RATES = re.compile(
    r"(input_cost_per_token|output_cost_per_token|cache_read_input_token_cost|cache_creation_input_token_cost"
    r"|cache_creation_input_token_cost_above_1hr)(_above_\d+k_tokens)?"
)
DATED = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$")


def rates(entry):
    kept = {key: value for key, value in entry.items() if RATES.fullmatch(key) and value is not None}
    tiers = entry.get("tiered_pricing")
    if tiers:
        kept["tiered_pricing"] = [
            {key: value for key, value in tier.items() if RATES.fullmatch(key) or key == "range"} for tier in tiers
        ]
    return kept


def main():
    prices, releases = {}, []
    for argument in sys.argv[1:]:
        release, path = argument.split("=", 1)
        releases.append(release)
        with open(path) as file:
            table = json.load(file)
        found = {}
        for key, entry in table.items():
            provider, name = entry.get("litellm_provider"), key.rsplit("/", 1)[-1]
            is_model = entry.get("mode") in ("chat", "responses") and re.match(PROVIDERS.get(provider, "$"), name)
            if provider == "anthropic" and "input_cost_per_token" in entry:
                # The tables have the price of Sonnet for some older models. It is twice that of the input.
                entry["cache_creation_input_token_cost_above_1hr"] = 2 * entry["input_cost_per_token"]
            if is_model and not OTHERS.search(name) and ":" not in name and rates(entry):
                found.setdefault(name, rates(entry))
        # A name with a date is read as the one without, unless its prices differ.
        for name, entry in found.items():
            if found.get(DATED.sub("", name)) != entry or not DATED.search(name):
                prices.setdefault(name, entry)
    source = f"LiteLLM {', '.join(releases)}: the first that has a model counts"
    print(f'{{"source": {json.dumps(source)}, "date": "{datetime.date.today()}", "prices": {{')
    lines = [f"{json.dumps(name)}: {json.dumps(prices[name], sort_keys=True, separators=(',', ':'))}" for name in sorted(prices)]
    print(",\n".join(lines) + "\n}}")


main()
