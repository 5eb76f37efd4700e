#!/usr/bin/env node
// How long the patches of logs take in WebAssembly, as ratios to the native program and to `JSON.parse` of each line, in
// one run: FOLDLINE=target/release/foldline node speed.mjs LOG..
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Fold } from "./src/index.js";
import { program } from "./test/program.mjs";

const ROUNDS = 7;
const PART = 1 << 20;
await Fold.create();

async function webassembly(path, bytes) {
  const fold = await Fold.create({ path });
  let length = 0;
  for (let at = 0; at < bytes.length; at += PART) length += fold.push(bytes.subarray(at, at + PART)).length;
  return length + fold.finish().length;
}

function native(path) {
  const { status, stderr } = spawnSync(program, ["replay", path, "--format", "patches", "--out", "/dev/null"]);
  if (status !== 0) throw new Error(stderr.toString());
}

const parsed = (_, bytes) => bytes.toString().split("\n").filter(Boolean).forEach((line) => JSON.parse(line));

const median = (times) => times.sort((one, other) => one - other)[times.length >> 1];

for (const path of process.argv.slice(2)) {
  const bytes = readFileSync(path);
  const works = { webassembly, native, parsed };
  const times = { webassembly: [], native: [], parsed: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, work] of Object.entries(works)) {
      const begun = performance.now();
      await work(path, bytes);
      times[name].push(performance.now() - begun);
    }
  }
  const [ours, theirs, parse] = ["webassembly", "native", "parsed"].map((name) => median(times[name]));
  const ratio = (base) => (ours / base).toFixed(2);
  console.log(`${path}: ${(bytes.length / 1e6).toFixed(1)} MB, WebAssembly / native ${ratio(theirs)}, / JSON.parse ${ratio(parse)}`);
  console.log(`  milliseconds: WebAssembly ${ours.toFixed(0)}, native ${theirs.toFixed(0)}, JSON.parse ${parse.toFixed(0)}`);
}
