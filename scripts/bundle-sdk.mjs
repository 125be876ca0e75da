// Bundles the browser SDK into clients/browser/bundle/; skipped when nothing changed since the last time.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const SOURCES = join(ROOT, "clients/browser/src");
const BUNDLE = join(ROOT, "clients/browser/bundle");
const STAMP = ".bundle";
const FILES = [
  { name: "pharos.js", entry: "script-tag.ts", format: "iife" },
  { name: "pharos.mjs", entry: "pharos.ts", format: "esm" },
];

const hash = createHash("sha256");
const inputs = [join(ROOT, "package.json"), ...readdirSync(SOURCES).map((name) => join(SOURCES, name)), join(ROOT, "clients/browser/tsconfig.json"), join(ROOT, "package-lock.json"), fileURLToPath(import.meta.url)];
for (const path of inputs.sort()) hash.update(path.slice(ROOT.length)).update(readFileSync(path));
const digest = hash.digest("hex");

/** The digest of what the bundle was made from; empty when it is not whole. */
function bundledFrom() {
  try {
    return FILES.every(({ name }) => existsSync(join(BUNDLE, name))) ? readFileSync(join(BUNDLE, STAMP), "utf8") : "";
  } catch {
    return "";
  }
}

if (bundledFrom() !== digest) {
  // Made beside its place: runs at the same time do not mix, and a failed one leaves the old.
  const fresh = `${BUNDLE}.${process.pid}`;
  try {
    await makeBundle(fresh);
    replaceBundle(fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

async function makeBundle(folder) {
  // Here, because mostly there is nothing to do.
  const [{ build }, { minify }] = await Promise.all([import("esbuild"), import("vite")]);
  mkdirSync(folder, { recursive: true });
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  for (const { entry, format, name } of FILES) {
    const bundled = await build({
      entryPoints: [join(SOURCES, entry)],
      bundle: true,
      write: false,
      target: "es2020",
      format,
      minifySyntax: true,
      // Of what is stored, in which two versions of the SDK may meet: these names must stay.
      mangleProps: /^(envelope|sent|vital)$/,
      mangleCache: { envelope: "v", sent: "s", vital: "l" },
      define: { SDK_VERSION: JSON.stringify(version) },
      legalComments: "none",
      logLevel: "warning",
    });
    // Names and blanks by Vite's minifier, which knows what is at the top of a module: a twentieth less than esbuild's.
    const { code, errors } = await minify(name, bundled.outputFiles[0].text, { compress: { target: "es2020" }, mangle: { toplevel: true } });
    if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join("\n"));
    // The code is strict by itself where that matters; the words are a part of 4 KB.
    writeFileSync(join(folder, name), code.replace(/^"use strict";/, ""));
  }
  const { status } = spawnSync(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "clients/browser", "--emitDeclarationOnly", "--outDir", join(folder, "types")], { cwd: ROOT, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(join(folder, STAMP), digest);
}

/** File by file, each at once, for who reads one at this moment; the stamp last. */
function replaceBundle(folder) {
  mkdirSync(join(BUNDLE, "types"), { recursive: true });
  const types = readdirSync(join(folder, "types")).map((name) => join("types", name));
  for (const path of [...FILES.map(({ name }) => name), ...types, STAMP]) renameSync(join(folder, path), join(BUNDLE, path));
}
