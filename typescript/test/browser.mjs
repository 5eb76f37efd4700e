// A browser under test: Chromium, through the WebDriver protocol.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { until } from "./server.mjs";

/** Whether there is one. With FOLDLINE_TEST_ALL=1 its tests are not skipped. */
export const hasBrowser =
  process.env.FOLDLINE_TEST_ALL === "1" || !spawnSync("chromedriver", ["--version"]).error;

/** The key of an element's reference. */
const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";

/** Starts a browser, and ends it after the test. */
export async function browser(context) {
  const driver = spawn("chromedriver", ["--port=0"], { stdio: ["ignore", "pipe", "ignore"] });
  const profile = mkdtempSync(join(tmpdir(), "foldline-browser-"));
  let session;
  const ask = async (method, path, body) => {
    const answer = await fetch(`${session}${path}`, { method, body: body && JSON.stringify(body) });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(`${path}: ${value.message}`);
    return value;
  };
  context.after(async () => {
    if (session) await ask("DELETE", "").catch(() => {});
    driver.kill();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  });
  for await (const line of createInterface({ input: driver.stdout })) {
    const [, port] = /successfully on port (\d+)/.exec(line) ?? [];
    if (port === undefined) continue;
    driver.stdout.resume();
    session = `http://127.0.0.1:${port}/session`;
    break;
  }
  const args = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", `--user-data-dir=${profile}`];
  const log = { "goog:loggingPrefs": { browser: "ALL", performance: "ALL" } };
  const { sessionId } = await ask("POST", "", { capabilities: { alwaysMatch: { "goog:chromeOptions": { args }, ...log } } });
  session += `/${sessionId}`;
  const run = (script, ...args) => ask("POST", "/execute/sync", { script, args });
  return {
    open: (url) => ask("POST", "/url", { url: String(url) }),
    /** Runs the body of a function. A promise is awaited. */
    run,
    until: (expression) => until(() => run(`return ${expression}`), expression),
    /** Chooses files in a field. */
    choose: async (selector, ...paths) => {
      const { [ELEMENT]: field } = await ask("POST", "/element", { using: "css selector", value: selector });
      await ask("POST", `/element/${field}/value`, { text: paths.join("\n") });
    },
    /** Messages of the console, such as errors and refusals of the policy. */
    messages: async () => (await ask("POST", "/se/log", { type: "browser" })).map(({ message }) => message),
    /** The addresses that pages requested since the last call, without those within a page or the browser. */
    requested: async () => {
      const events = (await ask("POST", "/se/log", { type: "performance" })).map(({ message }) => JSON.parse(message).message);
      const sent = events.filter(({ method }) => method === "Network.requestWillBeSent");
      return sent.map(({ params }) => params.request.url).filter((url) => !/^(about|blob|chrome|data):/.test(url));
    },
  };
}
