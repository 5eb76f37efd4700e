// Live documents: of a real server, and of one that misbehaves.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { setTimeout as elapsed } from "node:timers/promises";
import { Refused, fold, subscribe } from "foldline";
import { inRepository } from "./program.mjs";
import { folder, proxy, said, serve, until } from "./server.mjs";

/** Subscribes until the test ends, and notes what arrives. */
function follow(context, url, options = {}) {
  const seen = { document: undefined, documents: 0, patches: 0, gaps: 0, versions: [] };
  const stop = new AbortController();
  const ended = subscribe(url, {
    onDocument: (document) => ((seen.document = document), (seen.documents += 1)),
    onPatch: (patch, document) => {
      assert.ok(patch.length > 0);
      seen.versions.push([seen.document, document]);
      seen.document = document;
      seen.patches += 1;
    },
    onGap: () => (seen.gaps += 1),
    signal: stop.signal,
    ...options,
  });
  ended.catch(() => {});
  context.after(() => stop.abort());
  return Object.assign(seen, { ended, stop: () => stop.abort() });
}

const entries = (seen) => seen.document?.entries.length ?? 0;
const texts = (seen) => seen.document.entries.map(({ content }) => content.content);

test("a document grows with its log, and shares what did not change", { timeout: 120_000 }, async (context) => {
  const logs = folder(context);
  logs.add(said(0), said(1));
  const server = await serve(context, logs);
  const seen = follow(context, server.patches);
  await until(() => entries(seen) === 2);
  for (let number = 2; number < 20; number++) logs.add(said(number));
  await until(() => entries(seen) === 20);
  assert.deepEqual([seen.documents, seen.gaps], [1, 0]);
  assert.ok(seen.patches >= 18);
  for (const [before, after] of seen.versions) {
    assert.notEqual(before, after);
    assert.equal(before.entries[0], after.entries[0]);
  }
  // It is the document of the reducers, and that of the server.
  const [document] = await fold(readFileSync(logs.log), { path: logs.log });
  assert.deepEqual(seen.document, document);
  const answer = await fetch(new URL("/api/sessions/session", server.url));
  assert.deepEqual(seen.document, await answer.json());
  seen.stop();
  await seen.ended;
});

test("a connection that is cut continues after the last patch", { timeout: 120_000 }, async (context) => {
  const logs = folder(context);
  logs.add(said(0));
  const server = await serve(context, logs);
  const between = await proxy(context, server);
  const seen = follow(context, between.patches);
  await until(() => entries(seen) === 1);
  for (let number = 1; number < 6; number++) {
    between.cut();
    logs.add(said(number));
    await until(() => entries(seen) === number + 1);
  }
  assert.deepEqual([seen.documents, seen.gaps], [1, 0]);
  const [first, ...later] = between.requests.filter(({ url }) => url.endsWith("/patches"));
  assert.equal(first.last, undefined);
  assert.ok(later.length > 0 && later.every(({ last }) => /^[^:]+:\d+$/.test(last)));
});

test("a server that is restarted leaves a gap, and then the whole document", { timeout: 120_000 }, async (context) => {
  const logs = folder(context);
  logs.add(said(0), said(1));
  const server = await serve(context, logs);
  const seen = follow(context, server.patches);
  await until(() => entries(seen) === 2);
  await server.stop();
  logs.add(said(2));
  await serve(context, logs, { listen: server.address });
  await until(() => entries(seen) === 3);
  assert.deepEqual([seen.documents, seen.gaps], [2, 1]);
  logs.add(said(3));
  await until(() => entries(seen) === 4);
  assert.equal(seen.gaps, 1);
  assert.deepEqual(texts(seen), [0, 1, 2, 3].map((number) => `This is message ${number}.`));
});

test("a refusal is an error", { timeout: 120_000 }, async (context) => {
  const logs = folder(context);
  logs.add(said(0));
  const server = await serve(context, logs, { more: ["--token"] });
  const refused = (url, status, options) =>
    assert.rejects(subscribe(url, options), (error) => error instanceof Refused && error.status === status && error.message !== "");
  await refused(server.patches, 401);
  const headers = { authorization: `Bearer ${server.url.searchParams.get("token")}` };
  await refused(new URL("/api/sessions/no-such-session/patches", server.url), 404, { headers });
  const seen = follow(context, server.patches, { headers });
  await until(() => entries(seen) === 1);
});

