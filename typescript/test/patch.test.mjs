// The examples of RFC 6902, and structural sharing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { applyPatch } from "foldline";

const add = (path, value) => ({ op: "add", path, value });
const replace = (path, value) => ({ op: "replace", path, value });
const remove = (path) => ({ op: "remove", path });

/** A document, a patch, and the document after it; `undefined` if the patch does not fit. */
const CASES = [
  [{ foo: "bar" }, [add("/baz", "qux")], { foo: "bar", baz: "qux" }],
  [{ foo: ["bar", "baz"] }, [add("/foo/1", "qux")], { foo: ["bar", "qux", "baz"] }],
  [{ baz: "qux", foo: "bar" }, [remove("/baz")], { foo: "bar" }],
  [{ foo: ["bar", "qux", "baz"] }, [remove("/foo/1")], { foo: ["bar", "baz"] }],
  [{ baz: "qux", foo: "bar" }, [replace("/baz", "boo")], { baz: "boo", foo: "bar" }],
  [
    { foo: { bar: "baz", waldo: "fred" }, qux: { corge: "grault" } },
    [{ op: "move", from: "/foo/waldo", path: "/qux/thud" }],
    { foo: { bar: "baz" }, qux: { corge: "grault", thud: "fred" } },
  ],
  [{ foo: ["all", "grass", "cows", "eat"] }, [{ op: "move", from: "/foo/1", path: "/foo/3" }], { foo: ["all", "cows", "eat", "grass"] }],
  [{ a: { b: 1 } }, [{ op: "copy", from: "/a", path: "/c" }, replace("/c/b", 2)], { a: { b: 1 }, c: { b: 2 } }],
  [{ a: { b: [] } }, [add("/a/b/0", 1), { op: "copy", from: "/a", path: "/c" }, add("/c/b/1", 2)], { a: { b: [1] }, c: { b: [1, 2] } }],
  [{ baz: "qux", foo: ["a", 2, "c"] }, [{ op: "test", path: "/foo/1", value: 2 }], { baz: "qux", foo: ["a", 2, "c"] }],
  [{ baz: "qux" }, [{ op: "test", path: "/baz", value: "bar" }], undefined],
  [{ foo: "bar" }, [add("/child", { grandchild: {} })], { foo: "bar", child: { grandchild: {} } }],
  [{ foo: "bar" }, [{ ...add("/baz", "qux"), xyz: 123 }], { foo: "bar", baz: "qux" }],
  [{ foo: "bar" }, [add("/baz/bat", "qux")], undefined],
  [{ "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: 10 }], { "/": 9, "~1": 10 }],
  [{ "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: "10" }], undefined],
  [{ foo: ["bar"] }, [add("/foo/-", ["abc", "def"])], { foo: ["bar", ["abc", "def"]] }],
  [{ foo: ["bar"] }, [add("/foo/1", "x")], { foo: ["bar", "x"] }],
  [{ foo: ["bar"] }, [add("/foo/2", "x")], undefined],
  [{ foo: ["bar"] }, [add("/foo/01", "x")], undefined],
  [{ foo: ["bar"] }, [replace("/foo/1", "x")], undefined],
  [{ foo: 1 }, [replace("/bar", 1)], undefined],
  [{ foo: 1 }, [remove("/toString")], undefined],
  [{ foo: 1 }, [replace("", [1])], [1]],
  [{ foo: { bar: 1 } }, [{ op: "move", from: "/foo", path: "/foo/bar" }], undefined],
  [{ foo: 1 }, [{ op: "grow", path: "/foo" }], undefined],
  [{ foo: 1 }, [add("foo", 1)], undefined],
  [{ a: [1, { b: [2] }] }, [add("/a/1/b/0", 0), add("/a/1/c", 3), remove("/a/0")], { a: [{ b: [0, 2], c: 3 }] }],
];

test("a patch changes a document as RFC 6902 says, and the given document stays", () => {
  for (const [before, patch, after] of CASES) {
    const given = structuredClone(before);
    const what = JSON.stringify(patch);
    if (after === undefined) assert.throws(() => applyPatch(given, patch), { name: "PatchError" }, what);
    else assert.deepEqual(applyPatch(given, patch), after, what);
    assert.deepEqual(given, before, what);
  }
});

test("what a patch does not change is shared", () => {
  const before = { entries: [{ a: 1 }, { a: 2 }], usage: {} };
  const after = applyPatch(before, [replace("/entries/1/a", 3), add("/entries/2", {})]);
  assert.notEqual(after, before);
  assert.notEqual(after.entries, before.entries);
  assert.equal(after.entries[0], before.entries[0]);
  assert.notEqual(after.entries[1], before.entries[1]);
  assert.equal(after.usage, before.usage);
});

test("a value of a patch is not changed by a later operation", () => {
  const patch = [add("/a", { b: [] }), add("/a/b/0", 1)];
  assert.deepEqual(applyPatch({}, patch), { a: { b: [1] } });
  assert.deepEqual(patch[0].value, { b: [] });
});

test("a field named __proto__ is a field", () => {
  const value = JSON.parse('{"polluted":true}');
  const after = applyPatch({}, [add("/__proto__", value)]);
  assert.equal(after.polluted, undefined);
  assert.ok(Object.hasOwn(after, "__proto__"));
  assert.equal(Object.hasOwn(applyPatch(after, [add("/x", 1)]), "__proto__"), true);
  assert.throws(() => applyPatch({}, [add("/__proto__/polluted", true)]));
  assert.equal({}.polluted, undefined);
});
