// A `foldline serve` under test, with a log that grows; and a proxy that cuts connections.
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { program } from "./program.mjs";

/** A line of a Droid log. */
export function said(number, text = `This is message ${number}.`) {
  const role = number % 2 === 0 ? "user" : "assistant";
  return `${JSON.stringify({ type: "message", role, id: `m${number}`, text, timestamp: 1_000 * number, session_id: "session" })}\n`;
}

/** A folder with one log, `session`, which is removed after the test. */
export function folder(context) {
  const root = mkdtempSync(join(tmpdir(), "foldline-"));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const logs = join(root, "logs");
  mkdirSync(logs);
  const log = join(logs, "session.jsonl");
  writeFileSync(log, "");
  return { root, logs, log, add: (...lines) => appendFileSync(log, lines.join("")) };
}

/** Starts a server of the logs, and ends it after the test. */
export async function serve(context, { root, logs }, { listen = "127.0.0.1:0", more = [] } = {}) {
  const started = ["serve", logs, "--db", join(root, "logs.db"), "--listen", listen, ...more];
  const child = spawn(program, started, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, XDG_CONFIG_HOME: root } });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const stop = () => {
    child.kill("SIGTERM");
    return ended;
  };
  context.after(stop);
  const printed = [];
  for await (const line of createInterface({ input: child.stderr })) {
    printed.push(line);
    const [, link] = /listening on (\S+)/.exec(line) ?? [];
    if (link === undefined) continue;
    child.stderr.resume();
    const url = new URL(link);
    return { url, address: url.host, patches: new URL("/api/sessions/session/patches", url), stop };
  }
  throw new Error(`it does not listen:\n${printed.join("\n")}`);
}

/** A server before another one. It serves `files`, by path, itself; and notes the requests of the rest. */
export async function proxy(context, target, files = {}) {
  const requests = [];
  const open = new Set();
  const server = createServer((asked, answer) => {
    const file = files[asked.url];
    if (file) {
      answer.writeHead(200, { "content-type": file.type });
      return answer.end(file.body);
    }
    requests.push({ url: asked.url, last: asked.headers["last-event-id"] });
    const headers = { ...asked.headers, host: target.address };
    const passed = request({ host: "127.0.0.1", port: target.address.split(":")[1], path: asked.url, headers }, (from) => {
      answer.writeHead(from.statusCode, from.headers);
      from.pipe(answer);
      from.on("error", () => answer.destroy());
      from.on("aborted", () => answer.destroy());
    });
    passed.on("error", () => answer.destroy());
    answer.on("close", () => passed.destroy());
    passed.end();
  });
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${server.address().port}`);
  const cut = () => open.forEach((socket) => socket.resetAndDestroy());
  return { url, patches: new URL("/api/sessions/session/patches", url), requests, cut };
}

/** Waits until `isTrue`. */
export async function until(isTrue, what = isTrue) {
  const end = Date.now() + 60_000;
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error(`never true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
