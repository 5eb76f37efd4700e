#!/usr/bin/env node
// Packs the program for npm: a package for one platform, and the one in front, which is `foldline` of `typescript` with a
// command that starts the program: node pack.mjs TARGET PROGRAM OUT
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [target, program, out] = process.argv.slice(2);
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const platforms = {
  "x86_64-unknown-linux-musl": ["linux", "x64"],
  "aarch64-unknown-linux-musl": ["linux", "arm64"],
  "x86_64-apple-darwin": ["darwin", "x64"],
  "aarch64-apple-darwin": ["darwin", "arm64"],
  "x86_64-pc-windows-gnu": ["win32", "x64"],
};
const front = JSON.parse(readFileSync(here("../../typescript/package.json"), "utf8"));
const { version, license } = front;
const licenses = (folder) => ["LICENSE-APACHE", "LICENSE-MIT"].forEach((name) => copyFileSync(here(`../../${name}`), join(folder, name)));
const place = mkdtempSync(join(tmpdir(), "foldline-npm-"));
const pack = (folder) => execFileSync("npm", ["pack", "--silent", "--pack-destination", resolve(out)], { cwd: folder });

const [os, cpu] = platforms[target];
const platform = join(place, "platform");
const name = os === "win32" ? "foldline.exe" : "foldline";
mkdirSync(join(platform, "bin"), { recursive: true });
copyFileSync(program, join(platform, "bin", name));
chmodSync(join(platform, "bin", name), 0o755);
licenses(platform);
const description = `The program foldline for ${os} on ${cpu}; install the package foldline instead`;
writeFileSync(join(platform, "package.json"), JSON.stringify({ name: `@foldline/${os}-${cpu}`, version, description, license, os: [os], cpu: [cpu], files: ["bin"] }));
pack(platform);

// With WebAssembly, if it has been built.
const package_ = join(place, "front");
cpSync(here("../../typescript/src"), join(package_, "src"), { recursive: true });
if (existsSync(here("../../typescript/dist"))) cpSync(here("../../typescript/dist"), join(package_, "dist"), { recursive: true });
mkdirSync(join(package_, "bin"));
copyFileSync(here("foldline.js"), join(package_, "bin/foldline.js"));
copyFileSync(here("../../typescript/README.md"), join(package_, "README.md"));
licenses(package_);
const { scripts: _, devDependencies: __, ...kept } = front;
const optionalDependencies = Object.fromEntries(Object.values(platforms).map(([os, cpu]) => [`@foldline/${os}-${cpu}`, version]));
const whole = { ...kept, bin: { foldline: "bin/foldline.js" }, files: [...front.files, "bin"], optionalDependencies };
writeFileSync(join(package_, "package.json"), JSON.stringify(whole, null, 2));
pack(package_);
rmSync(place, { recursive: true });
