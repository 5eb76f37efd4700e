// The native program, which tests compare with.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Named by FOLDLINE, or built by `cargo build -p foldline-cli`. */
export const program =
  process.env.FOLDLINE ??
  ["debug", "release"]
    .map((profile) => `${process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../../target", import.meta.url))}/${profile}/foldline`)
    .find((path) => existsSync(path)) ??
  "foldline";

/** A path in the repository. */
export const inRepository = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
