import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { statfsSync } from "node:fs";
import { chown, lstat, mkdir, open, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { StartFailure } from "../start-failure.ts";
import type { PostgresBinaries } from "./binaries.ts";
import type { Runner } from "./run-as.ts";

const run = promisify(execFile);

/** The name of the superuser and of the database of the embedded server. */
export const PHAROS_NAME = "pharos";

export interface Cluster {
  /** PostgreSQL's own data folder. */
  dataFolder: string;
  password: string;
}

/**
 * Opens the server's files below `folder`, making them on the first start: `data/` by initdb and the superuser's
 * random password in `password` (0600). Throws StartFailure when they are damaged or of another version.
 */
export async function openCluster(folder: string, binaries: PostgresBinaries, runner: Runner): Promise<Cluster> {
  const dataFolder = join(folder, "data");
  const passwordFile = join(folder, "password");
  const entries = await readdir(dataFolder).catch(() => null);
  if (entries === null || entries.length === 0) await makeCluster(folder, dataFolder, passwordFile, binaries, runner);
  else await checkCluster(dataFolder, binaries, runner);
  const password = await readFile(passwordFile, "utf8").catch((cause: unknown) => {
    throw new StartFailure(`The embedded PostgreSQL's password cannot be read from ${passwordFile}.`, { fix: "Restore that file from a backup of the data folder; without it the database cannot be opened.", cause });
  });
  return { dataFolder, password: password.trim() };
}

/** Made beside its place and moved there when complete, so that a start that was killed halfway begins afresh. */
async function makeCluster(folder: string, dataFolder: string, passwordFile: string, binaries: PostgresBinaries, runner: Runner): Promise<void> {
  const unfinished = join(folder, "data.unfinished");
  await rm(unfinished, { recursive: true, force: true });
  await rm(dataFolder, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  await writeFile(passwordFile, `${randomBytes(24).toString("hex")}\n`, { mode: 0o600 });
  if (runner.user) for (const path of [unfinished, passwordFile]) await chown(path, runner.user.uid, runner.user.gid);
  const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
  const { file, args, options } = runner.command(binaries.initdb, ["-D", unfinished, "-U", PHAROS_NAME, "--auth=scram-sha-256", `--pwfile=${passwordFile}`, "--no-instructions", ...locale]);
  try {
    await run(file, args, { ...options, cwd: "/", encoding: "utf8" });
  } catch (cause) {
    const { stdout = "", stderr = "" } = cause as { stdout?: string; stderr?: string };
    throw new StartFailure(`The embedded PostgreSQL could not make its database in ${folder}.`, { fix: fixForOutput(stderr, folder), lines: lastLines(stderr || stdout), cause });
  }
  await rename(unfinished, dataFolder);
  await syncFolder(folder);
}

/** Makes a rename inside the folder outlast a power failure. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function checkCluster(dataFolder: string, binaries: PostgresBinaries, runner: Runner): Promise<void> {
  const owner = (await lstat(dataFolder)).uid;
  if (!runner.user && owner !== process.getuid?.()) {
    throw new StartFailure(`The database in ${dataFolder} belongs to user ${owner}, who started Pharos on it before.`, { fix: "Start Pharos as that user (or as root), or make the whole data folder yours with `sudo chown -R`." });
  }
  const found = await readFile(join(dataFolder, "PG_VERSION"), "utf8").then((text) => text.trim(), () => null);
  if (found === null) {
    throw new StartFailure(`${dataFolder} is damaged or holds something else: it has no readable PG_VERSION.`, { fix: "Restore the data folder from a backup, or move it away to start with an empty one." });
  }
  const { stdout } = await run(binaries.postgres, ["-V"], { encoding: "utf8" });
  const brought = /(\d+)\./.exec(stdout)?.[1];
  if (found !== brought) {
    throw new StartFailure(`The database in ${dataFolder} was made by PostgreSQL ${found}; this Pharos brings PostgreSQL ${brought}.`, {
      fix: "Start it with the Pharos that made it, copy the data out with pg_dump, and load it into a new data folder.",
    });
  }
}

/** What to do about a failure that initdb or the server told of, as far as its words say. */
export function fixForOutput(output: string, folder: string): string {
  if (/No space left on device|Disk quota exceeded|Check free disk space/i.test(output) || isFull(folder)) return `The disk that holds ${folder} is full: free some space and start again.`;
  if (/Read-only file system/i.test(output)) return `${folder} is on a read-only file system: set PHAROS_DATA_DIR to a folder that can be written.`;
  if (/Permission denied|wrong ownership|invalid permissions/i.test(output)) return `Something in ${folder} may not be read or written: check its owner and permissions (folders 0700, files 0600).`;
  if (/shared memory|semaphore|Cannot allocate memory/i.test(output)) return "The system gives PostgreSQL too little memory: free some, or raise the container's limit.";
  if (/could not locate a valid checkpoint|invalid checkpoint|invalid primary checkpoint|incorrect checksum|is corrupt|invalid magic|could not (open|read|access|find|load) (file|directory|redo)|missing|does not exist|invalid page|syntax error/i.test(output)) {
    return "Its files are damaged: restore the data folder from a backup, or move it away to start with an empty one.";
  }
  return "Its own words below say why; restore the data folder from a backup if its files are damaged, or move it away to start with an empty one.";
}

/** Below a megabyte; on a full disk the server cannot even write down why it ended. */
function isFull(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < 1_048_576;
  } catch {
    return false;
  }
}

/** The last ten lines that say something. */
export function lastLines(output: string): string[] {
  return output.split("\n").filter((line) => line.trim() !== "").slice(-10);
}
