// The reducers of the program as WebAssembly. One instance of the module is one fold: its memory is freed with it.

/** The most bytes that are copied into the module at once. */
const PART = 4 << 20;

let shared;

/** The module, which is compiled once. */
function compiled() {
  shared ??= load().catch((error) => {
    shared = undefined;
    throw error;
  });
  return shared;
}

async function load() {
  const url = new URL("../dist/foldline.wasm", import.meta.url);
  if (url.protocol !== "file:") {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
    return WebAssembly.compile(await answer.arrayBuffer());
  }
  // A name that bundlers for pages do not follow.
  const files = "node:fs/promises";
  const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ files);
  return WebAssembly.compile(await readFile(url));
}

/** A log, folded as its bytes arrive. */
export class Fold {
  #exports;

  /** Begins a log. */
  static async create({ module, ...options } = {}) {
    const fold = new Fold();
    const instance = await WebAssembly.instantiate(module ?? (await compiled()), {});
    fold.#exports = instance.exports;
    fold.#call("begin", new TextEncoder().encode(JSON.stringify(options)));
    return fold;
  }

  /** Adds bytes, and returns the patches that result: lines of JSON. */
  push(bytes) {
    const parts = [];
    for (let at = 0; at < bytes.length; at += PART) parts.push(this.#call("push", bytes.subarray(at, at + PART)));
    return parts.join("");
  }

  /** Ends the log, and returns the remaining patches. */
  finish() {
    return this.#call("finish");
  }

  /** The documents of the sessions so far. */
  conversations() {
    return JSON.parse(this.#call("conversations"));
  }

  /** The number of sessions so far, if documents or pages are made. */
  sessions() {
    return this.#exports.sessions();
  }

  /** The page of a session as HTML; `undefined` if there is no such session. */
  page(session = 0) {
    return this.#call("page", undefined, session) || undefined;
  }

  #call(name, bytes, ...numbers) {
    const { memory, input, output, output_length: length, [name]: call } = this.#exports;
    if (bytes) {
      const address = input(bytes.length) >>> 0;
      // The memory may have grown: its buffer is another one after each call.
      new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
    }
    const succeeded = call(...numbers);
    const result = new Uint8Array(memory.buffer, output() >>> 0, length() >>> 0);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(result);
    if (!succeeded) throw new Error(text);
    return text;
  }
}

/** The documents of the sessions of a log: bytes, a text, or a stream of bytes. */
export async function fold(log, options = {}) {
  const fold = await Fold.create({ ...options, outputs: { patches: false, conversations: true } });
  for await (const bytes of chunks(log)) fold.push(bytes);
  fold.finish();
  return fold.conversations();
}

/** The values of lines of JSON. */
export function records(lines) {
  return lines.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

async function* chunks(log) {
  if (typeof log === "string") return yield new TextEncoder().encode(log);
  if (log instanceof Uint8Array) return yield log;
  if (log instanceof ArrayBuffer) return yield new Uint8Array(log);
  if (typeof log.stream === "function") log = log.stream();
  if (!(Symbol.asyncIterator in log) && typeof log.getReader === "function") return yield* read(log.getReader());
  yield* log;
}

/** The parts of a stream, where browsers do not iterate over it. */
async function* read(reader) {
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
}
