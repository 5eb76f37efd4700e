// The live document of a session: a snapshot and its patches, as server-sent events (`/api/sessions/ID/patches`).

import { applyPatch } from "./patch.js";

/** The server is silent for at most 15 seconds. */
const SILENCE = 45_000;
/** The pauses before a connection is made again, in milliseconds. */
const [SHORTEST, LONGEST] = [250, 10_000];

/** The server refuses the request: there is no such session, or the token is missing. */
export class Refused extends Error {
  name = "Refused";

  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * Follows a session until the server says that it has ended, or the signal stops it. A lost connection is made again,
 * and continues after the last patch.
 */
export async function subscribe(url, options = {}) {
  const { onDocument, onPatch, onGap, signal, headers, fetch = globalThis.fetch } = options;
  let document;
  let last;
  let pause = SHORTEST;

  const take = ({ event, id, data }) => {
    pause = SHORTEST;
    if (event === "snapshot") {
      const isGap = document !== undefined;
      document = JSON.parse(data);
      last = id;
      if (isGap) onGap?.();
      onDocument?.(document);
    } else if (event === "patch") {
      if (!follows(id, last)) throw new Missed();
      const patch = JSON.parse(data);
      try {
        document = applyPatch(document, patch);
      } catch {
        throw new Missed();
      }
      last = id;
      onPatch?.(patch, document);
    }
    return event === "end";
  };

  while (!signal?.aborted) {
    const connection = new AbortController();
    const stop = () => connection.abort();
    signal?.addEventListener("abort", stop, { once: true });
    let silence = setTimeout(stop, SILENCE);
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(stop, SILENCE);
    };
    try {
      const place = last === undefined ? {} : { "last-event-id": last };
      const asked = { ...headers, ...place, accept: "text/event-stream" };
      const answer = await connected(() => fetch(url, { headers: asked, signal: connection.signal, cache: "no-store" }));
      for await (const event of events(answer.body, heard)) {
        if (take(event)) return;
      }
    } catch (error) {
      if (error instanceof Missed) last = undefined;
      else if (!(error instanceof Lost)) throw error;
    } finally {
      clearTimeout(silence);
      signal?.removeEventListener("abort", stop);
      connection.abort();
    }
    await elapsed(pause * (1 + Math.random() / 4), signal);
    pause = Math.min(2 * pause, LONGEST);
  }
}

/** The connection was lost, or could not be made. */
class Lost extends Error {}

/** A patch is missing before this one: the whole document is needed again. */
class Missed extends Error {}

async function connected(request) {
  let answer;
  try {
    answer = await request();
  } catch {
    throw new Lost();
  }
  if (answer.ok) return answer;
  const text = await answer.text().catch(() => "");
  // The server is starting, busy, or behind a proxy that waits for it.
  if (answer.status >= 500 || answer.status === 429) throw new Lost();
  let message = `${answer.status} ${answer.statusText}`;
  try {
    message = JSON.parse(text).error ?? message;
  } catch {
    // Not an answer of the server itself.
  }
  throw new Refused(answer.status, message);
}

/** Whether an id, `epoch:number`, is the next one after another. */
function follows(id, last) {
  if (id === undefined || last === undefined) return false;
  const [[epoch, number], [lastEpoch, lastNumber]] = [id, last].map((id) => id.split(":"));
  return epoch === lastEpoch && Number(number) === Number(lastNumber) + 1;
}

/** The server-sent events of a body. */
async function* events(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  // The current line arrives in pieces: a snapshot is one line of any length.
  let pieces = [];
  let isAfterReturn = false;
  let event = {};
  const next = async () => {
    try {
      return await reader.read();
    } catch {
      throw new Lost();
    }
  };
  try {
    for (let part = await next(); !part.done; part = await next()) {
      heard();
      let text = part.value;
      if (isAfterReturn && text[0] === "\n") text = text.slice(1);
      if (text !== "") isAfterReturn = text.endsWith("\r");
      const lines = text.split(/\r\n|\r|\n/);
      pieces.push(lines[0]);
      for (const more of lines.slice(1)) {
        const line = pieces.join("");
        pieces = [more];
        if (line !== "") field(event, line);
        else if (event.data !== undefined) yield finished(event);
        if (line === "") event = {};
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function field(event, line) {
  const colon = line.indexOf(":");
  if (colon === 0) return;
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
  if (name === "data") (event.data ??= []).push(value);
  else if (name === "event" || name === "id") event[name] = value;
}

function finished({ event = "message", id, data }) {
  return { event, id, data: data.join("\n") };
}

/** Waits, or until the signal. */
function elapsed(milliseconds, signal) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
  });
}
