import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { mkdir, readFile, realpath, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { tryLockFile } from "./file-lock.ts";
import { StartFailure } from "./start-failure.ts";

/** Raised when an older Pharos could no longer read what this one writes; stands in the folder's `version` file. */
const LAYOUT_VERSION = 1;

/** What the lock file says about the one who holds it. */
const Holder = z.object({ pid: z.number(), started_at: z.string(), port: z.number().nullish(), edge_port: z.number().nullish() });
type Holder = z.output<typeof Holder>;

export interface DataFolder {
  /** Absolute, with symbolic links followed. */
  path: string;
  /** Tells a second start where this one answers; null for a door that is not open. */
  describe(addresses: { port: number | null; edgePort: number | null }): void;
  /** Lets the next one have the folder. Calling it again does nothing. */
  release(): Promise<void>;
}

/**
 * Makes the folder (0700) if it is missing and takes it for this process: one Pharos holds a folder at a time, and the
 * lock vanishes with its process. Throws StartFailure when another holds it, it cannot be written, or a newer Pharos made it.
 */
export async function claimDataFolder(path: string): Promise<DataFolder> {
  let folder = path;
  let fd: number | null = null;
  const release = async () => {
    if (fd !== null) closeSync(fd);
    fd = null;
  };
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    folder = await realpath(path);
    // Opened without truncating: until the lock is ours, its text is the holder's.
    const lock = (fd = openSync(join(folder, "lock"), "a+", 0o600));
    if (!tryLockFile(lock)) throw await heldByAnother(folder);
    const holder: Holder = { pid: process.pid, started_at: new Date().toISOString() };
    writeHolder(lock, holder);
    await checkVersion(folder);
    return { path: folder, describe: ({ port, edgePort }) => writeHolder(lock, { ...holder, port, edge_port: edgePort }), release };
  } catch (error) {
    await release();
    throw error instanceof StartFailure ? error : cannotUse(folder, error);
  }
}

function writeHolder(lock: number, holder: Holder): void {
  ftruncateSync(lock, 0);
  writeSync(lock, `${JSON.stringify(holder)}\n`);
}

async function heldByAnother(folder: string): Promise<StartFailure> {
  const holder = readHolder(await readFile(join(folder, "lock"), "utf8").catch(() => ""));
  const other = "or set PHAROS_DATA_DIR to another folder for this one (and PORT and EDGE_PORT to other ports).";
  if (!holder) return new StartFailure(`The data folder ${folder} is held by another Pharos.`, { fix: `Stop that one, ${other}` });
  const ports = [holder.port, holder.edge_port].filter((port) => typeof port === "number");
  const where = ports.length === 0 ? ", not ready yet" : `, answering on port ${ports.join(" and ")}`;
  return new StartFailure(`The data folder ${folder} is held by another Pharos: process ${holder.pid}, since ${holder.started_at}${where}.`, {
    fix: `Stop that one (\`kill ${holder.pid}\`), ${other}`,
  });
}

/** Null while the other one has locked the file and not yet written into it. */
function readHolder(text: string): Holder | null {
  try {
    return Holder.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

async function checkVersion(folder: string): Promise<void> {
  const file = join(folder, "version");
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) {
    await writeFile(`${file}.new`, `${LAYOUT_VERSION}\n`, { mode: 0o600, flush: true });
    await rename(`${file}.new`, file);
  } else if (!/^\d+\s*$/.test(text)) {
    throw new StartFailure(`${file} should hold a number and holds something else.`, { fix: "Restore the data folder from a backup, or set PHAROS_DATA_DIR to another folder." });
  } else if (Number(text) > LAYOUT_VERSION) {
    throw new StartFailure(`The data folder ${folder} was made by a newer Pharos (its layout is ${text.trim()}; this one knows ${LAYOUT_VERSION}).`, {
      fix: "Start the newer Pharos on it, or set PHAROS_DATA_DIR to another folder.",
    });
  }
}

/** Why the folder cannot be used, by the system's code. */
function cannotUse(folder: string, cause: unknown): StartFailure {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  const otherFolder = "Set PHAROS_DATA_DIR to a folder that can be written.";
  const known: Record<string, [string, string]> = {
    EEXIST: ["is a file, not a folder", "Set PHAROS_DATA_DIR to a folder."],
    ENOTDIR: ["lies below something that is a file, not a folder", "Set PHAROS_DATA_DIR to a folder."],
    EROFS: ["is on a read-only file system", otherFolder],
    EACCES: ["cannot be written by this user", `Give it to the user who runs Pharos, or set PHAROS_DATA_DIR to a folder of your own.`],
    EPERM: ["cannot be written by this user", `Give it to the user who runs Pharos, or set PHAROS_DATA_DIR to a folder of your own.`],
    ENOSPC: ["is on a disk that is full", "Free some space and start again."],
    EDQUOT: ["is over this user's disk quota", "Free some space and start again."],
    ENAMETOOLONG: ["has too long a path", "Set PHAROS_DATA_DIR to a shorter one."],
  };
  const [reason, fix] = known[code] ?? [`cannot be used (${message})`, otherFolder];
  return new StartFailure(`The data folder ${folder} ${reason}.`, { fix, cause });
}
