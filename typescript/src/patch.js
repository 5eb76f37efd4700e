// JSON Patch (RFC 6902) with structural sharing: what a patch does not change is the same object before and after, so
// that comparing references finds the changes.

/** A patch cannot be applied. */
class PatchError extends Error {
  name = "PatchError";
}

/** The document after a patch. The given document stays as it is. */
export function applyPatch(document, patch) {
  // Copies that this patch has made, and may change.
  const own = new Set();
  return patch.reduce((document, operation) => applied(document, operation, own), document);
}

function applied(document, operation, own) {
  const path = pointer(operation.path);
  switch (operation.op) {
    case "add":
      return changed(document, path, own, insert(operation.value));
    case "replace":
      return changed(document, path, own, (parent, key) => set(parent, existing(parent, key), operation.value));
    case "remove":
      return changed(document, path, own, remove);
    case "copy":
      // What is copied is then in two places: neither is changed in place.
      own.clear();
      return changed(document, path, own, insert(at(document, pointer(operation.from))));
    case "move": {
      const from = pointer(operation.from);
      if (from.length < path.length && from.every((key, place) => key === path[place])) {
        throw new PatchError(`${operation.from} is moved into itself`);
      }
      const value = at(document, from);
      return changed(changed(document, from, own, remove), path, own, insert(value));
    }
    case "test":
      if (!equal(at(document, path), operation.value)) throw new PatchError(`${operation.path} has another value`);
      return document;
    default:
      throw new PatchError(`unknown operation: ${operation.op}`);
  }
}

/** The keys of a JSON Pointer (RFC 6901). */
function pointer(text) {
  if (text === "") return [];
  if (typeof text !== "string" || text[0] !== "/") throw new PatchError(`not a JSON Pointer: ${text}`);
  return text.slice(1).split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function at(document, path) {
  return path.reduce((value, key) => value[existing(value, key)], document);
}

/** The key of a value that exists: of an array, a number. */
function existing(parent, key) {
  if (Array.isArray(parent)) {
    if (/^(0|[1-9]\d*)$/.test(key) && Number(key) < parent.length) return Number(key);
  } else if (parent !== null && typeof parent === "object" && Object.hasOwn(parent, key)) {
    return key;
  }
  throw new PatchError(`there is no ${key}`);
}

/** The document with a changed copy of each object on the path. */
function changed(document, path, own, change) {
  // The document as a field, so that it can be replaced like any other value.
  const around = { document };
  let [parent, key] = [around, "document"];
  for (const next of path) {
    key = existing(parent, key);
    const child = copy(parent[key], own);
    set(parent, key, child);
    [parent, key] = [child, next];
  }
  change(parent, key);
  return around.document;
}

function copy(value, own) {
  if (own.has(value)) return value;
  if (value === null || typeof value !== "object") throw new PatchError("a value without fields is on the path");
  const copied = Array.isArray(value) ? value.slice() : { ...value };
  own.add(copied);
  return copied;
}

const insert = (value) => (parent, key) => {
  if (!Array.isArray(parent)) return set(parent, key, value);
  const place = key === "-" || key === String(parent.length) ? parent.length : existing(parent, key);
  parent.splice(place, 0, value);
};

function remove(parent, key) {
  const found = existing(parent, key);
  if (Array.isArray(parent)) parent.splice(found, 1);
  else delete parent[found];
}

function set(parent, key, value) {
  // An assignment to this field would set the prototype.
  if (key === "__proto__") {
    Object.defineProperty(parent, key, { value, configurable: true, enumerable: true, writable: true });
  } else {
    parent[key] = value;
  }
}

function equal(one, other) {
  if (one === other) return true;
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && equal(one[key], other[key]))
  );
}
