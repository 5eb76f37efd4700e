#!/usr/bin/env node
// Starts the program of the package for this platform.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";

const platform = `${process.platform}-${process.arch}`;
const program = process.platform === "win32" ? "foldline.exe" : "foldline";
let path;
try {
  path = createRequire(import.meta.url).resolve(`@foldline/${platform}/bin/${program}`);
} catch {
  console.error(`foldline: there is no program for ${platform} (@foldline/${platform}); install it without --omit=optional, or build it with cargo`);
  process.exit(1);
}
const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
// The terminal sends them to the program as well, which decides.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => signal !== "SIGINT" && child.kill(signal));
}
child.on("error", (error) => {
  console.error(`foldline: ${path}: ${error.message}`);
  process.exit(126);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
