import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { PROJECT_ROOT } from "../../platform/root.ts";

/** The last version that opened ranges in PostgreSQL instead of taking batches. */
const OLD_COMMIT = "fe3c586dcf895c722fb13a716fcfdefa08e2df5a";
/** Where its sources and its dist/ stay between two runs; nothing else in the project reads it. */
const CACHE = join(PROJECT_ROOT, ".cache", "upgrade");

const run = promisify(execFile);

/**
 * Compiles the version before batches from this repository's history, once. Resolves with its folder.
 * Throws with what to do when the history does not reach back to it.
 */
export async function prepareOldVersion(): Promise<string> {
  requireCommit();
  const folder = join(CACHE, OLD_COMMIT);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  // Moved to its place when whole, so that a run that was cut short leaves nothing half made.
  const fresh = await mkdtemp(join(CACHE, "making-"));
  try {
    const archive = 'git archive "$1" | tar -x -C "$2"';
    await run("bash", ["-o", "pipefail", "-c", archive, "bash", OLD_COMMIT, fresh], { cwd: PROJECT_ROOT });
    await requireSamePackages(fresh);
    await symlink(join(PROJECT_ROOT, "node_modules"), join(fresh, "node_modules"));
    // Its types were checked when it was made.
    const compiler = join("node_modules", "typescript", "bin", "tsc");
    await run(process.execPath, [compiler, "--noCheck", "--outDir", "dist"], { cwd: fresh });
    await run(process.execPath, [join("scripts", "bundle-sdk.mjs")], { cwd: fresh });
    await rename(fresh, folder);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return folder;
}

function requireCommit(): void {
  const found = spawnSync("git", ["rev-parse", "--verify", "--quiet", `${OLD_COMMIT}^{commit}`], {
    cwd: PROJECT_ROOT,
  });
  if (found.status === 0) return;
  throw new Error(
    `The upgrade is tried from commit ${OLD_COMMIT}, which is not in this repository's history.
The history is probably shallow: fetch all of it with "git fetch --unshallow" and try again.`,
  );
}

/** The old version runs on the packages of this one. */
async function requireSamePackages(folder: string): Promise<void> {
  const [old, own] = [join(folder, "package.json"), join(PROJECT_ROOT, "package.json")];
  // What only tests use by now is installed beside the others.
  const program = `const [{ dependencies: one }, { dependencies, devDependencies }] = process.argv.slice(1).map((path) => require(path));
    const other = { ...devDependencies, ...dependencies };
    const changed = Object.keys(one).filter((name) => one[name] !== other[name]);
    if (changed.length > 0) { console.error(changed.join(", ")); process.exit(1); }`;
  const { status, stderr } = spawnSync(process.execPath, ["-e", program, old, own], { encoding: "utf8" });
  if (status === 0) return;
  throw new Error(
    `These packages changed since commit ${OLD_COMMIT}: ${stderr.trim()}.
Install its own beside it with "npm ci" before it is compiled (scripts/upgrade/old-version.ts).`,
  );
}
