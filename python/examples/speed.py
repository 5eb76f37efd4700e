"""How long the patches of logs take by the program, in Python and in WebAssembly, in one run and as ratios to the program:
FOLDLINE=target/release/foldline python speed.py LOG..

WebAssembly needs Node and `typescript/build.mjs`. The program is started again for each log; the others are running.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import foldline

ROUNDS = 7
NODE = """
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Fold } from "foldline";
for await (const path of createInterface({ input: process.stdin })) {
  const begun = performance.now();
  const bytes = readFileSync(path);
  const fold = await Fold.create({ path });
  for (let at = 0; at < bytes.length; at += 1 << 20) fold.push(bytes.subarray(at, at + (1 << 20)));
  fold.finish();
  console.log((performance.now() - begun) / 1000);
}
"""
node = subprocess.Popen(
    ["node", "--input-type=module", "--eval", NODE],
    cwd=Path(__file__).parents[2] / "typescript", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
)  # fmt: skip
assert node.stdin and node.stdout


def webassembly(path: str) -> float:
    print(path, file=node.stdin)
    assert node.stdout
    return float(node.stdout.readline())


def native(path: str) -> float:
    words = [os.environ.get("FOLDLINE", "foldline"), "replay", path, "--format", "patches", "--out", os.devnull]
    begun = time.perf_counter()
    subprocess.run(words, check=True)
    return time.perf_counter() - begun


def python(path: str) -> float:
    begun = time.perf_counter()
    foldline.read(path).patches()
    return time.perf_counter() - begun


for log in map(os.path.abspath, sys.argv[1:]):
    times = [(native(log), python(log), webassembly(log)) for _ in range(ROUNDS)]
    base, *others = (median(of) for of in zip(*times))
    ratios = [f"{name} {other / base:.2f}" for name, other in zip(["Python", "WebAssembly"], others)]
    print(f"{log}: {os.path.getsize(log) / 1e6:.1f} MB in {base:.3f} s; {', '.join(ratios)} times the program")
node.stdin.close()