/** A server that answers each request with the next of these bodies, and then with an `end`. */
async function scripted(context, ...bodies) {
  const lasts = [];
  const server = createServer(async (asked, answer) => {
    lasts.push(asked.headers["last-event-id"]);
    const body = bodies.shift() ?? "event: end\ndata:\n\n";
    if (typeof body === "number") return void answer.writeHead(body).end();
    answer.writeHead(200, { "content-type": "text/event-stream" });
    for (const part of Array.isArray(body) ? body : [body]) {
      answer.write(part);
      await elapsed(5);
    }
    answer.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => server.close());
  return { url: `http://127.0.0.1:${server.address().port}/`, lasts };
}

const snapshot = (id, entries) => `event: snapshot\nid: ${id}\ndata: ${JSON.stringify({ entries })}\n\n`;
const added = (id, place, value) =>
  `event: patch\nid: ${id}\ndata: ${JSON.stringify([{ op: "add", path: `/entries/${place}`, value }])}\n\n`;

test("a patch that is missing, or does not fit, is a gap", { timeout: 60_000 }, async (context) => {
  const { url, lasts } = await scripted(
    context,
    snapshot("a:1", []) + added("a:2", 0, "x") + added("a:4", 1, "z"),
    snapshot("a:4", ["x", "y", "z"]) + added("a:5", 9, "?"),
    snapshot("a:5", ["x", "y", "z", "!"]),
  );
  const seen = follow(context, url);
  await seen.ended;
  assert.deepEqual(seen.document.entries, ["x", "y", "z", "!"]);
  assert.deepEqual([seen.documents, seen.gaps, seen.patches], [3, 2, 1]);
  assert.deepEqual(lasts, [undefined, undefined, undefined, "a:5"]);
});

test("events arrive in any pieces, with any line ends", { timeout: 60_000 }, async (context) => {
  const text = `:\n\n${snapshot("a:1", ["Größe"])}: a comment\n${added("a:2", 1, "y")}event: end\ndata:\n\n`;
  for (const end of ["\n", "\r\n", "\r"]) {
    const bytes = Buffer.from(text.replaceAll("\n", end));
    const { url } = await scripted(context, Array.from(bytes, (byte) => Buffer.from([byte])));
    const seen = follow(context, url);
    await seen.ended;
    assert.deepEqual(seen.document.entries, ["Größe", "y"], JSON.stringify(end));
  }
});

test("a busy server is asked again, and an event that is cut is not taken", { timeout: 60_000 }, async (context) => {
  const half = added("a:2", 0, "x");
  const { url, lasts } = await scripted(context, 503, snapshot("a:1", []) + half.slice(0, -1), half);
  const seen = follow(context, url);
  await seen.ended;
  assert.deepEqual(seen.document.entries, ["x"]);
  assert.deepEqual(lasts, [undefined, undefined, "a:1", "a:2"]);
});

test("what a receiver throws ends the subscription", { timeout: 60_000 }, async (context) => {
  const { url } = await scripted(context, snapshot("a:1", []));
  const onDocument = () => {
    throw new RangeError("mine");
  };
  await assert.rejects(subscribe(url, { onDocument }), RangeError);
});

test("the example of ten lines prints what is said", { timeout: 120_000 }, async (context) => {
  const example = inRepository("typescript/examples/client.mjs");
  const lines = readFileSync(example, "utf8").trimEnd().split("\n");
  assert.ok(lines.length <= 10);
  const code = lines.filter((line) => !line.startsWith("//")).join("\n");
  for (const readme of ["README.md", "typescript/README.md"]) {
    assert.ok(readFileSync(inRepository(readme), "utf8").includes(code), readme);
  }
  const logs = folder(context);
  logs.add(said(0));
  const server = await serve(context, logs);
  const client = spawn(process.execPath, [example, server.patches.href], { stdio: ["ignore", "pipe", "inherit"] });
  context.after(() => client.kill());
  let printed = "";
  client.stdout.on("data", (bytes) => (printed += bytes));
  await until(() => printed === "This is message 0.\n");
  logs.add(said(1));
  await until(() => printed === "This is message 0.\nThis is message 1.\n");
});
