// Logs in WebAssembly. That their patches are those of the program is in `captures.mjs`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Fold, applyPatch, fold, records } from "foldline";
import { inRepository } from "./program.mjs";
import { said } from "./server.mjs";

const log = said(0, "Größe ❯") + said(1);
const bytes = new TextEncoder().encode(log);

test("a log may be a text, bytes, a file or a stream", async () => {
  const [document] = await fold(log);
  assert.deepEqual(document.entries.map(({ content }) => content.content), ["Größe ❯", "This is message 1."]);
  async function* parts() {
    for (const byte of bytes) yield Uint8Array.of(byte);
  }
  const blob = new Blob([bytes]);
  // As in browsers whose streams have no iterator.
  const stream = { getReader: () => new Blob([bytes]).stream().getReader() };
  for (const source of [bytes, bytes.buffer, blob, blob.stream(), stream, parts()]) {
    assert.deepEqual(await fold(source), [document]);
  }
});

test("patches make the document, in two logs at once", async () => {
  const folds = await Promise.all([Fold.create(), Fold.create()]);
  const documents = folds.map(() => ({ entries: [] }));
  const apply = (place, lines) => {
    for (const { session, patch } of records(lines)) {
      assert.equal(session, 0);
      documents[place] = applyPatch(documents[place], patch);
    }
  };
  for (let at = 0; at < bytes.length; at += 7) folds.forEach((fold, place) => apply(place, fold.push(bytes.subarray(at, at + 7))));
  folds.forEach((fold, place) => apply(place, fold.finish()));
  const [document] = await fold(log);
  assert.deepEqual(documents, [document, document]);
});

test("a document that is not lines is read as a whole", async () => {
  const content = readFileSync(inRepository("tests/fixtures/gemini-session/document.jsonl"));
  const made = await Fold.create({ path: "session.json", outputs: { conversations: true } });
  assert.equal(made.push(content), "");
  assert.notEqual(made.finish(), "");
  const [{ session, entries }] = made.conversations();
  assert.equal(session.title, "A document");
  assert.ok(entries.length > 1);
});

test("an error says what is wrong, and the next log is not affected", async () => {
  await assert.rejects(fold("nothing known"), /the format is not recognised; known formats: .*claude-session/);
  await assert.rejects(fold(""), /the log is empty/);
  await assert.rejects(Fold.create({ format: "toaster" }), /unknown format: toaster/);
  await assert.rejects(Fold.create({ outputs: 7 }), /the options are wrong/);
  const ended = await Fold.create({ format: "droid" });
  ended.finish();
  assert.throws(() => ended.push(bytes), /the log has ended/);
  assert.equal((await fold(log)).length, 1);
});

test("a log of 50 MB is pushed at once", async () => {
  const line = said(0, "x".repeat(100_000));
  const fold = await Fold.create();
  const lines = fold.push(Buffer.from(line.repeat(500))) + fold.finish();
  assert.ok(lines.length > 50_000_000);
});
