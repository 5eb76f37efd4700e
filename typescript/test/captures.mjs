// The patches, documents and pages of WebAssembly are those of the native program, byte for byte: over the fixtures, and over
// captured logs where there are any (the folders `../shared/captures*`, or FOLDLINE_CAPTURES). Prints what was compared.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Fold } from "foldline";
import { inRepository, program } from "./program.mjs";

/** All files below a folder. */
function files(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function captures() {
  if (process.env.FOLDLINE_CAPTURES) return [process.env.FOLDLINE_CAPTURES];
  try {
    const shared = inRepository("../shared");
    return readdirSync(shared).filter((name) => name.startsWith("captures")).map((name) => join(shared, name));
  } catch {
    return [];
  }
}

/** The texts in the folder of a log, in those around it, and in the one with its name. */
function siblings(path) {
  const texts = {};
  const take = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const file = join(folder, entry.name);
      if (entry.isFile() && statSync(file).size <= 1 << 20) texts[file] = readFileSync(file, "utf8");
    }
  };
  const within = path.replace(/\.jsonl$/, "");
  if (within !== path && existsSync(within)) take(within);
  let folder = dirname(path);
  for (let above = 0; above < 3; above++, folder = dirname(folder)) take(folder);
  return texts;
}

function replayed(path, format) {
  const { status, stdout, stderr } = spawnSync(program, ["replay", path, "--format", format], { maxBuffer: 1 << 30 });
  return status === 0 ? { text: stdout.toString() } : { error: stderr.toString() };
}

/** The page of a log; `undefined` if it has several sessions, of which the program prints none. */
function exported(path) {
  const { status, stdout } = spawnSync(program, ["export", path, "--timezone", "UTC"], { maxBuffer: 1 << 30 });
  return status === 0 ? stdout.toString() : undefined;
}

/** Pretty documents, one after another. */
const documents = (text) => text.split(/^(?=\{)/m).map((document) => JSON.parse(document));

/** Folds a file in chunks of 1 to `most` bytes, always the same. */
async function folded(path, most) {
  const outputs = { patches: true, conversations: true, pages: true };
  const fold = await Fold.create({ path, siblings: siblings(path), outputs });
  const bytes = readFileSync(path);
  let [text, random] = ["", 1];
  try {
    for (let at = 0, end; at < bytes.length; at = end) {
      random = (Math.imul(random, 1103515245) + 12345) >>> 0;
      end = at + 1 + (random % most);
      text += fold.push(bytes.subarray(at, end));
    }
    text += fold.finish();
    return { text, conversations: fold.conversations(), page: fold.page() };
  } catch (error) {
    return { error: error.message };
  }
}

/** The names of files that are one part of a session, and of formats that the program reads together with a database. */
const SEVERAL = [
  /(chat_history\.jsonl|updates\.jsonl|summary\.json|signals\.json)$/, // grok
  /(ui_messages|api_conversation_history|history_item|task_metadata|\.messages)\.json$/, // cline
  /\/sessions\/.*\.json$/, // cline, the program of the command line
  /\/session\/[^/]*\/ses_[^/]*\.json$/, // opencode, before its database
  /\/antigravity[^/]*\/.*\/transcript[^/]*\.jsonl$/, // antigravity
  /copilot-chat|chatSessions/, // copilot-chat
];

/** The first bytes of databases and of compressed files. */
const MAGIC = ["SQLite format 3", "\x28\xb5\x2f\xfd", "\x1f\x8b"];

/** The reason for which only the program reads a file. */
function needsMore(path) {
  const head = readFileSync(path).subarray(0, 16).toString("latin1");
  if (MAGIC.some((magic) => head.startsWith(magic))) return "a database, or compressed";
  const isCopilot = path.endsWith("/events.jsonl") && existsSync(join(dirname(path), "../../session-store.db"));
  return isCopilot || SEVERAL.some((name) => name.test(path)) ? "a session of several files" : undefined;
}

for (const folder of [inRepository("tests/fixtures"), ...captures()]) {
  test(`${folder} is folded as by the program`, async (context) => {
    const counts = {};
    const count = (what) => (counts[what] = (counts[what] ?? 0) + 1);
    const wrong = [];
    for (const path of files(folder)) {
      const native = replayed(path, "patches");
      const ours = await folded(path, 5_000);
      if (native.error !== undefined && ours.error !== undefined) count("not a log for both");
      else if (native.text === ours.text) {
        try {
          assert.deepStrictEqual(ours.conversations, documents(replayed(path, "conversation").text));
          const page = exported(path);
          if (page !== undefined) assert.ok(page === ours.page, "another page");
          count(page === undefined ? "identical, with several sessions" : "identical");
        } catch (error) {
          wrong.push(`${path}: another document or page: ${error.message.slice(0, 300)}`);
        }
      } else if (needsMore(path)) count(needsMore(path));
      else wrong.push(`${path}: native ${native.error ?? native.text.length}, here ${ours.error ?? ours.text.length}`);
    }
    context.diagnostic(Object.entries(counts).map(([what, number]) => `${what}: ${number}`).join(", "));
    assert.deepEqual(wrong, []);
    assert.ok(counts.identical > 0);
  });
}
