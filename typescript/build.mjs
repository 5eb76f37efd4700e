#!/usr/bin/env node
// Builds what the package needs from Rust: `dist/foldline.wasm`, `dist/types.d.ts`, and `dist/foldline.html`, a page
// that opens logs without a server. Prints the sizes.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { Fold } from "./src/fold.js";

const root = new URL("../", import.meta.url);
const here = (name) => new URL(name, import.meta.url);
const dist = (name) => here(`dist/${name}`);
const text = (url) => readFileSync(url, "utf8");
const gzip = (bytes) => gzipSync(bytes, { level: 9 });

const built = ["--profile", "wasm", "--target", "wasm32-unknown-unknown", "--message-format", "json-render-diagnostics"];
const cargo = ["rustc", "--quiet", "--locked", "-p", "foldline-wasm", "--lib", "--crate-type", "cdylib", ...built];
// With vectors of 128 bits, which all browsers have, logs take half the time. No path of this machine is in the module.
const home = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
const flags = ["-Ctarget-feature=+simd128", `--remap-path-prefix=${home}=cargo`, `--remap-path-prefix=${fileURLToPath(root)}=`];
const env = { ...process.env, CARGO_ENCODED_RUSTFLAGS: flags.join("\x1f"), CARGO_INCREMENTAL: "0" };
const said = execFileSync("cargo", cargo, { cwd: root, env, encoding: "utf8", maxBuffer: 64 << 20, stdio: ["ignore", "pipe", "inherit"] });
const artifacts = said.split("\n").filter(Boolean).map((line) => JSON.parse(line).filenames ?? []);
const wasm = readFileSync(artifacts.flat().findLast((name) => name.endsWith("foldline_wasm.wasm")));

rmSync(dist(""), { recursive: true, force: true });
mkdirSync(dist(""));
writeFileSync(dist("foldline.wasm"), wasm);
copyFileSync(new URL("cli/src/serve/schema/foldline.d.ts", root), dist("types.d.ts"));
for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(new URL(name, root), dist(name));

// The page shows the pages of the renderer, whose policy names their style sheet and script: it allows these too.
const fold = await Fold.create({ module: await WebAssembly.compile(wasm), outputs: { pages: true } });
fold.push(new TextEncoder().encode('{"type":"message","role":"user","id":"m1","text":"hi","timestamp":1}\n'));
fold.finish();
const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(fold.page())[1];
const [sheet, script] = ["style-src", "script-src"].map((name) => new RegExp(`${name} '(sha256-[^']+)'`).exec(policy)[1]);

const style = text(here("page/page.css"));
const program = [text(here("src/fold.js")).replaceAll(/^export /gm, ""), text(here("page/page.js"))].join("\n");
const hash = (part) => `'sha256-${createHash("sha256").update(part).digest("base64")}'`;
const csp =
  `default-src 'none'; style-src ${hash(style)} '${sheet}'; ` +
  `script-src 'wasm-unsafe-eval' ${hash(program)} '${script}'; img-src data:; base-uri 'none'; form-action 'none'`;
const parts = { CSP: csp, STYLE: style, PROGRAM: program, WASM: gzip(wasm).toString("base64") };
const page = text(here("page/page.html")).replaceAll(/\{\{([A-Z]+)\}\}/g, (_, name) => parts[name]);
writeFileSync(dist("foldline.html"), page);

const brotli = (bytes) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
console.log("bytes".padEnd(16), "raw".padStart(10), "gzip".padStart(10), "brotli".padStart(10));
for (const [name, bytes] of [["foldline.wasm", wasm], ["foldline.html", Buffer.from(page)]]) {
  const sizes = [bytes, gzip(bytes), brotli(bytes)].map(({ length }) => String(length).padStart(10));
  console.log(name.padEnd(16), ...sizes);
}
