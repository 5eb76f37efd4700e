// Reads the patches of a session while its log grows, is cut off in the middle of bytes again and again, and goes
// on after the last event that came whole. Two libraries make the document, which has to be that of a replay.
//
//   node patches.js ADDRESS LOG REST EXPECTED CUTS SEED
//
// REST is what is added to LOG meanwhile; EXPECTED is the document in the end.
import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { get } from "node:http";
import fast from "fast-json-patch";
import { applyPatch } from "rfc6902";

const [address, log, restPath, expectedPath, cuts, seed] = process.argv.slice(2);
const expected = JSON.parse(readFileSync(expectedPath, "utf8"));
const path = "/api/sessions/session/patches";

// mulberry32
let state = Number(seed);
function below(bound) {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % bound;
}

const documents = { fast: undefined, rfc6902: undefined };
let last;
let snapshots = 0;
let patches = 0;

function apply({ event, id, data }) {
  const value = JSON.parse(data);
  if (event === "snapshot") {
    snapshots += 1;
    documents.fast = value;
    documents.rfc6902 = structuredClone(value);
  } else {
    assert.equal(event, "patch");
    const [epoch, number] = id.split(":");
    const [lastEpoch, lastNumber] = last.split(":");
    assert.deepEqual([epoch, Number(number)], [lastEpoch, Number(lastNumber) + 1], "no gap, and nothing twice");
    patches += 1;
    documents.fast = fast.applyPatch(documents.fast, structuredClone(value), true).newDocument;
    for (const error of applyPatch(documents.rfc6902, value)) assert.equal(error, null);
  }
  last = id;
}

// Bytes to events, as the standard has it for lines that end with "\n".
function parser() {
  let text = "";
  return (more) => {
    text += more;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const event = { event: "message", id: undefined, data: [] };
      for (const line of text.slice(0, end).split("\n")) {
        const [, field, value] = /^([^:]*):? ?(.*)$/.exec(line);
        if (field === "data") event.data.push(value);
        else if (field in event) event[field] = value;
      }
      if (event.data.length > 0) apply({ ...event, data: event.data.join("\n") });
    }
  };
}

// Reads until so many bytes have come, or `isDone`, or nothing has come for so many milliseconds.
function connect(most, patience, isDone) {
  return new Promise((resolve, reject) => {
    const headers = last === undefined ? {} : { "Last-Event-ID": last };
    const request = get(`http://${address}${path}`, { agent: false, headers }, (answer) => {
      const parse = parser();
      const decoder = new TextDecoder();
      let taken = 0;
      let silence;
      const close = () => {
        clearTimeout(silence);
        request.destroy();
        resolve();
      };
      const wait = () => {
        clearTimeout(silence);
        silence = setTimeout(close, patience);
      };
      assert.equal(answer.statusCode, 200);
      wait();
      answer.on("data", (bytes) => {
        try {
          const part = bytes.subarray(0, most - taken);
          taken += part.length;
          parse(decoder.decode(part, { stream: true }));
          if (taken >= most || isDone()) close();
          else wait();
        } catch (error) {
          close();
          reject(error);
        }
      });
      answer.on("end", close);
      answer.on("error", close); // It is cut off here.
    });
    request.on("error", (error) => (error.code === "ECONNRESET" ? resolve() : reject(error)));
  });
}

const isWhole = () => {
  try {
    assert.deepStrictEqual(documents.fast, expected);
    return true;
  } catch {
    return false;
  }
};

await connect(Infinity, 60_000, () => snapshots === 1);
assert.equal(snapshots, 1);
let rest = readFileSync(restPath);
for (let cut = 0; cut < cuts; cut++) {
  const share = Math.ceil(rest.length / (cuts - cut));
  const length = cut === cuts - 1 ? rest.length : below(2 * share);
  appendFileSync(log, rest.subarray(0, length));
  rest = rest.subarray(length);
  await connect(1 + below(4_000), 25, () => false);
  assert.deepStrictEqual(documents.fast, documents.rfc6902);
}
assert.equal(rest.length, 0);
const until = Date.now() + 60_000;
while (!isWhole() && Date.now() < until) await connect(Infinity, 1_000, isWhole);
assert.deepStrictEqual(documents.fast, expected);
assert.deepStrictEqual(documents.rfc6902, expected);
assert.equal(snapshots, 1, "all other connections resumed");
console.log(`${cuts} cuts, ${patches} patches`);
