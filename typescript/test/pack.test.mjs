// The archive of the package has what is needed and nothing else, and works where it is installed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inRepository } from "./program.mjs";
import { said } from "./server.mjs";

const FILES = [
  "README.md",
  "dist/LICENSE-APACHE",
  "dist/LICENSE-MIT",
  "dist/foldline.html",
  "dist/foldline.wasm",
  "dist/types.d.ts",
  "package.json",
  "src/fold.js",
  "src/index.d.ts",
  "src/index.js",
  "src/patch.js",
  "src/subscribe.js",
];

test("the version is that of the Rust packages, from which the types are generated", () => {
  const [, version] = /^\[workspace\.package\]\nversion = "(.*)"$/m.exec(readFileSync(inRepository("Cargo.toml"), "utf8"));
  assert.equal(JSON.parse(readFileSync(inRepository("typescript/package.json"))).version, version);
});

test("the archive is complete and small, and works", (context) => {
  const root = mkdtempSync(join(tmpdir(), "foldline-pack-"));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const arguments_ = ["pack", "--json", "--ignore-scripts", "--pack-destination", root];
  const [{ filename, files, size }] = JSON.parse(execFileSync("npm", arguments_, { cwd: inRepository("typescript"), encoding: "utf8" }));
  assert.deepEqual(files.map(({ path }) => path).sort(), FILES);
  context.diagnostic(`${filename}: ${size} bytes`);
  const installed = join(root, "node_modules", "foldline");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(root, filename), "-C", installed, "--strip-components=1"]);
  writeFileSync(join(root, "log.jsonl"), said(0, "hello"));
  const program = `
    import { readFileSync } from "node:fs";
    import { fold } from "foldline";
    const [{ entries }] = await fold(readFileSync("log.jsonl"));
    console.log(entries[0].content.content);`;
  writeFileSync(join(root, "program.mjs"), program);
  assert.equal(execFileSync(process.execPath, ["program.mjs"], { cwd: root, encoding: "utf8" }), "hello\n");
});
