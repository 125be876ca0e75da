// Compiles to dist/; skipped when nothing changed since the last build, so that `npm start` is quick.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SKIPPED = new Set(["node_modules", "dist", "data", ".git", "coverage", ".cache"]);
const STAMP = "dist/.build";

function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : sources(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

const hash = createHash("sha256");
for (const path of [...sources("."), "tsconfig.json", "package-lock.json"].sort()) hash.update(path).update(readFileSync(path));
const digest = hash.digest("hex");

let built = "";
try {
  built = readFileSync(STAMP, "utf8");
} catch {
  // never built
}
if (built !== digest) {
  rmSync("dist", { recursive: true, force: true });
  const { status } = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc"], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
  mkdirSync("dist", { recursive: true });
  writeFileSync(STAMP, digest);
}
