// The page that opens logs without a server, and the package in a page.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { Fold } from "foldline";
import { browser, hasBrowser } from "./browser.mjs";
import { inRepository } from "./program.mjs";
import { folder, proxy, said, serve } from "./server.mjs";

const options = { skip: hasBrowser ? false : "needs chromedriver and Chromium", timeout: 180_000 };
const file = inRepository("typescript/dist/foldline.html");

/** The page of a log, rendered in Node. */
async function rendered(path) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const fold = await Fold.create({ path: basename(path), outputs: { pages: true }, zone });
  fold.push(readFileSync(path));
  fold.finish();
  return fold.page();
}

const shown = "document.getElementById('shown').contentDocument";
const entries = `${shown}?.querySelectorAll('#feed .entry').length`;

/** The page, opened from its file. */
async function opened(context) {
  const page = await browser(context);
  await page.open(pathToFileURL(file));
  return page;
}

/** Waits until a log is shown. */
const shows = (page, name) => page.until(`document.getElementById('status').textContent === ${JSON.stringify(name)} && ${entries} > 0`);

test("a chosen log is shown by the renderer, and nothing is loaded", options, async (context) => {
  const page = await opened(context);
  const log = inRepository("tests/fixtures/claude-session/conversation.jsonl");
  await page.choose("#choose", log);
  await shows(page, "conversation.jsonl");
  const feed = (html) =>
    page.run("return new DOMParser().parseFromString(arguments[0], 'text/html').getElementById('feed').innerHTML", html);
  const should = await feed(await rendered(log));
  const is = await page.run(`return document.getElementById('shown').srcdoc`);
  assert.equal(await feed(is), should);
  // The script of the renderer runs in it: it shows some entries only, and finds words.
  await page.run(`${shown}.querySelector('[name=show][value=talk]').click()`);
  await page.until(`${shown}.documentElement.dataset.show === 'talk'`);
  const style = await page.run(`return getComputedStyle(${shown}.querySelector('header.top')).display`);
  assert.notEqual(style, "block", "its style sheet applies");
  assert.deepEqual(await page.messages(), []);
  assert.deepEqual(await page.requested(), [pathToFileURL(file).href]);
});

test("another log is dropped, on the page of the first", options, async (context) => {
  const page = await opened(context);
  const { root, log, add } = folder(context);
  add(said(0, "the first log"));
  await page.choose("#choose", log);
  await shows(page, "session.jsonl");
  const drop = `
    const [where, name, base64] = arguments;
    const frame = document.getElementById("shown");
    const target = where === "frame" ? frame.contentWindow : window;
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name));
    for (const type of ["dragover", "drop"])
      target.document.body.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));`;
  const packed = gzipSync(said(0, "the second log, with <b>markup</b>")).toString("base64");
  await page.run(drop, "frame", "second.jsonl.gz", packed);
  await shows(page, "second.jsonl.gz");
  await page.until(`${shown}.body.textContent.includes('<b>markup</b>')`);
  await page.run(drop, "page", "third.txt", Buffer.from("nothing known").toString("base64"));
  await page.until("document.getElementById('status').classList.contains('failed')");
  assert.match(await page.run("return document.getElementById('status').textContent"), /^third.txt: the format is not recognised/);
  writeFileSync(join(root, "empty.jsonl"), "");
  await page.choose("#choose", join(root, "empty.jsonl"));
  await page.until("document.getElementById('status').textContent === 'empty.jsonl: the log is empty'");
  await page.choose("#choose", log, join(root, "empty.jsonl"));
  await page.until("document.getElementById('status').textContent === 'One log at a time: session.jsonl, empty.jsonl'");
  assert.deepEqual(await page.messages(), []);
});

test("nothing of a hostile log is executed or loaded", options, async (context) => {
  const page = await opened(context);
  const { log, add } = folder(context);
  const markup = readFileSync(inRepository("tests/fixtures/hostile-markup.txt"), "utf8");
  add(...markup.split("\n").map((line, number) => said(number, line)));
  await page.choose("#choose", log);
  await shows(page, "session.jsonl");
  assert.deepEqual(await page.messages(), []);
  assert.deepEqual(await page.requested(), [pathToFileURL(file).href]);
});

test("a log of 20 MB is folded in parts, while the page answers", options, async (context) => {
  const page = await opened(context);
  const { log, add } = folder(context);
  const text = "All work and no play makes a long log. ".repeat(100);
  add(...Array.from({ length: 5_000 }, (_, number) => said(number, text)));
  await page.run(`
    window.steps = [];
    new MutationObserver(() => steps.push(document.getElementById("progress").value))
      .observe(document.getElementById("progress"), { attributes: true });`);
  await page.choose("#choose", log);
  await shows(page, "session.jsonl");
  await page.until(`${entries} === 5000`);
  const steps = await page.run("return steps");
  assert.ok(steps.some((step) => step > 0 && step < 1), String(steps));
});

test("the package follows a session, and folds a log, in a page", options, async (context) => {
  const logs = folder(context);
  logs.add(said(0), said(1));
  const server = await serve(context, logs);
  const type = "text/javascript";
  const sources = ["index", "fold", "patch", "subscribe"].map((name) => {
    const body = readFileSync(inRepository(`typescript/src/${name}.js`));
    return [`/foldline/src/${name}.js`, { type, body }];
  });
  const program = `
    import { fold, subscribe } from "/foldline/src/index.js";
    window.gaps = 0;
    subscribe("/api/sessions/session/patches", {
      onDocument: (document) => (window.live = document),
      onPatch: (_, document) => (window.live = document),
      onGap: () => (window.gaps += 1),
    });
    window.fold = fold;`;
  const between = await proxy(context, server, {
    ...Object.fromEntries(sources),
    "/foldline/dist/foldline.wasm": { type: "application/wasm", body: readFileSync(inRepository("typescript/dist/foldline.wasm")) },
    "/": { type: "text/html", body: `<!DOCTYPE html><title>Test</title><link rel="icon" href="data:,"><script type="module">${program}</script>` },
  });
  const page = await browser(context);
  await page.open(between.url);
  await page.until("window.live?.entries.length === 2");
  logs.add(said(2));
  await page.until("live.entries.length === 3");
  between.cut();
  logs.add(said(3));
  await page.until("live.entries.length === 4");
  assert.equal(await page.run("return gaps"), 0);
  const log = readFileSync(logs.log, "utf8");
  const same = "return (async () => JSON.stringify((await fold(arguments[0]))[0]) === JSON.stringify(live))()";
  assert.equal(await page.run(same, log), true);
});
