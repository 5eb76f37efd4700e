// Compiles a schema with the defaults of Ajv, which are strict, and checks what a server has answered.
//
//   node schema.js SCHEMA [TYPE FILE]...
//
// TYPE is one of the `$defs`; FILE has one value of it, or an array of them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";

const [schemaPath, ...values] = process.argv.slice(2);
const read = (path) => JSON.parse(readFileSync(path, "utf8"));
const schema = read(schemaPath);
const said = [];
const log = (...words) => said.push(words.join(" "));
const ajv = new Ajv2020({ logger: { log, warn: log, error: log } });
const key = schema.$id ?? "foldline";
ajv.addSchema(schema, key);
for (const name of Object.keys(schema.$defs)) ajv.compile({ $ref: `${key}#/$defs/${name}` });
for (let at = 0; at < values.length; at += 2) {
  const check = ajv.compile({ $ref: `${key}#/$defs/${values[at]}` });
  for (const value of [read(values[at + 1])].flat()) assert(check(value), `${values[at]}: ${ajv.errorsText(check.errors)}`);
}
// What Ajv does not know, it only reports.
assert.deepEqual(said.filter((words) => words.includes("unknown")), []);
console.log(`${Object.keys(schema.$defs).length} types, ${values.length / 2} files`);
