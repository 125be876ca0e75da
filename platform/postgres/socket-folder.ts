import { createHash } from "node:crypto";
import { chown, lstat, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StartFailure } from "../start-failure.ts";
import type { Runner } from "./run-as.ts";

/** A Unix socket's path holds 107 bytes on Linux and 103 on macOS. */
const MAX_SOCKET_PATH_BYTES = 103;
const SOCKET_FILE = "/.s.PGSQL.5432";

/**
 * Makes an empty folder that only the server's user (and root) can enter, for its socket: below `folder`, or where that
 * path is too long for a socket, a short one below the system's temporary folder, the same one for the same `folder`.
 */
export async function makeSocketFolder(folder: string, runner: Runner): Promise<string> {
  const near = join(folder, "socket");
  // PostgreSQL reads the setting as a list, in which commas and quotes mean something.
  const fits = Buffer.byteLength(near + SOCKET_FILE) <= MAX_SOCKET_PATH_BYTES && !/[,"]/.test(near);
  const place = fits ? near : join(tmpdir(), `pharos-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`);
  await rm(place, { recursive: true, force: true }).catch(() => undefined);
  try {
    // Fails when somebody else's folder stands there: one that we did not make cannot be trusted.
    await mkdir(place, { mode: 0o700 });
    if (runner.user) await chown(place, runner.user.uid, runner.user.gid);
  } catch (cause) {
    const owner = await lstat(place).then(({ uid }) => ` It belongs to user ${uid}.`, () => "");
    throw new StartFailure(`The folder ${place} for PostgreSQL's socket cannot be made (${(cause as Error).message}).${owner}`, { fix: "Remove it, or set TMPDIR or PHAROS_DATA_DIR to a folder of your own with a shorter path.", cause });
  }
  return place;
}
