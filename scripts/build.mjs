// Compiles to dist/ and bundles the browser SDK; skipped when nothing changed since the last build, so that `npm start` is quick.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SKIPPED = new Set(["node_modules", "data", ".git", "coverage", ".cache", "bundle"]);
const STAMP = "dist/.build";

function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) || entry.name.startsWith("dist") ? [] : sources(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

const hash = createHash("sha256");
for (const path of [...sources("."), "tsconfig.json", "package-lock.json"].sort()) hash.update(path).update(readFileSync(path));
const digest = hash.digest("hex");

/** The digest of what dist/ was built from; empty when it was never built. */
function builtFrom() {
  try {
    return readFileSync(STAMP, "utf8");
  } catch {
    return "";
  }
}

// Has a stamp of its own, and is missing where only dist/ was kept.
const bundled = spawnSync(process.execPath, ["scripts/bundle-sdk.mjs"], { stdio: "inherit" });
if (bundled.status !== 0) process.exit(bundled.status ?? 1);

if (builtFrom() !== digest) {
  // Compiled beside its place and moved there when whole: two builds at once do not mix, and a failed one leaves the old.
  const fresh = `dist.${process.pid}`;
  const { status } = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "--outDir", fresh], { stdio: "inherit" });
  if (status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    process.exit(status ?? 1);
  }
  mkdirSync(fresh, { recursive: true });
  writeFileSync(`${fresh}/.build`, digest);
  // It is the package's `pharos`, which a shell runs as it is.
  chmodSync(`${fresh}/clients/cli/main.js`, 0o755);
  // Another build of the same sources may have been first: programs already run from its dist/, which must stay.
  if (builtFrom() !== digest) replaceDist(fresh);
  rmSync(fresh, { recursive: true, force: true });
}

function replaceDist(fresh) {
  const old = `dist.${process.pid}.old`;
  try {
    renameSync("dist", old);
  } catch {
    // There is none.
  }
  try {
    renameSync(fresh, "dist");
  } catch {
    // Another build put its own there in this moment.
  }
  rmSync(old, { recursive: true, force: true });
}
